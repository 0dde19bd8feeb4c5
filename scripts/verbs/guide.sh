#!/usr/bin/env bash
# Prints a step's guide with its folds closed, on a terminal through a pager. `make guide STEP=NN`
# calls it.
#
#   STEP=NN     the step
#   CLINIC=NAME   or the kernel of the clinic
#   SHOW=WORD   only the sections of that word, their folds open: hints, predictions, questions, measured,
#               answer, more
#   SHOW=K      only the fold of that number
#   SHOW=all    the whole guide, all folds open
#   PAGER       the pager (default: less -FRX, or none if less is missing)
#   COLUMNS     the width, if it is less than 80
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

read_step_or_kernel
read_guide guide
