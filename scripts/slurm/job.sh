#!/usr/bin/env bash
# What a job does, on the compute node: the site's modules, then `make VERB`, between before_profiler and
# after_profiler if the verb is a profiler's. verb.sbatch calls it; VERB is run, check,
# trace, nsys or ncu, and its variables (STEP, WHICH, N ...) are in the environment. Or VERB is ranks: `make run
# STEP=NN` of a step for several GPUs, one rank per task of the job.
set -euo pipefail

verb=${1-}
root=${LAB_ROOT:-${SLURM_SUBMIT_DIR:-$PWD}}
# Slurm runs a copy of the job's file, from a folder of its own: where the lab is, the submission says.
if [[ ! -f $root/scripts/slurm/site.sh ]]; then
  printf '%s\n' "job.sh: $root is not the lab's folder: submit from there, or with scripts/slurm/submit.sh" >&2
  exit 2
fi
cd "$root"
source scripts/slurm/site.sh
if [[ -n $CUDAARCHS ]]; then export CUDAARCHS; else unset CUDAARCHS; fi
# Since Slurm 22.05 srun does not take over how many cores a task has, and would build on one.
if [[ -n ${SLURM_CPUS_PER_TASK:-} ]]; then export SRUN_CPUS_PER_TASK=${SRUN_CPUS_PER_TASK:-$SLURM_CPUS_PER_TASK}; fi

child="" paused=0
# However this ends: what was started is ended, and what was paused is resumed. A time limit's TERM comes first,
# and Slurm waits some seconds before it kills.
# shellcheck disable=SC2317  # a trap calls it
clean_up() {
  local status=$?
  trap - EXIT
  trap '' TERM INT HUP # a second signal must not get between
  if [[ -n $child ]]; then
    kill -TERM "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  if ((paused)); then
    after_profiler "$verb" ||
      printf '%s\n' "job.sh: after_profiler failed: tell your site that its monitoring is paused" >&2
  fi
  exit "$status"
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP

case $verb in
  run | check | trace | nsys | ncu | ranks) ;;
  *)
    printf '%s\n' "job.sh: '$verb': must be run, check, trace, nsys, ncu or ranks" >&2
    exit 2
    ;;
esac
make=$verb
if [[ $verb == ranks ]]; then
  # Here make runs once, on the first node, and it is the program that srun starts, on all of them.
  make=run
  export RANKS=${RANKS:-${SLURM_NTASKS:-1}} LAB_MPIRUN=${LAB_MPIRUN:-$LAB_SLURM_MPIRUN}
fi
printf '%s\n' "make $make on $(hostname), job ${SLURM_JOB_ID:-none}, $(date '+%F %T')"
load_modules
if [[ $verb == ncu || $verb == nsys ]]; then
  # Set before: a pause that was interrupted half-way is also resumed.
  paused=1
  before_profiler "$verb" || {
    printf '%s\n' "job.sh: before_profiler failed; see scripts/slurm/site.sh" >&2
    exit 1
  }
fi
# Through srun if there is one: then Slurm sees the job's step, and its GPU is bound.
command=(make --no-print-directory "$make")
if [[ $verb != ranks && -n ${SLURM_JOB_ID:-} ]] && command -v srun >/dev/null; then command=(srun --ntasks=1 "${command[@]}"); fi
"${command[@]}" &
child=$!
status=0
wait "$child" || status=$?
child=""
exit "$status"
