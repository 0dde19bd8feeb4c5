// Turns a CUDA source file into C++ that a plain C++ compiler compiles: kernels run on the CPU.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "rewrite.h"

namespace {

constexpr int kExitErrors = 1;    // in the source
constexpr int kExitBadUsage = 2;  // or a file that cannot be read or written

constexpr const char* kHelp =
    "cuda_to_cpp IN.cu OUT.cpp [--name NAME] [--headers-too]: turns a CUDA source file into C++ "
    "that runs on\n"
    "the CPU (" CUDA_ON_CPU_FOLDER
    "/README.md)\n\n"
    "  --name NAME   what compilers are to call the file (default: IN as given)\n"
    "  --headers-too IN's own headers also go through cuda_to_cpp, so they may have kernels\n"
    "  --help        print this\n\n"
    "exit codes: 0 done, 1 errors in the source, 2 bad usage or a file that cannot be read or\n"
    "            written\n";

int fail(const std::string& message) {
  std::fprintf(stderr, "cuda_to_cpp: %s\n", message.c_str());
  return kExitBadUsage;
}

/// Writes the file aside first: a build that is stopped leaves no half of it.
bool write_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(part, path, error);
  if (file && !error) return true;
  std::filesystem::remove(part, error);
  return false;
}

int convert(const std::string& in, const std::string& out, const std::string& name,
            bool headers_too) {
  std::string source;
  if (!cuda_filter::read_file(in, &source)) return fail(in + ": cannot be read");
  std::error_code error;
  if (std::filesystem::equivalent(in, out, error)) return fail(out + ": would replace the source");

  const std::string folder = std::filesystem::path(in).parent_path().string();
  const cuda_filter::Rewritten rewritten = cuda_filter::rewrite(source, name, folder, headers_too);
  for (const cuda_filter::Error& found : rewritten.errors) {
    std::fprintf(stderr, "%s:%d: error: %s\n", name.c_str(), found.line, found.words.c_str());
  }
  if (!rewritten.errors.empty()) return kExitErrors;
  return write_file(out, rewritten.text) ? 0 : fail(out + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::string name;
  bool headers_too = false;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (argument == "--name") {
      if (k + 1 == argc) return fail("--name needs a name (--help tells more)");
      name = argv[++k];
    } else if (argument == "--headers-too") {
      headers_too = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return fail(argument + ": no such option (--help tells more)");
    } else {
      files.push_back(argument);
    }
  }
  if (files.size() != 2) return fail("needs IN.cu and OUT.cpp (--help tells more)");
  return convert(files[0], files[1], name.empty() ? files[0] : name, headers_too);
}
