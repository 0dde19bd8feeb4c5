#include "error.h"

#include <cstdio>

using cuda_on_cpu::Report;

namespace {

struct Named {
  cudaError_t code;
  const char *name, *words;
};
#define NAMED(code, number, words) {code, #code, words},
constexpr Named kErrors[] = {CUDA_ON_CPU_ERRORS(NAMED)};

cudaError_t last_error = cudaSuccess;
bool failed = false;  // a call has failed, or the program has said that one did
// What was wrong with the call that failed last, for cudaGetErrorString of that error.
cudaError_t detailed = cudaSuccess;
Report& reason = *new Report;
Report& refused = *new Report;  // the first launch whose error was not asked for

const Named* find(cudaError_t code) {
  for (const Named& e : kErrors) {
    if (e.code == code) return &e;
  }
  return nullptr;
}

}  // namespace

cudaError_t cuda_on_cpu::note_error(cudaError_t code, Report report) {
  detailed = code;
  reason = std::move(report);
  // "Not ready" is an answer: a GPU's cudaGetLastError does not report it.
  if (code != cudaErrorNotReady) {
    last_error = code;
    failed = true;
  }
  return code;
}

cudaError_t cuda_on_cpu::refuse_launch(cudaError_t code, Where where) {
  if (refused.kind.empty()) {
    refused = report("refused", where);
    refused.detail = reason.detail;
  }
  return code;
}

Report cuda_on_cpu::refused_launch() { return refused; }

const Report* cuda_on_cpu::report_of(cudaError_t code) {
  return code == detailed ? &reason : nullptr;
}

bool cuda_on_cpu::any_error() { return failed; }

cudaError_t cudaGetLastError() {
  refused = {""};
  return std::exchange(last_error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  refused = {""};
  return last_error;
}

const char* cudaGetErrorName(cudaError_t code) {
  const Named* e = find(code);
  return e ? e->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t code) {
  const Named* e = find(code);
  if (!e) return "unrecognized error code";
  if (code == cudaSuccess || code != detailed) return e->words;
  static char with_detail[1024];
  failed = true;
  std::snprintf(with_detail, sizeof with_detail, "%s (%s)", e->words, reason.detail.c_str());
  return with_detail;
}
