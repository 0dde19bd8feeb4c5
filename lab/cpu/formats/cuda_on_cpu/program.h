#pragma once

namespace cuda_on_cpu {

/// What a program may tell CUDA on the CPU of itself, before main begins. All of it is optional.
struct Program {
  /// How messages name a source file; null: by its name without folders.
  const char* (*file_name)(const char* path) = nullptr;
  /// Of several processes: what stands before the line that says why this one ends. If it returns
  /// null, another one has said why.
  const char* (*words_before_the_end)() = nullptr;
  /// How many rounds of its main loop are over: what each of them allocates, and none frees, is an
  /// error at the end. Null: there is no such loop.
  int (*rounds)() = nullptr;
  const char* round = "round";  ///< what it calls one
  /// Part of the path of a header whose lines are not the program's own: messages name the line
  /// that calls it.
  const char* not_its_own = nullptr;
};
inline Program program;

/// How a program ends that CUDA on the CPU ends: something is wrong, or a file cannot be written.
inline constexpr int kExitFailed = 3, kExitCannotWrite = 4;

}  // namespace cuda_on_cpu
