# shellcheck shell=bash
# What differs from site to site: edit this one file. The jobs next to it and submit.sh source it.
#
# scripts/slurm/submit.sh run                 builds, validates and times every solution
# scripts/slurm/submit.sh check STEP=04       is the exercise right?
# scripts/slurm/submit.sh trace STEP=04       the lab's own tracer: ranges, kernels, page moves
# scripts/slurm/submit.sh nsys STEP=04        Nsight Systems
# scripts/slurm/submit.sh ncu STEP=06 BASELINE=previous
# scripts/slurm/submit.sh ranks STEP=14 NODES=2 GPUS=4 ARGS="--n 65536"
#                                             a step for several GPUs, one task per GPU (default: 4 GPUs of one node)
#
# They take the variables of the verbs of make (plain `make` lists them), and put what is said into
# build/jobs/VERB-JOBID.txt. `submit.sh --dry-run ncu STEP=06` shows the command only; `--wait` waits for the job's
# end, prints what it said and has its exit code. `STEP=04 sbatch --gpus=1 scripts/slurm/verb.sbatch check`, from the
# lab's folder, also works; then the queue is set by sbatch's own variables (SBATCH_PARTITION, SBATCH_ACCOUNT).
#
# A value in the environment wins over the one in this file: LAB_SLURM_PARTITION=debug scripts/slurm/submit.sh run

# The queue. Empty: the site's default.
: "${LAB_SLURM_PARTITION:=}"
: "${LAB_SLURM_ACCOUNT:=}"
: "${LAB_SLURM_RESERVATION:=}"
# How a GPU is asked for: --gpus=1, or at some sites --gres=gpu:1
: "${LAB_SLURM_GPU:=--gpus=1}"
: "${LAB_SLURM_CPUS:=4}"
: "${LAB_SLURM_TIME:=00:10:00}"
# How the GPUs of each node are asked for by a job on several, {gpus} in it how many; and how such a job starts its
# program: every task sees all GPUs of its node and takes its own, and one that dies ends them all.
: "${LAB_SLURM_GPUS:=--gpus-per-node={gpus\}}"
: "${LAB_SLURM_MPIRUN:=srun --mpi=pmix --kill-on-bad-exit=1 --gpu-bind=none -n {ranks\}}"
# Further options of sbatch, separated by blanks, such as: --constraint=h100 --qos=workshop
: "${LAB_SLURM_OPTIONS:=}"
# More for ncu's jobs, if a site has a switch for hardware counters, such as: --constraint=perf
: "${LAB_SLURM_PROFILER_OPTIONS:=}"

# The GPU's architecture: 75 for a T4, 80 for an A100, 90 for an H100 or H200. Empty: that of the node's GPU.
: "${CUDAARCHS:=}"

# load_modules: what the site has to load before the lab can be built and profiled. It runs in every job.
load_modules() {
  : # module load gcc cmake cuda
}

# before_profiler, after_profiler: run around a profiler's job, with nsys or ncu as their argument. Monitoring that
# holds the hardware counters has to let go for ncu, and must get them back: after_profiler runs however the job
# ends (but after kill -9), and only if before_profiler has begun. At many sites everyone may pause DCGM, at
# others only an administrator's prolog: then leave LAB_PAUSE_DCGM at 0. (nsys reads no counters here.)
: "${LAB_PAUSE_DCGM:=0}"
before_profiler() {
  if [[ $1 == ncu && $LAB_PAUSE_DCGM == 1 ]]; then dcgmi profile --pause; fi
}
after_profiler() {
  if [[ $1 == ncu && $LAB_PAUSE_DCGM == 1 ]]; then dcgmi profile --resume; fi
}
