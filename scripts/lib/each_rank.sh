#!/usr/bin/env bash
# Runs a command as one rank of a job. {rank} in its words becomes the rank's number, so each rank has its own file.
#
#   build/bin/ranks 2 scripts/lib/each_rank.sh [NAME=VALUE...] COMMAND...
#
# It is what nsys calls %q{OMPI_COMM_WORLD_RANK}, for Open MPI, MPICH and srun alike.
set -euo pipefail
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}}
words=("${@//'{rank}'/$rank}")
exec env -- "${words[@]}"
