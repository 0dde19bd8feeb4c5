#pragma once

#include <cuda_on_cpu/device.h>

#include <cstddef>

namespace cuda_on_cpu {

/// The most dynamic shared memory that a launch may ask for now.
std::size_t allowed_shared_bytes();

}  // namespace cuda_on_cpu
