#!/usr/bin/env bash
# Builds every solution, validates it, times it, and prints the ladder. `make run` calls it.
#
#   RESULTS=DIR   where ladder.tsv goes (default: results/local)
#   STEPS=NN,NN   only these steps: their ladder is printed, and not kept
#   RANKS=R       how many ranks the steps for several GPUs are timed with (default: one per GPU)
#   BACKEND=cpu   the CPU runs the kernels, although there is a GPU (results, no times)
#
# With STEP=NN it runs that step's program instead, and nothing else:
#
#   WHICH=exercise|solution    which of the two (default: the solution, if there is one)
#   RANKS=R                    how many ranks run a step for several GPUs (default: one per GPU)
#   RECORD=DIR                 where it leaves its record
#   ARGS="--n 4096 ..."        its options (default: its own; if the CPU runs the kernels, --n 256)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/lib.sh"

if [[ -n ${STEP:-} ]]; then
  [[ -z ${STEPS:-} ]] || die $exit_bad_usage "STEP=$STEP and STEPS=$STEPS: one of the two"
  read_step "$STEP"
  if [[ -z ${WHICH:-} && -d $lab_root/solutions ]]; then WHICH=solution; fi
  read_which
  read_ranks
  read_backend
  build_step
  command=("$build_dir/bin/$target")
  read -r -a arguments <<<"${ARGS:-}"
  if [[ -n ${RECORD:-} ]]; then arguments+=(--record "$(realpath -m "$RECORD")"); fi
  if [[ $backend == cpu && " ${ARGS:-}" != *" --n"[=\ ]* ]]; then arguments+=(--n 256); fi
  if [[ -n $ranks ]]; then command=("$build_dir/bin/ranks" "$ranks" "${command[@]}"); fi
  cd "$lab_root"
  exec "${command[@]}" "${arguments[@]}"
fi
for word in WHICH ARGS RECORD; do
  [[ -z ${!word:-} ]] || die $exit_bad_usage "$word=${!word}: which step? Also give STEP=NN"
done
[[ -d $lab_root/solutions ]] ||
  die $exit_bad_usage "a handout has no solutions to time; make progress TIME=1 times your exercises"

arguments=()
if [[ -n ${RANKS:-} ]]; then
  [[ $RANKS =~ ^([1-9]|[1-5][0-9]|6[0-4])$ ]] ||
    die $exit_bad_usage "RANKS=$RANKS: must be a number of ranks, from 1 to 64"
  arguments+=(--ranks "$RANKS")
fi
read_step_list
read_backend
if ((${#step_list[@]})); then
  [[ -z ${RESULTS:-} ]] ||
    die $exit_bad_usage "RESULTS=$RESULTS: a ladder of some steps is only printed; leave out STEPS, or RESULTS"
  arguments+=(--steps "$(IFS=,; printf '%s' "${step_list[*]}")")
else
  # results/local is what git ignores; results/h200 and its like are what was published.
  read_results
  arguments+=(--results "$results")
fi
all_steps=1
configure
choose_backend >/dev/null # the ladder says which
build_targets "run_on_$backend" || die 1 "the build failed; the compiler's messages are above"
status=0
"$build_dir/bin/ladder" --lab "$lab_root" "${arguments[@]}" || status=$?
say "This run took $SECONDS s."
exit "$status"
