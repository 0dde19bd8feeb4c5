#!/usr/bin/env bash
# Draws a run's field, and how far it is from the exact solution: in the terminal, and as PNG in build/pictures.
# `make picture STEP=NN` calls it.
#
#   STEP=NN                    the step, which is run (until its tolerance is reached, or for 1000 iterations)
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N                        points per side (default 100)
#   ITERATIONS=K               exactly K sweeps
#   RANKS, BACKEND, ARGS       as for make run
#   RECORD=DIR                 instead of all that: the record of a run, which --record DIR has left
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/lib.sh"

if [[ -n ${RECORD:-} && -n ${STEP:-} ]]; then
  die $exit_bad_usage "STEP=$STEP and RECORD=$RECORD: one of the two"
elif [[ -z ${RECORD:-}${STEP:-} ]]; then
  die $exit_bad_usage "which run? Say STEP=NN, or RECORD=DIR"
fi
need_python
name=record
if [[ -n ${STEP:-} ]]; then
  read_step "$STEP"
  read_which
  check_n "${N:-100}"
  check_iterations "${ITERATIONS:-1}"
  ((10#${N:-100} <= 16384)) || die $exit_bad_usage "N=$N: at most 16384, because the whole field is written"
  make_scratch
  status=0
  doing "running $step"
  ARGS="--n ${N:-100} ${ITERATIONS:+--iterations $ITERATIONS} ${ARGS:-}" WHICH=$which RECORD=$temp/record \
    "$lab_root/scripts/verbs/measure/run.sh" >"$temp/said" || status=$?
  doing
  # A run that has not converged has a field, too.
  if ((status > 1)) || [[ ! -f $temp/record/run.json ]]; then exit "$status"; fi
  RECORD=$temp/record name=${which}_$step
fi
# Python would take a locale C for one of UTF-8.
PYTHONCOERCECLOCALE=0 labtool picture "$RECORD" "$build_dir/pictures/$name"
