# shellcheck shell=bash
# How large the runs are in which every access is looked at, which takes time: for check.sh and puzzle.sh,
# and for the tests that judge as they do. Source it.

# read_look NUMBER RANKS: the number of a step, and 1 if several ranks run it: sets look_points (points per side,
# separated by commas) and look_sweeps.
# shellcheck disable=SC2034  # whoever sources this reads them
read_look() {
  local number=$((10#$1)) ranks=$2
  look_points=33,100 look_sweeps=3
  # More columns than one warp of a block has, where warps share a block; and two rows more than a multiple of
  # those that a warp marches through, of which it computes one.
  if ((number == 12)); then look_points=33,602; fi
  # A pass of several sweeps, 16 in the solutions, and one of a single sweep; of cycles (step 16) 2 are enough.
  if ((number >= 13)); then look_sweeps=17; fi
  # There a thread with rows of its own has several of them on a larger grid, which do not divide evenly.
  if ((number >= 16)); then look_points=33,259 look_sweeps=2; fi
  # Strips that are not at a side, and warps that go on from one strip to the next.
  if ((number == 13 || ranks)); then look_points=400; fi
}
