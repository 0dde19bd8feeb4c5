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

TEST(Row, counts_and_adds_up) {
  Row all;
  for (double ns : {4.0, 1.0, 2.0, 9.0}) all.add(ns, 100);
  const auto row = all.in_columns();
  EXPECT_EQ(row.count, 4);
  EXPECT_EQ(row.total_ns, 16);
  EXPECT_EQ(row.bytes, 400);
  EXPECT_EQ(row.mean_ns, 4);
  EXPECT_EQ(row.median_ns, 3);  // between the two in the middle
  EXPECT_EQ(row.min_ns, 1);
  EXPECT_EQ(row.max_ns, 9);
  EXPECT_NEAR(row.deviation_ns, std::sqrt(38.0 / 3), 1e-12);
}

TEST(Row, of_one_has_no_deviation) {
  Row one;
  one.add(7);
  EXPECT_EQ(one.in_columns().median_ns, 7);
  EXPECT_EQ(one.in_columns().deviation_ns, 0);
}

TEST(Exchanges, are_beside_a_kernel_that_still_runs_when_they_start) {
  // Two passes: the ends, the rest, and an exchange that ends before the rest, or begins after it.
  Rows rows;
  add_exchanges({{12, 20, true}, {0, 10, false}, {1, 40, false}, {41, 50, false}, {51, 54, true}},
                &rows);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(find_row(&rows, "exchanges", "started beside a kernel").durations,
            std::vector<double>{8});
  EXPECT_EQ(find_row(&rows, "exchanges", "started beside no kernel").durations,
            std::vector<double>{3});
  Rows none;
  add_exchanges({{0, 10, false}}, &none);
  EXPECT_TRUE(none.empty());
}

TEST(Row, of_none_is_zero) {
  EXPECT_EQ(Row().in_columns().mean_ns, 0);
  EXPECT_EQ(Row().in_columns().median_ns, 0);
}

class TablesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "tables_test_" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Rows rows() const {
    Rows rows;
    find_row(&rows, "kernels", "a\tname\nwith breaks").add(1);
    Row& dear = find_row(&rows, "kernels", "dear");
    dear.add(10, 64);
    dear.columns.grid = "2x3x1";
    dear.columns.block = "32x4x1";
    dear.columns.registers = "19";
    dear.columns.static_shared = "512";
    dear.columns.dynamic_shared = "16";
    dear.columns.local = "8";
    find_row(&rows, "calls", "call").add(1);
    return rows;
  }
  std::string folder_;
};

TEST_F(TablesTest, are_written_with_the_dearest_first) {
  ASSERT_TRUE(write_rows(rows(), folder_ + "/t.tsv"));
  std::ifstream file(folder_ + "/t.tsv");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(),
            "table\tname\tcount\ttotal_ns\tmean_ns\tmedian_ns\tmin_ns\tmax_ns\tdeviation_ns\tbytes"
            "\tgrid\tblock\tregisters\tstatic_shared\tdynamic_shared\tlocal\n"
            "calls\tcall\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-\t-\t-\n"
            "kernels\tdear\t1\t10\t10\t10\t10\t10\t0\t64\t2x3x1\t32x4x1\t19\t512\t16\t8\n"
            "kernels\ta name with breaks\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-\t-\t-\n");
  const std::filesystem::directory_iterator all(folder_);  // nothing else is left
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(TablesTest, that_cannot_be_written_leave_nothing) {
  EXPECT_FALSE(write_rows(rows(), folder_ + "/not there/t.tsv"));
  EXPECT_FALSE(write_rows(rows(), folder_));  // a folder has that name
  const std::filesystem::directory_iterator all(folder_);
  EXPECT_EQ(std::distance(begin(all), end(all)), 0);
}

}  // namespace
}  // namespace trace
