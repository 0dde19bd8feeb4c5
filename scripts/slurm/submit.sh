#!/usr/bin/env bash
# Submits a job with the settings of site.sh, which says more.
#
#   submit.sh [--dry-run] [--wait] run|check|trace|nsys|ncu|ranks [NAME=VALUE ...]
#
# NAME=VALUE are the variables of the verb, as for make: STEP=04 WHICH=solution. For ranks also: NODES=2, and GPUS=4 on
# each of them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/site.sh"

dry=0 wait=0
while [[ ${1-} == -* ]]; do
  case $1 in
    --dry-run) dry=1 ;;
    --wait) wait=1 ;;
    *) die $exit_bad_usage "$1: no such option; there are --dry-run and --wait" ;;
  esac
  shift
done
verb=${1-}
[[ -n $verb ]] || die $exit_bad_usage "which job? run, check, trace, nsys, ncu or ranks"
[[ $verb =~ ^(run|check|trace|nsys|ncu|ranks)$ ]] ||
  die $exit_bad_usage "$verb: no such job; there are run, check, trace, nsys, ncu and ranks"
for setting in "${@:2}"; do
  [[ $setting =~ ^[A-Z_]+= ]] || die $exit_bad_usage "$setting: must be like STEP=04"
  # A list in sbatch's --export is separated by commas; so values go through the environment.
  export "${setting?}"
done
if [[ $verb != run && -z ${CLINIC:-} ]]; then step_line "${STEP-}" >/dev/null; fi
if [[ $verb == ranks ]]; then
  read_step "$STEP"
  ((step_ranks)) || die $exit_bad_usage "STEP=$STEP: $step is a program of one process"
  [[ "${NODES:-1} ${GPUS:-1}" =~ ^[1-9][0-9]{0,4}\ [1-9][0-9]?$ ]] ||
    die $exit_bad_usage "NODES=${NODES:-} GPUS=${GPUS:-}: must be whole numbers from 1 up, and at most 99 GPUs a node"
fi
command -v sbatch >/dev/null || ((dry)) || die $exit_no_gpu "sbatch was not found: is this a node of a Slurm cluster?"

jobs_dir=$build_dir/jobs
read -r -a gpu <<<"$LAB_SLURM_GPU"
read -r -a further <<<"$LAB_SLURM_OPTIONS"
read -r -a of_profiler <<<"$LAB_SLURM_PROFILER_OPTIONS"
if [[ $verb == ranks ]]; then
  read -r -a gpu <<<"--nodes=${NODES:-1} --ntasks=$((${NODES:-1} * ${GPUS:-4})) --ntasks-per-node=${GPUS:-4} \
${LAB_SLURM_GPUS//'{gpus}'/${GPUS:-4}}"
fi
time=$LAB_SLURM_TIME
if [[ $verb == run && $time == 00:10:00 ]]; then time=00:30:00; fi
command=(sbatch --parsable --export=ALL --chdir="$lab_root" --output="$jobs_dir/$verb-%j.txt"
  --cpus-per-task="$LAB_SLURM_CPUS" --time="$time" "${gpu[@]}")
for option in partition account reservation; do
  setting=LAB_SLURM_${option^^}
  if [[ -n ${!setting} ]]; then command+=("--$option=${!setting}"); fi
done
command+=("${further[@]}")
if [[ $verb == ncu ]]; then command+=("${of_profiler[@]}"); fi
if ((wait)); then command+=(--wait); fi
command+=(--job-name="jacobi-$verb" "$lab_root/scripts/slurm/verb.sbatch" "$verb")
if ((dry)); then
  printf '%q ' "${command[@]}"
  printf '\n'
  exit 0
fi
mkdir -p "$jobs_dir" 2>/dev/null || die 1 "$jobs_dir: cannot be created"
export LAB_ROOT=$lab_root
status=0
# "12345", or "12345;cluster".
answer=$("${command[@]}") || status=$?
job=${answer%%[;$'\n']*}
[[ $job =~ ^[0-9]+$ ]] || die 1 "sbatch did not take the job (exit code $status); its messages are above"
output=$jobs_dir/$verb-$job.txt
if ((wait)); then
  if [[ -f $output ]]; then cat "$output"; fi
  exit "$status"
fi
say "job $job: what it says goes to ${output#"$lab_root"/}; squeue --job=$job shows how it stands"
