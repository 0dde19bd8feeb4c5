#include "source/source_code.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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

TEST(CodeLinesTest, keeps_the_numbers_of_lines) {
  const std::vector<std::string> lines =
      validate::code_lines("a(); // one\n/* two\nthree */ b();\nputs(\"// c\");\nd");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(code_only(lines[0]), "a();");
  EXPECT_EQ(code_only(lines[1]), "");
  EXPECT_EQ(code_only(lines[2]), "b();");
  EXPECT_EQ(code_only(lines[3]), "puts();");
  EXPECT_EQ(lines[4], "d");
}

TEST(StepInTest, is_the_one_that_the_first_line_names) {
  EXPECT_EQ(validate::step_in("// 09_shared_tile: neighbours from shared memory\nint a;"), 9);
  EXPECT_EQ(validate::step_in("// 13_temporal_blocking"), 13);
  for (const char* source :
       {"", "// 09", "// nothing here", "int a;  // 09_shared_tile", "\n// 09_shared_tile"}) {
    EXPECT_EQ(validate::step_in(source), 0) << source;
  }
}

TEST(IntIndexTest, an_index_that_multiplies_ints) {
  EXPECT_EQ(validate::int_index_in("int idx(int i, int j, int n) { return j * n + i; }"), 1);
  EXPECT_EQ(validate::int_index_in("// here\n__host__ __device__ inline std::size_t idx(int i,\n"
                                   "    const int j, int n)\n{\n  return i + n * j;\n}"),
            5);
  EXPECT_EQ(validate::int_index_in("int n;\ncudaMallocManaged(f, n * n * sizeof(float));"), 2);
  for (const char* value : {"std::size_t(j * n) + i", "static_cast<std::size_t>(n * j + i)"}) {
    EXPECT_EQ(validate::int_index_in("\nstd::size_t idx(int i, int j, int n) { return " +
                                     std::string(value) + "; }"),
              2)
        << value;
  }
  EXPECT_EQ(validate::int_index_in("const size_t bytes =\n    n * n * sizeof(float);"), 1);
  for (const char* source :
       {"\nint at(int i, int j) const { return j * n + i; }",
        "std::size_t at(int i,\n int j, int n) { return i + j * n; }",
        "const int j = blockIdx.x;\nf[j * n + i] = 0;", "int i = 0, j = 1;\nf[j * n + i] = 0;",
        "\nresidual = sqrt(sum / (n * n));"}) {
    EXPECT_EQ(validate::int_index_in(source), 2) << source;
  }
  for (const char* source :
       {"int up(int n, int m) { return (n + m - 1) / m * m; }",
        "int in_tile(int x, int y) { return y * kTileX + x; }",
        "std::size_t at(int i, int j) { return std::size_t(j) * n + i; }",
        "const std::size_t j = 1;\nf[j * n + i] = 0;",
        "const std::size_t n = options.n;\nfor (int j = 1;;) f[j * n + i] = 0;",
        "sqrt(sum / (double(n) * n))"}) {
    EXPECT_EQ(validate::int_index_in(source), 0) << source;
  }
}

TEST(BareMacroTest, is_a_sum_that_is_multiplied) {
  const validate::BareMacro macro =
      validate::bare_macro_in("#define kTile 32\n#define kWide kTile + 2\nx = y * kWide;");
  EXPECT_EQ(macro.line, 2);
  EXPECT_EQ(macro.name + " " + macro.parameter, "kWide ");
  for (const std::string source :
       {"#define kWide (kTile + 2)\nx = y * kWide;", "#define kWide kTile + 2\nx = y + kWide;",
        "#define kLast -1\nx = y * kLast;", "#define kSmall 1e-4\nx = y * kSmall;"}) {
    EXPECT_EQ(validate::bare_macro_in(source).line, 0) << source;
  }
}

TEST(BareMacroTest, is_one_that_is_given_a_sum_where_it_multiplies) {
  const std::string use = "x = f[idx(i + 1, j, n)] + f[idx(i, j + 1, n)];";
  const validate::BareMacro macro =
      validate::bare_macro_in("\n#define idx(i, j, n) (j * n + i)\n" + use);
  EXPECT_EQ(macro.line, 2);
  EXPECT_EQ(macro.name + " " + macro.parameter, "idx j");
  for (const std::string& source : std::vector<std::string>{
           "#define idx(i, j, n) ((j) * (n) + (i))\n" + use,
           "#define idx(i, j, n) (j * n + i)\nx = f[idx(i, j, n)];",
           "#define twice(x) (2 * x)\ny = twice(z);", "int idx(int i, int j, int n);\n" + use,
           "// #define idx(i, j, n) (j * n + i)\n" + use}) {
    EXPECT_EQ(validate::bare_macro_in(source).line, 0) << source;
  }
}

TEST(IntIndexTest, bytes_of_a_field_in_an_int) {
  EXPECT_EQ(validate::int_bytes_in("f();\nconst int bytes = n * n * sizeof(float);"), 2);
  EXPECT_EQ(validate::int_bytes_in("int bytes = std::size_t(n) * n\n * sizeof(float);"), 1);
  for (const char* source :
       {"const std::size_t bytes = std::size_t(n) * n * sizeof(float);",
        "int bytes = n * sizeof(float);", "int m = n * n;", "// int bytes = n * n * sizeof(float);",
        "for (int i = 0; i < n; ++i) f = g(n * sizeof(float));"}) {
    EXPECT_EQ(validate::int_bytes_in(source), 0) << source;
  }
}

TEST(IntIndexTest, an_index_that_does_not) {
  for (const char* source :
       {"std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }",
        "auto idx(int i, int j, int n) { return static_cast<std::size_t>(j) * n + i; }",
        "size_t idx(size_t i, size_t j, size_t n) { return j * n + i; }",
        "size_t idx(int i, int j, int n) { return 1L * j * n + i; }",
        "size_t idx(int i, int j, int n) { return (long)j * n + i; }",
        "int idx(int i, int j, int n) { const size_t row = j; return row * n + i; }",
        "size_t idx(int i, int j, int n) { return place(j * n, i); }",
        "// int idx(int i, int j, int n) { return j * n + i; }",
        "bytes = std::size_t(n) * n * sizeof(float);", "bytes = sizeof(float) * n * n;",
        "const float east = f[idx(i + 1, j, n)] * idx(i, j, n);", ""}) {
    EXPECT_EQ(validate::int_index_in(source), 0) << source;
  }
}

TEST(KernelsTest, are_found_with_and_without_launch_bounds) {
  std::vector<std::string> names;
  for (const validate::Function& function :
       validate::functions_in("__global__ void a_kernel(int n) {}\n"
                              "// __global__ void no(int n) {}\n"
                              "template <int k>\n__global__ void __launch_bounds__(32 * k)\n"
                              "    b(float* f) {}\n__global__ static void c() {}\n")) {
    if (function.is_kernel) names.push_back(function.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a_kernel", "b", "c"}));
}

// As the filter reads them, and not as they look.
TEST(CodeLinesTest, knows_raw_strings_and_lines_that_go_on) {
  const std::vector<std::string> lines =
      validate::code_lines("puts(R\"(// no\n comment)\"); a;\n#define B \\\n  c // d \\\n e\nf;");
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(code_only(lines[1]), ");a;");
  EXPECT_EQ(code_only(lines[3]), "c");
  EXPECT_EQ(code_only(lines[4]), "");
  EXPECT_EQ(lines[5], "f;");
}

TEST(FunctionAtTest, is_the_one_around_a_line) {
  const std::string source =
      "namespace {\nstruct Pass {\n  int n;\n};\n"
      "template <int k>\n__global__ void __launch_bounds__(32 * k)\n    sweep(float* f) {\n"
      "  if (f[0] > 0) {\n    f[1] = 0;\n  }\n}\n}  // namespace\nint main() { return 0; }\n";
  EXPECT_EQ(validate::function_at(source, 9).name, "sweep");
  EXPECT_TRUE(validate::function_at(source, 9).is_kernel);
  EXPECT_EQ(validate::function_at(source, 5).name, "sweep");
  EXPECT_EQ(validate::function_at(source, 5).last_line, 11);
  EXPECT_EQ(validate::function_at(source, 13).name, "main");
  EXPECT_EQ(validate::function_at(source, 3).name, "");
  EXPECT_EQ(validate::functions_in(source).size(), 2u);
  for (const char* odd : {"", "{", "}", "f() {", "f(", "__global__ void f(int n", "a = {1}; {"}) {
    (void)validate::function_at(odd, 1);
  }
}

TEST(ArrayAtTest, is_the_only_one_that_a_line_reads_or_writes) {
  const std::string source =
      "f_new[idx(i, j)] = f_old[k];\nif (a[k] == b[k]) c;\nx = f[k - 1] + f[k + 1];\n"
      "sum[0] += part[k];\n__pipeline_memcpy_async(&ring[k], from, 16);\n";
  EXPECT_EQ(validate::array_at(source, 1, true), "f_new");
  EXPECT_EQ(validate::array_at(source, 1, false), "f_old");
  EXPECT_EQ(validate::array_at(source, 2, false), "");
  EXPECT_EQ(validate::array_at(source, 3, false), "f");
  EXPECT_EQ(validate::array_at(source, 3, true), "");
  EXPECT_EQ(validate::array_at(source, 4, false), "part");
  EXPECT_EQ(validate::array_at(source, 5, false), "");
  EXPECT_EQ(validate::array_at(source, 99, false), "");
}

TEST(AllocatedInTest, knows_a_cast) {
  EXPECT_EQ(validate::allocated_in("\ncudaMalloc((void**)&f_old, bytes);", 2), "f_old");
  EXPECT_EQ(validate::allocated_in("cudaMalloc(reinterpret_cast<void**>(&f), bytes);", 1), "f");
  EXPECT_EQ(validate::allocated_in("CHECK(cudaMallocManaged(&pass.sum, 8));", 1), "pass.sum");
  EXPECT_EQ(validate::allocated_in("float* f = a;", 1), "");
}

TEST(QueuedTest, streams_are_told_apart) {
  const auto found = validate::queued_in(
      "void f() {\n"
      "  CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double), other));\n"
      "  kernel<true><<<grid, dim3(32, 4), 0, stream>>>(*f_new, f_old, sum, n);\n"
      "  cudaMemcpy(&host, sum, 8, cudaMemcpyDeviceToHost);\n}\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].line, 2);
  EXPECT_TRUE(found[1].launch);
  EXPECT_EQ(found[1].call, "kernel");
  ASSERT_EQ(found[1].arguments.size(), 4u);
  EXPECT_EQ(found[1].arguments[2], "sum");
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
