#!/usr/bin/env bash
# The jobs of scripts/slurm, with an sbatch and an srun that only pretend: settings and variables arrive, exit
# codes come back, and what was paused for a profiler is resumed, however the job ends.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/stubs.sh"
need python3 timeout
make_temp
make_stubs
stub hostname <<<'echo node1'
while IFS= read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(SLURM|SRUN|SBATCH|LAB_SLURM|LAB_ROOT|LAB_PAUSE)' || true)
unset CUDAARCHS
slurm=$source_dir/scripts/slurm

# What Slurm is told to run it runs at once, from a copy of the job's file, as Slurm does.
stub sbatch <<END
printf '%s\n' "\$@" >"$temp/asked"
[[ ! -f "$temp/refuse" ]] || { echo "sbatch: error: invalid partition specified" >&2; exit 1; }
from=\$PWD
while [[ \$1 != *.sbatch ]]; do
  case \$1 in
    --output=*) output=\${1#*=} ;;
    --chdir=*) cd "\${1#*=}" ;;
    --wait) wait=1 ;;
  esac
  shift
done
cp "\$1" "$temp/slurm_script"
shift
status=0
SLURM_JOB_ID=4711 SLURM_SUBMIT_DIR=\$from bash "$temp/slurm_script" "\$@" >"\${output//%j/4711}" 2>&1 || status=\$?
echo 4711
[[ -z \${wait:-} ]] || exit \$status
END
stub srun <<'END'
shift # --ntasks=1
exec "$@"
END
stub make <<END
shift # --no-print-directory
echo "make \$* STEP=\${STEP-} WHICH=\${WHICH-} N=\${N-} CUDAARCHS=\${CUDAARCHS-none}"
[[ -z \${SRUN_CPUS_PER_TASK:-} ]] || echo "srun gives a task \$SRUN_CPUS_PER_TASK cores"
[[ -z \${RANKS:-} ]] || echo "RANKS=\$RANKS ARGS=\$ARGS by \$LAB_MPIRUN"
if [[ -n \${STUB_SLEEP:-} ]]; then echo \$\$ >"$temp/make_pid"; exec sleep "\$STUB_SLEEP"; fi
exit "\${STUB_STATUS:-0}"
END
stub dcgmi <<END
echo "\$*" >>"$temp/dcgmi"
[[ "\$*" != *--pause || -z \${STUB_NO_PAUSE:-} ]]
END

# asked WORD...: sbatch was given each of these.
asked() {
  local word
  for word; do grep -qxF -- "$word" "$temp/asked" || fail "sbatch was not given $word:" "$(<"$temp/asked")"; done
}
# dcgm WHAT LINE...: what dcgmi was asked, in this order.
dcgm() {
  local what=$1
  shift
  [[ $(cat "$temp/dcgmi" 2>/dev/null || true) == "$(printf '%s\n' "$@")" ]] ||
    fail "$what: dcgmi should have been asked: $*" "$(cat "$temp/dcgmi" 2>/dev/null || echo nothing)"
  rm -f "$temp/dcgmi"
}

cd / # submitted from anywhere
run "$slurm/submit.sh" check STEP=04 WHICH=solution N=100,250
expect_status 0 "check"
expect '^job 4711: .*/jobs/check-4711\.txt; squeue --job=4711 ' check
asked --parsable --gpus=1 --time=00:10:00 "--chdir=$source_dir"
grep -qx 'make check STEP=04 WHICH=solution N=100,250 CUDAARCHS=none' "$temp/build/jobs/check-4711.txt" ||
  fail "the variables do not arrive:" "$(<"$temp/build/jobs/check-4711.txt")"

export LAB_SLURM_PARTITION=gpu LAB_SLURM_ACCOUNT=course LAB_SLURM_RESERVATION=room LAB_SLURM_GPU=--gres=gpu:1
export LAB_SLURM_OPTIONS='--qos=short --constraint=h100' LAB_SLURM_PROFILER_OPTIONS=--constraint=perf CUDAARCHS=90
run "$slurm/submit.sh" --wait run
expect_status 0 "run"
expect '^make run .* CUDAARCHS=90$' "run"
asked --partition=gpu --account=course --reservation=room --gres=gpu:1 --qos=short --constraint=h100 --time=00:30:00 --wait
if grep -qx -- --constraint=perf "$temp/asked"; then fail "run has the options of a profiler's job"; fi
STUB_STATUS=2 run "$slurm/submit.sh" --wait ncu STEP=05
expect_status 2 "the verb's exit code"
asked --constraint=perf
dcgm "DCGM is left alone where the site does not say otherwise"

# A step for several GPUs: a task for each, on one node and on several, and srun starts the program, not make.
unset "${!LAB_SLURM_@}" CUDAARCHS
SLURM_NTASKS=8 run "$slurm/submit.sh" --wait ranks STEP=14 NODES=2 GPUS=4 ARGS="--n 65536"
expect_status 0 "ranks"
asked --nodes=2 --ntasks=8 --ntasks-per-node=4 --gpus-per-node=4
expect '^make run STEP=14 ' "ranks"
expect '^RANKS=8 ARGS=--n 65536 by srun --mpi=pmix --kill-on-bad-exit=1 --gpu-bind=none -n \{ranks\}$' "ranks"
LAB_SLURM_GPUS='--gres=gpu:{gpus}' run "$slurm/submit.sh" --dry-run ranks STEP=14
expect '^sbatch .* --nodes=1 --ntasks=4 --ntasks-per-node=4 --gres=gpu:4 .*/verb\.sbatch ranks $' "ranks on one node"

# What is paused is resumed: after success, after failure, after a signal, and where pausing itself fails.
export LAB_PAUSE_DCGM=1
both=("profile --pause" "profile --resume")
run "$slurm/submit.sh" --wait ncu STEP=06
expect_status 0 "ncu"
dcgm "after success" "${both[@]}"
STUB_STATUS=1 run "$slurm/submit.sh" --wait ncu STEP=06
expect_status 1 "ncu that fails"
dcgm "after failure" "${both[@]}"
STUB_NO_PAUSE=1 run "$slurm/submit.sh" --wait ncu STEP=06
expect_status 1 "a pause that fails"
expect 'before_profiler failed' "a pause that fails"
dcgm "after a pause that failed" "${both[@]}"
for verb in check trace nsys; do
  run "$slurm/submit.sh" --wait $verb STEP=06
  expect_status 0 "$verb"
  dcgm "a job without counters"
done
# What Slurm gave the job, srun gives its build.
SLURM_CPUS_PER_TASK=4 run "$slurm/submit.sh" --wait check STEP=06
expect '^srun gives a task 4 cores$' "the cores of a task"
for signal in TERM INT HUP; do
  # In the background bash has SIGINT ignored, and a script cannot take that back: Python does.
  LAB_ROOT=$source_dir STUB_SLEEP=60 STEP=06 python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$slurm/verb.sbatch" ncu >"$temp/out" 2>&1 &
  job=$!
  for ((k = 0; k < 100; ++k)); do
    [[ ! -s $temp/make_pid ]] || break
    sleep 0.1
  done
  kill -"$signal" "$job"
  status=0 began=$SECONDS
  wait "$job" || status=$?
  ((SECONDS - began < $(patience 30))) || fail "$signal: the job waits for what it started, and does not end it"
  ((status == 128 + $(kill -l "$signal"))) || fail "$signal: the job's exit code is $status"
  dcgm "after $signal" "${both[@]}"
  if kill -0 "$(<"$temp/make_pid")" 2>/dev/null; then fail "$signal: what the job started still runs"; fi
  rm "$temp/make_pid"
done

# Bad input.
unset LAB_PAUSE_DCGM
bad() {
  run "$slurm/submit.sh" "${@:2}"
  one_line 2 "$1" "submit.sh ${*:2}"
}
bad '^submit.sh: which job\?'
bad '^submit.sh: dance: no such job' dance
bad '^submit.sh: --nope: no such option' --nope
bad '^submit.sh: which step\?' check
bad '^submit.sh: STEP=42: there is no such step' ncu STEP=42
bad '^submit.sh: 04: must be like STEP=04' ncu 04
bad '^submit.sh: STEP=13: .* is a program of one process' ranks STEP=13
for numbers in "NODES=two GPUS=" "NODES= GPUS=0" "NODES=10 GPUS=08" "NODES=0 GPUS=4"; do
  # shellcheck disable=SC2086  # two settings
  bad "^submit.sh: $numbers: must be whole numbers" ranks STEP=14 $numbers
done
touch "$temp/refuse"
run "$slurm/submit.sh" check STEP=04
expect_status 1 "sbatch refuses"
expect 'sbatch did not take the job \(exit code 1\)' "sbatch refuses"
rm "$temp/asked"
run "$slurm/submit.sh" --dry-run ncu STEP=06
expect_status 0 "--dry-run"
expect '^sbatch .*/scripts/slurm/verb\.sbatch ncu $' "--dry-run"
[[ ! -f $temp/asked ]] || fail "--dry-run submits"
rm "$temp/stubs/sbatch"
run "$slurm/submit.sh" check STEP=04
expect_status 77 "no Slurm"
expect '^submit.sh: sbatch was not found' "no Slurm"
cd "$temp"
run "$slurm/verb.sbatch" check
expect_status 2 "a job from elsewhere"
expect 'is not the lab.s folder' "a job from elsewhere"
finish "the jobs for Slurm"
