#pragma once
// Asynchronous copies from global to shared memory (cp.async). A copy is made as late as CUDA
// allows: when the thread waits for it. So a missing wait shows.

#include <cuda_pipeline_primitives.h>
