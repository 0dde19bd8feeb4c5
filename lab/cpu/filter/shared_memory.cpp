#include "rewrite.h"

namespace cuda_filter {

/// A declaration of shared variables, from its first token to its semicolon: it stays, but for
/// words that are CUDA's, and becomes that of a struct's members, from which each variable has its
/// type. Throws an Error at what it cannot take.
static void rewrite_declaration(const Tokens& tokens, Changes* changes) {
  std::vector<Edit> edits;
  std::string name, all, variables;  // of this variable, of the struct, and what follows it
  bool dynamic = false, is_type = false;
  int words = 0;
  for (std::size_t k = 0; k < tokens.size(); k = group_end(tokens, k, tokens.size()) + 1) {
    const std::string_view text = tokens[k].text;
    const auto fail = [&](const char* what) { throw Error{tokens[0].line, what}; };
    const auto fail_to_understand = [&] {
      fail(
          "this declaration of shared memory was not understood: write it as __shared__ float "
          "name[4][8];");
    };
    dynamic |= text == "extern";
    is_type |= text == "struct" || text == "union" || text == "class" || text == "enum";
    if (text == "extern" || text == "static" || text == "__shared__") {
      edits.push_back({tokens[k].offset, text.size(), ""});
      continue;
    }
    if (text == "=" || (text == "{" && !is_type)) {
      fail("shared memory cannot be initialised where it is declared: assign to it in the kernel");
    }
    if (text == "(" && !is(tokens, k - 1, "decltype") && !is(tokens, k - 1, "alignas") &&
        !is(tokens, k - 1, "__align__")) {
      fail_to_understand();
    }
    const bool ends = text == "," || text == ";";
    if (name.empty() && (text == "[" || ends)) {
      if (words < 2 || tokens[k - 1].kind != Kind::kIdentifier) fail_to_understand();
      const bool is_open = text == "[" && is(tokens, k + 1, "]");
      if (dynamic && !is_open) {
        fail("dynamic shared memory has no size here: extern __shared__ float name[];");
      }
      if (!dynamic && is_open) {
        fail("shared memory without a size is extern: extern __shared__ float name[];");
      }
      name = tokens[k - 1].text;
      if (all.empty()) all = name + "_declared";
      const std::string type = "decltype(" + all + "::" + name + ")";
      if (dynamic) {
        edits.push_back({tokens[k].end(), 0, "1"});
        variables += " auto* " + name + " = ::cuda_on_cpu::dynamic_shared<" + type + ">();";
      } else {
        const std::string variable = name + "_in_shared_memory";
        variables += " static ::cuda_on_cpu::SharedVariable<" + type + "> " + variable + "{\"" +
                     name + "\"}; auto& " + name + " = " + variable + ".here();";
      }
    }
    if (ends) name.clear();
    ++words;
  }
  changes->edits.push_back({tokens[0].offset, 0, "struct " + all + " { "});
  changes->edits.insert(changes->edits.end(), edits.begin(), edits.end());
  changes->edits.push_back({tokens.back().end(), 0, " };" + variables});
}

/// The declaration from `begin` on, whose `__shared__` is at `k`.
static Tokens declaration_around(const Tokens& code, std::size_t begin, std::size_t k) {
  std::size_t end = k + 1;
  while (end < code.size() && !is(code, end, ";") && !is(code, end, "__shared__") &&
         !closes(code[end])) {
    end = group_end(code, end, code.size()) + 1;
  }
  if (!is(code, end, ";")) {
    throw Error{code[k].line, "a declaration of shared memory without a ; at its end"};
  }
  return Tokens(code.begin() + begin, code.begin() + end + 1);
}

void rewrite_shared_memory(const Regions& regions, Changes* changes) {
  std::size_t last = regions.code.size();
  for (std::size_t k = 0; k < regions.code.size(); ++k) {
    if (!is(regions.code, k, "__shared__") || !regions.in_function[k]) continue;
    const std::size_t begin = statement_start(regions.code, k);
    if (begin <= last && last < k) continue;  // the previous one was reported already
    last = k;
    try {
      rewrite_declaration(declaration_around(regions.code, begin, k), changes);
    } catch (const Error& error) {
      changes->errors.push_back(error);
    }
  }
}

}  // namespace cuda_filter
