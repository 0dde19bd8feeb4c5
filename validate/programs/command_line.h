#pragma once

#include <functional>
#include <string>

#include <lab/command_line.h>

namespace validate {

using lab::CommandLine;

/// Writes `verdict`, words for a script with tabs between them, as the only line of `file`; "": of
/// none.
void write_verdict(const std::string& file, const std::string& verdict);

/// The exit code of a program whose work is `body`: its result, or that of what ended it, which is
/// said on stderr in one line.
int run_to_exit_code(const char* program, const std::function<int()>& body);

}  // namespace validate
