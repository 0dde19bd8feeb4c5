// The tables of the tracer.

#include "../trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace trace {
namespace {

cuda_on_cpu::TraceRow columns_of(const Series& series) {
  cuda_on_cpu::TraceRow row;
  series.fill(&row);
  return row;
}

TEST(Series, counts_and_adds_up) {
  Series s;
  for (double ns : {4.0, 1.0, 2.0, 9.0}) s.add(ns, 100);
  EXPECT_EQ(s.count(), 4u);
  EXPECT_EQ(s.total(), 16);
  EXPECT_EQ(s.bytes(), 400);
  const auto row = columns_of(s);
  EXPECT_EQ(row.mean_ns, 4);
  EXPECT_EQ(row.median_ns, 3);  // between the two in the middle
  EXPECT_EQ(row.min_ns, 1);
  EXPECT_EQ(row.max_ns, 9);
  EXPECT_NEAR(row.deviation_ns, std::sqrt(38.0 / 3), 1e-12);
}

TEST(Series, of_one_has_no_deviation) {
  Series s;
  s.add(7);
  EXPECT_EQ(columns_of(s).median_ns, 7);
  EXPECT_EQ(columns_of(s).deviation_ns, 0);
}

TEST(Exchanges, are_beside_a_kernel_that_still_runs_when_they_start) {
  // Two passes: the ends, the rest, and an exchange that ends before the rest, or begins after it.
  const std::vector<Row> rows =
      exchanges({{12, 20, true}, {0, 10, false}, {1, 40, false}, {41, 50, false}, {51, 54, true}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "started beside a kernel");
  EXPECT_EQ(rows[0].series.count(), 1u);
  EXPECT_EQ(rows[0].series.total(), 8);
  EXPECT_EQ(rows[1].name, "started beside no kernel");
  EXPECT_EQ(rows[1].series.total(), 3);
  EXPECT_TRUE(exchanges({{0, 10, false}}).empty());
}

TEST(Series, of_none_is_zero) {
  EXPECT_EQ(columns_of(Series()).mean_ns, 0);
  EXPECT_EQ(columns_of(Series()).median_ns, 0);
}

class TablesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "tables_test_" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<Table> tables() const {
    Row cheap{"a\tname\nwith breaks", {}}, dear{"dear", {}};
    cheap.series.add(1);
    dear.series.add(10, 64);
    dear.kernel.grid = "2x3x1";
    dear.kernel.block = "32x4x1";
    dear.kernel.registers = "19";
    dear.kernel.static_shared = "512";
    dear.kernel.dynamic_shared = "16";
    dear.kernel.local = "8";
    return {{"kernels", {cheap, dear}}, {"empty", {}}};
  }
  std::string folder_;
};

TEST_F(TablesTest, are_written_with_the_dearest_first) {
  ASSERT_TRUE(write_tables(tables(), folder_ + "/t.tsv"));
  std::ifstream file(folder_ + "/t.tsv");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(),
            "table\tname\tcount\ttotal_ns\tmean_ns\tmedian_ns\tmin_ns\tmax_ns\tdeviation_ns\tbytes"
            "\tgrid\tblock\tregisters\tstatic_shared\tdynamic_shared\tlocal\n"
            "kernels\tdear\t1\t10\t10\t10\t10\t10\t0\t64\t2x3x1\t32x4x1\t19\t512\t16\t8\n"
            "kernels\ta name with breaks\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-\t-\t-\n");
  const std::filesystem::directory_iterator all(folder_);  // nothing else is left
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(TablesTest, that_cannot_be_written_leave_nothing) {
  EXPECT_FALSE(write_tables(tables(), folder_ + "/not there/t.tsv"));
  EXPECT_FALSE(write_tables(tables(), folder_));  // a folder has that name
  const std::filesystem::directory_iterator all(folder_);
  EXPECT_EQ(std::distance(begin(all), end(all)), 0);
}

}  // namespace
}  // namespace trace
