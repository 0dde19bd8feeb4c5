// expect: graph_unmade.cu:@launch: cudaGraphLaunch\(exec, nullptr\): .*\(cudaGraphInstantiate did
//         not create it\)

#include <check.h>

int main() {
  int no_graph = 0;
  const auto exec = reinterpret_cast<cudaGraphExec_t>(&no_graph);
  CUDA_CHECK(cudaGraphLaunch(exec, nullptr));  // @launch
  return 0;
}
