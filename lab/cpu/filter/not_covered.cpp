#include "not_covered.h"

namespace cuda_filter {

namespace {

struct NotCovered {
  std::string_view name;  ///< one that ends in * stands for all that begin so, in < for a template
  const char* words;      ///< what it is, and what to do instead
};

constexpr const char* kTextures =
    "textures and surfaces: read the array itself, or run this on a GPU";
constexpr const char* kArrays =
    "arrays and three-dimensional memory: use cudaMallocPitch and cudaMemcpy2D, or run this on a "
    "GPU";
constexpr const char* kRows =
    "rows with a pitch: cudaMemcpy2D copies them, and cudaMemset fills them and what lies between "
    "them; or run this on a GPU";
constexpr const char* kAssembly = "inline assembly: write it in C++, or run this on a GPU";
constexpr const char* kGraphs =
    "building a graph by hand: capture a stream instead, or run this on a GPU";
constexpr const char* kHostFunctions =
    "host functions in a stream: synchronise and call the function, or run this on a GPU";

// To add a name, add a line.
constexpr NotCovered kNotCovered[] = {
    {"asm", kAssembly},
    {"__asm__", kAssembly},
    {"__asm", kAssembly},
    {"texture<", kTextures},
    {"tex1D*", kTextures},
    {"tex2D*", kTextures},
    {"tex3D*", kTextures},
    {"texCubemap*", kTextures},
    {"surface<", kTextures},
    {"surf1D*", kTextures},
    {"surf2D*", kTextures},
    {"surf3D*", kTextures},
    {"surfCubemap*", kTextures},
    {"cudaCreateTextureObject*", kTextures},
    {"cudaCreateSurfaceObject*", kTextures},
    {"cudaMalloc3D*", kArrays},
    {"cudaMallocArray*", kArrays},
    {"cudaMemcpy2DArray*", kArrays},
    {"cudaMemcpy2DAsync*", kRows},
    {"cudaMemcpy2DFrom*", kArrays},
    {"cudaMemcpy2DTo*", kArrays},
    {"cudaMemcpy3D*", kArrays},
    {"cudaMemset2D*", kRows},
    {"cudaMemset3D*", kArrays},
    {"__cluster_dims__", "thread-block clusters: run this on a GPU"},
    {"cudaLaunchDevice*", "launches from a kernel: launch from the host, or run this on a GPU"},
    {"coalesced_threads",
     "a group of the threads that come by together: use tiled_partition, or run this on a GPU"},
    {"nvcuda", "tensor cores (wmma): multiply in plain C++, or run this on a GPU"},
    {"cudaIpc*", "memory shared between processes: run this on a GPU"},
    {"cudaGraphAdd*", kGraphs},
    {"cudaGraphCreate", kGraphs},
    {"cudaGraphExecKernelNode*", kGraphs},
    {"cudaGraphExecMem*", kGraphs},
    {"cudaGraphKernelNode*", kGraphs},
    {"cudaStreamAddCallback*", kHostFunctions},
    {"cudaLaunchHostFunc*", kHostFunctions},
};

bool matches(const Tokens& tokens, std::size_t k, std::string_view name) {
  const char last = name.back();
  if (last != '*' && last != '<') return tokens[k].text == name;
  name.remove_suffix(1);
  if (last == '<') return tokens[k].text == name && is(tokens, k + 1, "<");
  return tokens[k].text.substr(0, name.size()) == name;
}

}  // namespace

void find_not_covered(const Tokens& tokens, Changes* changes) {
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const bool is_member = k > 0 && (is(tokens, k - 1, ".") || is(tokens, k - 1, "->"));
    if (tokens[k].kind != Kind::kIdentifier || is_member) continue;
    for (const NotCovered& entry : kNotCovered) {
      if (!matches(tokens, k, entry.name)) continue;
      changes->errors.push_back(
          {tokens[k].line, std::string(tokens[k].text) + ": " + entry.words +
                               " (CUDA on the CPU does not cover it: lab/cpu/README.md)"});
      break;
    }
  }
}

}  // namespace cuda_filter
