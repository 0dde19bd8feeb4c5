#!/usr/bin/env bash
# Whatever a learner's program does, the validator says it in words, ends, and leaves nothing behind: the
# bank of faults. Each is a program that does as solution 00 does and then one thing wrong, with the words
# that the validator must find for it.
# shellcheck disable=SC2016  # the programs' variables are theirs
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_build
make_temp
validate=$build_dir/bin/validate good=$build_dir/bin/solution_00_serial
for file in "$validate" "$good"; do [[ -x $file ]] || skip "$file is not built"; done
mkdir "$temp/tmp"
export TMPDIR=$temp/tmp

# program NAME COMMANDS: a program that knows $record, its --record folder, $n and $iterations. `good` in it
# is the right program with the same arguments.
program() {
  cat >"$temp/$1" <<END
#!/usr/bin/env bash
arguments=("\$@")
while ((\$#)); do
  case \$1 in
    --record) record=\$2 ;;
    --n) n=\$2 ;;
    --iterations) iterations=\$2 ;;
  esac
  shift
done
good() { "$good" "\${arguments[@]}" "\$@"; }
$2
END
  chmod +x "$temp/$1"
}

# fault NAME CODE REGEX COMMANDS: the validator ends with CODE, and says what the extended regular
# expression matches. No folder and no process is left.
tried=0
fault() {
  local name=$1 code=$2 regex=$3
  if (($# > 3)); then program "$name" "$4"; fi
  tried=$((tried + 1))
  run timeout "$(patience 60)" "$validate" --n 20 --problem probe --iterations 4 --time-limit 3 "$temp/$name"
  expect_status "$code" "$name"
  expect "$regex" "$name"
  if (($(grep -c '' <<<"$said") > 16)); then show "$name: that is too many lines"; fi
  if [[ -n $(ls -A "$TMPDIR") ]]; then
    fail "$name: left in its temporary folder: $(ls -A "$TMPDIR")"
    rm -rf "${TMPDIR:?}"/*
  fi
}
# left_behind NAME: the process whose number stands in $temp/NAME.pid has been ended.
left_behind() {
  local pid
  pid=$(<"$temp/$1.pid")
  if kill -0 "$pid" 2>/dev/null; then
    fail "$1: process $pid still runs"
    kill -9 "$pid" || true
  fi
}

# The control: what spoils nothing is right.
fault spoils_nothing 0 ': right: 1 run' 'good'

# It does not end, or not by itself.
hangs='did not end within 3 s: an endless loop, a deadlock, or very slow'
waits='did not end within 3 s, and used almost no CPU time: it waits'
fault hangs 1 "$waits" 'sleep 1000'
fault hangs_after_its_work 1 "$waits" 'good; sleep 1000'
fault hangs_and_ignores_signals 1 "$waits" 'trap "" TERM INT HUP; while :; do sleep 1; done'
fault runs_in_circles 1 "$hangs" 'while :; do :; done'
fault prints_for_ever 1 "$hangs" 'yes'
fault stops_itself 1 "$waits" 'kill -STOP $$; good'
fault waits_for_input 0 ': right' 'cat >/dev/null; good'
fault segmentation_fault 1 'it crashed: SIGSEGV, a memory access that is not allowed' 'kill -SEGV $$'
fault bus_error 1 'it crashed: SIGBUS, a memory access that cannot be served' 'kill -BUS $$'
fault abort 1 'it crashed: SIGABRT, it called abort' 'kill -ABRT $$'
fault division_by_zero 1 'it crashed: SIGFPE, an integer division by zero' 'kill -FPE $$'
fault illegal_instruction 1 'it crashed: SIGILL, an instruction that this CPU does not have' 'kill -ILL $$'
fault killed 77 'cannot run here' 'kill -KILL $$'
fault terminated 1 'it crashed: signal 15, Terminated' 'kill -TERM $$'
fault crashes_after_its_work 1 'it crashed: SIGSEGV' 'good; kill -SEGV $$'

# What it leaves behind is ended.
fault leaves_a_process 0 ': right' "good; sleep 1000 & echo \$! >$temp/leaves_a_process.pid"
left_behind leaves_a_process
fault leaves_a_daemon 0 ': right' \
  "good; setsid sh -c 'echo \$\$ >$temp/leaves_a_daemon.pid; exec sleep 1000' & while [[ ! -s $temp/leaves_a_daemon.pid ]]; do sleep 0.1; done"
left_behind leaves_a_daemon
fault leaves_a_daemon_and_hangs 1 "$waits" \
  "setsid sh -c 'echo \$\$ >$temp/leaves_a_daemon_and_hangs.pid; exec sleep 1000' & sleep 1000"
left_behind leaves_a_daemon_and_hangs

# Its exit code, and what it says.
fault cuda_error 1 'it ended with exit code 3: an error of CUDA' 'echo "05_x: an error of CUDA" >&2; exit 3'
fault does_not_fit 1 'exit code 5: needs 9 GB' 'echo "05_x: needs 9 GB" >&2; exit 5'
fault cannot_write 77 'no space is left in ' 'echo "05_x: /x/field.f32: No space left on device" >&2; exit 4'
fault exit_code_of_nobody 1 'it ended with exit code 42, and said nothing' 'exit 42'
fault no_gpu 77 'no NVIDIA driver found' 'echo "05_x: no NVIDIA driver found: this program needs one" >&2; exit 77'
fault good_and_fails 1 'performed all 4 iterations, but still ended with exit code 1' 'good; exit 1'
fault prints_garbage 0 ': right' 'head -c 300000 /dev/urandom; good'
fault prints_garbage_and_fails 1 'it ended with exit code 9' 'head -c 300000 /dev/urandom; exit 9'
fault long_line 1 'it ended with exit code 9: x{100,}$' 'printf "%0400d\n" 0 | tr 0 x; exit 9'

# Its record.
no_use='its record cannot be used: '
fault says_success 1 'it ended with exit code 0 before Run wrote its record' 'echo Success!'
fault record_removed 1 'it ended with exit code 0 before Run wrote its record' 'good; rm -r "$record"'
fault record_is_a_file 1 'it ended with exit code 0 before Run wrote its record' 'good; rm -r "$record"; touch "$record"'
fault run_empty 1 "$no_use.*run.json: not the record of a run" 'good; : >"$record/run.json"'
fault run_garbage 1 "$no_use.*run.json: not the record of a run" 'good; head -c 999 /dev/urandom >"$record/run.json"'
fault run_huge 1 "$no_use.*run.json: not a record" 'good; truncate -s 1T "$record/run.json"'
fault run_a_folder 1 "$no_use.*run.json: not a record" 'good; rm "$record/run.json"; mkdir "$record/run.json"'
fault run_a_pipe 1 "$no_use.*run.json: not a record" 'good; rm "$record/run.json"; mkfifo "$record/run.json"'
fault run_endless 1 "$no_use.*run.json: not a record" 'good; ln -sf /dev/zero "$record/run.json"'
fault run_full 1 "$no_use.*run.json: not a record" 'good; ln -sf /dev/full "$record/run.json"'
fault run_of_another_n 1 "${no_use}the record says n = 21, but n = 20 was asked for" 'good --n 21'
fault too_many_iterations 1 "${no_use}it performed 5 iterations, but 4 were asked for" 'good --iterations 5'
fault too_few_iterations 1 'it stopped after 3 of 4 iterations' 'good --iterations 3'
fault residuals_missing 1 "$no_use.*residuals.csv: No such file" 'good; rm "$record/residuals.csv"'
fault residuals_empty 1 "$no_use.*residuals.csv: does not begin with" 'good; : >"$record/residuals.csv"'
fault residuals_headless 1 "$no_use.*residuals.csv: does not begin with" 'good; sed -i 1d "$record/residuals.csv"'
fault residuals_garbage 1 "$no_use.*residuals.csv" 'good; echo "5,banana" >>"$record/residuals.csv"'
fault residuals_backwards 1 "$no_use.*residuals.csv" 'good; { head -n 1 "$record/residuals.csv"; tail -n +2 "$record/residuals.csv" | tac; } >"$record/r"; mv "$record/r" "$record/residuals.csv"'
fault residuals_endless 1 "$no_use.*residuals.csv: not a record" 'good; ln -sf /dev/zero "$record/residuals.csv"'
fault residual_nan 1 'the residual is wrong from iteration 4 on: it is not a number' 'good; sed -i "s/^4,.*/4,nan/" "$record/residuals.csv"'
fault residual_negative 1 'the residual is wrong from iteration 2 on' 'good; sed -i "s/^2,/2,-/" "$record/residuals.csv"'
fault residual_infinite 1 'the residual is wrong from iteration 4 on' 'good; sed -i "s/^4,.*/4,inf/" "$record/residuals.csv"'
fault field_missing 1 'field.f32: No such file' 'good; rm "$record/field.f32"'
fault field_empty 1 'field.f32' 'good; : >"$record/field.f32"'
fault field_truncated 1 'field.f32' 'good; truncate -s -4 "$record/field.f32"'
fault field_oversized 1 'field.f32' 'good; truncate -s +4 "$record/field.f32"'
fault field_huge 1 'field.f32' 'good; truncate -s 1T "$record/field.f32"'
fault field_endless 1 'field.f32' 'good; ln -sf /dev/zero "$record/field.f32"'
fault field_a_pipe 1 'field.f32' 'good; rm "$record/field.f32"; mkfifo "$record/field.f32"'
fault field_of_nans 1 'not numbers' 'good; head -c 1600 /dev/zero | tr "\0" "\377" >"$record/field.f32"'
fault field_of_zeros 1 'the field is wrong' 'good; head -c 1600 /dev/zero >"$record/field.f32"'
fault fills_the_disk 77 'ulimit -f' 'ulimit -f 0; trap "" XFSZ; good'

# It cannot be started.
printf 'no program\n' >"$temp/text"
fault text 2 'Permission denied'
chmod +x "$temp/text"
fault text 2 'Exec format error'
mkdir "$temp/folder"
fault folder 2 'Permission denied'
fault nowhere 2 'No such file'

# And the validator's own surroundings.
run env TMPDIR="$temp/text" "$validate" --n 20 "$good"
expect_status 2 "TMPDIR that is no folder"
expect 'set TMPDIR to a folder that can be written' "TMPDIR that is no folder"
tried=$((tried + 1))

finish "$tried faults"
