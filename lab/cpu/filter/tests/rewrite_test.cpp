#include "rewrite.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using cuda_filter::Rewritten;

/// The result without its first line; the errors if there are some.
std::string rewritten(const std::string& source, const std::string& folder = "/nowhere") {
  const Rewritten result = cuda_filter::rewrite(source, "f.cu", folder);
  std::string errors;
  for (const auto& error : result.errors) {
    errors += std::to_string(error.line) + ": " + error.words + "\n";
  }
  if (!errors.empty()) return errors;
  const std::string marker = "# 1 \"f.cu\"\n";
  EXPECT_EQ(result.text.substr(0, marker.size()), marker);
  return result.text.substr(marker.size());
}

/// Of a statement in a kernel.
std::string in_kernel(const std::string& statement) {
  const std::string begin = "__global__ void k() {", end = "}\n";
  const std::string result = rewritten(begin + statement + end);
  if (result.compare(0, begin.size(), begin) != 0) return result;
  return result.substr(begin.size(), result.size() - begin.size() - end.size());
}

std::string launch(const std::string& kernel, const std::string& config) {
  return "::cuda_on_cpu::launch([=](auto&&... lab_arguments) { " + kernel +
         "(lab_arguments...); }, " + config + ")";
}

/// What follows the declaration of a variable: `all` is the first one of it.
std::string variable(const std::string& name, const std::string& all = "v") {
  return " static ::cuda_on_cpu::SharedVariable<decltype(" + all + "_declared::" + name + ")> " +
         name + "_in_shared_memory{\"" + name + "\"}; auto& " + name + " = " + name +
         "_in_shared_memory.here();";
}
std::string shared(const std::string& declaration, const std::string& name = "v") {
  return "struct " + name + "_declared { " + declaration + "; };" + variable(name, name);
}

std::string not_covered(int line, const std::string& what) {
  return std::to_string(line) + ": CUDA on the CPU does not cover " + what +
         " (" CUDA_ON_CPU_FOLDER "/README.md)\n";
}

bool begins_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_unchanged(const std::string& source) { EXPECT_EQ(rewritten(source), source); }

TEST(LaunchTest, calls_launch_with_the_kernel_and_the_configuration) {
  EXPECT_EQ(rewritten("  k<<<grid, block>>>(a, b);\n"),
            "  " + launch("k", "grid, block") + "(a, b);\n");
  EXPECT_EQ(rewritten("k<<<1, 2, 3, s>>>();"), launch("k", "1, 2, 3, s") + "();");
  EXPECT_EQ(
      rewritten("k <<< 1, 2 >>> (x);"),
      "::cuda_on_cpu::launch([=](auto&&... lab_arguments) { k (lab_arguments...); },  1, 2 ) (x);");
  EXPECT_EQ(rewritten("a<<<1,2>>>(x); b<<<3,4>>>(y);"),
            launch("a", "1,2") + "(x); " + launch("b", "3,4") + "(y);");
  EXPECT_EQ(rewritten("k<<<1,2>>>(x), A<B<C<D>>>(y);"), launch("k", "1,2") + "(x), A<B<C<D>>>(y);");
}

TEST(LaunchTest, finds_the_kernel) {
  for (const std::string kernel : {"a::b::k",
                                   "::k",
                                   "::a::k",
                                   "k<float>",
                                   "k<A<B<C>>>",
                                   "k<(a > b), f[1 > 2]>",
                                   "k<1 << 2>",
                                   "a<b>::k<c, d>",
                                   "k<a <= b, (c->d)>",
                                   "object.k",
                                   "p->k",
                                   "p->q[1].k",
                                   "kernels[k]",
                                   "t[a[1]][2]",
                                   "(flag ? a : b)",
                                   "table.get(k)",
                                   "get(k)",
                                   "f<T>(x)",
                                   "(*p)",
                                   "this->k",
                                   "T::template k<3>",
                                   "o.template k<T>",
                                   "a::b<c>::t[1]",
                                   "k<decltype(a<b>(1))>",
                                   "k<&f>",
                                   "A::template B<C>::k"}) {
    for (const std::string before :
         {"", "return ", "if (x) ", "else ", "{ ", "} ", "; ", "(", "x ? ", "a, ", "do ", "!"}) {
      EXPECT_EQ(rewritten(before + kernel + "<<<1, 2>>>(x)"),
                before + launch(kernel, "1, 2") + "(x)");
    }
  }
}

TEST(LaunchTest, finds_the_end_of_the_configuration) {
  for (const std::string config :
       {"dim3(1, 2), dim3{3, 4}", "(a >> 1), b", "a >> 1, b", "a << 3, b >> 2",
        "n / (b), sizeof(A<B<C<D>>>)", "1, A<B<C<D>>>::size", "1, A<B<C<D>>>{}",
        "f([](int x) { return x; }), 1", "a[i>>>j], 2", "1, 2, bytes<int>(4)", "a > b ? 1 : 2, c",
        "1, A<B<C>>::x", "1, A<B<C<D> > >(3)", "n < 3 ? 1 : 2, b > 3 ? 1 : 2, 0, s",
        "1, '>', \">>>(\"", "1, 2 /* >>>( */", "A<1, 2>::g, A<B<1, 2>, 3, 4>::b, 0, s"}) {
    EXPECT_EQ(rewritten("k<<<" + config + ">>>(x);"), launch("k", config) + "(x);");
  }
  EXPECT_EQ(rewritten("k<<<1, A<B>>>>(x);"), launch("k", "1, A<B>") + "(x);");
  EXPECT_EQ(rewritten("k<<<1, 2>>> /* c */ // d\n (x);"),
            launch("k", "1, 2") + " /* c */ // d\n (x);");
}

TEST(LaunchTest, keeps_lines_and_comments) {
  EXPECT_EQ(
      rewritten(
          "k<T,\n  U>  // kernel\n  <<<grid,  // g\n     block /* b */\n  >>>\n  (x,\n   y);\nz;"),
      "::cuda_on_cpu::launch([=](auto&&... lab_arguments) { k<T,\n  U>  // kernel\n  "
      "(lab_arguments...); }, grid,  // g\n     block /* b */\n  )\n  (x,\n   y);\nz;");
  EXPECT_EQ(rewritten("k<<<1,\r\n2>>>(x);\r\n"), launch("k", "1,\r\n2") + "(x);\r\n");
  EXPECT_EQ(rewritten("k<<<1,\n#if A\n2\n#else\n3\n#endif\n>>>(x);"),
            launch("k", "1,\n#if A\n2\n#else\n3\n#endif\n") + "(x);");
}

/// As some formatters write it. nvcc takes << < and >> >.
TEST(LaunchTest, may_have_blanks_in_its_signs) {
  for (const std::string open : {"<<<", "<< <", "<<\t  <"}) {
    for (const std::string close : {">>>", ">> >", "> >>", "> > >"}) {
      for (const std::string config : {"1, 2", "dim3(1, 2), dim3{3, 4}, 0, s", "a << 3, b >> 2",
                                       "1, A<B<C<D> > >(3)", "1, A<B<C<int> >>::size"}) {
        EXPECT_EQ(rewritten("k" + open + config + close + "(x);"), launch("k", config) + "(x);");
        EXPECT_EQ(rewritten("k<A<B> >" + open + config + close + "(x);"),
                  launch("k<A<B> >", config) + "(x);");
      }
    }
  }
  EXPECT_EQ(rewritten("#define GO k<< <g, b>> >(x)\n"),
            "#define GO " + launch("k", "g, b") + "(x)\n");
  EXPECT_EQ(rewritten("k<< <1, 2;"), "1: launch without a closing >>>\n");
  expect_unchanged(
      "x = operator<< <T>(a, b); operator << <T>(a); a << b < c; std::cout << f<T>();\n");
  expect_unchanged("\"k<< <1, 2>> >(x)\"; // k<< <1, 2>> >(x)\n");
}

TEST(LaunchTest, by_a_call_keeps_the_kernels_type) {
  for (const char* cast : {"(void*)", "(void *)", "(const void*)", "(void const *)",
                           "reinterpret_cast<const void*>"}) {
    EXPECT_EQ(rewritten(std::string("cudaLaunchCooperativeKernel(") + cast + "(k), g, b, a);\n"),
              "cudaLaunchCooperativeKernel((k), g, b, a);\n")
        << cast;
  }
  EXPECT_EQ(rewritten("cudaLaunchKernel((void*)k<2>, 1, 1, (void**)a, 0, 0);\n"),
            "cudaLaunchKernel(k<2>, 1, 1, (void**)a, 0, 0);\n");
  for (const char* other :
       {"cudaLaunchKernel((Kernel*)k, g, b, a);\n", "cudaLaunchKernel((k), g, b, a);\n",
        "cudaLaunchKernel((*k), g, b, a);\n", "cudaLaunchKernel(k, g, b, (void**)a);\n",
        "cudaLaunchKernel((void", "cudaLaunchKernel(reinterpret_cast<void"}) {
    EXPECT_EQ(rewritten(other), other);
  }
}

TEST(LaunchTest, is_found_in_a_macro) {
  EXPECT_EQ(rewritten("#define GO(k, ...) \\\n  k<<<g, b>>> \\\n (__VA_ARGS__)\nx;"),
            "#define GO(k, ...) \\\n  " + launch("k", "g, b") + " \\\n (__VA_ARGS__)\nx;");
  EXPECT_EQ(rewritten("#define GO (k)<<<g, b>>>(x)\n"),
            "#define GO " + launch("(k)", "g, b") + "(x)\n");
  EXPECT_EQ(rewritten("a\n#define GO(k) k<<<g, b>>>\n(x);"),
            "2: the launch needs its arguments in parentheses after >>>\n");
  EXPECT_EQ(rewritten("a\n#define GO(k) <<<g, b>>>(x)\n"),
            "2: a launch without a kernel before <<<\n");
}

TEST(LaunchTest, is_not_seen_where_there_is_none) {
  expect_unchanged("// k<<<1, 2>>>(x)\n/* k<<<1>>> */ \"k<<<1>>>\" R\"(k<<<\n>>>)\" '<<<'\n");
  expect_unchanged("x = operator<<<T>(a, b); a << b; A<B<C<D>>>(x); a >>= b; 1'000; // it's\n");
  expect_unchanged("#error don't k<<<1>>>\n#if 0\nk<<<1>>> __shared__ asm it's\n#endif\n");
}

TEST(LaunchTest, what_is_not_understood_is_an_error) {
  const std::string grid = "2: the launch needs a grid and a block: kernel<<<grid, block>>>(...)\n";
  EXPECT_EQ(rewritten("\nk<<<1>>>(x);"), grid);
  EXPECT_EQ(rewritten("\nk<<<>>>(x);"), grid);
  EXPECT_EQ(rewritten("\nk<<<grid, >>>(x);"), grid);
  EXPECT_EQ(rewritten("\nk<<</* a, b */\n>>>(x);"), grid);
  EXPECT_EQ(rewritten("\nk<<<dim3(1, 2)>>>(x);"), grid);
  EXPECT_EQ(rewritten("\nk<<<A<1, 2>::n>>>(x);"), grid);
  EXPECT_EQ(
      rewritten("k<<<1, 2, 3, 4, 5>>>(x);"),
      "1: the launch needs a grid and a block, and takes shared memory and a stream, no more: "
      "kernel<<<grid, block, bytes, stream>>>(...)\n");
  for (const std::string source :
       {"\nk<<<1, 2>>(x);\na >> b;", "\nk<<<1, 2", "\n{ k<<<1, 2>> }", "\nk<<<1, (2>>>(x);"}) {
    EXPECT_EQ(rewritten(source), "2: launch without a closing >>>\n") << source;
  }
  EXPECT_EQ(rewritten("\nk<<<1, 2>>(x)\nj<<<1, 2>>>(y);"), "2: launch without a closing >>>\n");
  for (const std::string source : {"k<<<1,\n2>>>;\na>>>(b)", "k<<<1,\n2>>>", "k<<<1,\n2>>> x;"}) {
    EXPECT_EQ(rewritten(source), "2: the launch needs its arguments in parentheses after >>>\n");
  }
  for (const std::string before : {"", "return ", "= ", "{} ", "; ", "a > ", "1 "}) {
    EXPECT_EQ(rewritten("\n" + before + "<<<1, 2>>>(x);"),
              "2: a launch without a kernel before <<<\n")
        << before;
  }
}

TEST(LaunchTest, of_a_function_that_is_no_kernel_is_an_error) {
  const std::string words = "k is launched, but is not a kernel: it lacks __global__ before void\n";
  EXPECT_EQ(rewritten("void k(int);\nvoid f() {\n  k<<<1, 2>>>(3); }"), "3: " + words);
  EXPECT_EQ(rewritten("__device__ void k(int) {}\nvoid f() { k<<<1, 2>>>(3); }"), "2: " + words);
  for (const std::string kernel :
       {"__global__ void k(int);", "template <int A> __global__ void k(int) {}",
        "__global__ static void k(int);\nvoid k(float);",
        "__global__ void __launch_bounds__(128) k(int) {}", "#include \"k.h\"",
        "template <class K> void go(K k) {", "void h(void (*k)(int)) {"}) {
    EXPECT_EQ(rewritten(kernel + "\nk<<<1, 2>>>(3);").find("no kernel"), std::string::npos)
        << kernel;
  }
}

TEST(LaunchTest, of_a_kernel_that_returns_a_value_is_an_error) {
  EXPECT_EQ(rewritten("\n__global__ double k(int);"),
            "2: a kernel returns nothing: __global__ void\n");
}

TEST(LaunchTest, host_code_that_calls_a_device_function_is_an_error) {
  const std::string words =
      ": host code calls f, which is __device__ alone: a function of both is __host__ __device__, "
      "and a kernel is __global__\n";
  EXPECT_EQ(rewritten("__device__ int f(int);\nint g() {\n  return f(3);\n}"), "3" + words);
  EXPECT_EQ(rewritten("__device__ int f(int);\n__device__ int x;\nint y = f(3);"), "3" + words);
  EXPECT_EQ(rewritten("inline __device__ int f(int i) { return i; }\nauto x = f(1);"), "2" + words);
  for (const std::string code :
       {"__device__ int f(int);\n__global__ void k() { f(3); }",
        "__device__ int f(int i) { return i > 0 ? f(i - 1) : 0; }\n__device__ int f(int i);",
        "__host__ __device__ int f(int);\nint g() { return f(3); }",
        "__device__ __host__ int f(int);\nint g() { return f(3); }",
        "__device__ __forceinline__ __host__ int f(int);\nint g() { return f(3); }",
        "__device__ int f(int);\nint g() { auto f = h(); return f(3); }",
        "__device__ int f(float);\nint f(int);\nint g() { return f(3); }",
        "__device__ int f(int);\ntemplate <int k> __device__ int h() { return f(k); }",
        "__device__ int f(int);\nint g(S s) { return s.f(3) + a::f(3); }",
        "__device__ int f(int);\nstruct S {\n  __device__ int operator()(int i) { return f(i); "
        "}\n};"}) {
    expect_unchanged(code);
  }
}

TEST(LaunchTest, of_a_kernel_that_is_called_is_an_error) {
  const std::string words = ": k is a kernel, and is called: it needs k<<<grid, block>>>(...)\n";
  EXPECT_EQ(rewritten("__global__ void k(int) {}\nvoid f() { k(3); }"), "2" + words);
  EXPECT_EQ(
      rewritten("__global__ void __launch_bounds__(8) k(int);\nvoid f() {\n  g();\n  k(3);\n}"),
      "4" + words);
  for (const std::string code :
       {"__global__ void k(int);\n__global__ void k(int) {}",
        "__global__ void k(int);\nvoid f() { x = k; }", "void k(int);\nvoid f() { k(3); }",
        "__global__ void k(int);\nvoid f() {\n  auto k = [] {};\n  k();\n}"}) {
    EXPECT_EQ(rewritten(code), code);
  }
}

TEST(LaunchTest, of_a_kernel_with_a_reference_is_an_error) {
  const std::string words =
      "2: a parameter of k is a reference, which leads a kernel to the host's memory: give it by "
      "value";
  EXPECT_EQ(rewritten("\n__global__ void k(float* f, const int& n) {}"), words + "\n");
  EXPECT_EQ(rewritten("template <class T>\n__global__ void __launch_bounds__(kX & 31) k(T& t);"),
            words + "\n");
  EXPECT_EQ(rewritten("\n__global__ void k(float* f, double& sum) {}"),
            words + ", or, if what it refers to is in managed memory, by a pointer\n");
  EXPECT_EQ(rewritten("\n__global__ void k(float* f, const double& w) {}"), words + "\n");
  const std::string right = "__global__ void __launch_bounds__(kX & 31) k(const float* f, int n);";
  EXPECT_EQ(rewritten(right), right);
}

TEST(LaunchBoundsTest, are_looked_at_where_the_kernel_begins) {
  const auto checked = [](const std::string& head, const std::string& most) {
    EXPECT_EQ(rewritten(head + " f(x); }"),
              head + " ::cuda_on_cpu::check_launch_bounds(" + most + "); f(x); }");
  };
  checked("__global__ void __launch_bounds__(256) k(int x) {", "256");
  checked("__global__ __launch_bounds__(kX * kY, 2)\nvoid k(A<1, 2> x,\n int y = f({1}))\n{",
          "kX * kY");
  checked("template <int n> void __launch_bounds__(max(n, 32), 1) k() {", "max(n, 32)");
  for (const std::string source :
       {"__global__ void __launch_bounds__(256) k(int x);\nvoid f() {}",
        "__global__ void __launch_bounds__() k() {}", "void __launch_bounds__(3",
        "__launch_bounds__(1,\n2", "void __launch_bounds__(1\n+ 2) k() {}",
        "#define BOUNDS __launch_bounds__(3)\nvoid k() {}"}) {
    EXPECT_EQ(rewritten(source), source);
  }
}

TEST(SharedMemoryTest, becomes_a_variable_of_the_block) {
  EXPECT_EQ(in_kernel(" __shared__ float tile[kY + 2][kX]; x;"),
            " " + shared(" float tile[kY + 2][kX]", "tile") + " x;");
  EXPECT_EQ(in_kernel("  // first\n  __shared__ int n;  // second\n"),
            "  // first\n  " + shared(" int n", "n") + "  // second\n");
}

TEST(SharedMemoryTest, takes_any_type) {
  for (const std::string type :
       {"typename X::Y", "cub::BlockReduce<double, 32>::TempStorage", "unsigned int", "float*",
        "::a::b<c<d>>", "decltype(x)", "struct Pair", "volatile float", "float* const",
        "union { float a[2]; int b; }", "struct P : Q { int a, b; }", "__align__(16) float",
        "alignas(8) T", "enum class E { a = 1 }"}) {
    EXPECT_EQ(in_kernel("__shared__ " + type + " v;"), shared(" " + type + " v"));
    EXPECT_EQ(in_kernel("__shared__ " + type + " v[2][N];"), shared(" " + type + " v[2][N]"));
    EXPECT_EQ(in_kernel("static __shared__ " + type + " v;"), shared("  " + type + " v"));
    if (type.find('{') != std::string::npos) continue;
    EXPECT_EQ(in_kernel(type + " __shared__ v;"), shared(type + "  v"));
  }
  EXPECT_EQ(in_kernel("volatile __shared__ float v;"), shared("volatile  float v"));
  EXPECT_EQ(in_kernel("__shared__ int v[a > b][c] __align__(4);"),
            shared(" int v[a > b][c] __align__(4)"));
}

TEST(SharedMemoryTest, may_declare_several_variables) {
  EXPECT_EQ(in_kernel("__shared__ A<int, 2> a[f(1, 2)],  // one\n  *b[8], c;  // two"),
            "struct a_declared {  A<int, 2> a[f(1, 2)],  // one\n  *b[8], c; };" +
                variable("a", "a") + variable("b", "a") + variable("c", "a") + "  // two");
}

TEST(SharedMemoryTest, keeps_lines) {
  const std::string text = " typename\r\n  X::Y\n  v[1 +\n#if A\n 2\n#endif\n]";
  EXPECT_EQ(in_kernel("__shared__" + text + "; x;"), shared(text) + " x;");
}

TEST(SharedMemoryTest, dynamic_becomes_a_pointer) {
  const auto pointer = [](const std::string& declaration) {
    return "struct v_declared { " + declaration +
           "; }; auto* v = ::cuda_on_cpu::dynamic_shared<decltype(v_declared::v)>();";
  };
  EXPECT_EQ(in_kernel("extern __shared__ float v[];"), pointer("  float v[1]"));
  EXPECT_EQ(in_kernel("extern __shared__ __align__(16) unsigned char v[ ];"),
            pointer("  __align__(16) unsigned char v[1 ]"));
  EXPECT_EQ(in_kernel("__shared__ extern float v\n[];x"), pointer("  float v\n[1]") + "x");
  for (const std::string array : {"v", "v[4]"}) {
    EXPECT_EQ(in_kernel("\nextern __shared__ float " + array + ";"),
              "2: dynamic shared memory has no size here: extern __shared__ float name[];\n");
  }
  EXPECT_EQ(in_kernel("\n__shared__ float v[];"),
            "2: shared memory without a size is extern: extern __shared__ float name[];\n");
}

TEST(SharedMemoryTest, what_is_not_understood_is_an_error) {
  for (const std::string source : {"\n__shared__ float v = 1;", "\n__shared__ float v[2] = {1, 2};",
                                   "\n__shared__ float v{};"}) {
    EXPECT_EQ(in_kernel(source),
              "2: shared memory cannot be initialised where it is declared: assign to it in the "
              "kernel\n");
  }
  for (const std::string rest : {"float (*p)[4]", "float v(3)", "float", "", "float [4]",
                                 "float v[4](3)", "float 3", "[[x]] float v"}) {
    EXPECT_EQ(
        in_kernel("\n__shared__ " + rest + ";"),
        "2: this declaration of shared memory was not understood: write it as __shared__ float "
        "name[4][8];\n")
        << rest;
  }
  EXPECT_EQ(in_kernel("\n__shared__ float v"),
            "2: a declaration of shared memory without a ; at its end\n");
  EXPECT_EQ(in_kernel("__shared__ int u;\n__shared__ int v\n__shared__ int w;"),
            "2: a declaration of shared memory without a ; at its end\n");
  EXPECT_EQ(rewritten("void f() {\n__shared__ float v }\nint a;"),
            "2: a declaration of shared memory without a ; at its end\n");
  EXPECT_EQ(
      rewritten("void f() { __shared__ int a = 1;\n__shared__ int b;\n__shared__ int c = 2; }"),
      "1: shared memory cannot be initialised where it is declared: assign to it in the kernel\n"
      "3: shared memory cannot be initialised where it is declared: assign to it in the kernel\n");
}

/// Elsewhere, and in a macro, the word stays: it is an error when it is compiled.
TEST(SharedMemoryTest, belongs_into_a_function) {
  expect_unchanged("\n#define V \\\n __shared__ float v\n");
  expect_unchanged("\nextern __shared__ float v[];");
  for (const std::string head :
       {"", "void f() {} ", "void f();", "namespace {", "namespace a::b {", "inline namespace a {",
        "extern \"C\" {", "struct S {", "class C final : public B<int> {",
        "template <class T, int n> struct S : T {", "struct S { void f() {} ",
        "namespace a { void f() {}", "class C { public: ", "#if 0\nvoid f() {\n#endif\n",
        "struct S : A<1> {", "void f("}) {
    expect_unchanged(head + "\n__shared__ float v[2];");
  }
  for (const std::string head :
       {"void f() {", "namespace a { void f() {", "extern \"C\" __global__ void f() {",
        "template <class T> __global__ void f(struct P* p) {", "struct S { void f() const {",
        "struct S make(int n) noexcept {", "auto f = [](int x) {", "void f() { if (x) { } {",
        "void f() { struct S {};", "#if A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n",
        "struct S { S() : a{1}, b(2) {", "struct S { struct P f() const {", "void f() { {} ",
        "void f() { switch (x) { case 1: ", "void f() { struct S { void g() {",
        "auto f() -> A<struct B> {"}) {
    EXPECT_EQ(rewritten(head + "__shared__ int v;"), head + shared(" int v"));
  }
}

TEST(NotCoveredTest, says_what_to_do) {
  EXPECT_EQ(rewritten("\nasm volatile(\"\");"),
            not_covered(2, "inline assembly (asm): write it in C++, or run this on a GPU"));
  EXPECT_EQ(rewritten("cudaIpcGetMemHandle(b);"),
            not_covered(1,
                        "memory shared between processes (cudaIpcGetMemHandle): run this on a "
                        "GPU"));
  EXPECT_EQ(rewritten("cudaMemPoolCreate(b);"),
            not_covered(1, "cudaMemPoolCreate: run this on a GPU"));
}

TEST(NotCoveredTest, knows_the_names) {
  for (const std::string name : {"asm",
                                 "__asm__",
                                 "tex1D",
                                 "tex1Dfetch",
                                 "tex2D",
                                 "tex3DLod",
                                 "surf2Dread",
                                 "texCubemap",
                                 "cudaCreateTextureObject",
                                 "__cluster_dims__",
                                 "cudaLaunchDevice",
                                 "nvcuda",
                                 "cudaMalloc3D",
                                 "cudaMalloc3DArray",
                                 "cudaMallocArray",
                                 "cudaMemcpy2DToArray",
                                 "cudaMemset2DAsync",
                                 "cudaMemset2D",
                                 "coalesced_threads",
                                 "cudaMemcpy3D",
                                 "cudaIpcGetMemHandle",
                                 "cudaGraphAddKernelNode",
                                 "cudaGraphExecKernelNodeSetParams",
                                 "cudaStreamAddCallback",
                                 "ncclReduce",
                                 "ncclBroadcast",
                                 "cudaLaunchHostFunc"}) {
    for (const std::string before : {"", "x = ", "a::", "#define X ", "#define X(y) ", "(", "!"}) {
      const std::string result = rewritten("\n" + before + name + "(x);\n");
      EXPECT_TRUE(begins_with(result, "2: CUDA on the CPU does not cover ") &&
                  result.find(name) != std::string::npos && lines_of(result).size() == 1)
          << before + name << ": " << result;
    }
    expect_unchanged("// " + name + "\n\"" + name + "\" a." + name + "() a->" + name + "\n#error " +
                     name);
    expect_unchanged("my_" + name + "();\n");
  }
  for (const std::string name : {"texture", "surface"}) {
    EXPECT_EQ(rewritten(name + "<float> t;"),
              not_covered(1, "textures and surfaces (" + name +
                                 "): read the array itself, or run this on a GPU"));
  }
}

TEST(NotCoveredTest, names_of_a_scope) {
  const std::string scan = not_covered(1, "this part of CUB (BlockScan): run this on a GPU");
  EXPECT_EQ(rewritten("using S = cub::BlockScan<int, 32>;"), scan);
  EXPECT_EQ(rewritten("using S = ::cub::BlockScan<int, 32>;"), scan);
  EXPECT_EQ(
      rewritten("cuda::atomic<int> a;"),
      not_covered(1, "atomic variables (atomic): use cuda::atomic_ref, or run this on a GPU"));
  expect_unchanged("BlockScan<int> s; std::atomic<int> a; mine::BlockScan<int> b;\n");
  expect_unchanged("cuda::atomic_ref<int> r(i); cub::BlockReduce<int, 32> b; cub::Sum s;\n");
}

TEST(NotCoveredTest, says_each_thing_once) {
  EXPECT_EQ(rewritten("a;\nasm(\"\");\nasm(\"\");\n"),
            not_covered(2, "inline assembly (asm): write it in C++, or run this on a GPU"));
  EXPECT_EQ(rewritten("cudaLaunchConfig_t c;\ncudaLaunchKernelEx(&c, k);\n"),
            not_covered(1,
                        "launches with attributes (cudaLaunchConfig_t): launch with <<<...>>> or "
                        "cudaLaunchKernel, or run this on a GPU"));
}

TEST(NotCoveredTest, headers) {
  for (const std::string header :
       {"thrust/device_vector.h", "cuda/std/atomic", "cuda/std/cmath", "cuda/barrier",
        "cuda/pipeline", "cub/block/block_scan.cuh", "cooperative_groups/memcpy_async.h", "mma.h",
        "cuda_fp16.h", "cuda_bf16.h", "cublas_v2.h", "curand_kernel.h", "cudaProfiler.h",
        "nvrtc.h"}) {
    const std::string words = not_covered(2, "<" + header + ">: run this on a GPU");
    EXPECT_EQ(rewritten("\n#include <" + header + ">\n"), words);
    EXPECT_EQ(rewritten("\n#  include \"" + header + "\"  // c\n"), words);
    EXPECT_EQ(rewritten("\n#include <" + header + ">\nx\n#include <" + header + ">\n"), words);
    expect_unchanged("// #include <" + header + ">\n#if 0\n#include <" + header + ">\n#endif\n");
  }
  expect_unchanged("#include <vector>\n#include \"my.h\"\n#include <my/check.h>\n#include\n");
  expect_unchanged("#include <\n#include HEADER\n#include \"\n");
}

/// Every header that is here is covered.
TEST(NotCoveredTest, knows_the_headers_that_are_here) {
  const std::string folder = std::string(CUDA_ON_CPU) + "/include";
  int headers = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    const std::string header = std::filesystem::relative(entry.path(), folder).string();
    expect_unchanged("#include <" + header + ">\n");
    ++headers;
  }
  EXPECT_GT(headers, 20);
}

std::set<std::string> calls_in(const std::string& path) {
  std::string text;
  EXPECT_TRUE(cuda_filter::read_file(path, &text)) << path;
  const std::regex call(R"(\b(cuda[A-Z]\w*)\()");
  std::set<std::string> calls;
  for (std::sregex_iterator k(text.begin(), text.end(), call), end; k != end; ++k) {
    calls.insert((*k)[1]);
  }
  return calls;
}

/// No call that is here is said to be not covered.
TEST(NotCoveredTest, takes_every_call_of_the_headers) {
  std::set<std::string> here;
  const std::string folder = std::string(CUDA_ON_CPU) + "/include";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) here.merge(calls_in(entry.path().string()));
  }
  for (const std::string& call : here) expect_unchanged(call + "(x);\n");
}

TEST(NotCoveredTest, leaves_the_rest_alone) {
  expect_unchanged(
      "texture = surface; surface_area(tex2); asmx; clock();\n"
      "void f(const __grid_constant__ P p); cudaMalloc(&p, 1); cudaMemcpy(a, b, 1, d);\n"
      "cudaGraphLaunch(g, s); cudaMallocManaged(&p, 1); cudaMemset(p, 0, 1);\n");
}

TEST(ErrorsTest, are_all_told_in_order) {
  EXPECT_EQ(rewritten("k<<<1>>>();\nasm(\"\");\n#define A asm\nk<<<1, 2;\n"),
            "1: the launch needs a grid and a block: kernel<<<grid, block>>>(...)\n" +
                not_covered(2, "inline assembly (asm): write it in C++, or run this on a GPU") +
                "4: launch without a closing >>>\n");
}

class IncludeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "cuda_filter_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_ + "/sub");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& header, const std::string& text) const {
    std::ofstream(folder_ + "/" + header) << text;
  }
  std::string folder_;
};

TEST_F(IncludeTest, of_a_header_with_cuda_is_an_error) {
  const std::string rest = ": put that into the .cu file itself";
  write("launch.h", "#pragma once\nvoid f() { k<<<1, 2>>>(x); }\n");
  write("sub/macro.h", "#define GO k<<<1, 2>>>(x)\n");
  EXPECT_EQ(rewritten("\n#include \"launch.h\"  // c\n", folder_),
            not_covered(2, "a header that launches a kernel, launch.h" + rest));
  EXPECT_EQ(rewritten("# include \"sub/macro.h\"\n", folder_),
            not_covered(1, "a header that launches a kernel, sub/macro.h" + rest));
}

TEST_F(IncludeTest, of_other_headers_is_left_alone) {
  write("plain.h",
        "// k<<<1, 2>>>(x)\n\"<<<\"; operator<<<T>(a);\n#if 0\nk<<<1, 2>>>(x);\n#endif\n");
  write("launch.h", "k<<<1, 2>>>(x);\n");
  for (const std::string line :
       {"#include \"plain.h\"", "#include \"missing.h\"", "#include <launch.h>",
        "// #include \"launch.h\"", "#include \"sub\"", "#include \"\"", "#include",
        "#include HEADER", "#include \"/nowhere/launch.h\"", "#if 0\n#include \"launch.h\"\n#endif",
        "#pragma message \"launch.h\"", "#"}) {
    EXPECT_EQ(rewritten(line + "\nx", folder_), line + "\nx");
  }
}

TEST(DeviceVariablesTest, are_marked_and_nothing_else_is) {
  for (const char* variable :
       {"double sum;", "unsigned done = 0;", "double parts[1 << 16];", "float4 v{1, 2, 3, 4};",
        "std::array<int, 3> a;", "__align__(16) float b[4];", "static int c, d;"}) {
    const std::string code = variable;
    EXPECT_EQ(rewritten("__device__ " + code), "CUDA_ON_CPU_VARIABLE " + code);
    EXPECT_EQ(rewritten("__constant__ " + code), "CUDA_ON_CPU_VARIABLE " + code);
  }
  for (const char* other :
       {"__device__ double f(double x) { return x; }", "__device__ const float two = 2;",
        "__device__ __managed__ int m;", "template <class T> __device__ T g(T x);",
        "struct S { __device__ S() : x(0) {} __device__ int operator()(int y) { return y; } int x; "
        "};",
        "__host__ __device__ constexpr int k = 3;"}) {
    expect_unchanged(other);
  }
}

TEST(RewriteTest, passes_plain_text_through) {
  expect_unchanged("");
  expect_unchanged("no newline at its end");
  expect_unchanged("a\r\nb\r\n\tc \n\n");
  expect_unchanged(std::string("a\0b\xff\n", 5));
  expect_unchanged("__global__ void k(float* __restrict__ a) { a[threadIdx.x] = 1'000 >> 2; }\n");
  EXPECT_EQ(rewritten("\xEF\xBB\xBF#a\nk<<<1, 2>>>(x)"), "#a\n" + launch("k", "1, 2") + "(x)");
}

TEST(RewriteTest, escapes_the_name) {
  EXPECT_EQ(cuda_filter::rewrite("a", "C:\\x \"y\".cu").text, "# 1 \"C:\\\\x \\\"y\\\".cu\"\na");
}

TEST(RewriteTest, keeps_the_line_of_every_token) {
  const std::string source =
      "one\n#include <a>\nvoid f() { k<a,\n b>\n<<<1 /*\n*/, 2>>>\n(x); two\n__shared__ A<1,\n 2> "
      "a[1\n], "
      "b\n; three /*\n\n*/ extern\n__shared__\nfloat c[\n]; four R\"(\n\n)\" five\n}\nsix";
  const std::string result = rewritten(source);
  for (const std::string word : {"one", "two", "three", "four", "five", "six", "(x)"}) {
    const auto line_in = [&word](const std::string& text) {
      return std::count(text.begin(), text.begin() + text.find(word), '\n');
    };
    EXPECT_EQ(line_in(result), line_in(source)) << word << "\n" << result;
  }
  EXPECT_EQ(lines_of(result).size(), lines_of(source).size());
}

/// What no rule is about stays as it is, in every program of the tests.
TEST(RewriteTest, changes_only_lines_with_cuda) {
  int files = 0;
  for (const std::string group : {"features", "counts"}) {
    const std::string folder = std::string(CUDA_ON_CPU) + "/tests/" + group;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::filesystem::path file = entry.path();
      ++files;
      std::string source;
      ASSERT_TRUE(cuda_filter::read_file(file.string(), &source));
      const std::string result = rewritten(source, file.parent_path().string());
      const std::vector<std::string> before = lines_of(source), after = lines_of(result);
      ASSERT_EQ(after.size(), before.size()) << file << "\n" << result.substr(0, 500);
      // A launch, or a shared variable, may begin some lines before its mark, or end after it.
      constexpr std::size_t kLines = 3;
      const auto has_cuda = [&](std::size_t line) {
        const std::string code = before[line].substr(0, before[line].find("//"));
        for (const char* mark : {"<<<", ">>>", "__shared__", "__launch_bounds__", "cudaLaunch",
                                 "__device__", "__constant__"}) {
          if (code.find(mark) != std::string::npos) return true;
        }
        return false;
      };
      for (std::size_t k = 0; k < before.size(); ++k) {
        bool near_cuda = false;
        for (std::size_t line = k < kLines ? 0 : k - kLines;
             line < std::min(before.size(), k + kLines + 1); ++line) {
          near_cuda |= has_cuda(line);
        }
        EXPECT_TRUE(near_cuda || after[k] == before[k]) << file << ":" << k + 1 << ": " << after[k];
        if (before[k].find("<<<") != std::string::npos && has_cuda(k)) {
          EXPECT_NE(after[k], before[k]) << file << ":" << k + 1;
        }
      }
    }
  }
  EXPECT_GT(files, 0);
}

}  // namespace
