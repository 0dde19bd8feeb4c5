// What the GPU can do at most: what every step's time is told against.
//
// Without options, for the programs that need one number: copies arrays far larger than any cache,
// in each way, and prints lines with tabs: the way (the best are copy_library, cudaMemcpy, and
// copy_float4, a kernel), median GB/s, first and third quartile, samples. With --results all that
// `make bandwidth` shows. Bytes are counted as read plus written, 1 GB = 10^9 bytes; times are CUDA
// events around each copy. Both are in ceilings.cu.

#include <string>

#include <lab/command_line.h>

#include "bandwidth.h"

constexpr const char* kHelp =
    "bandwidth: the copy bandwidth of the GPU, as tab-separated lines\n"
    "bandwidth --results DIR: copies of many sizes and launch shapes, transfers between host and\n"
    "    GPU, the caches, arithmetic; as tables, and as DIR/bandwidth.tsv\n\n"
    "  --help               print this\n\n"
    "exit codes: 0 measured, 2 bad usage, 3 a CUDA error or a wrong result, 4 cannot write,\n"
    "            5 does not fit in memory, 77 no usable GPU\n";

int main(int argc, char** argv) {
  std::string results;
  lab::CommandLine line("bandwidth", kHelp);
  line.path("--results", &results);
  line.read(argc, argv);
  measure_ceilings(results);
}
