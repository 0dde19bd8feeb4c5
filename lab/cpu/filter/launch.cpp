#include "rewrite.h"

#include <algorithm>
#include <optional>
#include <set>

namespace cuda_filter {

namespace {

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), token.text) != words.end();
}

bool is_control(const Token& token) { return is_one_of(token, {"if", "while", "for", "switch"}); }

/// Words that look like a name, but end no expression.
bool is_keyword(const Token& token) {
  return is_control(token) || is_one_of(token, {"return", "else", "do", "case", "operator", "throw",
                                                "template", "new", "delete", "goto"});
}

bool is_name(const Tokens& tokens, std::size_t k) {
  return k < tokens.size() && tokens[k].kind == Kind::kIdentifier && !is_keyword(tokens[k]);
}

/// The name whose template arguments end at `close`; tokens.size() if those are none.
std::size_t name_before_arguments(const Tokens& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t k = close + 1; k-- > 1;) {
    if (opens(tokens[k]) || is(tokens, k, ";")) break;
    if (closes(tokens[k])) k = match_back(tokens, k);
    if (is(tokens, k, ">")) ++depth;
    if (is(tokens, k, "<") && --depth == 0) return k - 1;
  }
  return tokens.size();
}

/// Where the expression begins that ends at `end`: a::b<c>, p->q, r[s], (t), or several of these.
std::optional<std::size_t> expression_start(const Tokens& tokens, std::size_t end) {
  std::optional<std::size_t> start;
  for (std::size_t k = end;; --k) {
    if (is(tokens, k, ")") || is(tokens, k, "]")) {
      k = match_back(tokens, k);
      // f(x) and r[s], but not if (x) (t).
      if (k >= tokens.size() || (k > 0 && is_control(tokens[k - 1]))) return start;
      if (is(tokens, k, "(")) start = k;
    } else {
      if (is(tokens, k, ">")) k = name_before_arguments(tokens, k);
      if (!is_name(tokens, k)) return start;
      if (k > 0 && is(tokens, k - 1, "template")) --k;
      start = k;
      if (k == 0) return start;
      if (is(tokens, k - 1, "::")) {
        start = --k;
      } else if (is(tokens, k - 1, ".") || is(tokens, k - 1, "->")) {
        --k;
      } else {
        return start;
      }
    }
    if (k == 0) return start;
  }
}

/// The first > of the >>> of the launch at `open`; tokens.size() if there is none. One without
/// arguments may belong to a template in CONFIG. It may have blanks in it, as nvcc reads it. Then
/// the last one counts: A<B<C<int> > >(3) also has them.
std::size_t find_closing(const Tokens& tokens, std::size_t open) {
  std::size_t closing = tokens.size();
  for (std::size_t k = open + 1; k < tokens.size(); ++k) {
    if (closes(tokens[k]) || is(tokens, k, ";") || is_launch(tokens, k)) break;
    if (opens(tokens[k])) k = match_forward(tokens, k);
    if (!is(tokens, k, ">") || !is(tokens, k + 1, ">") || !is(tokens, k + 2, ">")) continue;
    if (tokens[k + 2].line != tokens[k].line) continue;
    const bool has_arguments = is(tokens, k + 3, "(");
    if (!has_arguments && is(tokens, closing + 3, "(")) continue;
    closing = k;
    if (has_arguments && tokens[k + 2].offset == tokens[k].offset + 2) break;
  }
  return closing;
}

int count_arguments(const Tokens& tokens, std::size_t begin, std::size_t end) {
  int count = 0;
  bool empty = true;
  for (std::size_t k = begin; k < end; ++k) {
    if (is(tokens, k, ",")) {
      empty = true;
      continue;
    }
    if (empty) ++count;
    empty = false;
    k = group_end(tokens, k, end);
  }
  return count;
}

/// Whether this file defines or declares a function `name` as `void`, and never as a kernel. (nvcc
/// refuses to launch that; here it would run.)
bool is_no_kernel(const Tokens& tokens, std::string_view name) {
  bool declared = false;
  for (std::size_t k = 1; k < tokens.size(); ++k) {
    if (tokens[k].text != name || !is(tokens, k + 1, "(")) continue;
    for (std::size_t before = statement_start(tokens, k); before < k; ++before) {
      if (is(tokens, before, "__global__")) return false;
    }
    declared |= is(tokens, k - 1, "void");
  }
  return declared;
}

void rewrite_launch(const Tokens& tokens, std::size_t open, Changes* changes) {
  const auto fail = [&](std::size_t k, const std::string& words) {
    changes->errors.push_back({tokens[k].line, words});
  };
  const std::optional<std::size_t> start =
      open > 0 ? expression_start(tokens, open - 1) : std::nullopt;
  if (!start) return fail(open, "a launch without a kernel before <<<");
  std::size_t name = open - 1;
  if (is(tokens, name, ">")) name = name_before_arguments(tokens, name);
  if (is_name(tokens, name) && is_no_kernel(tokens, tokens[name].text)) {
    return fail(name, std::string(tokens[name].text) +
                          " is launched, but is not a kernel: it lacks __global__ before void");
  }
  const std::size_t closing = find_closing(tokens, open);
  if (closing == tokens.size()) return fail(open, "launch without a closing >>>");
  if (!is(tokens, closing + 3, "(")) {
    return fail(closing, "the launch needs its arguments in parentheses after >>>");
  }
  const int count = count_arguments(tokens, open + 1, closing);
  if (count < 2) {
    return fail(open, "the launch needs a grid and a block: kernel<<<grid, block>>>(...)");
  }
  if (count > 4) {
    return fail(open,
                "the launch needs a grid and a block, and takes shared memory and a stream, no "
                "more: kernel<<<grid, block, bytes, stream>>>(...)");
  }
  changes->edits.push_back(
      {tokens[*start].offset, 0, "::cuda_on_cpu::launch([=](auto&&... lab_arguments) { "});
  const std::size_t end = tokens[closing].offset;
  changes->edits.push_back(
      {tokens[open].offset, tokens[open].text.size(), "(lab_arguments...); }, "});
  changes->edits.push_back({end, tokens[closing + 2].end() - end, ")"});
}

/// cudaLaunchKernel((void*)kernel, ...): the cast goes, as only the kernel's own type says what its
/// arguments are.
void keep_type_of_kernel(const Tokens& tokens, std::size_t call, Changes* changes) {
  const std::size_t begin = call + 2;  // after the bracket
  for (const std::string_view cast :
       {"(void*)", "(constvoid*)", "(voidconst*)", "reinterpret_cast<void*>",
        "reinterpret_cast<constvoid*>", "reinterpret_cast<voidconst*>"}) {
    std::string text;
    std::size_t end = begin;
    while (end < tokens.size() && text.size() < cast.size()) text += tokens[end++].text;
    if (text != cast || tokens[begin].line != tokens[end - 1].line) continue;
    changes->edits.push_back(
        {tokens[begin].offset, tokens[end - 1].end() - tokens[begin].offset, ""});
  }
}

/// The { of the function whose head goes on at `k`; tokens.size() if it is only declared.
std::size_t body_of(const Tokens& tokens, std::size_t k) {
  for (; k < tokens.size(); ++k) {
    if (is(tokens, k, "{")) return k;
    if (is(tokens, k, ";") || closes(tokens[k])) break;
    k = group_end(tokens, k, tokens.size());
  }
  return tokens.size();
}

/// Where the name of the function stands that __global__ or __device__ at `k` declares;
/// tokens.size() if none does.
std::size_t name_of_function(const Tokens& tokens, std::size_t k) {
  while (++k < tokens.size() && !is(tokens, k, ";") && !is(tokens, k, "{")) {
    if (is(tokens, k, "__launch_bounds__")) k = match_forward(tokens, k + 1);
    if (is_name(tokens, k) && is(tokens, k + 1, "(")) return k;
  }
  return tokens.size();
}

/// What nvcc refuses, or what no GPU can do, and would run here: a kernel that returns something,
/// whose parameter is a reference, or that is called.
void refuse_kernels(const Tokens& tokens, Changes* changes) {
  std::set<std::string_view> kernels;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const auto fail = [&](const std::string& words) {
      changes->errors.push_back({tokens[k].line, words});
    };
    if (k > 0 && is(tokens, k - 1, "__global__") &&
        is_one_of(tokens[k], {"double", "float", "int", "bool"})) {
      fail("a kernel returns nothing: __global__ void");
    }
    if (is(tokens, k + 1, "=")) kernels.erase(tokens[k].text);  // a variable of that name
    const bool begins = k > 0 && is_one_of(tokens[k - 1], {";", "{", "}"});
    if (begins && is(tokens, k + 1, "(") && kernels.count(tokens[k].text) > 0) {
      const std::string name(tokens[k].text);
      fail(name + " is a kernel, and is called: it needs " + name + "<<<grid, block>>>(...)");
    }
    if (!is(tokens, k, "__global__")) continue;
    const std::size_t name = name_of_function(tokens, k);
    if (name == tokens.size()) continue;
    kernels.insert(tokens[name].text);
    const std::size_t close = match_forward(tokens, name + 1);
    for (std::size_t at = name + 2; at < close; ++at) {
      if (!is(tokens, at, "&")) continue;
      // A number that is not const may be in managed memory: nvcc's program then works.
      const bool managed =
          is_one_of(tokens[at - 1], {"double", "float"}) && !is(tokens, at - 2, "const");
      fail("a parameter of " + std::string(tokens[name].text) +
           " is a reference, which leads a kernel to the host's memory: give it by value" +
           (managed ? ", or, if what it refers to is in managed memory, by a pointer" : ""));
      break;
    }
  }
}

/// And host code that calls a function which is __device__ alone.
void refuse_calls_of_device_functions(const Tokens& tokens, Changes* changes) {
  std::set<std::string_view> names;
  std::vector<bool> of_device(tokens.size());  // in such a function, or a kernel
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (!is_one_of(tokens[k], {"__device__", "__global__"})) continue;
    const std::size_t body = body_of(tokens, k + 1);
    const std::size_t end = body < tokens.size() ? match_forward(tokens, body) : k;
    const std::size_t name = name_of_function(tokens, k);
    std::fill(of_device.begin() + k, of_device.begin() + end, true);
    if (name == tokens.size()) continue;  // a variable, or a function without a name
    of_device[name] = true;
    const auto head = tokens.begin() + statement_start(tokens, k), head_end = tokens.begin() + name;
    const bool of_both =
        std::any_of(head, head_end, [](const Token& token) { return token.text == "__host__"; });
    if (is(tokens, k, "__device__") && !of_both) names.insert(tokens[name].text);
  }
  for (std::size_t k = 1; k < tokens.size(); ++k) {
    if (of_device[k] || names.count(tokens[k].text) == 0) continue;
    if (is_name(tokens, k - 1)) names.erase(tokens[k].text);  // the host has one of that name, too
    if (!is(tokens, k + 1, "(") || names.count(tokens[k].text) == 0) continue;
    if (is_one_of(tokens[k - 1], {".", "->", "::"})) continue;
    const std::string name(tokens[k].text);
    changes->errors.push_back(
        {tokens[k].line, "host code calls " + name +
                             ", which is __device__ alone: a function of both is __host__ "
                             "__device__, and a kernel is __global__"});
  }
}

}  // namespace

bool is_launch(const Tokens& tokens, std::size_t k) {
  return k < tokens.size() && is_launch_sign(tokens[k]) &&
         (k == 0 || !is(tokens, k - 1, "operator"));
}

void rewrite_launches(const Tokens& tokens, Changes* changes) {
  refuse_kernels(tokens, changes);
  refuse_calls_of_device_functions(tokens, changes);
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (is_launch(tokens, k)) rewrite_launch(tokens, k, changes);
    if ((is(tokens, k, "cudaLaunchKernel") || is(tokens, k, "cudaLaunchCooperativeKernel")) &&
        is(tokens, k + 1, "(")) {
      keep_type_of_kernel(tokens, k, changes);
    }
  }
}

void rewrite_launch_bounds(const std::string& source, const Tokens& tokens, Changes* changes) {
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (!is(tokens, k, "__launch_bounds__") || !is(tokens, k + 1, "(")) continue;
    const std::size_t open = k + 1, close = match_forward(tokens, open);
    std::size_t end = open + 1;  // of the first argument
    while (end < close && !is(tokens, end, ",")) end = group_end(tokens, end, close) + 1;
    const std::size_t body = body_of(tokens, close + 1);
    if (body >= tokens.size() || end == open + 1) continue;
    const std::size_t begin = tokens[open + 1].offset;
    const std::string most = source.substr(begin, tokens[end - 1].end() - begin);
    // Over several lines it would move those after it.
    if (most.find('\n') != std::string::npos) continue;
    changes->edits.push_back(
        {tokens[body].end(), 0, " ::cuda_on_cpu::check_launch_bounds(" + most + ");"});
  }
}

}  // namespace cuda_filter
