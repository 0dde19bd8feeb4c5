#!/usr/bin/env bash
# Prints the hints of a step's guide, one at a time. `make hint STEP=NN` calls it.
#
#   STEP=NN   the step
#   CLINIC=NAME  or the kernel of the clinic
#   HINT=K    the hint of that number; the next call prints the one after it
#   HINT=all  all of them
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

read_step_or_kernel
read_guide hint
