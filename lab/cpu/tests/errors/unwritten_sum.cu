// expect: unwritten_sum.cu:@read: reads global memory that nothing has written \(kernel launched at
//         line @launch, block \(0,0,0\), thread \(0,0,0\)\)
// variant: watched

#include <check.h>

// The sum is never set to 0. To add to it does no harm yet.
__global__ void add_kernel(double* sum) { atomicAdd(sum, 1.0); }
__global__ void read_kernel(double* sum) { sum[1] = sum[0]; }  // @read

int main() {
  double* sum;
  CUDA_CHECK(cudaMalloc(&sum, 2 * sizeof *sum));
  add_kernel<<<1, 1>>>(sum);
  read_kernel<<<1, 1>>>(sum);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
