// The reader believes nothing: what a program left under --record may be missing, cut, or garbage.

#include "run/record.h"

#include <cmath>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using test::write_file;
using validate::Record;

constexpr int kReaderN = 6;
constexpr int kReaderIterations = 3;
constexpr const char* kRunJson =
    "{\n"
    "  \"step\": \"04_jacobi_kernel\",\n"
    "  \"device\": \"NVIDIA H200\",\n"
    "  \"problem\": \"probe\",\n"
    "  \"n\": 6,\n"
    "  \"iterations\": 3,\n"
    "  \"residual\": 0.25,\n"
    "  \"distance_to_exact\": null,\n"
    "  \"field\": \"full\",\n"
    "  \"iteration_samples\": 2,\n"
    "  \"iteration_ms_median\": 0.5\n"
    "}\n";
constexpr const char* kResiduals = "iteration,residual\n1,1\n2,0.5\n3,0.25\n";

class RecordReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(run_json(), kRunJson);
    write_file(residuals(), kResiduals);
  }
  std::string dir() const { return folder_.path(); }
  std::string run_json() const { return dir() + "/run.json"; }
  std::string residuals() const { return dir() + "/residuals.csv"; }

  /// Whether the record is refused, with `word` in the error.
  ::testing::AssertionResult refused(const std::string& word) const {
    Record record;
    std::string error;
    if (validate::read_record(dir(), kReaderN, kReaderIterations, &record, &error)) {
      return ::testing::AssertionFailure() << "the record was taken";
    }
    if (error.find(word) == std::string::npos) {
      return ::testing::AssertionFailure() << "no '" << word << "' in '" << error << "'";
    }
    return ::testing::AssertionSuccess();
  }
  ::testing::AssertionResult residuals_refused(const std::string& text, const std::string& word) {
    write_file(residuals(), text);
    return refused(word);
  }

 private:
  test::TemporaryFolder folder_;
};

void replace_by_folder(const std::string& path) {
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
}

TEST_F(RecordReaderTest, reads_a_record) {
  Record record;
  std::string error;
  ASSERT_TRUE(validate::read_record(dir(), kReaderN, kReaderIterations, &record, &error)) << error;
  EXPECT_EQ(record.step, "04_jacobi_kernel");
  EXPECT_EQ(record.n, kReaderN);
  EXPECT_EQ(record.iterations, kReaderIterations);
  EXPECT_EQ(record.samples, 2);
  EXPECT_EQ(record.median_ms, 0.5);
  ASSERT_EQ(record.residuals.size(), 3u);
  EXPECT_EQ(record.residuals[2].iteration, 3);
  EXPECT_EQ(record.residuals[2].value, 0.25);
}

TEST_F(RecordReaderTest, a_second_reading_into_the_same_record_starts_afresh) {
  Record record;
  std::string error;
  ASSERT_TRUE(validate::read_record(dir(), kReaderN, kReaderIterations, &record, &error)) << error;
  ASSERT_TRUE(validate::read_record(dir(), kReaderN, kReaderIterations, &record, &error)) << error;
  EXPECT_EQ(record.residuals.size(), 3u);
}

TEST_F(RecordReaderTest, refuses_missing_files) {
  std::filesystem::remove(residuals());
  EXPECT_TRUE(refused("residuals.csv: No such file"));
  std::filesystem::remove(run_json());
  EXPECT_TRUE(refused("run.json: No such file"));
  std::filesystem::remove_all(dir());
  EXPECT_TRUE(refused("run.json: No such file"));
}

TEST_F(RecordReaderTest, refuses_empty_files) {
  EXPECT_TRUE(residuals_refused("", "residuals.csv: does not begin"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n", "holds no residual"));
  write_file(run_json(), "");
  EXPECT_TRUE(refused("run.json: not the record of a run"));
}

TEST_F(RecordReaderTest, refuses_truncated_files) {
  EXPECT_TRUE(residuals_refused("iteration,res", "does not begin"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n1,1\n2,0.5\n", "ends at iteration 2"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n1,1\n2,0.5\n3", "a bad line, '3'"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n1,1\n2,0.5\n3,", "a bad line, '3,'"));
  write_file(residuals(), kResiduals);
  const std::string whole = kRunJson;
  write_file(run_json(), whole.substr(0, whole.find("\"iterations\"")));
  EXPECT_TRUE(refused("not the record of a run"));
}

TEST_F(RecordReaderTest, refuses_garbage) {
  std::string garbage;
  for (int k = 0; k < 5000; ++k) garbage += static_cast<char>(k * 2654435761u >> 16);
  write_file(run_json(), garbage);
  EXPECT_TRUE(refused("not the record of a run"));
  write_file(run_json(), "[1, 2, 3]\n\"\n\"\"\n\":\":\n\"n\": \"iterations\": ,\"\n");
  EXPECT_TRUE(refused("not the record of a run"));
  write_file(run_json(), kRunJson);
  EXPECT_TRUE(residuals_refused(garbage.substr(0, 150), "does not begin"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n" + garbage.substr(0, 80), "a bad line"));
}

// A look at the size comes first: a file of a gigabyte (of nothing, here) is not read at all.
TEST_F(RecordReaderTest, refuses_oversized_files) {
  for (const std::string& path : {residuals(), run_json()}) {
    std::filesystem::resize_file(path, 1 << 30);
    EXPECT_TRUE(refused(path.substr(path.rfind('/') + 1) + ": not a record"));
  }
}

TEST_F(RecordReaderTest, refuses_a_folder_in_place_of_a_file) {
  replace_by_folder(residuals());
  EXPECT_TRUE(refused("residuals.csv: not a record"));
  replace_by_folder(run_json());
  EXPECT_TRUE(refused("run.json: not a record"));
}

// A read of one would never end.
TEST_F(RecordReaderTest, refuses_devices_and_pipes) {
  std::filesystem::remove(residuals());
  ASSERT_EQ(mkfifo(residuals().c_str(), 0600), 0);
  EXPECT_TRUE(refused("residuals.csv: not a record"));
  std::filesystem::remove(run_json());
  std::filesystem::create_symlink("/dev/zero", run_json());
  EXPECT_TRUE(refused("run.json: not a record"));
}

TEST_F(RecordReaderTest, a_number_of_samples_that_is_none_counts_as_none) {
  // 7e+10 once went into an int: undefined.
  for (const char* samples : {"7e+10", "-1e300", "99999999999", "nan", "two"}) {
    std::string text = kRunJson;
    write_file(run_json(), text.replace(text.find(": 2"), 3, std::string(": ") + samples));
    Record record;
    std::string error;
    ASSERT_TRUE(validate::read_record(dir(), kReaderN, kReaderIterations, &record, &error))
        << error;
    EXPECT_EQ(record.samples, 0) << samples;
  }
}

TEST_F(RecordReaderTest, refuses_another_n) {
  for (const char* n : {"7", "0", "-6"}) {
    std::string text = kRunJson;
    write_file(run_json(), text.replace(text.find(": 6"), 3, std::string(": ") + n));
    EXPECT_TRUE(refused("but n = 6 was asked for"));
  }
  for (const char* n : {"6.0", "six", "4294967302", "null", ""}) {
    std::string text = kRunJson;
    write_file(run_json(), text.replace(text.find(": 6"), 3, std::string(": ") + n));
    EXPECT_TRUE(refused("not the record of a run")) << n;
  }
}

TEST_F(RecordReaderTest, refuses_iterations_that_do_not_increase) {
  EXPECT_TRUE(residuals_refused("iteration,residual\n1,1\n1,0.5\n3,0.25\n",
                                "iteration 1 is recorded after iteration 1"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n2,1\n1,0.5\n3,0.25\n",
                                "iteration 1 is recorded after iteration 2"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n0,1\n3,0.25\n", "'0,1'"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n-1,1\n3,0.25\n", "'-1,1'"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n99999999999,1\n", "'99999999999,1'"));
}

TEST_F(RecordReaderTest, refuses_lines_that_are_not_a_number_and_a_number) {
  EXPECT_TRUE(residuals_refused("iteration,residual\n1;1\n", "'1;1'"));
  EXPECT_TRUE(residuals_refused("iteration,residual\none,1\n", "'one,1'"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n1,one\n", "'1,one'"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n1,1,1\n", "'1,1,1'"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n1,1 \n", "'1,1 '"));
  EXPECT_TRUE(residuals_refused("iteration,residual\n\n1,1\n", "''"));
  EXPECT_TRUE(residuals_refused("residual,iteration\n1,1\n", "does not begin"));
}

// A program that goes round its loop once too often is a learner's commonest mistake.
TEST_F(RecordReaderTest, refuses_more_iterations_than_were_asked_for) {
  std::string text = kRunJson;
  write_file(run_json(), text.replace(text.find(": 3"), 3, ": 4"));
  EXPECT_TRUE(
      residuals_refused("iteration,residual\n1,1\n2,0.5\n3,0.25\n4,0.125\n", "4 iterations"));
}

TEST_F(RecordReaderTest, takes_a_record_that_stopped_early_or_is_sparse) {
  std::string text = kRunJson, error;
  write_file(run_json(), text.replace(text.find(": 3"), 3, ": 2"));
  write_file(residuals(), "iteration,residual\n2,0.5\n");
  Record record;
  ASSERT_TRUE(validate::read_record(dir(), kReaderN, kReaderIterations, &record, &error)) << error;
  EXPECT_EQ(record.iterations, 2);
  EXPECT_EQ(record.residuals.size(), 1u);
}

// It is the comparison that refuses it, so that the learner reads at which iteration it came.
TEST_F(RecordReaderTest, takes_a_residual_that_is_not_a_number) {
  for (const char* nan : {"nan", "-nan", "inf"}) {
    write_file(residuals(), std::string("iteration,residual\n1,1\n2,0.5\n3,") + nan + "\n");
    Record record;
    std::string error;
    ASSERT_TRUE(validate::read_record(dir(), kReaderN, kReaderIterations, &record, &error))
        << error;
    EXPECT_FALSE(std::isfinite(record.residuals.at(2).value));
  }
}

class ReadFieldTest : public ::testing::Test {
 protected:
  static constexpr int kBytes = kReaderN * kReaderN * 4;

  std::string dir() const { return folder_.path(); }
  std::string path() const { return dir() + "/field.f32"; }
  bool read(int n = kReaderN) { return validate::read_field(dir(), n, &field_, &error_); }

  std::vector<float> field_;
  std::string error_;

 private:
  test::TemporaryFolder folder_;
};

TEST_F(ReadFieldTest, gives_n_rows) {
  std::vector<float> values(kReaderN * kReaderN);
  for (int k = 0; k < kReaderN * kReaderN; ++k) values[k] = 0.5f * k;
  write_file(path(), std::string(reinterpret_cast<const char*>(values.data()), kBytes));
  ASSERT_TRUE(read()) << error_;
  EXPECT_EQ(field_, values);
}

TEST_F(ReadFieldTest, refuses_a_missing_file) {
  EXPECT_FALSE(read());
  EXPECT_NE(error_.find("field.f32: No such file"), std::string::npos) << error_;
}

TEST_F(ReadFieldTest, refuses_every_other_size) {
  for (int bytes : {0, 1, kBytes - 4, kBytes - 1, kBytes + 1, kBytes + 4, 2 * kBytes}) {
    write_file(path(), std::string(bytes, 'x'));
    EXPECT_FALSE(read());
    EXPECT_NE(error_.find("holds " + std::to_string(bytes) + " bytes, 6 x 6 floats are 144"),
              std::string::npos)
        << error_;
  }
  // 4 n^2 bytes are more than an int holds.
  write_file(path(), "");
  EXPECT_FALSE(read(1 << 16));
  EXPECT_NE(error_.find("floats are 17179869184"), std::string::npos) << error_;
}

TEST_F(ReadFieldTest, refuses_a_folder_and_a_device) {
  std::filesystem::create_directory(path());
  EXPECT_FALSE(read());
  std::filesystem::remove(path());
  std::filesystem::create_symlink("/dev/zero", path());
  EXPECT_FALSE(read());
}

}  // namespace
