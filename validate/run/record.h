#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace validate {

/// What is read of that which a step's program wrote under --record; the field has FieldReader.
struct Record {
  struct Residual {
    int iteration;
    double value;
  };
  std::string step;
  int n = 0;
  int iterations = 0;
  int ranks = 1;                    ///< processes that computed it together
  std::vector<Residual> residuals;  ///< in order of iterations, the last sweep's among them
  int samples = 0;  ///< behind the quartiles of the time per iteration, in milliseconds
  double q1_ms = 0, median_ms = 0, q3_ms = 0;
};

/// Reads run.json and residuals.csv in `dir`. Looks at a file's size before reading it, believes
/// nothing in it, and returns false with a clear `error` where it is not what a run of `n` points a
/// side and at most `iterations` iterations writes.
bool read_record(const std::string& dir, int n, int iterations, Record* record, std::string* error);

/// Reads DIR/field.f32 row by row.
class FieldReader {
 public:
  /// Returns false, with `error`, where the file is missing or does not hold n x n floats.
  bool open(const std::string& dir, int n, std::string* error);
  /// The next row, n floats, valid until the next call; nullptr at an error.
  const float* next_row();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<float> row_;
};

/// Reads DIR/rows.csv: the n row hashes. Returns false, with `error`, where it is not that.
bool read_row_hashes(const std::string& dir, int n, std::vector<std::uint64_t>* hashes,
                     std::string* error);

}  // namespace validate
