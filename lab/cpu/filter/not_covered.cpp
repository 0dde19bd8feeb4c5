#include "rewrite.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

namespace cuda_filter {

namespace {

struct NotCovered {
  std::string_view names;  ///< one that ends in * stands for all that begin so, in < for a template
  const char* what;        ///< what it is; null: its name says so
  const char* instead;     ///< what to do instead of running this on a GPU; null: nothing
};

// To add a name, add a word.
// clang-format off
constexpr NotCovered kNotCovered[] = {
    {"asm __asm__ __asm", "inline assembly", "write it in C++"},
    {"texture< tex1D* tex2D* tex3D* texCubemap* surface< surf1D* surf2D* surf3D* surfCubemap* "
     "cudaTextureObject_t cudaSurfaceObject_t cudaCreateTextureObject* cudaCreateSurfaceObject*",
     "textures and surfaces", "read the array itself"},
    {"cudaArray_t cudaMalloc3D* cudaMallocArray* cudaMemcpy2DArray* cudaMemcpy2DFrom* "
     "cudaMemcpy2DTo* cudaMemcpy3D* cudaMemset3D*",
     "arrays and three-dimensional memory", "use cudaMallocPitch and cudaMemcpy2D"},
    {"cudaMemset2D*", "rows with a pitch", "cudaMemset fills them and what lies between them"},
    {"__cluster_dims__ this_cluster", "thread-block clusters", nullptr},
    {"this_multi_grid", "grids on several GPUs", nullptr},
    {"cudaLaunchDevice*", "launches from a kernel", "launch from the host"},
    {"cudaLaunchKernelEx* cudaLaunchConfig_t cudaLaunchAttribute*",
     "launches with attributes", "launch with <<<...>>> or cudaLaunchKernel"},
    {"coalesced_threads", "a group of the threads that arrive together", "use tiled_partition"},
    {"labeled_partition", "groups of threads by a label", "use tiled_partition"},
    {"nvcuda", "tensor cores (wmma)", "multiply in plain C++"},
    {"cuda::atomic", "atomic variables", "use cuda::atomic_ref"},
    {"cuda::atomic_thread_fence", "this fence", "use __threadfence"},
    {"atomicAnd* atomicOr* atomicXor* atomicDec*", "this atomic function", "use atomicCAS"},
    {"__popcll __clzll __ffsll __brev* __fdividef __saturatef norm3d*", "this function", nullptr},
    {"cudaMallocAsync cudaFreeAsync", "memory in the order of a stream", "use cudaMalloc"},
    {"cudaHostRegister cudaHostUnregister",
     "pinning memory that already exists", "use cudaMallocHost"},
    {"cudaIpc*", "memory shared between processes", nullptr},
    {"cudaGraphAdd* cudaGraphCreate cudaGraphExecKernelNode* cudaGraphExecMem* "
     "cudaGraphKernelNode*",
     "building a graph by hand", "capture a stream instead"},
    {"cudaStreamAddCallback* cudaLaunchHostFunc*",
     "host functions in a stream", "synchronise and call the function"},
    {"cub::BlockExchange cub::BlockLoad cub::BlockRadix* cub::BlockScan cub::BlockStore "
     "cub::CountingInputIterator cub::DeviceFor cub::DeviceRadix* cub::DeviceScan "
     "cub::DeviceSegmented* cub::DeviceSelect cub::DeviceTransform cub::TransformInputIterator "
     "cub::WarpScan",
     "this part of CUB", nullptr},
    {"__shfl __shfl_up __shfl_down __shfl_xor __ballot",
     "warp functions without a mask, as nvcc does not", "use the one that ends in _sync"},
    {"__activemask", "the lanes that happen to run together", "name them: 0xffffffff is all"},
    {"__match_any_sync __match_all_sync", "a vote by value", nullptr},
    {"__reduce_add_sync __reduce_max_sync __reduce_min_sync",
     "this warp reduction", "use __shfl_xor_sync"},
    {"cudaStreamPerThread cudaStreamLegacy", "streams that no call creates", "create one"},
    {"ncclAvg", "averages by NCCL", "sum and divide"},
    {"ncclReduce ncclReduceScatter ncclBroadcast ncclBcast ncclAllGather",
     "this call of NCCL", "use ncclAllReduce: every rank gets the sum"},
    {"nvtxDomain* nvtxRangeStart* nvtxMark*",
     "this part of NVTX", "use nvtxRangePush and nvtxRangePop"},
    {"clock64", "clocks of a multiprocessor", nullptr},
    {"__nanosleep", "sleep in a kernel", nullptr},
    {"__trap", "a kernel that stops itself", nullptr},
    {"__maxnreg__", "a limit on registers", nullptr},
    // Calls of CUDA's runtime that need no words of their own.
    {"cudaChooseDevice* cudaDeviceCan* cudaDeviceEnable* cudaDeviceGetCache* cudaDeviceGetLimit* "
     "cudaDeviceGetMem* cudaDeviceGetP* cudaDeviceSet* cudaEventRecordWith* cudaFuncGet* "
     "cudaFuncSetCache* cudaFuncSetShared* cudaGetDeviceFlags* cudaGetSymbol* cudaGraphClone* "
     "cudaGraphConditional* cudaGraphDebug* cudaGraphExecGet* cudaGraphGet* "
     "cudaGraphInstantiateWithParams* cudaGraphMem* cudaGraphNode* cudaHostGet* cudaInitDevice* "
     "cudaMemPool* cudaMemRange* cudaMemcpyFromSymbolAsync* cudaMemcpyPeer* "
     "cudaMemcpyToSymbolAsync* cudaOccupancyAvailable* cudaOccupancyMaxPotential* cudaPointerGet* "
     "cudaSetDeviceFlags* cudaStreamAttach* cudaStreamBeginCaptureTo* cudaStreamGet* cudaStreamIs* "
     "cudaStreamSet* cudaThread*",
     nullptr, nullptr},
};
// clang-format on

// Headers of NVIDIA: those that begin so are not covered ...
constexpr std::string_view kHeaders = R"(
cooperative_groups/ cub/ cublas cuComplex cuda.h cuda/ cuda_awbarrier cuda_bf16
cuda_device_runtime cuda_egl cuda_fp cuda_gl_interop cuda_occupancy cudaGL cudaProfiler
cudaTypedefs cudnn cufft cupti curand cusolver cusparse cutlass/ device_atomic_functions
device_functions driver_types math_constants mma.h nv/ nvJitLink nvrtc surface_ texture_ thrust/
vector_functions vector_types)";
// ... but for those that stand here.
const std::filesystem::path kOwnHeaders = CUDA_ON_CPU_HEADERS;

/// Whether `test` is true of one of the words of a list.
template <class Test>
bool any_word(std::string_view list, Test test) {
  std::istringstream words{std::string(list)};
  return std::any_of(std::istream_iterator<std::string>(words), {}, test);
}

bool matches(const Tokens& tokens, std::size_t k, std::string_view name) {
  if (const std::size_t scope = name.find("::"); scope != std::string_view::npos) {
    if (k < 2 || !is(tokens, k - 1, "::") || !is(tokens, k - 2, name.substr(0, scope)))
      return false;
    name.remove_prefix(scope + 2);
  }
  const char last = name.back();
  if (last != '*' && last != '<') return tokens[k].text == name;
  name.remove_suffix(1);
  if (last == '<') return tokens[k].text == name && is(tokens, k + 1, "<");
  return tokens[k].text.rfind(name, 0) == 0;
}

/// What it is, with its name, and what to do; empty if it is covered.
std::string find_words(const Tokens& tokens, std::size_t k) {
  const std::string name(tokens[k].text);
  for (const NotCovered& entry : kNotCovered) {
    const auto is_it = [&](std::string_view word) { return matches(tokens, k, word); };
    if (!any_word(entry.names, is_it)) continue;
    return (entry.what ? std::string(entry.what) + " (" + name + ")" : name) + ": " +
           (entry.instead ? std::string(entry.instead) + ", or run" : "run") + " this on a GPU";
  }
  return "";
}

/// Once for each thing, whatever names it has: it may come in many lines.
void complain(int line, const std::string& words, Changes* changes) {
  const std::string thing = words.substr(0, words.find(" ("));
  const auto same = [&](const Error& error) { return error.words.rfind(thing, 0) == 0; };
  if (std::any_of(changes->errors.begin(), changes->errors.end(), same)) return;
  changes->errors.push_back({line, words});
}

}  // namespace

std::string does_not_cover(const std::string& what) {
  return "CUDA on the CPU does not cover " + what + " (" CUDA_ON_CPU_FOLDER "/README.md)";
}

void find_not_covered(const Tokens& tokens, Changes* changes) {
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const bool is_member = k > 0 && (is(tokens, k - 1, ".") || is(tokens, k - 1, "->"));
    if (tokens[k].kind != Kind::kIdentifier || is_member) continue;
    const std::string words = find_words(tokens, k);
    if (!words.empty()) complain(tokens[k].line, does_not_cover(words), changes);
  }
}

void find_header_not_covered(const Tokens& directive, const std::string& folder, Changes* changes) {
  const std::string header = included_header(directive);
  if (header.empty()) return;
  std::error_code error;
  if (!is(directive, 2, "<") &&
      std::filesystem::exists(std::filesystem::path(folder) / header, error)) {
    return;
  }
  const auto begins_so = [&](std::string_view start) { return header.rfind(start, 0) == 0; };
  if (!any_word(kHeaders, begins_so)) return;
  if (std::filesystem::exists(kOwnHeaders / header, error)) return;
  complain(directive[2].line, does_not_cover("<" + header + ">: run this on a GPU"), changes);
}

}  // namespace cuda_filter
