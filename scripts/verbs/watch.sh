#!/usr/bin/env bash
# Checks an exercise whenever its file is saved, and shows the verdict and what is next on one screen. `make watch`
# calls it.
#
#   STEP=NN            the step (default: the first one that is not done)
#   RANKS, BACKEND     as for make check
#
# Keys: n goes on to the next step that is not done (so does Enter when a step is done), q ends it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
readonly screen_lines=24

# next_step NAME: the first step after NAME with something left to do, or nothing. Of all steps if there is no NAME.
next_step() { labtool progress next "$1"; }

# go_to STEP: watches that one from now on.
go_to() {
  read_step "$1"
  file=exercises/$step/$step_source
  seen="" is_done=0
}

# stop_check: ends a check that runs, and what it has started.
stop_check() {
  local tries
  if [[ -z $check ]]; then return; fi
  # A signal that comes before the check has begun can get lost: it is sent again after a second.
  while kill -0 "$check" 2>/dev/null; do
    kill -TERM -- "-$check" 2>/dev/null || true
    for ((tries = 0; tries < 20; ++tries)); do
      kill -0 "$check" 2>/dev/null || break
      sleep 0.05
    done
  done
  wait "$check" 2>/dev/null || true
  check=""
}

start_check() {
  stop_check
  : >"$temp/begun"
  set -m # it is a process group of its own, which can be ended as a whole
  STEP=$step_number "$lab_root/scripts/verbs/check.sh" </dev/null >"$temp/said" 2>&1 &
  check=$!
  set +m
  started=$SECONDS is_done=0
  : >"$temp/body"
}

# first_todo: the first TODO block of the step that its file has, in one line.
first_todo() {
  awk -v todo="// TODO($step_number)" '
    !inside && index($0, todo) { inside = 1; printf "%s, line %d:", FILENAME, NR }
    !inside { next }
    !/^[ \t]*\/\/   / && seen++ { exit }
    { sub(/^[ \t]*\/\/ */, ""); printf " %s", $0 }' "$file"
}

# what_to_change: what is next after a check that found something wrong, by what it said.
what_to_change() {
  local said=$temp/said line words
  line=$(sed -nE 's/^[^ :(]*[:(]([0-9]+)[:)].*\b(fatal )?error: .*/\1/p' "$said" | head -n 1)
  if words=$(grep -oE '__host__ __device__ before it( .line [0-9]+.)?' "$said"); then
    say "Next: write $words."
  elif [[ -n $line ]]; then
    say "Next: line $line, where the first error is, or the line before it. The others may go with it."
  elif words=$(sed -n '/^  where: /,/^  [^ ]/p' "$said" | tr -s '\n ' ' ' | grep -oE 'where: [^.]*') && [[ -n $words ]]; then
    say "Next: ${words#where: }. A hint: make hint STEP=$step_number"
  elif grep -q "^$step: right" "$said"; then
    say "Next: the results are right, so keep them; the lines above say what the goal still needs. A hint: make hint STEP=$step_number"
  elif line=$(sed -n '/^  diagnosis:/,/^  look at:/p' "$said" | grep -oE '\blines? [0-9]+' | head -n 1) && [[ -n $line ]]; then
    say "Next: ${line/lines/line} of $step_source, which the diagnosis names. A hint: make hint STEP=$step_number"
  elif grep -q '^  diagnosis:' "$said"; then
    say "Next: the place that \`look at\` names. A hint: make hint STEP=$step_number"
  else
    say "Next: make check STEP=$step_number says all that was found, make hint STEP=$step_number gives a hint."
  fi
}

# end_check: what the check that has ended said becomes what the screen shows.
end_check() {
  local status=0 todo following lines
  wait "$check" || status=$?
  check=""
  todo=$(cd "$lab_root" && first_todo)
  if ((status == 0)) && [[ -z $todo || -z $step_before ]]; then
    is_done=1
    following=$(next_step "$step")
    next="Step $step_number is done. make predict STEP=$step_number compares your predictions with what was measured."
    if [[ -n $following ]]; then next+=" Enter goes on to $following."; else next+=" Enter ends."; fi
  elif ((status == 0)) || grep -qx "$step: unchanged" "$temp/said"; then
    next="Next: $todo"
  elif ((status == 1)); then
    next=$(what_to_change)
  else
    next="Next: when that is put right, save the file again."
  fi
  next=$(say_wrapped "$next" | head -n 8)
  # From the verdict on; then what came before it, such as a compiler's errors.
  sed 's#^exercises/[^/:]*/##; s/first error above$/first error below/' "$temp/said" | wrapped | cut -c 1-80 >"$temp/all"
  { sed -n "/^$step: /,\$p" "$temp/all" && sed "/^$step: /,\$d" "$temp/all"; } >"$temp/body"
  lines=$((screen_lines - 6 - $(wc -l <<<"$next")))
  if (($(wc -l <"$temp/body") > lines)); then
    sed -i "$lines,\$d" "$temp/body"
    say "  (make check STEP=$step_number says more)" >>"$temp/body"
  fi
  at=$(date +%H:%M:%S)
}

# show: the whole screen.
show() {
  local log head="$step: $step_title" now="checked $at" keys="n: next step   q: end"
  if [[ -n $check ]]; then
    now="checking ... $((SECONDS - started)) s"
    next=""
    for log in "$build_dir/check_exercise_$step"*.log; do
      # That of this check, until all is built: beside the log is the check's folder.
      if [[ $log -nt $temp/begun && ! -e ${log%.log}.$check/built ]]; then next=$(newest_of "$log"); fi
    done
    next=${next:+building $(bar "$next")}
  elif [[ $seen == gone ]]; then
    now="waiting"
    next="$file is not there (make reset STEP=$step_number puts it back)"
  fi
  printf '\033[H\033[2J'
  printf '%-50.50s %29s\n\n' "$head" "$now"
  cat "$temp/body"
  printf '\n%s\n\n%s' "$next" "$keys"
}

# look: what the file is now. Some network file systems report no change, and some keep whole seconds only.
look() { { stat -c %y "$lab_root/$file" && sha256sum <"$lab_root/$file"; } 2>/dev/null || echo gone; }

# next_or_end: goes on to the next step that is not done, or ends if there is none.
next_or_end() {
  local name
  stop_check
  name=$(next_step "$step")
  if [[ -z $name ]]; then
    printf '\n'
    say "No step after $step_number is left to do. make progress lists all of them."
    exit
  fi
  go_to "$name"
}

# shellcheck disable=SC2317  # the trap calls it
on_exit() {
  stop_check
  stty "$terminal" 2>/dev/null || true
  printf '\n' 2>/dev/null || true
  rm -rf "$temp"
}

if [[ -n ${STEP:-} ]]; then
  read_step "$STEP"
  read_ranks
fi
read_backend
need_python
[[ -t 0 && -t 1 ]] || die $exit_bad_usage "this needs a terminal; make check STEP=NN checks once"
name=${STEP:-$(next_step "")}
if [[ -z $name ]]; then
  say "Every step is done, as far as this machine can tell. make watch STEP=NN watches one of them."
  exit
fi
go_to "$name"
unset WHICH N RACES
make_scratch
: >"$temp/body"
check="" at="" next=""
terminal=$(stty -g)
trap on_exit EXIT
trap 'exit 143' TERM HUP
shown=-1
while true; do
  now_there=$(look)
  if [[ $now_there != "$seen" ]]; then
    if [[ $now_there == gone ]]; then stop_check; else start_check; fi
    seen=$now_there shown=-1
  fi
  if [[ $shown == -1 ]] || { [[ -n $check ]] && ((SECONDS != shown)); }; then
    shown=$SECONDS
    show
  fi
  if [[ -n $check ]] && ! kill -0 "$check" 2>/dev/null; then
    end_check
    show
  fi
  status=0
  IFS= read -rsn 1 -t 0.25 key || status=$?
  if ((status == 0)); then
    case $key in
      q | Q) exit ;;
      n | N) next_or_end ;;
      "") if ((is_done)); then next_or_end; fi ;;
    esac
  elif ((status == 1)); then
    exit # the terminal is gone
  fi
done
