#!/usr/bin/env bash
# Builds the learner's exercise and says how it stands. `make check STEP=NN` calls it.
#
#   STEP=NN                    the step
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N,N,...                  sizes to run at (default: 100,250)
#   TIME_LIMIT=S               seconds for one run of the program (default 300)
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

read_step "${STEP-}"
read_which
source_file=${which}s/$step/$step_source
[[ -f $lab_root/$source_file ]] || die $exit_bad_usage "$source_file is not there"

configure >/dev/null
if ! have_target "${which}_$step"; then
  say "$step: cannot be built here: it needs the CUDA Toolkit, and no nvcc was found"
  say "  Load your site's CUDA module, or go on with a machine that has one."
  exit $exit_no_gpu
fi
if ! build_targets validate >/dev/null; then die 1 "the validator does not build"; fi
log=$build_dir/check.log
if ! cmake --build "$build_dir" --target "${which}_$step" >"$log" 2>&1; then
  # What the compiler says, without what the build tool says.
  grep -vE '^(\[|ninja: |FAILED: |gmake|make)|^cd .* && |^/.*(nvcc|c\+\+|g\+\+) ' "$log" |
    sed "s#$lab_root/##g" || true
  say "$step: does not compile; begin with the first error above"
  exit 1
fi
# Warnings are worth reading, too.
grep -E 'warning' "$log" | sed "s#$lab_root/##g" || true

cd "$lab_root" # so that files are named as the learner knows them
arguments=(--name "$step")
if [[ $which == exercise ]]; then
  arguments+=(--exercise "$source_file")
  # The first step has no task: there is nothing that it could be unchanged from.
  if [[ -n $step_before ]]; then
    arguments+=(--before "solutions/$step_before/$step_before_source")
  fi
fi
if [[ -n ${N:-} ]]; then arguments+=(--n "$N"); fi
if [[ -n ${TIME_LIMIT:-} ]]; then arguments+=(--time-limit "$TIME_LIMIT"); fi
exec "$build_dir/bin/validate" "${arguments[@]}" "${build_dir#"$lab_root"/}/bin/${which}_$step"
