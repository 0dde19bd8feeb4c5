#include "goals/instruments.h"

#include <gtest/gtest.h>

namespace {

using validate::Trace;
using validate::TraceRow;

TEST(TraceTest, adds_up_the_rows_of_one_name) {
  Trace trace;
  trace.rows["frees"] = {{"frees", "managed", 2},
                         {"frees", "managed static", 5},
                         {"frees", "device", 1},
                         {"frees", "managed", 1}};
  trace.rows["waits"] = {{"waits", "no kernels left", 3}, {"waits", "kernels left", 4}};
  EXPECT_EQ(trace.total("frees", "managed", &TraceRow::count), 3);
  EXPECT_EQ(trace.total("frees", "static", &TraceRow::count), 0);
  EXPECT_EQ(trace.total("waits", "kernels left", &TraceRow::count), 4);
  EXPECT_EQ(trace.total("waits", "", &TraceRow::count), 7);
  EXPECT_EQ(trace.total("nothing", "", &TraceRow::count), 0);
}

}  // namespace
