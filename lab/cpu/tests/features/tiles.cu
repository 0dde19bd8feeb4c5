// Tiles of a warp, of every size: their ranks, shuffles, votes and sums.

#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 96;

struct Seen {
  int rank, group, groups, from_first, from_next, from_before, exchanged, sum, least, most, votes;
  bool any, all;
};

template <unsigned Size>
__global__ void tiles_kernel(Seen* seen) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<Size>(block);
  const int k = static_cast<int>(block.thread_rank());
  Seen& mine = seen[k];
  mine.rank = static_cast<int>(tile.thread_rank());
  mine.group = static_cast<int>(tile.meta_group_rank());
  mine.groups = static_cast<int>(tile.meta_group_size());
  mine.from_first = tile.shfl(k, 0);
  mine.from_next = tile.shfl_down(k, 1);
  mine.from_before = tile.shfl_up(k, 1);
  mine.exchanged = tile.shfl_xor(k, Size / 2);
  tile.sync();
  mine.sum = cg::reduce(tile, k, cg::plus<int>());
  mine.least = cg::reduce(tile, k, cg::less<int>());
  mine.most = cg::reduce(tile, k, cg::greater<int>());
  mine.votes = static_cast<int>(tile.ballot(tile.thread_rank() == 0));
  mine.any = tile.any(k == 5);
  mine.all = tile.all(k < 64);
}

template <unsigned Size>
void tiles() {
  Array<Seen> seen(kThreads);
  tiles_kernel<Size><<<1, kThreads>>>(seen.data());
  FINISHED();
  const int size = Size;
  for (int k = 0; k < kThreads; ++k) {
    const Seen& s = seen[k];
    const int first = k / size * size, last = first + size - 1;
    CHECK_EQUAL(s.rank, k - first);
    CHECK_EQUAL(s.group, k / size);
    CHECK_EQUAL(s.groups, kThreads / size);
    CHECK_EQUAL(s.from_first, first);
    CHECK_EQUAL(s.from_next, k < last ? k + 1 : k);
    CHECK_EQUAL(s.from_before, k > first ? k - 1 : k);
    CHECK_EQUAL(s.exchanged, first + ((k - first) ^ (size / 2)));
    CHECK_EQUAL(s.sum, size * (first + last) / 2);
    CHECK_EQUAL(s.least, first);
    CHECK_EQUAL(s.most, last);
    CHECK_EQUAL(s.votes, 1);
    CHECK_EQUAL(s.any, first <= 5 && 5 <= last);
    CHECK_EQUAL(s.all, first < 64);
  }
}

// Some tiles of a warp go another way than the others; and a tile of a tile.
__global__ void apart_kernel(double* out) {
  const auto half = cg::tiled_partition<16>(cg::this_thread_block());
  const auto quarter = cg::tiled_partition<8>(half);
  double value = 0.5 * threadIdx.x;
  if (half.meta_group_rank() == 1) {
    value = cg::reduce(half, value, cg::plus<double>());
  } else {
    value = -cg::reduce(quarter, value, cg::plus<double>());
  }
  out[threadIdx.x] = value;
}

int main() {
  tiles<1>();
  tiles<2>();
  tiles<4>();
  tiles<8>();
  tiles<16>();
  tiles<32>();
  Array<double> out(32);
  apart_kernel<<<1, 32>>>(out.data());
  FINISHED();
  for (int k = 0; k < 32; ++k) CHECK_EQUAL(out[k], k < 8 ? -14.0 : k < 16 ? -46.0 : 188.0);
  return result();
}
