#pragma once

#include <string>
#include <vector>

#include "judge/check_program.h"

namespace validate {

/// A step's program, the other programs made of the same file, and what is asked about them.
struct StepCheck {
  std::string program;
  std::string built;         ///< see wait_for_build: `program` is there once its build has ended
  std::string on_cpu;        ///< the same on the CPU, if `program` needs a GPU; "": not there
  std::vector<Case> cases;   ///< none: those by which every step is judged
  std::vector<int> ranks;    ///< none: it is a program of one process
  bool every_order = false;  ///< also with threads in other orders
  std::vector<int> look_at;  ///< the sizes at which at_hand.watched looks at a right program
  int look_sweeps = 3;       ///< iterations of each look
  double time_limit = 300;   ///< seconds for one run
  AtHand at_hand = {};
};

/// Checks the program with all that is there: on a GPU it runs a few cases, and beside it the CPU
/// runs the rest. What a look at every access finds in a right program is the verdict.
Verdict check_step(const StepCheck& asked, const Progress& progress);

/// The one verdict of both, if the CPU has one. What is wrong on both is explained by the CPU,
/// which is faster and knows more.
Verdict verdict_of_both(Verdict gpu, Verdict cpu);

/// What a look at every access found of a right program is the verdict. If it could not be made,
/// nothing is said.
void add_look(bool on_gpu, Verdict found, Verdict* verdict);

}  // namespace validate
