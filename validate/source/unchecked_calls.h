#pragma once

#include <string>

namespace validate {

/// What CUDA source does not ask for, in a line for the learner; empty where it asks for all of it:
/// a launch after which nobody asks for its error, a CUDA call whose result is dropped, memory
/// taken without a look at whether it fits. A look at the text alone. It knows more ways to check
/// than the lab's CUDA_CHECK, and where it is in doubt it says nothing.
std::string unchecked_calls(const std::string& source);

}  // namespace validate
