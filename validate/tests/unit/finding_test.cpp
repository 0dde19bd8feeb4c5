// What CUDA on the CPU says of one access is read, and said again in the words of the program.

#include "explain/finding.h"

#include <string>

#include <gtest/gtest.h>

#include "explain/diagnosis.h"

namespace {

using validate::Finding;
using validate::read_finding;

const std::string kSource =
    "// A comment, void nothing(\n"
    "void allocate_fields(float** f_old, float** f_new, int n) {\n"
    "  CUDA_CHECK(cudaMallocManaged(f_old, bytes));\n"
    "  CUDA_CHECK(cudaMallocManaged(&f_new, bytes));\n"
    "}\n"
    "\n"
    "template <int kSize>\n"
    "__global__ void jacobi_sweep_kernel(float* f_new, const float* f_old, double* sum,\n"
    "                                    int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  const int j = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  const float east = f_old[idx(i + 1, j, n)];  // not f_new[k]\n"
    "  f_new[idx(i, j, n)] = 0.25f * (east + f_old[idx(i, j, n)]);\n"
    "  const float value = 0.25f * east;\n"
    "  if (i >= 0 && i < n) tile[y][x] = f_old[i];\n"
    "}\n"
    "\n"
    "__global__ void __launch_bounds__(kLanes* kWarps)\n"
    "    jacobi_pass_kernel(float* f_new) {\n"
    "  f_new[0] = 1;\n"
    "}\n";

std::string out_of_bounds(int line, const std::string& what, const std::string& place,
                          int allocated_at = 3) {
  return "jacobi.cu:" + std::to_string(line) + ": " + what +
         " the 40000 bytes that cudaMallocManaged gave at line " + std::to_string(allocated_at) +
         " (kernel launched at line 84, block (3,0,0), thread (3,0,0): blockIdx * blockDim + "
         "threadIdx is " +
         place + ")";
}

validate::Diagnosis diagnosis_of(const std::string& words, int step = 4) {
  validate::Patient patient;
  patient.step = step;
  patient.source = kSource;
  return validate::diagnose_finding(read_finding(words), 100, patient);
}

std::string look_at(const validate::Diagnosis& diagnosis) {
  std::string text;
  for (const std::string& line : diagnosis.look_at) text += line + "\n";
  return text;
}

TEST(FindingTest, what_is_no_finding) {
  for (const char* words :
       {"", "done", "12: x", "no usable GPU: none", "n must be at least 3", "jacobi.cu:x: reads",
        "jacobi.cu:0: reads", "n = 100: 3 iterations", "jacobi.cu:72"}) {
    EXPECT_FALSE(read_finding(words).known()) << words;
  }
  const Finding other =
      read_finding("jacobi.cu:72: thread (16,0,0) is not in the mask that it gives");
  EXPECT_EQ(other.kind, Finding::kOther);
  EXPECT_FALSE(diagnosis_of(other.words).known());
}

TEST(FindingTest, an_access_out_of_bounds) {
  const Finding finding =
      read_finding(out_of_bounds(12, "reads just behind the end of", "(99,0,0)"));
  EXPECT_EQ(finding.kind, Finding::kOutOfBounds);
  EXPECT_EQ(finding.line, 12);
  EXPECT_EQ(finding.allocated_at, 3);
  EXPECT_TRUE(finding.has_place);
  EXPECT_EQ(finding.x, 99);
  EXPECT_EQ(finding.y, 0);
  EXPECT_EQ(read_finding("rank 2: " + finding.words).kind, Finding::kOutOfBounds);
  // Of the host, and of shared memory, it is none.
  EXPECT_EQ(read_finding("jacobi.cu:9: host code writes 8 bytes past the end of the 40 bytes that "
                         "cudaMallocManaged gave at line 3")
                .kind,
            Finding::kOther);
}

TEST(FindingTest, a_tile_that_is_too_small) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:15: writes shared memory 4 bytes past the end of a variable (kernel launched at "
      "line 84, block (0,0,0), thread (0,0,0))",
      9);
  EXPECT_EQ(diagnosis.cause, "line 15 writes past the end of tile");
  EXPECT_NE(look_at(diagnosis).find("a halo on both sides"), std::string::npos);
}

TEST(FindingTest, threads_that_do_not_come_to_a_barrier_or_a_shuffle) {
  const auto barrier = diagnosis_of(
      "jacobi.cu:12: barrier not reached by all threads of the block: thread (0,0,0) waits here, "
      "thread (3,0,0) has returned");
  EXPECT_EQ(barrier.cause.find("not all threads of the block come to the barrier at line 12"), 0u);
  const auto shuffle = diagnosis_of(
      "jacobi.cu:12: thread (0,0,0) waits here for the others of its mask, thread (3,0,0) has "
      "returned (kernel launched at line 84, block (3,0,0))");
  EXPECT_EQ(shuffle.cause.find("not all threads of the warp come to the shuffle at line 12"), 0u);
}

TEST(FindingTest, where_a_program_was_that_did_not_end) {
  const auto kernel = diagnosis_of(
      "jacobi.cu:77: still runs here, for 20 s (kernel launched at line 90, block (0,1,0), thread "
      "(8,0,0))");
  EXPECT_EQ(kernel.cause.find("a loop of the kernel around line 77 never ends"), 0u);
  const auto launches = diagnosis_of("jacobi.cu:90: kernels are still launched here");
  EXPECT_EQ(launches.cause, "the loop that launches the kernel of line 90 never ends");
  const auto host = diagnosis_of("jacobi.cu:57: host code still runs here (called at line 120)");
  EXPECT_EQ(host.cause,
            "a loop of the host never ends: one around line 57, or the one in main around line "
            "120");
  const auto main = diagnosis_of("jacobi.cu:120: host code still runs here");
  EXPECT_EQ(main.cause, "a loop of the host never ends: one around line 120");
}

TEST(FindingTest, the_host_that_does_not_wait) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:12: host code reads byte 0 of the 8 bytes that cudaMallocManaged gave at line 4, "
      "and the kernel launched at line 89 may not have ended: wait for it (cudaDeviceSynchronize)");
  EXPECT_EQ(diagnosis.cause.find("at line 12 the host reads "), 0u);
  EXPECT_NE(look_at(diagnosis).find("cudaDeviceSynchronize()"), std::string::npos);
}

TEST(FindingTest, a_field_that_is_freed_twice) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:46: cudaFree(f_new): invalid argument (freed already at jacobi.cu:45) "
      "(cudaErrorInvalidValue)");
  EXPECT_EQ(diagnosis.cause.find("f_new is memory that was freed before"), 0u);
}

TEST(FindingTest, four_floats_at_an_odd_address) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:141: the address of a float4, or another wide type, is not a multiple of its "
      "size, "
      "or is no address (kernel launched at line 176, block (0,0,0), thread (1,0,0))",
      12);
  EXPECT_EQ(diagnosis.cause.find("at line 141 four floats are accessed at once"), 0u);
}

TEST(FindingTest, a_block_of_another_shape) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:93: cub::BlockReduce is made for a block of 128 x 1 x 1 threads, and this one has "
      "32 x 4 x 1 (kernel launched at line 105, block (0,0,0), thread (0,0,0))");
  EXPECT_EQ(diagnosis.cause,
            "at line 93 cub::BlockReduce is made for a block of 128 x 1 x 1 threads, and this one "
            "has 32 x 4 x 1");
}

TEST(FindingTest, two_threads_that_write_one_place) {
  const std::string race =
      "jacobi.cu:13: race in global memory: thread (0,1,0) writes what thread (8,0,0) of block "
      "(0,0,0) wrote at line 13, and no order in between (kernel launched at line 84, block "
      "(1,0,0))";
  const std::string cause = diagnosis_of(race).cause;
  EXPECT_EQ(cause.find("two threads write the same place in "), 0u) << cause;
  EXPECT_NE(cause.find("thread (0,1,0) of block (1,0,0), and thread (8,0,0) of block (0,0,0)"),
            std::string::npos)
      << cause;
}

TEST(FindingTest, the_lines_of_a_race_in_shared_memory) {
  const Finding finding = read_finding(
      "jacobi.cu:95: race in shared memory: thread (0,0,0) reads what thread (31,0,0) changed "
      "atomically at line 93, and no barrier in between (kernel launched at line 105, block "
      "(0,0,0): block_sum)");
  EXPECT_TRUE(finding.shared);
  EXPECT_FALSE(finding.both_write);
  EXPECT_EQ(finding.other_line, 93);
  EXPECT_EQ(finding.what, "block_sum");
  EXPECT_EQ(finding.plain_line, 0);
}

TEST(FindingTest, the_line_of_a_race_that_writes_what_others_change_atomically) {
  const std::string place = "no order in between (kernel launched at line 105, block (0,0,0))";
  const Finding late = read_finding(
      "jacobi.cu:72: race in global memory: thread (0,0,0) writes what thread (0,0,0) of block "
      "(1,0,0) changed atomically at line 97, and " +
      place);
  EXPECT_EQ(late.plain_line, 72);
  const Finding early = read_finding(
      "jacobi.cu:97: race in global memory: thread (0,0,0) changes atomically what thread (0,0,0) "
      "of block (1,0,0) wrote at line 72, and " +
      place);
  EXPECT_EQ(early.plain_line, 72);
  const Finding no_atomic = read_finding(
      "jacobi.cu:97: race in global memory: thread (0,0,0) writes what thread (0,0,0) of block "
      "(1,0,0) wrote at line 97, and " +
      place);
  EXPECT_EQ(no_atomic.plain_line, 0);
}

TEST(FindingTest, a_copy_that_counts_no_bytes) {
  validate::Patient patient;
  patient.step = 10;
  const auto cause = [&](const std::string& bytes) {
    patient.source =
        "// 10\nCUDA_CHECK(cudaMemcpy(f_old, h, " + bytes + ", cudaMemcpyHostToDevice));\n";
    const auto diagnosis = validate::diagnose_finding(
        read_finding("jacobi.cu:84: reads global memory that nothing has written (kernel launched "
                     "at line 123, block (0,0,0), thread (0,0,0))"),
        100, patient);
    return diagnosis.known() ? diagnosis.look_at[0].substr(0, 32) : "";
  };
  const std::string few = "the number of bytes in line 2: c";
  EXPECT_EQ(cause("h.size()"), few);
  EXPECT_EQ(cause("sizeof(h)"), few);
  EXPECT_EQ(cause("std::size_t(n) * n"), few);
  EXPECT_EQ(cause("n * n"), few);
  EXPECT_EQ(cause("h.size() * sizeof(h[0])"), "");
  EXPECT_EQ(cause("sizeof(float) * n * n"), "");
  EXPECT_EQ(cause("bytes"), "");
}

TEST(FindingTest, a_thread_without_an_interior_point) {
  const auto diagnosis =
      diagnosis_of(out_of_bounds(12, "reads just behind the end of", "(99,0,0)"));
  EXPECT_EQ(diagnosis.cause,
            "jacobi_sweep_kernel reads just behind the end of f_old; a thread with i = 99, j = 0 "
            "is no interior point");
  EXPECT_EQ(look_at(diagnosis),
            "the `if` in jacobi_sweep_kernel: its bounds are 1 to n - 2, for i and for j\n");
}

TEST(FindingTest, a_thread_with_an_interior_point) {
  const auto diagnosis = diagnosis_of(out_of_bounds(12, "reads 400 bytes before", "(7,9,0)"));
  EXPECT_EQ(diagnosis.cause,
            "jacobi_sweep_kernel reads 400 bytes before f_old, in the thread with i = 7, j = 9");
  EXPECT_EQ(diagnosis.look_at.at(0),
            "the index at line 12 of f_old, and the n that jacobi_sweep_kernel is given");
}

TEST(FindingTest, the_array_is_that_of_the_line_or_of_the_allocation) {
  auto array = [](int line, const std::string& what, int allocated_at) {
    return scene_of(read_finding(out_of_bounds(line, what, "(0,0,0)", allocated_at)), kSource)
        .array;
  };
  EXPECT_EQ(array(13, "writes 400 bytes before", 3), "f_new");
  EXPECT_EQ(array(13, "reads 400 bytes before", 4), "f_old");
  EXPECT_EQ(array(14, "reads 400 bytes before", 3), "f_old") << "of the allocation";
  EXPECT_EQ(array(14, "reads 400 bytes before", 4), "f_new") << "of the allocation";
  EXPECT_EQ(array(14, "reads 400 bytes before", 1), "");
  EXPECT_EQ(array(99, "reads 400 bytes before", 3), "") << "there is no such line";
}

TEST(FindingTest, a_kernel_may_have_launch_bounds) {
  EXPECT_EQ(scene_of(read_finding(out_of_bounds(20, "writes 4 bytes before", "(0,0,0)")), kSource)
                .function,
            "jacobi_pass_kernel");
}

TEST(FindingTest, a_tile_that_is_not_loaded) {
  const std::string unwritten =
      "jacobi.cu:12: reads shared memory that nothing has written: tile[0][32] (kernel launched at "
      "line 84, block (0,0,0), thread (31,0,0))";
  EXPECT_EQ(diagnosis_of(unwritten, 9).cause,
            "tile[0][32] is read at line 12, and no thread had loaded it");
  EXPECT_NE(look_at(diagnosis_of(unwritten, 9))
                .find("the index at line 12: whether tile[0][32] is the entry that is meant"),
            std::string::npos);
  EXPECT_FALSE(diagnosis_of(unwritten, 4).known()) << "it has no tile";
  const std::string race =
      "jacobi.cu:12: race in shared memory: thread (26,3,0) writes what thread (0,0,0) wrote at "
      "line 12, and no barrier in between (kernel launched at line 84, block (0,0,0): tile[3][26])";
  EXPECT_EQ(diagnosis_of(race, 9).cause,
            "two threads load the same entry of the tile, tile[3][26], at line 12; then others may "
            "be loaded by none");
  EXPECT_NE(look_at(diagnosis_of(race, 9)).find("how threads share out the tile's entries"),
            std::string::npos);
}

TEST(FindingTest, shared_memory_that_is_read_and_written_without_a_barrier) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:15: race in shared memory: thread (1,0,0) reads what thread (2,0,0) wrote at line "
      "12, and no barrier in between (kernel launched at line 84, block (0,0,0): tile[1][2])",
      9);
  EXPECT_EQ(
      diagnosis.cause,
      "a race: one thread of a block writes tile[1][2], another one reads it, at lines 12 and "
      "15, and no barrier says which of them comes first");
  EXPECT_NE(look_at(diagnosis).find("__syncthreads()"), std::string::npos);
}

TEST(FindingTest, more_dynamic_shared_memory_than_the_launch_gives) {
  const std::string said =
      "jacobi.cu:15: writes byte 1024 of the dynamic shared memory, and the launch gives ";
  const std::string behind =
      " bytes of it, the value behind its grid and its block (kernel launched at line 84, block "
      "(0,0,0), thread (3,13,0))";
  EXPECT_EQ(diagnosis_of(said + "1024" + behind, 9).cause,
            "line 15 uses more dynamic shared memory (extern __shared__) than the launch gives: "
            "only 1024 bytes of it");
  const std::string none = diagnosis_of(said + "0" + behind, 9).cause;
  EXPECT_NE(none.find("gives: none of it"), std::string::npos) << none;
}

TEST(FindingTest, a_shuffle_that_asks_a_lane_outside_of_its_mask) {
  EXPECT_EQ(diagnosis_of("jacobi.cu:15: thread (0,0,0) reads from lane 16, which takes no part "
                         "(kernel launched at line 84, block (0,0,0))",
                         8)
                .cause,
            "the shuffle at line 15 asks lane 16, which takes no part in it");
}

TEST(FindingTest, a_launch_refused_that_a_later_line_tells_of) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:15: cudaGetLastError(): invalid configuration argument (the grid is 0 x 0 x 1 "
      "blocks of 32 x 32 x 1) (cudaErrorInvalidConfiguration)");
  EXPECT_EQ(diagnosis.cause,
            "the launch before line 15 was refused: the grid is 0 x 0 x 1 blocks of 32 x 32 x 1");
}

TEST(FindingTest, a_wide_access_in_rows_without_padding) {
  EXPECT_EQ(
      diagnosis_of("jacobi.cu:14: reads 16 bytes at an address that is no multiple of 16: byte "
                   "132 of the 4356 bytes that cudaMallocManaged gave at line 3 (kernel "
                   "launched at line 84, block (0,0,0), thread (0,1,0))",
                   6)
          .cause,
      "at line 14 several floats are accessed at once, at an address that is no multiple of "
      "their bytes");
}

TEST(FindingTest, an_array_smaller_than_a_field) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:14: writes 8 bytes past the end of the 424 bytes that cudaMalloc gave at line 3 "
      "(kernel launched at line 84, block (2,4,0), thread (0,0,0))");
  EXPECT_NE(look_at(diagnosis).find("how many bytes line 3 asks for: a place for each block"),
            std::string::npos)
      << look_at(diagnosis);
  EXPECT_EQ(look_at(diagnosis).find("the bounds of i and j"), std::string::npos);
  EXPECT_EQ(diagnosis_of("jacobi.cu:14: host code writes just behind the end of the 20000 bytes "
                         "that cudaMallocManaged gave at line 3")
                .cause,
            "line 3 allocates 20000 bytes; n * n floats have 40000");
}

TEST(FindingTest, a_launch_that_was_refused) {
  const auto diagnosis = diagnosis_of(
      "jacobi.cu:84: the launch was refused (a block of 64 x 64 x 1 = 4096 threads, and 1024 are "
      "the most), and nobody asked cudaGetLastError");
  EXPECT_EQ(diagnosis.cause,
            "the launch at line 84 was refused (a block of 64 x 64 x 1 = 4096 threads, and 1024 "
            "are the most), and nobody asked cudaGetLastError");
}

TEST(FindingTest, is_the_cause_of_a_failure) {
  validate::Patient patient;
  patient.step = 4;
  patient.source = kSource;
  const auto diagnosis = validate::diagnose_failure(
      {lab::ProblemKind::kProbe, 100, 10}, 0,
      "it ended with exit code 3: " + out_of_bounds(12, "reads just behind the end of", "(99,0,0)"),
      patient);
  EXPECT_NE(diagnosis.cause.find("a thread with i = 99, j = 0"), std::string::npos);
}

}  // namespace
