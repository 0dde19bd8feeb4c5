#include "source_code.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "steps.h"
#include "test_helpers.h"

namespace {

using validate::code_only;

TEST(CodeOnlyTest, leaves_out_white_space) {
  EXPECT_EQ(code_only("int  a =\t1;\r\n\n\vint b;\n"), "inta=1;intb;");
  EXPECT_EQ(code_only(""), "");
  EXPECT_EQ(code_only(" \n\t"), "");
}

TEST(CodeOnlyTest, leaves_out_comments) {
  EXPECT_EQ(code_only("a;  // one\nb;"), "a;b;");
  EXPECT_EQ(code_only("a; /* two\n lines */ b;"), "a;b;");
  EXPECT_EQ(code_only("a/**/b/***/c/*/ * /*/d"), "abcd");
  EXPECT_EQ(code_only("a; // ends the file"), "a;");
  EXPECT_EQ(code_only("a; /* never ends"), "a;");
  EXPECT_EQ(code_only("a; // /* not opened\nb; /* // */ c;"), "a;b;c;");
  EXPECT_EQ(code_only("a; // it's \"quoted\nb;"), "a;b;");
}

TEST(CodeOnlyTest, keeps_a_division) {
  EXPECT_EQ(code_only("a / b"), "a/b");
  EXPECT_EQ(code_only("a /"), "a/");
}

TEST(CodeOnlyTest, keeps_strings_as_they_are) {
  EXPECT_EQ(code_only("f(\"http://a b\");  // c"), "f(\"http://a b\");");
  EXPECT_EQ(code_only("f(\"/* a */\", b);"), "f(\"/* a */\",b);");
  EXPECT_EQ(code_only("f(\"say \\\" // \\\\\");  // c"), "f(\"say \\\" // \\\\\");");
  EXPECT_EQ(code_only("f(\"\", \"a  b\")"), "f(\"\",\"a  b\")");
  EXPECT_EQ(code_only("f(\"it's // one\");"), "f(\"it's // one\");");
}

TEST(CodeOnlyTest, keeps_characters_as_they_are) {
  EXPECT_EQ(code_only("a = '\"';  // b"), "a='\"';");
  EXPECT_EQ(code_only("a = '\\'';  // b"), "a='\\'';");
  EXPECT_EQ(code_only("a = ' ';  // b"), "a=' ';");
  EXPECT_EQ(code_only("a = '/'; b = '/';  // b"), "a='/';b='/';");
}

TEST(CodeOnlyTest, takes_a_cut_string_to_the_end_of_its_line_only) {
  EXPECT_EQ(code_only("f(\"open\n// b\nc;").find("b"), std::string::npos);
}

TEST(CodeOnlyTest, an_escape_at_the_end_of_the_file_is_no_trap) {
  EXPECT_EQ(code_only("a = \"\\"), "a=\"\\");
  EXPECT_EQ(code_only("a = \""), "a=\"");
}

// The separator is no quotation mark: the comment behind it is a comment.
TEST(CodeOnlyTest, knows_a_digit_separator) {
  EXPECT_EQ(code_only("n = 1'000'000;  // a\nb;"), "n=1'000'000;b;");
  EXPECT_EQ(code_only("n = 1'000;  // a\nb;"), "n=1'000;b;");
  EXPECT_EQ(code_only("n = 0xff'ff;  /* a\n a */ b;"), "n=0xff'ff;b;");
}

TEST(CodeOnlyTest, tells_code_apart) {
  EXPECT_NE(code_only("a = 1;"), code_only("a = 2;"));
  EXPECT_NE(code_only("a;"), code_only("// a;"));
  EXPECT_NE(code_only("f(\"a b\");"), code_only("f(\"ab\");"));
  EXPECT_EQ(code_only("// TODO(04): b\na;\n"), code_only("a;"));
}

TEST(NamesInTest, are_those_of_the_code_alone) {
  EXPECT_EQ(validate::names_in("int a1 = f(b_c);  // d\n\"e\" /* g */ x/**/y 0x1f 'h'"),
            (std::set<std::string>{"int", "a1", "f", "b_c", "x", "y"}));
  EXPECT_TRUE(validate::names_in("").empty());
  EXPECT_EQ(validate::names_in("last"), std::set<std::string>{"last"});
}

// A function as the steps have it.
std::string launching(const std::string& after) {
  return "void sweep(float* f) {\n  kernel<<<grid, block>>>(f);\n" + after + "}\n";
}

TEST(UncheckedCallsTest, names_a_launch_that_nobody_asks_about) {
  EXPECT_EQ(validate::unchecked_calls(launching("  CUDA_CHECK(cudaDeviceSynchronize());\n")),
            "Not checked: the launch at line 2 (cudaGetLastError after it tells).");
  EXPECT_EQ(validate::unchecked_calls(launching("") + launching("")),
            "Not checked: the launches at lines 2 and 5 (cudaGetLastError after it tells).");
  // Another function's check comes too late; a comment is none, nor is a result that is dropped.
  EXPECT_EQ(validate::unchecked_calls(launching("  // cudaGetLastError()\n") +
                                      launching("  CUDA_CHECK(cudaGetLastError());\n") +
                                      "int main() { sweep(f); }\n"),
            "Not checked: the launch at line 2 (cudaGetLastError after it tells).");
  EXPECT_EQ(validate::unchecked_calls(launching("  cudaGetLastError();\n")),
            "Not checked: the launch at line 2 (cudaGetLastError after it tells); "
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
  EXPECT_EQ(validate::unchecked_calls("#define ASK() \\\n  CUDA_CHECK(cudaGetLastError())\n" +
                                      launching("  ASK();\n")),
            "");
  EXPECT_EQ(validate::unchecked_calls("#define RUN(...) __VA_ARGS__; ASK(cudaGetLastError())\n"
                                      "void sweep() { RUN(kernel<<<1, 2>>>(f)); }\n"),
            "");
  EXPECT_EQ(validate::unchecked_calls(launching("") +
                                      "int main() {\n  sweep(f);\n  ASK(cudaGetLastError());\n}\n"),
            "");
  // Asked at one call, and not at the other.
  EXPECT_NE(validate::unchecked_calls(launching("") +
                                      "int main() {\n  sweep(f);\n  ASK(cudaGetLastError());\n}\n"
                                      "void more() { sweep(f); }\n"),
            "");
}

TEST(UncheckedCallsTest, names_calls_whose_result_is_dropped) {
  EXPECT_EQ(validate::unchecked_calls("void f() {\n  cudaFree(a);\n  cudaFree(b);\n"
                                      "  if (c) cudaMemset(c, 0, 8);\n}\n"),
            "Not checked: cudaFree at lines 2 and 3; cudaMemset at line 4.");
  for (const char* fine :
       {"CUDA_CHECK(cudaFree(a));", "(void)cudaFree(a);", "auto e = cudaFree(a);",
        "cudaError_t e{cudaFree(a)};", "if (cudaFree(a) != cudaSuccess) fail();",
        "return cudaFree(a);", "cudaFree(a); CUDA_CHECK(cudaGetLastError());", "// cudaFree(a);",
        "puts(\"; cudaFree(a);\");", "cudaDeviceReset();", "cudaStream_t stream;"}) {
    EXPECT_EQ(validate::unchecked_calls(std::string("void f() { ") + fine + "\n}"), "") << fine;
  }
}

TEST(UncheckedCallsTest, asks_whether_the_fields_fit) {
  EXPECT_EQ(validate::unchecked_calls("void f() { CUDA_CHECK(cudaMallocManaged(&p, 8)); }"),
            "Not checked: whether the fields fit (lab::require_gpu_memory).");
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
    ++count;
  }
  if (count == 0) GTEST_SKIP() << "there are no solutions here";
}

TEST(ReadTextTest, reads_a_file_byte_for_byte) {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/file";
  const std::string content("one\r\n\0two", 9);
  test::write_file(file, content);
  std::string text = "before";
  ASSERT_TRUE(validate::read_text(file, &text));
  EXPECT_EQ(text, content);
}

TEST(ReadTextTest, says_where_a_file_cannot_be_read) {
  std::string text = "before";
  EXPECT_FALSE(validate::read_text("/nowhere/file", &text));
  EXPECT_EQ(text, "before");
}

}  // namespace
