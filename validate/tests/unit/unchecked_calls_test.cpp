#include <string>

#include <gtest/gtest.h>

#include "run/steps.h"
#include "source/source_code.h"

namespace {

// A function as the steps have it.
std::string launching(const std::string& after) {
  return "void sweep(float* f) {\n  kernel<<<grid, block>>>(f);\n" + after + "}\n";
}

TEST(UncheckedCallsTest, names_a_launch_that_nobody_asks_about) {
  EXPECT_EQ(validate::unchecked_calls(launching("  CUDA_CHECK(cudaDeviceSynchronize());\n")),
            "Your code does not check: the launch at line 2 (check cudaGetLastError after it).");
  EXPECT_EQ(
      validate::unchecked_calls(launching("") + launching("")),
      "Your code does not check: the launches at lines 2 and 5 (check cudaGetLastError after it).");
  // Another function's check comes too late; a comment is none, nor is a result that is dropped.
  EXPECT_EQ(validate::unchecked_calls(launching("  // cudaGetLastError()\n") +
                                      launching("  CUDA_CHECK(cudaGetLastError());\n") +
                                      "int main() { sweep(f); }\n"),
            "Your code does not check: the launch at line 2 (check cudaGetLastError after it).");
  EXPECT_EQ(validate::unchecked_calls(launching("  cudaGetLastError();\n")),
            "Your code does not check: the launch at line 2 (check cudaGetLastError after it); "
            "cudaGetLastError at line 3.");
}

TEST(UncheckedCallsTest, knows_other_ways_to_ask) {
  for (const char* check :
       {"  CUDA_CHECK(cudaGetLastError());\n",
        "  if (cudaPeekAtLastError() != cudaSuccess) fail();\n",
        "  const cudaError_t error = cudaGetLastError();\n", "  return cudaGetLastError();\n",
        "  checkLaunch(\"sweep\");\n", "  getLastCudaError(\"sweep\");\n"}) {
    EXPECT_EQ(validate::unchecked_calls(launching(check)), "") << check;
  }
  // In a function or a macro of this file, around the launch, or where the function is called.
  EXPECT_EQ(validate::unchecked_calls("void ask() { CUDA_CHECK(cudaGetLastError()); }\n" +
                                      launching("  ask();\n")),
            "");
  // Or in a lambda, where that is called.
  const std::string lambda = "void f() {\n  auto ask = [] { CHECK(cudaGetLastError()); };\n";
  EXPECT_EQ(validate::unchecked_calls(lambda + "  kernel<<<1, 2>>>(f);\n  ask();\n}\n"), "");
  EXPECT_EQ(validate::unchecked_calls(lambda + "  kernel<<<1, 2>>>(f);\n}\n"),
            "Your code does not check: the launch at line 3 (check cudaGetLastError after it).");
  EXPECT_EQ(validate::unchecked_calls("#define ASK() \\\n  CUDA_CHECK(cudaGetLastError())\n" +
                                      launching("  ASK();\n")),
            "");
  EXPECT_EQ(validate::unchecked_calls("#define RUN(...) __VA_ARGS__; ASK(cudaGetLastError())\n"
                                      "void sweep() { RUN(kernel<<<1, 2>>>(f)); }\n"),
            "");
  EXPECT_EQ(validate::unchecked_calls(launching("") +
                                      "int main() {\n  sweep(f);\n  ASK(cudaGetLastError());\n}\n"),
            "");
}

TEST(UncheckedCallsTest, names_calls_whose_result_is_dropped) {
  EXPECT_EQ(validate::unchecked_calls("void f() {\n  cudaFree(a);\n  cudaFree(b);\n"
                                      "  if (c) cudaMemset(c, 0, 8);\n}\n"),
            "Your code does not check: cudaFree at lines 2 and 3; cudaMemset at line 4.");
  for (const char* fine :
       {"CUDA_CHECK(cudaFree(a));", "(void)cudaFree(a);", "auto e = cudaFree(a);",
        "cudaError_t e{cudaFree(a)};", "if (cudaFree(a) != cudaSuccess) fail();",
        "return cudaFree(a);", "cudaFree(a); CUDA_CHECK(cudaGetLastError());", "// cudaFree(a);",
        "if (cudaGraphExecUpdate(g, h, &i) != cudaSuccess) { cudaGetLastError(); anew(); }",
        "puts(\"; cudaFree(a);\");", "cudaDeviceReset();", "cudaStream_t stream;"}) {
    EXPECT_EQ(validate::unchecked_calls(std::string("void f() { ") + fine + "\n}"), "") << fine;
  }
}

TEST(UncheckedCallsTest, asks_whether_the_fields_fit) {
  EXPECT_EQ(validate::unchecked_calls("void f() { CUDA_CHECK(cudaMallocManaged(&p, 8)); }"),
            "Your code does not check: whether the fields fit (lab::require_gpu_memory).");
  EXPECT_EQ(validate::unchecked_calls("void f() {\n  lab::require_gpu_memory(n, 8);\n"
                                      "  CUDA_CHECK(cudaMallocManaged(&p, 8));\n}"),
            "");
}

TEST(UncheckedCallsTest, survives_what_is_no_program) {
  for (const char* odd : {"", "{", "}", ")", "((", "<<<", "cudaFree(", "cudaFree", "#", "#define",
                          "#define A \\", ") cudaFree(a);", "f() { if", "} cudaFree(a); {"}) {
    (void)validate::unchecked_calls(odd);
  }
}

// No solution has anything to be told.
TEST(UncheckedCallsTest, has_nothing_to_say_of_the_solutions) {
  int count = 0;
  for (const validate::Step& step : validate::read_steps(LAB_SOURCE_DIR)) {
    std::string source;
    const std::string path = LAB_SOURCE_DIR "/solutions/" + step.name + "/" + step.source;
    if (!validate::read_text(path, &source)) continue;
    EXPECT_EQ(validate::unchecked_calls(source), "") << path;
    EXPECT_EQ(validate::int_bytes_in(source), 0) << path;
    EXPECT_EQ(validate::int_index_in(source), 0) << path;
    EXPECT_EQ(validate::bare_macro_in(source).line, 0) << path;
    ++count;
  }
  if (count == 0) GTEST_SKIP() << "there are no solutions here";
}

}  // namespace
