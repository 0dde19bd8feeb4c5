#pragma once

#include <string>

#include "ladder/ladder.h"

namespace validate {

/// "1 GPU", "2 GPUs, one rank per GPU" or "4 ranks on 2 GPUs"; what writes the tables reads it
/// in the note.
std::string gpus_in_words(const LadderRow& row, const Machine& machine);

/// What is said of a step as soon as it is known.
void print_row(const LadderRow& row);

/// Prints all of it, for people.
void print_table(const Ladder& ladder);

/// Writes the table aside, then renames it; returns false with a message where that fails.
bool write_results(const std::string& path, const Ladder& ladder);

}  // namespace validate
