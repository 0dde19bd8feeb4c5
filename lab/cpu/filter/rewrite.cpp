#include "rewrite.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

namespace cuda_filter {

namespace {

bool launches_a_kernel(const Tokens& tokens) {
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (is_launch(tokens, k)) return true;
  }
  return false;
}

/// A header is compiled as it is, so it may not launch a kernel. `directive` may be any.
void check_include(const Tokens& directive, const std::string& folder, Changes* changes) {
  const std::string header = included_header(directive);
  if (header.empty() || is(directive, 2, "<")) return;
  std::string text;
  if (!read_file((std::filesystem::path(folder) / header).string(), &text)) return;
  const Regions regions = split(lex(text));
  if (!launches_a_kernel(regions.code) &&
      std::none_of(regions.directives.begin(), regions.directives.end(), launches_a_kernel)) {
    return;
  }
  changes->errors.push_back(
      {directive[2].line, does_not_cover("a header that launches a kernel, " + header +
                                         ": put that into the .cu file itself")});
}

Changes apply_rules(const std::string& source, const std::string& folder, bool headers_too) {
  const Regions regions = split(lex(source));
  Changes changes;
  rewrite_launches(regions.code, &changes);
  rewrite_launch_bounds(source, regions.code, &changes);
  rewrite_shared_memory(regions, &changes);
  rewrite_device_variables(regions, &changes);
  find_not_covered(regions.code, &changes);
  for (const Tokens& directive : regions.directives) {
    const Tokens body = macro_body(directive);
    rewrite_launches(body, &changes);
    find_not_covered(body, &changes);
    if (!headers_too) check_include(directive, folder, &changes);
    find_header_not_covered(directive, folder, &changes);
  }
  return changes;
}

std::string apply(const std::string& source, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
  std::string text;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    text.append(source, at, edit.offset - at);
    text += edit.text;
    at = edit.offset + edit.length;
  }
  return text.append(source, at);
}

}  // namespace

Rewritten rewrite(const std::string& source, const std::string& name, const std::string& folder,
                  bool headers_too) {
  Changes changes = apply_rules(source, folder, headers_too);
  if (!changes.errors.empty()) {
    std::stable_sort(changes.errors.begin(), changes.errors.end(),
                     [](const Error& a, const Error& b) { return a.line < b.line; });
    return {"", changes.errors};
  }
  // A byte order mark is one on the first line only, which is no longer the source's.
  if (source.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    changes.edits.push_back({0, kByteOrderMark.size(), ""});
  }
  // The first line makes a compiler's messages speak of the .cu file.
  std::ostringstream text;
  text << "# 1 " << std::quoted(name) << '\n' << apply(source, changes.edits);
  return {text.str(), {}};
}

bool read_file(const std::string& path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) return false;  // a folder opens, too
  std::ostringstream content;
  content << file.rdbuf();
  *text = content.str();
  return true;
}

}  // namespace cuda_filter
