// For libFuzzer (scripts/tests/fuzz_record.sh): whatever bytes stand in a record, the reader
// neither crashes nor hangs, and what it takes for a record is one.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "run/record.h"

namespace {

constexpr int kN = 3, kIterations = 4;

/// Where the files are made: LAB_FUZZ_DIR, or here.
std::string folder() {
  const char* dir = std::getenv("LAB_FUZZ_DIR");
  return dir ? dir : ".";
}

void write(const std::string& path, const char* data, std::size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(data, 1, bytes, file) != bytes) std::abort();
  std::fclose(file);
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// The input: run.json, residuals.csv and field.f32, with a zero byte between two.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string dir = folder();
  const char* begin = reinterpret_cast<const char*>(data);
  const char* end = begin + size;
  for (const char* name : {"/run.json", "/residuals.csv"}) {
    const char* stop = begin;
    while (stop < end && *stop != '\0') ++stop;
    write(dir + name, begin, stop - begin);
    begin = stop < end ? stop + 1 : end;
  }
  write(dir + "/field.f32", begin, end - begin);

  validate::Record record;
  std::string error;
  if (validate::read_record(dir, kN, kIterations, &record, &error)) {
    require(record.n == kN && record.iterations <= kIterations && record.iterations >= 0);
    int before = 0;
    for (const validate::Record::Residual& residual : record.residuals) {
      require(residual.iteration > before && residual.iteration <= record.iterations);
      before = residual.iteration;
    }
  } else {
    require(!error.empty());
  }
  std::vector<float> field;
  error.clear();
  if (validate::read_field(dir, kN, &field, &error)) {
    require(field.size() == std::size_t(kN) * kN);
  } else {
    require(!error.empty());
  }
  return 0;
}
