#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lexer.h"

namespace cuda_filter {

struct Error {
  int line;
  std::string words;
};

struct Rewritten {
  std::string text;  ///< empty if there are errors
  std::vector<Error> errors;
};

/// Turns CUDA into C++, line by line: `name` is what the result's first line calls the file, and
/// `folder` is where #include "..." looks. `headers_too`: its headers are also rewritten, so they
/// may have kernels.
Rewritten rewrite(const std::string& source, const std::string& name,
                  const std::string& folder = ".", bool headers_too = false);

/// Reads a whole file; returns false if it cannot be read.
bool read_file(const std::string& path, std::string* text);

// ---- the rules: a file for each ------------------------------------------------------------

/// `length` characters at `offset` make way for `text`.
struct Edit {
  std::size_t offset;
  std::size_t length;
  std::string text;
};

/// What the rules collect: where the source changes, and what they cannot take.
struct Changes {
  std::vector<Edit> edits;
  std::vector<Error> errors;
};

/// Whether the token is the <<< of a launch: that of `operator<<<T>` is not.
bool is_launch(const Tokens& tokens, std::size_t k);

/// KERNEL<<<CONFIG>>>(...) becomes launch(LAMBDA, CONFIG)(...), where LAMBDA calls KERNEL; and
/// cudaLaunchKernel((void*)KERNEL, ...) loses the cast.
void rewrite_launches(const Tokens& tokens, Changes* changes);

/// A kernel with __launch_bounds__(N) looks, as it begins, whether its block has more threads: a
/// GPU refuses such a launch.
void rewrite_launch_bounds(const std::string& source, const Tokens& tokens, Changes* changes);

/// In a function:
/// __shared__ T a[4];        becomes a SharedVariable<T[4]>, which each block has one of
/// extern __shared__ T a[];  becomes a pointer to the shared memory that the launch asked for
/// Elsewhere the word stays: it is a macro (cuda_on_cpu/types.h) that is not covered.
void rewrite_shared_memory(const Regions& regions, Changes* changes);

/// Outside of functions: __device__ and __constant__ become CUDA_ON_CPU_VARIABLE where they declare
/// a variable, so that a watched program knows which ones host code cannot reach.
void rewrite_device_variables(const Regions& regions, Changes* changes);

/// "CUDA on the CPU does not cover WHAT": scripts look for these words.
std::string does_not_cover(const std::string& what);

/// Complains of each name in the tokens that CUDA has, and CUDA on the CPU has not.
void find_not_covered(const Tokens& tokens, Changes* changes);

/// The same of a header that `directive` includes, which may be any directive. A file of that name
/// in `folder` is the program's own.
void find_header_not_covered(const Tokens& directive, const std::string& folder, Changes* changes);

}  // namespace cuda_filter
