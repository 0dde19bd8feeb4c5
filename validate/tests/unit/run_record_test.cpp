// The record that a step's program writes under --record, and what is left where it cannot.

#include <lab/run.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <cuda_on_cpu/machine.h>
#include <gtest/gtest.h>
#include <lab/problem.h>

#include "reference/reference.h"
#include "run/record.h"
#include "run/steps.h"
#include "test_helpers.h"

namespace {

using test::Ended;
using test::kSerialProgram;
using test::lines_of;
using test::names_in;
using test::read_file;
using validate::Record;

constexpr int kN = 37;  // no multiple of the rows that are written at a time
constexpr int kIterations = 5;
// Half a field of 64 x 64 points, in the shell's blocks of 512 bytes (dash) or 1024 (bash). The
// signal is ignored, so that write() fails, as it does on a full disk.
constexpr const char* kSmallDisk = "trap '' XFSZ; ulimit -f 8";

const std::vector<std::string> kFullRecord = {"field.f32", "residuals.csv", "run.json"};
const std::vector<std::string> kRowsRecord = {"residuals.csv", "rows.csv", "run.json"};

class RunRecordTest : public test::SerialProgramTest {
 protected:
  Ended run_serial(int n, const std::string& field, const std::string& set_up = ":") const {
    return test::run_program(
        {kSerialProgram, "--n", std::to_string(n), "--iterations", std::to_string(kIterations),
         "--record", dir(), "--record-field", field, "--quiet"},
        set_up);
  }
  std::string dir() const { return temporary("record"); }
};

TEST_F(RunRecordTest, holds_three_files) {
  EXPECT_EQ(run_serial(kN, "full").exit_code, 0);
  EXPECT_EQ(names_in(dir()), kFullRecord);
}

TEST_F(RunRecordTest, a_table_of_before_stays_where_a_new_one_has_no_room) {
  const std::string folder = temporary("tables");
  std::filesystem::create_directory(folder);
  lab::write_whole(folder, "ladder.tsv", "old");
  const auto write_without_room = [&] {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    std::signal(SIGXFSZ, SIG_IGN);
    lab::write_whole(folder, "ladder.tsv", "new");
  };
  EXPECT_EXIT(write_without_room(), ::testing::ExitedWithCode(lab::kExitCannotWrite), "");
  EXPECT_EQ(read_file(folder + "/ladder.tsv"), "old");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"ladder.tsv"});
}

TEST_F(RunRecordTest, without_a_field_is_one_for_times_alone) {
  EXPECT_EQ(run_serial(kN, "full").exit_code, 0);
  EXPECT_EQ(run_serial(kN, "none").exit_code, 0);
  EXPECT_EQ(names_in(dir()), (std::vector<std::string>{"residuals.csv", "run.json"}))
      << "no field of another run may stand beside it";
  EXPECT_NE(read_file(dir() + "/run.json").find("\"field\": \"none\""), std::string::npos);
}

TEST_F(RunRecordTest, residuals_have_a_header_a_line_an_iteration_and_17_digits) {
  ASSERT_EQ(run_serial(kN, "full").exit_code, 0);
  const std::vector<std::string> lines = lines_of(read_file(dir() + "/residuals.csv"));
  ASSERT_EQ(lines.size(), 1u + kIterations);
  EXPECT_EQ(lines[0], "iteration,residual");
  validate::Reference reference(lab::Problem(lab::ProblemKind::kLaplace, kN));
  for (int k = 1; k <= kIterations; ++k) {
    const std::string number = std::to_string(k) + ",";
    ASSERT_EQ(lines[k].rfind(number, 0), 0u) << lines[k];
    const std::string digits = lines[k].substr(number.size());
    const double value = std::strtod(digits.c_str(), nullptr);
    char again[32];
    std::snprintf(again, sizeof again, "%.17g", value);
    EXPECT_EQ(digits, again);
    // The order of the sum may differ, but no digit of a double may be lost on the way.
    EXPECT_NEAR(value / reference.sweep(), 1.0, (kN * kN + 4) * std::ldexp(1.0, -53));
  }
}

TEST_F(RunRecordTest, field_has_its_rows_along_x_whatever_the_layout_of_the_step) {
  ASSERT_EQ(run_serial(kN, "full").exit_code, 0);
  ASSERT_EQ(std::filesystem::file_size(dir() + "/field.f32"), sizeof(float) * kN * kN);
  const std::vector<float> field = test::read_floats(dir() + "/field.f32");
  for (int k = 0; k < kN; ++k) {
    const double t = M_PI * k / (kN - 1);
    EXPECT_NEAR(field[k], std::sin(t), 1e-6) << "row j = 0, i = " << k;
    EXPECT_NEAR(field[k * kN + kN - 1], std::sin(2 * t), 1e-6) << "column i = n - 1, j = " << k;
  }
  validate::Reference reference(lab::Problem(lab::ProblemKind::kLaplace, kN));
  for (int k = 0; k < kIterations; ++k) reference.sweep();
  EXPECT_TRUE(test::same_bits(field, test::field_of(reference)));
}

TEST_F(RunRecordTest, short_iterations_are_timed_several_at_a_time) {
  constexpr int kMany = 2000;
  ASSERT_EQ(test::run_program({kSerialProgram, "--n", "8", "--iterations", std::to_string(kMany),
                               "--record", dir(), "--record-field", "rows", "--quiet"},
                              ":")
                .exit_code,
            0);
  Record record;
  std::string error;
  ASSERT_TRUE(validate::read_record(dir(), 8, kMany, &record, &error)) << error;
  EXPECT_GE(record.samples, 3);
  EXPECT_LT(record.samples, kMany / 2);
}

TEST_F(RunRecordTest, run_json_tells_what_ran) {
  ASSERT_EQ(run_serial(kN, "full").exit_code, 0);
  Record record;
  std::string error;
  ASSERT_TRUE(validate::read_record(dir(), kN, kIterations, &record, &error)) << error;
  EXPECT_EQ(record.step, "00_serial");
  EXPECT_EQ(record.n, kN);
  EXPECT_EQ(record.iterations, kIterations);
  EXPECT_EQ(record.residuals.size(), static_cast<std::size_t>(kIterations));
  EXPECT_EQ(record.samples, kIterations - 1);  // the first iteration is told apart
  EXPECT_GT(record.q1_ms, 0);
  EXPECT_LE(record.q1_ms, record.median_ms);
  EXPECT_LE(record.median_ms, record.q3_ms);
  const std::string json = read_file(dir() + "/run.json");
  for (const char* member : {"\"device\": \"CPU\"", "\"problem\": \"laplace\"",
                             "\"field\": \"full\"", "\"set_up_ms\": ", "\"iteration_ms_max\": "}) {
    EXPECT_NE(json.find(member), std::string::npos) << member;
  }
}

TEST_F(RunRecordTest, run_json_is_json) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "needs python3";
  ASSERT_EQ(run_serial(kN, "full").exit_code, 0);
  const Ended ended = test::run_program(
      {"python3", "-c", "import json, sys; print(json.load(open(sys.argv[1]))['n'])",
       dir() + "/run.json"});
  EXPECT_EQ(ended.out, std::to_string(kN) + "\n") << ended.err;
}

TEST_F(RunRecordTest, rows_are_the_hashes_of_the_rows_of_the_full_field) {
  ASSERT_EQ(run_serial(kN, "full").exit_code, 0);
  const std::vector<float> field = test::read_floats(dir() + "/field.f32");
  ASSERT_EQ(field.size(), static_cast<std::size_t>(kN) * kN);
  ASSERT_EQ(run_serial(kN, "rows").exit_code, 0);
  std::vector<std::uint64_t> hashes;
  for (int j = 0; j < kN; ++j) hashes.push_back(lab::row_hash(&field[j * kN], kN));
  EXPECT_EQ(read_file(dir() + "/rows.csv"), lab::rows_csv(hashes));
  EXPECT_EQ(lines_of(lab::rows_csv({1, ~std::uint64_t{0}})).at(2), "1,ffffffffffffffff");
}

TEST_F(RunRecordTest, the_other_kind_of_field_record_is_removed) {
  ASSERT_EQ(run_serial(kN, "full").exit_code, 0);
  ASSERT_EQ(run_serial(kN, "rows").exit_code, 0);
  EXPECT_EQ(names_in(dir()), kRowsRecord);
  EXPECT_NE(read_file(dir() + "/run.json").find("\"field\": \"rows\""), std::string::npos);
  ASSERT_EQ(run_serial(kN, "full").exit_code, 0);
  EXPECT_EQ(names_in(dir()), kFullRecord);
}

TEST_F(RunRecordTest, a_full_disk_is_exit_code_4_and_leaves_no_field) {
  const Ended ended = run_serial(64, "full", kSmallDisk);
  EXPECT_EQ(ended.exit_code, 4) << "signal " << ended.signal;
  EXPECT_EQ(ended.err, "00_serial: " + dir() + "/field.f32: File too large\n");
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(names_in(dir()), std::vector<std::string>{"residuals.csv"});
}

// run.json says that the record beside it is whole.
TEST_F(RunRecordTest, an_earlier_run_json_does_not_stand_beside_half_a_record) {
  ASSERT_EQ(run_serial(64, "full").exit_code, 0);
  ASSERT_EQ(run_serial(64, "full", kSmallDisk).exit_code, 4);
  EXPECT_FALSE(test::exists(dir() + "/run.json"));
}

TEST_F(RunRecordTest, a_name_taken_by_a_folder_is_exit_code_4) {
  std::filesystem::create_directories(dir() + "/field.f32");
  const Ended ended = run_serial(kN, "full");
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_EQ(ended.err, "00_serial: " + dir() + "/field.f32: Is a directory\n");
  EXPECT_EQ(names_in(dir()), (std::vector<std::string>{"field.f32", "residuals.csv"}));
}

/// Options of a quiet run that records into `dir`.
lab::Options options_for(const std::string& dir, int iterations) {
  std::filesystem::create_directories(dir);
  lab::Options options;
  options.step = "a_step";
  options.n = 4;
  options.fixed_iterations = true;
  options.max_iterations = iterations;
  options.tolerance = -1;
  options.record_dir = dir;
  options.quiet = true;
  options.start = std::chrono::steady_clock::now();
  return options;
}

TEST(RunTest, records_sparse_checks) {
  const test::TemporaryFolder folder;
  const lab::Options options = options_for(folder.path() + "/record", 10);
  const lab::Problem problem(options);
  const std::vector<float> field(16, 0.0f);
  lab::Run run(options, problem);
  run.record(7, 0.25);
  run.record(10, 0.1);
  EXPECT_EQ(run.finish(field.data(), 1, 4), lab::kExitDone);
  Record record;
  std::string error;
  ASSERT_TRUE(validate::read_record(options.record_dir, 4, 10, &record, &error)) << error;
  ASSERT_EQ(record.residuals.size(), 2u);
  EXPECT_EQ(record.residuals[0].iteration, 7);
  EXPECT_EQ(record.residuals[1].iteration, 10);
  EXPECT_EQ(record.residuals[1].value, 0.1);
}

/// What a run of so many checks, one every `check_every` sweeps (0: each sweep), says of its times.
std::string times_of(int checks, int check_every) {
  const test::TemporaryFolder folder;
  lab::set_device("CPU");  // one that is timed, whatever a test before has set
  const int each = std::max(1, check_every);
  lab::Options options = options_for(folder.path() + "/record", checks * each);
  options.check_every = check_every;
  options.quiet = false;
  const lab::Problem problem(options);
  const std::vector<float> field(16, 0.0f);
  testing::internal::CaptureStdout();
  lab::Run run(options, problem);
  for (int k = 1; k <= checks; ++k) run.record(k * each, 0.25);
  run.finish(field.data(), 1, 4);
  return testing::internal::GetCapturedStdout();
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// The first check warms up: of three that follow there is a median.
TEST(RunTest, too_few_checks_give_no_time) {
  for (int checks : {1, 2, 3, 4}) {
    const std::string said = times_of(checks, 48);
    EXPECT_EQ(says(said, "  per iteration  "), checks > 3) << said;
    EXPECT_EQ(says(said, "  throughput  "), checks > 3) << said;
    EXPECT_TRUE(says(said, "  first, set-up    ")) << said;
    EXPECT_EQ(says(said,
                   "  no time          too few checks to time an iteration; with --iterations 960\n"
                   "                   there are enough\n"),
              checks <= 3)
        << said;
  }
  const std::string said = times_of(2, 0);
  EXPECT_TRUE(
      says(said, "  no time          too few iterations to time one; with --iterations 20\n"))
      << said;
  const std::string longest = times_of(1, lab::kMaxCheckEvery);
  EXPECT_TRUE(says(longest, "--iterations 200000\n")) << longest;
  for (const std::string& line : validate::split(longest, '\n')) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(RunTest, a_field_that_is_fetched_is_recorded_as_one_in_memory) {
  constexpr int kN = 2049;  // two blocks of rows
  const test::TemporaryFolder folder;
  lab::Options options = options_for(folder.path() + "/record", 1);
  options.n = kN;
  const lab::Problem problem(options);
  std::vector<float> field(static_cast<std::size_t>(kN) * kN);
  for (std::size_t k = 0; k < field.size(); ++k) field[k] = static_cast<float>(k % 4093);
  int next = 0;
  const lab::FetchRows fetch = [&](float* to, int j, int rows) {
    EXPECT_EQ(j, next);
    EXPECT_GE(rows, 1);
    next = j + rows;
    ASSERT_LE(next, kN);
    std::copy_n(&field[static_cast<std::size_t>(j) * kN], static_cast<std::size_t>(rows) * kN, to);
  };
  for (lab::FieldRecord what : {lab::FieldRecord::kFull, lab::FieldRecord::kRows}) {
    options.field_record = what;
    const std::string file =
        options.record_dir + (what == lab::FieldRecord::kFull ? "/field.f32" : "/rows.csv");
    std::string in_memory;
    for (bool fetched : {false, true}) {
      lab::Run run(options, problem);
      run.record(1, 0.25);
      next = 0;
      EXPECT_EQ(fetched ? run.finish(fetch) : run.finish(field.data(), 1, kN), lab::kExitDone);
      if (!fetched) in_memory = read_file(file);
    }
    EXPECT_EQ(next, kN);
    EXPECT_FALSE(in_memory.empty());
    EXPECT_TRUE(read_file(file) == in_memory);
  }
}

TEST(RunTest, a_field_that_nobody_wants_is_not_fetched) {
  const test::TemporaryFolder folder;
  lab::Options options = options_for(folder.path() + "/record", 1);
  options.record_dir.clear();
  const lab::Problem problem(options);
  lab::Run run(options, problem);
  run.record(1, 0.25);
  EXPECT_EQ(run.finish([](float*, int, int) { ADD_FAILURE() << "fetched"; }), lab::kExitDone);
}

TEST(RunTest, fewer_iterations_than_asked_for_are_not_done) {
  const test::TemporaryFolder folder;
  const lab::Options options = options_for(folder.path() + "/record", 10);
  const lab::Problem problem(options);
  const std::vector<float> field(16, 0.0f);
  lab::Run run(options, problem);
  run.record(9, 0.25);
  EXPECT_EQ(run.finish(field.data(), 1, 4), lab::kExitNotConverged);
}

TEST(RunDeathTest, a_residual_that_is_not_a_number_is_recorded_and_exit_code_1) {
  const test::TemporaryFolder folder;
  const lab::Options options = options_for(folder.path() + "/record", 2);
  const lab::Problem problem(options);
  const std::vector<float> field(16, 0.0f);
  EXPECT_EXIT(
      {
        lab::Run run(options, problem);
        run.record(1, 0.25);
        run.record(2, std::numeric_limits<double>::quiet_NaN());
        std::exit(run.finish(field.data(), 1, 4));
      },
      ::testing::ExitedWithCode(1), "residual of iteration 2 is not a number");
  Record record;
  std::string error;
  ASSERT_TRUE(validate::read_record(options.record_dir, 4, 2, &record, &error)) << error;
  EXPECT_TRUE(std::isnan(record.residuals.at(1).value));
  // JSON has no NaN.
  EXPECT_NE(read_file(options.record_dir + "/run.json").find("\"residual\": null"),
            std::string::npos);
}

TEST(HostMemoryTest, the_least_limit_of_a_cgroup_and_those_above_it_counts) {
  const test::TemporaryFolder folder;
  const std::string mount = folder.path(), job = "/slice/job_7", step = job + "/step_0";
  std::filesystem::create_directories(mount + step);
  const std::size_t none = ~std::size_t{0};
  EXPECT_EQ(cuda_on_cpu::memory_left_in_cgroups(mount, step), none);
  test::write_file(mount + step + "/memory.max", "max\n");
  test::write_file(mount + step + "/memory.current", "900\n");
  EXPECT_EQ(cuda_on_cpu::memory_left_in_cgroups(mount, step), none);
  // A batch system limits the job, and its steps not.
  test::write_file(mount + job + "/memory.max", "1000\n");
  test::write_file(mount + job + "/memory.current", "900\n");
  EXPECT_EQ(cuda_on_cpu::memory_left_in_cgroups(mount, step), 100u);
  test::write_file(mount + job + "/memory.stat", "anon 850\ninactive_file 50\n");
  EXPECT_EQ(cuda_on_cpu::memory_left_in_cgroups(mount, step), 150u);
  EXPECT_EQ(cuda_on_cpu::memory_left_in_cgroups(mount, "/slice"), none);
  // A container sees its own cgroup as the one at the top.
  test::write_file(mount + "/memory.max", "120\n");
  test::write_file(mount + "/memory.current", "110\n");
  for (const std::string& path : {step, std::string("/"), std::string()}) {
    EXPECT_EQ(cuda_on_cpu::memory_left_in_cgroups(mount, path), 10u) << path;
  }
}

TEST(LargestNTest, is_the_largest_whose_square_fits) {
  EXPECT_EQ(lab::largest_n(0, 8), 0);
  EXPECT_EQ(lab::largest_n(7, 8), 0);
  EXPECT_EQ(lab::largest_n(8, 8), 1);
  EXPECT_EQ(lab::largest_n(31, 8), 1);
  EXPECT_EQ(lab::largest_n(32, 8), 2);
  for (std::size_t n : {3, 100, 46340, 46341, 65536, 1000003}) {
    for (std::size_t bytes_per_point : {1, 4, 8, 12}) {
      const std::size_t bytes = n * n * bytes_per_point;
      EXPECT_EQ(lab::largest_n(bytes - 1, bytes_per_point), static_cast<int>(n) - 1);
      EXPECT_EQ(lab::largest_n(bytes, bytes_per_point), static_cast<int>(n));
      EXPECT_EQ(lab::largest_n(bytes + 1, bytes_per_point), static_cast<int>(n));
    }
  }
  EXPECT_EQ(lab::largest_n(std::numeric_limits<std::size_t>::max(), 1), lab::kMaxN);
}

TEST(RowHashTest, any_one_bit_changes_it) {
  std::vector<float> row = {0.5f, -1.0f, 3.25f, 1e-20f, 0.0f};
  const std::uint64_t hash = lab::row_hash(row.data(), 5);
  for (std::size_t k = 0; k < row.size(); ++k) {
    for (int bit = 0; bit < 32; ++bit) {
      std::vector<float> changed = row;
      std::uint32_t bits;
      std::memcpy(&bits, &changed[k], sizeof bits);
      bits ^= std::uint32_t{1} << bit;
      std::memcpy(&changed[k], &bits, sizeof bits);
      // Values below 1e-30 all count as 0.
      const bool same = std::fabs(row[k]) < 1e-30f && std::fabs(changed[k]) < 1e-30f;
      EXPECT_EQ(lab::row_hash(changed.data(), 5) == hash, same) << "value " << k << " bit " << bit;
    }
  }
}

TEST(RowHashTest, tells_order_and_length) {
  const std::vector<float> row = {1, 2, 3, 0}, swapped = {2, 1, 3, 0};
  EXPECT_NE(lab::row_hash(row.data(), 4), lab::row_hash(swapped.data(), 4));
  EXPECT_NE(lab::row_hash(row.data(), 4), lab::row_hash(row.data(), 3));
}

TEST(RowHashTest, values_below_1e_minus_30_are_zero_and_nan_is_not) {
  const float zero = 0.0f;
  const std::uint64_t hash = lab::row_hash(&zero, 1);
  for (float tiny : {-0.0f, 1e-31f, -1e-31f, 1e-45f}) EXPECT_EQ(lab::row_hash(&tiny, 1), hash);
  for (float value : {1.1e-30f, -1.1e-30f, NAN}) EXPECT_NE(lab::row_hash(&value, 1), hash);
}

}  // namespace
