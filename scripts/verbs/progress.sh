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
# shellcheck source=scripts/lib/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

case ${1:-} in
  "" | --table) ;;
  *) die $exit_bad_usage "$1: no such option" ;;
esac
case ${TIME:-0} in
  0 | 1) ;;
  *) die $exit_bad_usage "TIME=$TIME: must be 1 or 0" ;;
esac
make_scratch

# short_date YYYY-MM-DD HH:MM: without the year, as people say it.
short_date() {
  awk -v date="$1" 'BEGIN {
    print substr(date, 9, 2), substr("JanFebMarAprMayJunJulAugSepOctNovDec", 3 * substr(date, 6, 2) - 2, 3),
      substr(date, 12, 5)
  }'
}

# look_at STEP: sets state and done (whether nothing is left to do), and checked (when and where), from
# the exercise and what is known of it; sum is the file's SHA-256. Also date, where and mistake, empty if the file was
# edited since.
look_at() {
  local path verdict checked_sum todos
  read_step "$1"
  path=$lab_root/exercises/$step/$step_source
  state=missing sum=- checked=- done=0 date="" where="" mistake=""
  [[ -f $path ]] || return 0
  sum=$(sha256sum <"$path")
  sum=${sum%% *}
  IFS=$'\t' read -r verdict checked_sum date where mistake < <(recall progress.tsv "$step") || true
  if [[ $checked_sum != "$sum" ]]; then
    IFS=$'\t' read -r verdict checked_sum date where mistake < <(recall progress_right.tsv "$step") || true
  fi
  if [[ $checked_sum == "$sum" ]]; then
    checked="$(short_date "$date") ${where^^}"
  else
    date="" where="" mistake=""
  fi
  if "$lab_root/scripts/lib/start.sh" "$step" >"$temp/start" 2>/dev/null && cmp -s "$temp/start" "$path"; then
    state=unchanged
    if [[ -z $step_before ]]; then state="no task" done=1; fi
  elif [[ $checked_sum != "$sum" ]]; then
    state="edited, not checked since"
  elif [[ $verdict == "goal missed" ]]; then
    state="right, goal not reached"
  elif [[ $verdict == right || $verdict == "done" ]]; then
    todos=$({ grep -o "TODO($step_number)" "$path" || true; } | wc -l)
    case $todos in
      0) state=$verdict done=1 ;;
      1) state="right so far, 1 TODO left" ;;
      *) state="right so far, $todos TODOs left" ;;
    esac
  else
    state=$verdict
  fi
}

read_steps() { awk -F '\t' '/^[0-9]/ { print $1 }' "$steps_file"; }

# time_step: runs the exercise of $step, and remembers its time. Fails if it could not.
time_step() {
  local n iterations target program ms device status=0
  IFS=$'\t' read -r _ _ _ n iterations _ < <(step_line "$step")
  target=exercise_$step
  if ! have_target "$target"; then
    say "  $step: cannot be built here for a GPU: no nvcc was found"
    return 1
  fi
  if ! build_targets "$target" >"$temp/log" 2>&1; then
    say "  $step: does not compile here: make check STEP=$step_number says more"
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
  remember progress_times.tsv "$step" "$n" "$ms" "$sum" "$(date '+%Y-%m-%d %H:%M')" "$device"
}

failed=0
if ((${TIME:-0})); then
  if [[ ${BACKEND:-} == cpu ]] || { [[ -z ${BACKEND:-} ]] && ! gpu_here; }; then
    say "Times need a GPU, and there is none here. Leave out TIME=1 to see what is done."
    exit $exit_no_gpu
  fi
  mapfile -t steps < <(read_steps)
  to_time=()
  for name in "${steps[@]}"; do
    look_at "$name"
    # The code as found is where the learner's ladder begins.
    if [[ $state == right* || $state == "done" || $state == "no task" ]]; then to_time+=("$name"); fi
  done
  configure >/dev/null
  choose_backend >/dev/null
  if [[ $backend == cpu ]]; then
    say "Times need a GPU, and no nvcc was found: load your site's CUDA module."
    exit $exit_no_gpu
  fi
  for name in ${to_time[@]+"${to_time[@]}"}; do
    look_at "$name"
    if [[ -t 1 ]]; then printf '  timing %s ...\r' "$step"; fi
    time_step || failed=1
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

finished=0 right=0 tasks=0 first="" next="" any_check=0 any_time=0
while read -r name; do
  look_at "$name"
  first=${first:-$step}
  if [[ $checked != - ]]; then any_check=1; fi
  n=$(step_line "$step" | cut -f 4)
  ms="" theirs=""
  IFS=$'\t' read -r timed_n timed_ms timed_sum _ < <(recall progress_times.tsv "$step") || true
  if [[ $timed_sum == "$sum" && $timed_n == "$n" ]]; then ms=$timed_ms any_time=1; fi
  theirs=$(awk -F '\t' -v step="$step" -v n="$n" '$1 == step && $4 == n && $3 == "right" { print $5 }' "$published")
  if [[ -n $step_before ]]; then
    tasks=$((tasks + 1))
    if ((done)) && [[ $state == right ]]; then
      right=$((right + 1))
    elif ((done)); then
      finished=$((finished + 1))
    elif [[ -z $next ]]; then
      next=$step
    fi
  fi
  row=("$step" "$state" "$checked" "${ms:--}" "${theirs:--}")
  if [[ ${1:-} == --table ]]; then row=("$step" "$state" "${date:--}" "${where:--}" "${mistake:--}" "${ms:--}"); fi
  (IFS=$'\t' && printf '%s\n' "${row[*]}") 2>/dev/null ||
    die $exit_cannot_write "$temp: cannot be written: is there space left?"
done < <(read_steps) >"$temp/table"
if [[ ${1:-} == --table ]]; then
  cat "$temp/table"
  exit "$failed"
fi

gpu=$(awk -F '\t' '$1 == "# gpu" { print $2 }' "$published")
awk -F '\t' -v any_time="$any_time" -v gpu="${gpu:-there}" '
  function short(ms) { # three digits that count
    if (ms == "-") return ms
    if (ms >= 100) return sprintf("%.0f", ms)
    if (ms >= 10) return sprintf("%.1f", ms)
    if (ms >= 1) return sprintf("%.2f", ms)
    if (ms >= 0.1) return sprintf("%.3f", ms)
    if (ms >= 0.01) return sprintf("%.4f", ms)
    return sprintf("%.5f", ms)
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
    gpu_short = gpu
    sub(/^.* /, "", gpu_short)
    gpu_short = substr(gpu_short, 1, 7)
  }
  {
    step[NR] = $1; state[NR] = $2; checked[NR] = $3; mine[NR] = short($4); theirs[NR] = short($5)
    if (length($1) > wide) wide = length($1)
    if (length($2) > middle) middle = length($2)
  }
  END {
    put("step", "state", "last checked", "your ms", gpu_short)
    for (k = 1; k <= NR; ++k) put(step[k], state[k], checked[k], mine[k], theirs[k])
    if (any_time) {
      print ""
      print "your ms: per iteration at the step'\''s default n; " gpu_short ": the published solution"
    }
  }' "$temp/table"
say ""
summary="$finished of $tasks done."
if ((right)); then
  if gpu_here; then why="some of their goals were not measured"; else why="some of their goals need a GPU"; fi
  summary="$finished of $tasks done, $right right ($why)."
fi
if ((!any_check)); then next=$first; fi # the first step has no task, but a guide
if [[ -n $next ]]; then summary+=" Next: exercises/$next/README.md"; fi
say_wrapped "$summary"
exit "$failed"
