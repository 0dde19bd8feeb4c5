#pragma once

#include "regions.h"
#include "rewrite.h"

namespace cuda_filter {

/// __shared__ T a[4];        becomes a SharedVariable<T[4]>, which each block has one of
/// extern __shared__ T a[];  becomes a pointer to the shared memory that the launch asked for
void rewrite_shared_memory(const Regions& regions, Changes* changes);

}  // namespace cuda_filter
