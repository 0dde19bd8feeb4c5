#!/usr/bin/env bash
# Shows which exercises are done. `make progress` calls it.
#
#   TIME=1    first times the correct ones, at their step's default n, on a GPU
#
# `make check` leaves its verdicts in results/local/progress.tsv (step, verdict, SHA-256 of the file that was checked,
# date, where it ran, and the mistake's name in the catalogue if there is one). TIME=1 leaves the times in
# progress_times.tsv (step, n, ms per iteration, SHA-256, date, device). The last line of a file as it is now counts: who
# breaks it on purpose and puts it back need not check again.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

check_switches TIME
read_backend
need_python

failed=0
if ((${TIME:-0})); then
  if [[ ${BACKEND:-} == cpu ]] || { [[ -z ${BACKEND:-} ]] && ! gpu_here; }; then
    say "Times need a GPU, and there is none here. Leave out TIME=1 to see what is done."
    exit $exit_no_gpu
  fi
  configure >/dev/null
  choose_backend >/dev/null
  if [[ $backend == cpu ]]; then
    say "Times need a GPU, and no nvcc was found: load your site's CUDA module."
    exit $exit_no_gpu
  fi
  for name in $(labtool progress right); do
    doing "timing $name"
    if ! build_targets "exercise_$name" >/dev/null 2>&1; then
      say "  $name: does not compile here: make check STEP=${name%%_*} says more"
      failed=1
    else
      labtool progress time "$name" || failed=1
    fi
    doing
  done
fi
labtool progress board
exit "$failed"
