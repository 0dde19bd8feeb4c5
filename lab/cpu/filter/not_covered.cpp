#include "not_covered.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace cuda_filter {

namespace {

struct NotCovered {
  std::string_view name;  ///< one that ends in * stands for all that begin so, in < for a template
  const char* what;       ///< what it is
  const char* instead;    ///< what to do instead of running this on a GPU; null: nothing
};

constexpr const char* kTextures = "textures and surfaces";
constexpr const char* kReadArray = "read the array itself";
constexpr const char* kArrays = "arrays and three-dimensional memory";
constexpr const char* kRows = "rows with a pitch";
constexpr const char* kUsePitch = "use cudaMallocPitch and cudaMemcpy2D";
constexpr const char* kFillRows =
    "cudaMemcpy2D copies them, and cudaMemset fills them and what lies between them";
constexpr const char* kAssembly = "inline assembly";
constexpr const char* kInCpp = "write it in C++";
constexpr const char* kGraphs = "building a graph by hand";
constexpr const char* kCapture = "capture a stream instead";
constexpr const char* kHostFunctions = "host functions in a stream";
constexpr const char* kCallIt = "synchronise and call the function";
constexpr const char* kLaunchEx = "launches with attributes";
constexpr const char* kPlainLaunch = "launch with <<<...>>> or cudaLaunchKernel";
constexpr const char* kRegister = "pinning memory that already exists";
constexpr const char* kCub = "this part of CUB";
constexpr const char* kOldWarp = "warp functions without a mask";
constexpr const char* kSync = "use the one that ends in _sync";

// To add a name, add a line.
constexpr NotCovered kNotCovered[] = {
    {"asm", kAssembly, kInCpp},
    {"__asm__", kAssembly, kInCpp},
    {"__asm", kAssembly, kInCpp},
    {"texture<", kTextures, kReadArray},
    {"tex1D*", kTextures, kReadArray},
    {"tex2D*", kTextures, kReadArray},
    {"tex3D*", kTextures, kReadArray},
    {"texCubemap*", kTextures, kReadArray},
    {"surface<", kTextures, kReadArray},
    {"surf1D*", kTextures, kReadArray},
    {"surf2D*", kTextures, kReadArray},
    {"surf3D*", kTextures, kReadArray},
    {"surfCubemap*", kTextures, kReadArray},
    {"cudaTextureObject_t", kTextures, kReadArray},
    {"cudaSurfaceObject_t", kTextures, kReadArray},
    {"cudaCreateTextureObject*", kTextures, kReadArray},
    {"cudaCreateSurfaceObject*", kTextures, kReadArray},
    {"cudaArray_t", kArrays, kUsePitch},
    {"cudaMalloc3D*", kArrays, kUsePitch},
    {"cudaMallocArray*", kArrays, kUsePitch},
    {"cudaMemcpy2DArray*", kArrays, kUsePitch},
    {"cudaMemcpy2DAsync*", kRows, kFillRows},
    {"cudaMemcpy2DFrom*", kArrays, kUsePitch},
    {"cudaMemcpy2DTo*", kArrays, kUsePitch},
    {"cudaMemcpy3D*", kArrays, kUsePitch},
    {"cudaMemset2D*", kRows, kFillRows},
    {"cudaMemset3D*", kArrays, kUsePitch},
    {"__cluster_dims__", "thread-block clusters", nullptr},
    {"this_cluster", "thread-block clusters", nullptr},
    {"this_multi_grid", "grids on several GPUs", nullptr},
    {"cudaLaunchDevice*", "launches from a kernel", "launch from the host"},
    {"cudaLaunchKernelEx*", kLaunchEx, kPlainLaunch},
    {"cudaLaunchConfig_t", kLaunchEx, kPlainLaunch},
    {"cudaLaunchAttribute*", kLaunchEx, kPlainLaunch},
    {"coalesced_threads", "a group of the threads that arrive together", "use tiled_partition"},
    {"labeled_partition", "groups of threads by a label", "use tiled_partition"},
    {"nvcuda", "tensor cores (wmma)", "multiply in plain C++"},
    {"cuda::atomic", "atomic variables", "use cuda::atomic_ref"},
    {"cuda::atomic_thread_fence", "this fence", "use __threadfence"},
    {"cudaHostRegister", kRegister, "use cudaMallocHost"},
    {"cudaHostUnregister", kRegister, "use cudaMallocHost"},
    {"cudaIpc*", "memory shared between processes", nullptr},
    {"cudaGraphAdd*", kGraphs, kCapture},
    {"cudaGraphCreate", kGraphs, kCapture},
    {"cudaGraphExecKernelNode*", kGraphs, kCapture},
    {"cudaGraphExecMem*", kGraphs, kCapture},
    {"cudaGraphKernelNode*", kGraphs, kCapture},
    {"cudaStreamAddCallback*", kHostFunctions, kCallIt},
    {"cudaLaunchHostFunc*", kHostFunctions, kCallIt},
    {"cub::BlockAdjacent*", kCub, nullptr},
    {"cub::BlockDiscontinuity", kCub, nullptr},
    {"cub::BlockExchange", kCub, nullptr},
    {"cub::BlockHistogram", kCub, nullptr},
    {"cub::BlockLoad", kCub, nullptr},
    {"cub::BlockMerge*", kCub, nullptr},
    {"cub::BlockRadix*", kCub, nullptr},
    {"cub::BlockScan", kCub, nullptr},
    {"cub::BlockShuffle", kCub, nullptr},
    {"cub::BlockStore", kCub, nullptr},
    {"cub::CachingDeviceAllocator", kCub, nullptr},
    {"cub::CountingInputIterator", kCub, nullptr},
    {"cub::DeviceAdjacent*", kCub, nullptr},
    {"cub::DeviceCopy", kCub, nullptr},
    {"cub::DeviceFor", kCub, nullptr},
    {"cub::DeviceHistogram", kCub, nullptr},
    {"cub::DeviceMe*", kCub, nullptr},
    {"cub::DevicePartition", kCub, nullptr},
    {"cub::DeviceRadix*", kCub, nullptr},
    {"cub::DeviceRunLength*", kCub, nullptr},
    {"cub::DeviceScan", kCub, nullptr},
    {"cub::DeviceSegmented*", kCub, nullptr},
    {"cub::DeviceSelect", kCub, nullptr},
    {"cub::DeviceTransform", kCub, nullptr},
    {"cub::TransformInputIterator", kCub, nullptr},
    {"cub::WarpExchange", kCub, nullptr},
    {"cub::WarpLoad", kCub, nullptr},
    {"cub::WarpMerge*", kCub, nullptr},
    {"cub::WarpScan", kCub, nullptr},
    {"cub::WarpStore", kCub, nullptr},
    {"__shfl", kOldWarp, kSync},
    {"__shfl_up", kOldWarp, kSync},
    {"__shfl_down", kOldWarp, kSync},
    {"__shfl_xor", kOldWarp, kSync},
    {"__ballot", kOldWarp, kSync},
    {"__match_any_sync", "a vote by value", nullptr},
    {"__match_all_sync", "a vote by value", nullptr},
    {"__reduce_add_sync", "this warp reduction", "use __shfl_xor_sync"},
    {"__reduce_max_sync", "this warp reduction", "use __shfl_xor_sync"},
    {"__reduce_min_sync", "this warp reduction", "use __shfl_xor_sync"},
    {"clock64", "clocks of a multiprocessor", nullptr},
    {"__nanosleep", "sleep in a kernel", nullptr},
    {"__trap", "a kernel that stops itself", nullptr},
    {"__maxnreg__", "a limit on registers", nullptr},
};

// Calls of CUDA's runtime that need no words of their own. A * is as above.
constexpr std::string_view kCalls[] = {
    "cudaArrayGet*",
    "cudaBindTexture*",
    "cudaChooseDevice*",
    "cudaCreateChannel*",
    "cudaCtxReset*",
    "cudaD3D*",
    "cudaDestroyExternal*",
    "cudaDestroySurface*",
    "cudaDestroyTexture*",
    "cudaDeviceCan*",
    "cudaDeviceDisable*",
    "cudaDeviceEnable*",
    "cudaDeviceFlush*",
    "cudaDeviceGetBy*",
    "cudaDeviceGetCache*",
    "cudaDeviceGetDefault*",
    "cudaDeviceGetGraph*",
    "cudaDeviceGetHost*",
    "cudaDeviceGetLimit*",
    "cudaDeviceGetMem*",
    "cudaDeviceGetNv*",
    "cudaDeviceGetP*",
    "cudaDeviceGetShared*",
    "cudaDeviceGetTexture*",
    "cudaDeviceGraph*",
    "cudaDeviceRegister*",
    "cudaDeviceSet*",
    "cudaDeviceUnregister*",
    "cudaEventRecordWith*",
    "cudaExternalMemory*",
    "cudaFreeArray*",
    "cudaFreeMipmapped*",
    "cudaFuncGet*",
    "cudaFuncSetCache*",
    "cudaFuncSetShared*",
    "cudaGL*",
    "cudaGetChannel*",
    "cudaGetDeviceFlags*",
    "cudaGetDriver*",
    "cudaGetExport*",
    "cudaGetFunc*",
    "cudaGetKernel*",
    "cudaGetMipmapped*",
    "cudaGetSurface*",
    "cudaGetTexture*",
    "cudaGraphChild*",
    "cudaGraphClone*",
    "cudaGraphConditional*",
    "cudaGraphDebug*",
    "cudaGraphDestroyNode*",
    "cudaGraphEvent*",
    "cudaGraphExecChild*",
    "cudaGraphExecEvent*",
    "cudaGraphExecExternal*",
    "cudaGraphExecGet*",
    "cudaGraphExecHost*",
    "cudaGraphExecNode*",
    "cudaGraphExternal*",
    "cudaGraphGetEdges*",
    "cudaGraphGetRoot*",
    "cudaGraphHost*",
    "cudaGraphInstantiateWithParams*",
    "cudaGraphMem*",
    "cudaGraphNode*",
    "cudaGraphRelease*",
    "cudaGraphRemove*",
    "cudaGraphRetain*",
    "cudaGraphics*",
    "cudaHostGet*",
    "cudaImportExternal*",
    "cudaInitDevice*",
    "cudaKernelSet*",
    "cudaLibrary*",
    "cudaLogs*",
    "cudaMallocFrom*",
    "cudaMallocMipmapped*",
    "cudaMemAttachSingle*",
    "cudaMemDiscard*",
    "cudaMemGetDefault*",
    "cudaMemGetMem*",
    "cudaMemPool*",
    "cudaMemPrefetchBatch*",
    "cudaMemRange*",
    "cudaMemSetMemPool",
    "cudaMemcpyArray*",
    "cudaMemcpyBatch*",
    "cudaMemcpyFromArray*",
    "cudaMemcpyFromSymbolAsync*",
    "cudaMemcpyPeer*",
    "cudaMemcpyToArray*",
    "cudaMemcpyToSymbolAsync*",
    "cudaMipmappedArray*",
    "cudaOccupancyAvailable*",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWith*",
    "cudaOccupancyMaxActiveClusters*",
    "cudaOccupancyMaxPotentialBlockSizeVariable*",
    "cudaOccupancyMaxPotentialBlockSizeWith*",
    "cudaOccupancyMaxPotentialCluster*",
    "cudaPointerGet*",
    "cudaSetDeviceFlags*",
    "cudaSetValid*",
    "cudaSignalExternal*",
    "cudaStreamAttach*",
    "cudaStreamBeginCaptureTo*",
    "cudaStreamCopy*",
    "cudaStreamGet*",
    "cudaStreamIs*",
    "cudaStreamSet*",
    "cudaStreamUpdate*",
    "cudaThread*",
    "cudaUnbindTexture*",
    "cudaUserObject*",
    "cudaVD*",
    "cudaWaitExternal*",
};

// Headers of NVIDIA: those that begin so are not covered ...
constexpr std::string_view kHeaders[] = {"cooperative_groups/",
                                         "cub/",
                                         "cublas",
                                         "cuComplex",
                                         "cuda.h",
                                         "cuda/",
                                         "cuda_awbarrier",
                                         "cuda_bf16",
                                         "cuda_device_runtime",
                                         "cuda_egl",
                                         "cuda_fp",
                                         "cuda_gl_interop",
                                         "cuda_occupancy",
                                         "cudaGL",
                                         "cudaProfiler",
                                         "cudaTypedefs",
                                         "cudnn",
                                         "cufft",
                                         "cupti",
                                         "curand",
                                         "cusolver",
                                         "cusparse",
                                         "cutlass/",
                                         "device_atomic_functions",
                                         "device_functions",
                                         "driver_types",
                                         "math_constants",
                                         "mma.h",
                                         "nv/",
                                         "nvJitLink",
                                         "nvrtc",
                                         "surface_",
                                         "texture_",
                                         "thrust/",
                                         "vector_functions",
                                         "vector_types"};
// ... but for these.
constexpr std::string_view kCoveredHeaders[] = {"cooperative_groups.h",
                                                "cooperative_groups/reduce.h",
                                                "cub/block/block_reduce.cuh",
                                                "cub/cub.cuh",
                                                "cub/device/device_reduce.cuh",
                                                "cub/operators.cuh",
                                                "cub/warp/warp_reduce.cuh",
                                                "cuda/atomic",
                                                "cuda/functional",
                                                "cuda/std/functional",
                                                "cuda.h",
                                                "cuda_pipeline.h",
                                                "cuda_pipeline_primitives.h",
                                                "cuda_profiler_api.h",
                                                "cuda_runtime.h",
                                                "cuda_runtime_api.h",
                                                "device_launch_parameters.h",
                                                "vector_functions.h",
                                                "vector_types.h"};

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
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
  return begins_with(tokens[k].text, name);
}

/// What it is, with its name, and what to do; empty where it is covered.
std::string find_words(const Tokens& tokens, std::size_t k) {
  const std::string name(tokens[k].text);
  for (const NotCovered& entry : kNotCovered) {
    if (!matches(tokens, k, entry.name)) continue;
    return std::string(entry.what) + " (" + name +
           "): " + (entry.instead ? std::string(entry.instead) + ", or run" : "run") +
           " this on a GPU";
  }
  for (const std::string_view entry : kCalls) {
    if (matches(tokens, k, entry)) return name + ": run this on a GPU";
  }
  return "";
}

/// Once for each thing, whatever names it has: it may come in many lines.
void complain(int line, const std::string& words, Changes* changes) {
  const std::string thing = words.substr(0, words.find(" ("));
  const auto same = [&](const Error& error) { return begins_with(error.words, thing); };
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

void find_header_not_covered(const std::string& source, const Tokens& directive,
                             const std::string& folder, Changes* changes) {
  if (!is(directive, 1, "include") || directive.size() < 3) return;
  const bool quoted = directive[2].kind == Kind::kString;
  if (!quoted && directive[2].text != "<") return;
  const std::size_t begin = directive[2].offset + 1;
  const std::size_t end = source.find_first_of(quoted ? "\"\n" : ">\n", begin);
  if (end == std::string::npos) return;
  const std::string header = source.substr(begin, end - begin);
  std::error_code error;
  if (quoted && std::filesystem::exists(std::filesystem::path(folder) / header, error)) return;
  for (const std::string_view covered : kCoveredHeaders) {
    if (header == covered) return;
  }
  for (const std::string_view start : kHeaders) {
    if (!begins_with(header, start)) continue;
    return complain(directive[2].line, does_not_cover("<" + header + ">: run this on a GPU"),
                    changes);
  }
}

}  // namespace cuda_filter
