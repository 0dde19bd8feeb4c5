#!/usr/bin/env bash
# Asks the questions of a guide's section "Predict", one after the other, and keeps the answers. Once the step is done it
# shows them beside the measured ones. `make predict STEP=NN` calls it.
#
#   STEP=NN   the step
#
# The answers stand in results/local/predictions.tsv: the step, then an answer for each question (- for none); the
# last line counts. Asked again it shows them; an empty line keeps an answer. Without a terminal it reads one answer per line
# from standard input.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

read_step "${STEP-}"
if [[ -t 0 ]]; then
  # Ctrl-C ends the answers, as Ctrl-D does: as a signal it would also reach make, which complains.
  terminal=$(stty -g)
  trap 'stty "$terminal"' EXIT
  stty intr undef
fi
read_guide predict
