// threadIdx, blockIdx, blockDim, gridDim, warpSize; dim3 and its members.

#include "check.h"

#include <vector>

struct Seen {
  int times;
  uint3 thread, block;
  dim3 block_shape, grid_shape;
  int warp;
};

__global__ void note_kernel(Seen* seen) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  Seen& s = seen[block * (blockDim.x * blockDim.y * blockDim.z) + thread];
  ++s.times;
  s.thread = threadIdx;
  s.block = blockIdx;
  s.block_shape = blockDim;
  s.grid_shape = gridDim;
  s.warp = warpSize;
}

bool same(uint3 a, uint3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void shape(dim3 grid, dim3 block) {
  const int blocks = grid.x * grid.y * grid.z, threads = block.x * block.y * block.z;
  Array<Seen> seen(blocks * threads);
  note_kernel<<<grid, block>>>(seen.data());
  FINISHED();
  int k = 0;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        for (unsigned tz = 0; tz < block.z; ++tz) {
          for (unsigned ty = 0; ty < block.y; ++ty) {
            for (unsigned tx = 0; tx < block.x; ++tx) {
              const Seen& s = seen[k++];
              CHECK_EQUAL(s.times, 1);
              CHECK(same(s.thread, make_uint3(tx, ty, tz)));
              CHECK(same(s.block, make_uint3(x, y, z)));
              CHECK(same(s.block_shape, block) && same(s.grid_shape, grid));
              CHECK_EQUAL(s.warp, 32);
            }
          }
        }
      }
    }
  }
}

__global__ void last_block_kernel(unsigned* highest) {
  atomicMax(&highest[0], blockIdx.x);
  atomicMax(&highest[1], blockIdx.y);
  atomicMax(&highest[2], blockIdx.z);
}

void large_grids() {
  Array<unsigned> highest(3);
  last_block_kernel<<<dim3(70000), 1>>>(highest.data());
  FINISHED();
  CHECK_EQUAL(highest[0], 69999);
  last_block_kernel<<<dim3(1, 65535), 1>>>(highest.data());
  FINISHED();
  CHECK_EQUAL(highest[1], 65534);
  last_block_kernel<<<dim3(1, 1, 65535), 1>>>(highest.data());
  FINISHED();
  CHECK_EQUAL(highest[2], 65534);
}

// A stride of the whole grid: every point once, whatever the grid.
__global__ void stride_kernel(int* times, int n) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
    ++times[k];
  }
}

void grid_stride() {
  Array<int> times(1003);
  stride_kernel<<<3, 96>>>(times.data(), 1003);
  FINISHED();
  for (int k = 0; k < 1003; ++k) CHECK_EQUAL(times[k], 1);
}

// Each thread has a point of each side: the corners are written twice, with the same value.
__global__ void sides_kernel(int* field, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  field[k] = k;
  field[(n - 1) * n + k] = k + n - 1;
  field[k * n] = k;
  field[k * n + n - 1] = k + n - 1;
}

void corners() {
  Array<int> field(100 * 100);
  sides_kernel<<<4, 32>>>(field.data(), 100);
  FINISHED();
  CHECK_EQUAL(field[99], 99);
  CHECK_EQUAL(field[9999], 198);
}

void members() {
  const dim3 none;
  CHECK(none.x == 1 && none.y == 1 && none.z == 1);
  const dim3 two(4, 5);
  CHECK(two.x == 4 && two.y == 5 && two.z == 1);
  dim3 three{6, 7, 8};
  three.y = 9;
  CHECK(three.x == 6 && three.y == 9 && three.z == 8);
  const uint3 as_uint3 = three;
  CHECK(same(as_uint3, make_uint3(6, 9, 8)));
  const dim3 back = as_uint3;
  CHECK(same(back, three));
}

int main() {
  shape(1, 1);
  shape(3, 37);
  shape({2, 3}, {7, 5});
  shape({2, 1, 3}, {3, 4, 5});
  shape({1, 2}, {1, 2, 64});
  large_grids();
  grid_stride();
  corners();
  members();
  return result();
}
