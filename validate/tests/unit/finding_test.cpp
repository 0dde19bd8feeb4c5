// What a program reports of its end is read, and said again in the words of the program. No test
// here depends on how the program words it: the reports' own words mean nothing.

#include "explain/finding.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <cuda_on_cpu/report.h>

#include "explain/diagnosis.h"
#include "test_helpers.h"

namespace {

using cuda_on_cpu::Report;
using test::report;
using validate::Finding;

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

/// A kernel's access of a field of 40000 bytes.
Report out_of_bounds(int line, const std::string& columns, int allocated_line = 3) {
  return report("out_of_bounds", line,
                "bytes=40000|block=3,0,0|thread=3,0,0|allocated_line=" +
                    std::to_string(allocated_line) + "|" + columns);
}
const std::string kBehind = "access=reads|place=past|index=99,0,0";
const std::string kBefore = "access=reads|place=before|distance=400|index=";

Finding found_in(const Report& report) { return {report, 100}; }

validate::Patient patient_of(int step, const std::string& source = kSource) {
  validate::Patient patient;
  patient.step = step;
  patient.source = source;
  return patient;
}

validate::Diagnosis diagnosis_of(const Report& report, int step = 4) {
  validate::Patient patient = patient_of(step);
  patient.finding = found_in(report);
  return validate::diagnose({}, patient, validate::Subject::kAccess);
}

std::string look_at(const validate::Diagnosis& diagnosis) {
  std::string text;
  for (const std::string& line : diagnosis.look_at) text += line + "\n";
  return text;
}

/// All that is said of a run that ended with this report.
std::string said_of(const Report& report, const std::string& source = "", int step = -1) {
  std::string text;
  for (const std::string& line :
       validate::diagnose_failure({lab::ProblemKind::kProbe, 100, 10}, 0,
                                  "it ended with exit code 3: " + report.words,
                                  patient_of(step, source), report)
           .lines()) {
    text += line + "\n";
  }
  return text;
}

#define EXPECT_SAYS(words, said) EXPECT_NE((said).find(words), std::string::npos) << (said)

TEST(ReportTest, comes_back_from_its_file_as_it_was) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/report.tsv";
  EXPECT_EQ(cuda_on_cpu::read_report(path).kind, "");
  setenv("LAB_REPORT", path.c_str(), 1);
  cuda_on_cpu::write_report(report("leak", 0));
  Report race = report("race", 93, "flags=other_writes shared|distance=-4|array=tile[3][26]");
  race.detail = "a tab\tand a\nline";
  cuda_on_cpu::write_report(race);
  unsetenv("LAB_REPORT");
  cuda_on_cpu::write_report(report("leak", 0));
  const Report read = cuda_on_cpu::read_report(path);
  race.detail = "a tab and a line";
  EXPECT_EQ(row_of(read), row_of(race));
  EXPECT_TRUE(read.has("shared"));
  EXPECT_FALSE(read.has("other"));
}

TEST(FindingTest, what_is_no_finding) {
  EXPECT_FALSE(found_in(Report{""}).known());
  EXPECT_FALSE(found_in(report("other", 0)).known());
  const Finding other = found_in(report("plain_launch", 72));
  EXPECT_TRUE(other.known());
  EXPECT_FALSE(diagnosis_of(other.report).known());
}

TEST(FindingTest, an_access_out_of_bounds) {
  const Finding finding = found_in(out_of_bounds(12, kBehind));
  EXPECT_TRUE(finding.is_outside());
  EXPECT_EQ(finding.where(), "just past the end of");
  // Freed memory, and an address of nothing, lie beside no allocation.
  EXPECT_FALSE(found_in(out_of_bounds(12, "access=reads|place=inside|flags=freed")).is_outside());
}

TEST(FindingTest, a_tile_that_is_too_small) {
  const auto diagnosis = diagnosis_of(report("shared_end", 15, "access=writes"), 9);
  EXPECT_EQ(diagnosis.cause, "line 15 writes past the end of tile");
  EXPECT_SAYS("a halo on both sides", look_at(diagnosis));
}

TEST(FindingTest, threads_that_do_not_come_to_a_barrier_or_a_shuffle) {
  EXPECT_SAYS("not all threads of the block reach the barrier at line 12",
              diagnosis_of(report("barrier", 12)).cause);
  EXPECT_SAYS("not all threads of the warp reach the shuffle at line 12",
              diagnosis_of(report("shuffle", 12)).cause);
  const char* kPart = "A block of this launch has 8 threads, no multiple of 32";
  EXPECT_SAYS(kPart, diagnosis_of(report("shuffle", 12, "bytes=8")).cause);
  EXPECT_SAYS(kPart, diagnosis_of(report("lane", 12, "bytes=8|detail=16")).cause);
  const auto says_how_many = [](const char* kind, const char* columns) {
    return diagnosis_of(report(kind, 12, columns)).cause.find("A block of") != std::string::npos;
  };
  EXPECT_FALSE(says_how_many("lane", "bytes=64|detail=16"));
  EXPECT_FALSE(says_how_many("barrier", "bytes=8"));
}

TEST(FindingTest, where_a_program_was_that_did_not_end) {
  EXPECT_SAYS("a loop of the kernel around line 77 never ends",
              diagnosis_of(report("endless_kernel", 77)).cause);
  EXPECT_EQ(
      diagnosis_of(report("endless_launches", 90)).cause,
      "the loop that launches the kernel of line 90 never ends, or what it launches takes far too "
      "long");
  EXPECT_EQ(diagnosis_of(report("endless_host", 57, "other_line=120")).cause,
            "a loop of the host around line 57 never ends, or the one in main around line 120");
  EXPECT_EQ(diagnosis_of(report("endless_host", 120)).cause,
            "a loop of the host around line 120 never ends");
  const std::string own = "int main() {\n  const int n = 9000;\n}\n";
  EXPECT_SAYS("or its grid is far too large", said_of(report("endless_host", 2), own, 4));
  EXPECT_SAYS("where n comes from: it is options.n", said_of(report("endless_host", 2), own, 4));
}

TEST(FindingTest, a_kernel_that_still_has_the_loops_over_all_points) {
  const auto said = [](const std::string& outer, const std::string& inner,
                       const char* kind = "endless_kernel") {
    return said_of(report(kind, 2),
                   "__global__ void march(float* f_new, const float* f_old, int n) {\n"
                   "  for (int j = " +
                       outer + "; ++j) {\n    for (int i = " + inner +
                       "; ++i) f_new[i] = f_old[j];\n  }\n}\n");
  };
  EXPECT_SAYS("march still has the loops over all points", said("1; j < n - 1", "0; i < n"));
  // Where the look saw only launches that take too long, the file says the same.
  EXPECT_SAYS("march still has the loops over all points",
              said("1; j < n - 1", "0; i < n", "endless_launches"));
  // Loops over levels, or over the rows of a ring, are none.
  EXPECT_SAYS("a loop of the kernel around line 2 never ends",
              said("0; j < kLevels", "0; i < kRing - 1"));
}

TEST(FindingTest, the_host_that_does_not_wait) {
  const auto diagnosis = diagnosis_of(
      report("host_early", 12, "access=reads|place=inside|bytes=8|allocated_line=4|other_line=89"));
  EXPECT_EQ(diagnosis.cause.find("at line 12 the host reads "), 0u);
  EXPECT_SAYS("cudaDeviceSynchronize()", look_at(diagnosis));
}

TEST(FindingTest, a_field_that_is_freed_twice) {
  const auto freed =
      report("freed", 46, "array=cudaFree(f_new)|flags=call cudaErrorInvalidValue|detail=at 45");
  EXPECT_EQ(diagnosis_of(freed).cause.find("f_new is memory that was freed before"), 0u);
}

TEST(FindingTest, four_floats_at_an_odd_address) {
  EXPECT_EQ(diagnosis_of(report("misaligned", 141), 12)
                .cause.find("at line 141 several floats are accessed at once"),
            0u);
  EXPECT_EQ(diagnosis_of(report("misaligned", 14), 6).cause,
            "at line 14 several floats are accessed at once, at an address that is not a multiple "
            "of their size");
}

TEST(FindingTest, a_block_of_another_shape) {
  const std::string shape =
      "cub::BlockReduce is made for a block of 128 x 1 x 1 threads, but this one has 32 x 4 x 1";
  EXPECT_EQ(diagnosis_of(report("shape", 93, "detail=" + shape)).cause, "at line 93 " + shape);
}

TEST(FindingTest, two_threads_that_write_one_place) {
  const std::string cause =
      diagnosis_of(report("race", 13,
                          "access=writes|flags=other_writes|thread=0,1,0|block=1,0,0|"
                          "other_thread=8,0,0|other_block=0,0,0|other_line=13"))
          .cause;
  EXPECT_EQ(cause.find("two threads write the same place in "), 0u) << cause;
  EXPECT_SAYS("thread (0,1,0) of block (1,0,0), and thread (8,0,0) of block (0,0,0)", cause);
}

TEST(FindingTest, the_lines_of_a_race_in_shared_memory) {
  const Finding finding = found_in(
      report("race", 95, "access=reads|flags=other_atomic shared|other_line=93|array=block_sum"));
  EXPECT_TRUE(finding.shared());
  EXPECT_FALSE(finding.both_write());
  EXPECT_EQ(finding.plain_line(), 0);
}

TEST(FindingTest, the_line_of_a_race_that_writes_what_others_change_atomically) {
  const auto plain_line = [](int line, const std::string& columns) {
    return found_in(report("race", line, columns)).plain_line();
  };
  EXPECT_EQ(plain_line(72, "access=writes|flags=other_atomic|other_line=97"), 72);
  EXPECT_EQ(plain_line(97, "access=changes atomically|flags=other_writes|other_line=72"), 72);
  EXPECT_EQ(plain_line(97, "access=writes|flags=other_writes|other_line=97"), 0);
}

TEST(FindingTest, a_thread_without_an_interior_point) {
  const auto diagnosis = diagnosis_of(out_of_bounds(12, kBehind));
  EXPECT_EQ(diagnosis.cause,
            "jacobi_sweep_kernel reads just past the end of f_old; a thread with i = 99, j = 0 has "
            "no interior point");
  EXPECT_EQ(look_at(diagnosis),
            "line 12, and the `if` around it in jacobi_sweep_kernel: its bounds are 1 to n - 2, "
            "for i and for j\n");
  EXPECT_SAYS("a thread with i = 99, j = 0", said_of(out_of_bounds(12, kBehind), kSource, 4));
}

TEST(FindingTest, a_thread_with_an_interior_point) {
  const auto diagnosis = diagnosis_of(out_of_bounds(12, kBefore + "7,9,0"));
  EXPECT_EQ(diagnosis.cause,
            "jacobi_sweep_kernel reads 400 bytes before f_old, in the thread with i = 7, j = 9");
  EXPECT_EQ(diagnosis.look_at.at(0),
            "the index at line 12 of f_old, and the n that jacobi_sweep_kernel is given");
}

TEST(FindingTest, the_array_is_that_of_the_line_or_of_the_allocation) {
  auto array = [](int line, const std::string& access, int allocated_line) {
    return scene_of(found_in(out_of_bounds(line, "place=before|distance=4|access=" + access,
                                           allocated_line)),
                    kSource)
        .array;
  };
  EXPECT_EQ(array(13, "writes", 3), "f_new");
  EXPECT_EQ(array(13, "reads", 4), "f_old");
  EXPECT_EQ(array(14, "reads", 3), "f_old") << "of the allocation";
  EXPECT_EQ(array(14, "reads", 4), "f_new") << "of the allocation";
  EXPECT_EQ(array(14, "reads", 1), "");
  EXPECT_EQ(array(99, "reads", 3), "") << "there is no such line";
}

TEST(FindingTest, a_kernel_may_have_launch_bounds) {
  EXPECT_EQ(scene_of(found_in(out_of_bounds(20, kBefore + "0,0,0")), kSource).function,
            "jacobi_pass_kernel");
}

TEST(FindingTest, parts_of_a_sum_that_no_thread_writes) {
  const Report unwritten =
      report("unwritten", 12, "access=reads|flags=shared|array=part[1]|thread=0,0,0");
  const std::string said = said_of(unwritten, std::string(kSource) + "double part[8];\n", 12);
  EXPECT_SAYS("where each warp has one part, its lane 0", said);
  EXPECT_EQ(said.find("tile"), std::string::npos) << said;
}

TEST(FindingTest, a_tile_that_is_not_loaded) {
  const Report unwritten =
      report("unwritten", 12, "access=reads|flags=shared|array=tile[0][32]|thread=31,0,0");
  EXPECT_EQ(diagnosis_of(unwritten, 9).cause,
            "tile[0][32] is read at line 12, but no thread has loaded it");
  EXPECT_SAYS("the index at line 12: whether tile[0][32] is the entry that is meant",
              look_at(diagnosis_of(unwritten, 9)));
  const Report race =
      report("race", 12, "access=writes|flags=other_writes shared|other_line=12|array=tile[3][26]");
  EXPECT_EQ(diagnosis_of(race, 9).cause,
            "two threads write the same place in shared memory, tile[3][26], at line 12: a race");
  EXPECT_SAYS("how threads share out the tile's entries", look_at(diagnosis_of(race, 9)));
}

TEST(FindingTest, a_copy_that_is_still_in_flight) {
  const auto in_flight = diagnosis_of(
      report("unwritten", 12,
             "access=reads|flags=shared in_flight|other_line=7|array=buffer[0][0]|thread=0,0,0"),
      13);
  EXPECT_SAYS("the copy that loads it need not have arrived", in_flight.cause);
  EXPECT_SAYS("asked for at line 7, is on its way", in_flight.cause);
  EXPECT_SAYS("__pipeline_wait_prior", look_at(in_flight));
}

TEST(FindingTest, a_wait_for_copies_after_the_barrier) {
  const std::string source =
      "__global__ void k_kernel(float* f) {\n  __shared__ float buffer[32];\n"
      "  __pipeline_memcpy_async(&buffer[threadIdx.x], f, 4);\n  __syncthreads();\n"
      "  __pipeline_wait_prior(0);\n  f[0] = buffer[31];\n}\n";
  const Report race =
      report("race", 6, "access=reads|flags=other_writes shared|other_line=3|array=buffer[31]");
  EXPECT_SAYS("__pipeline_wait_prior and __syncthreads(), in this order",
              said_of(race, source, 13));
}

TEST(FindingTest, a_launch_is_named_where_its_function_asks_for_the_error) {
  const std::string source =
      "void sweep() {\n  k_kernel<<<0, 32>>>();\n  CUDA_CHECK(cudaGetLastError());\n}\n";
  const Report refused = report(
      "call", 3,
      "array=cudaGetLastError()|flags=call cudaErrorInvalidConfiguration|detail=the grid is 0");
  EXPECT_SAYS("the launch at line 2 was refused: the grid is 0", said_of(refused, source, 4));
}

TEST(FindingTest, shared_memory_that_is_read_and_written_without_a_barrier) {
  const auto diagnosis = diagnosis_of(
      report("race", 15, "access=reads|flags=other_writes shared|other_line=12|array=tile[1][2]"),
      9);
  EXPECT_EQ(
      diagnosis.cause,
      "a race: one thread of a block writes tile[1][2], another one reads it, at lines 12 and "
      "15, and no barrier says which of them comes first");
  EXPECT_SAYS("__syncthreads()", look_at(diagnosis));
  EXPECT_SAYS("two threads write the same place in shared memory, ring[0][0][0], at line 148",
              said_of(report("race", 148,
                             "access=writes|flags=other_writes shared|other_line=148|"
                             "array=ring[0][0][0]")));
}

TEST(FindingTest, more_dynamic_shared_memory_than_the_launch_gives) {
  EXPECT_EQ(diagnosis_of(report("dynamic_shared", 15, "bytes=1024"), 9).cause,
            "line 15 uses more dynamic shared memory (extern __shared__) than the launch gives: "
            "only 1024 bytes of it");
  EXPECT_SAYS("gives: none of it", diagnosis_of(report("dynamic_shared", 15), 9).cause);
}

TEST(FindingTest, a_launch_that_was_refused) {
  const std::string block = "a block of 64 x 64 x 1 = 4096 threads, but at most 1024 are allowed";
  EXPECT_EQ(diagnosis_of(report("refused", 84, "detail=" + block)).cause,
            "the launch at line 84 was refused (" + block +
                "), and cudaGetLastError was not "
                "called");
  // A later line tells of it; a GPU does not say more.
  const std::string call =
      "array=cudaGetLastError()|flags=call cudaErrorInvalidConfiguration|detail=";
  EXPECT_EQ(diagnosis_of(report("call", 15, call + block)).cause,
            "the launch before line 15 was refused: " + block);
  EXPECT_EQ(diagnosis_of(report("call", 15, call)).cause,
            "the launch before line 15 was refused: no GPU has such a block or launch grid");
  EXPECT_SAYS(
      "or an earlier call failed and was not checked",
      diagnosis_of(report("call", 15, "array=cudaGetLastError()|flags=call cudaErrorInvalidValue"))
          .cause);
}

TEST(FindingTest, an_array_smaller_than_a_field) {
  const auto diagnosis = diagnosis_of(report(
      "out_of_bounds", 14, "access=writes|place=past|distance=8|bytes=424|allocated_line=3"));
  EXPECT_SAYS("how many bytes line 3 asks for: a place for each block", look_at(diagnosis));
  EXPECT_EQ(look_at(diagnosis).find("the bounds of i and j"), std::string::npos);
  // Of a kernel, too, whatever the memory holds.
  EXPECT_EQ(diagnosis_of(report("out_of_bounds", 14,
                                "access=writes|place=past|distance=8|bytes=10000|allocated_line=3"))
                .cause,
            "line 3 allocates n * n bytes; n * n floats need four times as many");
  EXPECT_EQ(diagnosis_of(
                report("host_access", 14, "access=writes|place=past|bytes=20000|allocated_line=3"))
                .cause,
            "line 3 allocates 20000 bytes; n * n floats need 40000");
}

// n is the program's own if it does not ask its options, whatever they are called.
TEST(FindingTest, a_loop_that_takes_too_long_for_its_n) {
  const auto look = [](const std::string& n) {
    validate::Patient patient = patient_of(4);
    patient.source =
        "int main() {\n  const lab::Options given = lab::parse_options(1, 2);\n  int n = " + n +
        ";\n}\n";
    patient.finding = found_in(report("endless_host", 3));
    return look_at(validate::diagnose({}, patient, validate::Subject::kAccess));
  };
  EXPECT_SAYS("where n comes from", look("solver.n"));
  EXPECT_EQ(look("given.n").find("where n comes from"), std::string::npos) << look("given.n");
}

TEST(FindingTest, host_code_that_accesses_too_much) {
  const std::string beside = said_of(report(
      "host_access", 57, "access=writes|place=past|distance=188|bytes=40000|allocated_line=38"));
  EXPECT_SAYS("at line 57 the host writes 188 bytes past the end of", beside);
  EXPECT_SAYS("the index at line 57, and where the loops", beside);
  EXPECT_EQ(beside.find("how many bytes line 38 asks for"), std::string::npos);
  EXPECT_SAYS(
      "look at: how many bytes line 38 asks for",
      said_of(report("host_access", 57, "access=writes|place=past|bytes=800|allocated_line=38")));
  EXPECT_SAYS(
      "line 38 allocates n * n bytes",
      said_of(report("host_access", 57, "access=writes|place=past|bytes=10000|allocated_line=38")));
  EXPECT_SAYS("line 39 allocates 4 bytes, as many as a float has; a double has 8",
              said_of(report("padding", 0, "place=past|bytes=4|allocated_line=39|other_line=89")));
}

TEST(FindingTest, host_code_in_the_memory_of_the_gpu) {
  const Report access = report(
      "host_access", 2, "access=writes|place=inside|bytes=40000|allocated_line=1|flags=device");
  const std::string all = said_of(access, "cudaMalloc(&f, bytes);\nf[0] = 1;\n");
  EXPECT_SAYS("at line 2 the host writes f, which is in the GPU's own memory", all);
  EXPECT_SAYS("a kernel that writes the values", all);
  EXPECT_SAYS("line 1: cudaMallocManaged gives memory that both can use",
              said_of(access, "cudaMalloc(&f, bytes);\nf[0] = 1;\ncudaMallocManaged(&g, 8);\n"));
}

TEST(FindingTest, an_address_of_nothing) {
  const Report access = report("host_access", 1, "access=writes|place=nowhere");
  EXPECT_SAYS("line 1 writes memory of the host where nothing was allocated",
              said_of(access, "to[0] = 1;\n"));
  EXPECT_SAYS("the pointer at line 1", said_of(access, "to[0] = 1;\n"));
  EXPECT_SAYS("already is the place of row j",
              said_of(access, "cudaMemcpy(to + idx(0, j, n), f, 8, cudaMemcpyDeviceToHost);\n"));
}

/// The first line that says what to look at.
std::string first_lead_of(const std::string& said) {
  const std::size_t at = said.find("look at: ");
  return at == std::string::npos ? "" : said.substr(at, said.find('\n', at) - at);
}

TEST(FindingTest, what_a_job_of_ranks_says) {
  const std::string rank = "it exchanges rows with rank 3, but there are only ranks 0 to 2";
  EXPECT_SAYS(rank + ": no rank has that number",
              said_of(report("exchange_rank", 0, "detail=" + rank)));
  EXPECT_SAYS("between ncclGroupStart and ncclGroupEnd", said_of(report("waits_nccl", 0)));
  EXPECT_SAYS(
      "an exchange in which its neighbour takes no "
      "part",
      said_of(report("waits_halos", 0)));
  EXPECT_SAYS("some rows belong to no rank", said_of(report("no_owner", 0)));
  const std::string halo = said_of(report("exchange_memory", 0, "flags=received"));
  EXPECT_SAYS("the rows of a halo lie outside of what the rank has memory for", halo);
  EXPECT_SAYS("look at: exchange_halos: the first row that is received", first_lead_of(halo));
  // Some of the rows are there.
  const std::string more = said_of(report("exchange_memory", 0, "flags=sent|bytes=400"));
  EXPECT_SAYS("look at: slab_of_rank", first_lead_of(more));
  EXPECT_SAYS("look at: exchange_halos: the first row that is sent", more);
}

TEST(FindingTest, a_line_of_a_file_of_the_lab_is_none_of_the_learners) {
  EXPECT_SAYS("at line 119 the host ", said_of(report("host_early", 119, "file=jacobi.cu")));
  EXPECT_EQ(said_of(report("host_early", 119, "file=exchange.cpp")).find("119"), std::string::npos);
  // A learner's file, where the steps are not yet CUDA's.
  EXPECT_SAYS("at line 119 the host",
              said_of(report("host_early", 119, "file=exercises/02_unified_memory/jacobi.cpp")));
}

TEST(FindingTest, calls_that_are_refused) {
  const std::string flags = "|flags=call cudaErrorInvalidValue|place=destination|array=";
  const auto direction = [&](int line, const std::string& call) {
    return said_of(report("host_memory", line, "detail=the destination is" + flags + call));
  };
  EXPECT_SAYS("what line 132 asks for goes to the default stream",
              said_of(report("capture", 132, "array=cudaGetLastError()")));
  EXPECT_SAYS("line 133 waits while a stream is captured",
              said_of(report("capture", 133, "array=cudaDeviceSynchronize()")));
  EXPECT_SAYS("first the destination, then the source", direction(109, "cudaMemcpy(a, b, 8, c)"));
  const std::string fill = direction(85, "cudaMemset(&sum, 0, 8)");
  EXPECT_SAYS("at line 85 cudaMemset gets &sum, the address of a variable of the host", fill);
  EXPECT_SAYS("sum holds the address that cudaMalloc gave", fill);
  const std::string rows =
      "rows of 400 bytes do not fit in pitches of 400 (to) and 384 bytes (from)";
  EXPECT_SAYS("longer than a pitch: " + rows + "\n",
              said_of(report("call", 211,
                             "array=cudaMemcpy2D(to, a, f, b, a, 1, c)|"
                             "flags=call cudaErrorInvalidPitchValue|detail=" +
                                 rows)));
  EXPECT_SAYS("more than there is room for: 800 bytes, but the source has room for only 4\n",
              said_of(report("room", 84,
                             "detail=800 bytes, but the source has room for only 4|place=source")));
  EXPECT_SAYS(
      "at line 85 cudaMemset gets &sum, the address of a variable of the host",
      said_of(report("call", 85, "array=cudaMemset(&sum, 0, 8)|flags=call cudaErrorInvalidValue")));
  EXPECT_SAYS(
      "the launch at line 91 gives the kernel an address at which it has no memory: argument 1\n",
      said_of(report("host_argument", 91, "array=argument 1")));
  EXPECT_SAYS("look at: how the sum gets there: by its address",
              said_of(report("own_variable", 62)));
  EXPECT_SAYS(
      "line 90 adds to block_sum, but no thread has set it to 0",
      said_of(report("unwritten", 90, "access=changes atomically|flags=shared|array=block_sum")));
  EXPECT_SAYS("at an address that is not a multiple of their size",
              said_of(report("call", 181, "flags=call cudaErrorMisalignedAddress")));
  EXPECT_SAYS("a kernel reads or writes outside of what was allocated",
              said_of(report("call", 181, "flags=call cudaErrorIllegalAddress")));
  const std::string late = direction(3, "cudaGetLastError()");
  EXPECT_SAYS("or an earlier call failed and was not checked", late);
  EXPECT_SAYS("not the address of that pointer", late);
}

}  // namespace
