#!/usr/bin/env bash
# Runs a step's program under the four tools of compute-sanitizer. `make sanitize STEP=NN` calls it.
#
#   STEP=NN                    the step
#   CLINIC=NAME                or the kernel of the clinic
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N                        points per side (default: 100)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/profilers.sh"

read_step_or_kernel
read_which
n=${N:-100}
check_n "$n"
without="make check $step_words" # what looks at every access without a GPU
if [[ -z ${CLINIC:-} ]]; then without+=" RACES=1"; fi
if [[ $step_needs != cuda ]]; then
  say_wrapped "$step: skipped: it runs only on the CPU, and compute-sanitizer looks at GPU code"
  exit $exit_no_gpu
fi

sanitizer=$(find_tool compute-sanitizer) ||
  die $exit_no_gpu "compute-sanitizer was not found; a full CUDA Toolkit has it
  Without it, and without a GPU: $without"

configure >/dev/null
have_target "${which}_$step_target" ||
  die $exit_no_gpu "no nvcc was found. Without a GPU: $without"
build_targets "${which}_$step_target" || die 1 "the build failed; the compiler's messages are above"
program=$build_dir/bin/${which}_$step_target

# Without a usable GPU there is nothing to look at.
status=0
"$program" --n 3 --iterations 1 --quiet || status=$?
if ((status == exit_no_gpu)); then
  say "  Without a GPU, \`$without\` looks at every access instead."
  exit $exit_no_gpu
fi

log=$build_dir/sanitize_${which}_$step_target.log
found=0
for tool in memcheck racecheck initcheck synccheck; do
  if [[ -t 1 ]]; then printf '  %-9s running ...\r' "$tool"; fi
  status=0
  "$sanitizer" --tool "$tool" --error-exitcode 99 "$program" --n "$n" --iterations 3 --quiet \
    >"$log" 2>&1 || status=$?
  if ((status == 0)); then
    printf '  %-9s clean\n' "$tool"
  else
    printf '  %-9s %s\n' "$tool" "errors (exit code $status); its first messages:"
    sed -n "s#$lab_root/##g; 1,40p" "$log"
    found=1
  fi
done
if ((found)); then
  say "$step ($which): compute-sanitizer found errors, see above"
  exit 1
fi
say "$step ($which): clean under all four (n = $n)"
