// Turns a CUDA source file into C++ that a plain C++ compiler compiles: kernels run on the CPU.
//
//   cuda_to_cpp IN.cu OUT.cpp [--headers-too]
//
//   --headers-too  IN's own headers also go through cuda_to_cpp, so they may have kernels
//
// For build systems. Exit codes: 0 done, 1 errors in the source, 2 bad usage or a file that cannot
// be read or written.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "rewrite.h"

namespace {

constexpr int kExitErrors = 1, kExitBadUsage = 2;

int fail(const std::string& message) {
  std::fprintf(stderr, "cuda_to_cpp: %s\n", message.c_str());
  return kExitBadUsage;
}

}  // namespace

int main(int argc, char** argv) {
  const bool headers_too = argc == 4 && std::string(argv[3]) == "--headers-too";
  if (argc != 3 && !headers_too) return fail("needs IN.cu OUT.cpp [--headers-too]");
  const std::string in = argv[1], out = argv[2];
  std::string source;
  if (!cuda_filter::read_file(in, &source)) return fail(in + ": cannot be read");
  const std::string folder = std::filesystem::path(in).parent_path().string();
  const cuda_filter::Rewritten rewritten = cuda_filter::rewrite(source, in, folder, headers_too);
  for (const cuda_filter::Error& found : rewritten.errors) {
    std::fprintf(stderr, "%s:%d: error: %s\n", in.c_str(), found.line, found.words.c_str());
  }
  if (!rewritten.errors.empty()) return kExitErrors;
  std::ofstream file(out, std::ios::binary);
  file << rewritten.text << std::flush;
  return file ? 0 : fail(out + ": cannot be written");
}
