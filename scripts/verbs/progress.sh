#!/usr/bin/env bash
# Shows which exercises are done. `make progress` calls it.
#
#   TIME=1    first times the correct ones, at their step's default n, on a GPU
#
#   progress.sh --table   prints step, state, date, where it ran, mistake and ms with tabs between them, for `make handin`
#
# `make check` leaves its verdicts in results/local/progress.tsv (step, verdict, SHA-256 of the file that was checked,
# date, where it ran, and the mistake's name in the catalogue if there is one), and the last one that was right in
# progress_right.tsv. TIME=1 leaves the times in progress_times.tsv (step, n, ms per iteration, SHA-256, date, device).
# A row says nothing about a file that was edited since.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
source "$lab_root/scripts/lib/state.sh"

case ${1:-} in
  "" | --table) ;;
  *) die $exit_bad_usage "$1: no such option" ;;
esac
check_switches TIME
read_backend
make_scratch

# time_step STEP: runs its exercise, and remembers its time. Fails if it could not.
time_step() {
  local step=$1 n iterations target program ms device status=0
  IFS=$'\t' read -r _ _ _ n iterations _ < <(step_line "$step")
  target=exercise_$step
  if ! have_target "$target"; then
    say "  $step: cannot be built here for a GPU: no nvcc was found"
    return 1
  fi
  if ! build_targets "$target" >"$temp/log" 2>&1; then
    say "  $step: does not compile here: make check STEP=${step%%_*} says more"
    return 1
  fi
  program=$build_dir/bin/$target
  rm -rf "$temp/record"
  timeout --foreground 600 "$program" --n "$n" --iterations "$iterations" --quiet \
    --record "$temp/record" --record-field rows >/dev/null 2>"$temp/log" || status=$?
  ms=$(sed -n 's/^ *"iteration_ms_median": \([0-9.eE+-]*\),\{0,1\}$/\1/p' "$temp/record/run.json" 2>/dev/null || true)
  device=$(sed -n 's/^ *"device": "\(.*\)",$/\1/p' "$temp/record/run.json" 2>/dev/null || true)
  if ((status != 0)) || [[ -z $ms ]]; then
    say "  $step: could not be timed (exit code $status): $(tail -n 1 "$temp/log")"
    return 1
  fi
  remember progress_times.tsv "$step" "$n" "$ms" "${sums[$step]}" "$(date '+%Y-%m-%d %H:%M')" "$device"
}

read_states
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
  for name in "${steps[@]}"; do
    # The code as found is where the learner's ladder begins.
    [[ ${states[$name]} =~ ^(right|done|no\ task) ]] || continue
    if [[ -t 1 ]]; then printf '  timing %s ...\r' "$name"; fi
    time_step "$name" || failed=1
    if [[ -t 1 ]]; then printf '\033[K'; fi
  done
fi

# The published ladder, that of the H200 if it is there; not the one that `make run` leaves here.
published=/dev/null
for file in "$lab_root"/results/h200/ladder.tsv "$lab_root"/results/*/ladder.tsv; do
  if [[ -f $file && $file != */results/local/* ]]; then
    published=$file
    break
  fi
done

declare -A times=() published_ms=()
read_rows progress_times.tsv times
while IFS=$'\t' read -r name n ms; do
  published_ms[$name $n]=$ms
done < <(awk -F '\t' -v OFS='\t' '/^[0-9]/ && $3 == "right" { print $1, $4, $5 }' "$published")

finished=0 right=0 skipped=0 next="" any_check=0 any_time=0
tasks=$((${#steps[@]} - 1)) # the first step has none
while IFS=$'\t' read -r name _ _ n _; do
  if [[ ${checked[$name]} != - ]]; then any_check=1; fi
  if [[ $name != "${steps[0]}" ]]; then
    case ${states[$name]} in
      "done") finished=$((finished + 1)) ;;
      right) right=$((right + 1)) ;;
      skipped*) skipped=$((skipped + 1)) tasks=$((tasks - 1)) ;;
      *) next=${next:-$name} ;;
    esac
  fi
  ms=-
  IFS=$'\t' read -r timed_n timed_ms timed_sum _ <<<"${times[$name]-}"
  if [[ $timed_sum == "${sums[$name]}" && $timed_n == "$n" ]]; then ms=$timed_ms any_time=1; fi
  row=("${states[$name]}" "${checked[$name]}" "$ms" "${published_ms[$name $n]:--}")
  if [[ ${1:-} == --table ]]; then row=("${states[$name]}" "${details[$name]}" "$ms"); fi
  (IFS=$'\t' && printf '%s\n' "$name"$'\t'"${row[*]}") 2>/dev/null ||
    die $exit_cannot_write "$temp: cannot be written: is there space left?"
done < <(grep '^[0-9]' "$steps_file") >"$temp/table"
if [[ ${1:-} == --table ]]; then
  cat "$temp/table"
  exit "$failed"
fi

gpu=$(awk -F '\t' '$1 == "# gpu" { print $2 }' "$published")
awk -F '\t' -v any_time="$any_time" -v gpu="${gpu:-there}" '
  function short(ms,    decimals) { # three digits that count, but no more than five decimals
    if (ms == "-") return ms
    while (decimals < 5 && ms * 10 ^ decimals < 100) ++decimals
    return sprintf("%." (decimals + 0) "f", ms)
  }
  function put(step, state, checked, mine, theirs,    line) {
    line = sprintf("%-" wide "s  %-" middle "s  %-16s", step, state, checked)
    if (any_time) line = line sprintf(" %7s %7s", mine, theirs)
    sub(/ +$/, "", line)
    print line
  }
  BEGIN {
    wide = 4
    middle = 5
    sub(/^.* /, "", gpu)
    gpu = substr(gpu, 1, 7)
  }
  NR == FNR { # the first time only the widths are found
    if (length($1) > wide) wide = length($1)
    if (length($2) > middle) middle = length($2)
    next
  }
  FNR == 1 { put("step", "state", "last checked", "your ms", gpu) }
  { put($1, $2, $3, short($4), short($5)) }
  END {
    if (any_time) {
      print ""
      print "your ms: per iteration at the step'\''s default n; " gpu ": the published solution"
    }
  }' "$temp/table" "$temp/table"
say ""
summary="$finished of $tasks done."
if ((right)) && gpu_here; then
  summary="$finished of $tasks done, $right right (some of their goals were not measured)."
elif ((right)); then
  summary="$((finished + right)) of $tasks done, as far as this machine can tell (goals of $right need a GPU)."
fi
if ((skipped)); then summary+=" $skipped skipped: no MPI (make setup installs it)."; fi
if ((!any_check)); then next=${steps[0]}; fi # the first step has no task, but a guide
if [[ -n $next ]]; then summary+=" Next: exercises/$next/README.md"; fi
say_wrapped "$summary"
exit "$failed"
