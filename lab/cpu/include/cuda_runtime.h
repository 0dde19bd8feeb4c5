#pragma once
// CUDA on the CPU: the CUDA runtime's names for programs that filter/ has prepared, compiled
// by a plain C++ compiler. Results, not speed. What is covered stands in README.md.

#include <cuda_on_cpu/atomic.h>
#include <cuda_on_cpu/device.h>
#include <cuda_on_cpu/error.h>
#include <cuda_on_cpu/launch.h>
#include <cuda_on_cpu/math.h>
#include <cuda_on_cpu/memory.h>
#include <cuda_on_cpu/shared.h>
#include <cuda_on_cpu/stream.h>
#include <cuda_on_cpu/thread.h>
#include <cuda_on_cpu/types.h>
#include <cuda_on_cpu/warp.h>
