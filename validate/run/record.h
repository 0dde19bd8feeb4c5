#pragma once

#include <string>
#include <vector>

namespace validate {

/// What is read of that which a step's program wrote under --record, but for the field.
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

/// Reads DIR/field.f32: n x n floats, row j outer. Returns false, with `error`, where it is not
/// that.
bool read_field(const std::string& dir, int n, std::vector<float>* field, std::string* error);

}  // namespace validate
