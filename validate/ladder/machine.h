#pragma once

#include <string>

#include "ladder/ladder.h"

namespace validate {

/// Looks at this machine; `bin`: the folder that the program `bandwidth` is in. Without a usable
/// GPU the machine says why.
Machine look_at_machine(const std::string& bin);

}  // namespace validate
