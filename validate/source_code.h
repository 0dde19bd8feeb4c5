#pragma once

#include <set>
#include <string>

namespace validate {

/// C++ source without comments and white space: what is left where two files say the same thing.
std::string code_only(const std::string& source);

/// The names that C++ source holds, keywords among them, those in comments and strings left out.
std::set<std::string> names_in(const std::string& source);

/// What CUDA source does not ask for, in a line for the learner; empty where it asks for all of it:
/// a launch after which nobody asks for its error, a CUDA call whose result is dropped, memory
/// taken without a look at whether it fits. A look at the text alone. It knows more ways to check
/// than the lab's CUDA_CHECK, and where it is in doubt it says nothing.
std::string unchecked_calls(const std::string& source);

/// Reads a whole text file; returns false where it cannot be read.
bool read_text(const std::string& path, std::string* text);

}  // namespace validate
