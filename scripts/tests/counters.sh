#!/usr/bin/env bash
# The counters of CUDA on the CPU are what ncu counted on a GPU (results/h200/counters.tsv), within 5 %.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
need_build
[[ -d $source_dir/solutions ]] || skip "a handout has no published numbers"
for program in "$build_dir"/bin/solution_0{4..9}_*_cpu_watched; do
  [[ -x $program ]] || skip "$program has not been built"
done
make_temp

run "$source_dir/scripts/counters.py" --build "$build_dir" --check "$source_dir/results/h200"
expect_status 0 "counted on the CPU and by ncu"
expect ' counts agree with ncu' "counted on the CPU and by ncu"
expect_no '^not counted by ncu yet: .*0[4-9]_' "counted on the CPU and by ncu"

# A table that says otherwise is noticed.
mkdir "$temp/results"
sed $'s/^\\(06_coalesced\tcopy_field_kernel\t250\tload sectors\t\\)[0-9]*\t[0-9]*/\\11\t99999/' \
  "$source_dir/results/h200/counters.tsv" | grep -E '^#|^step|^06' >"$temp/results/counters.tsv"
run "$source_dir/scripts/counters.py" --build "$build_dir" --check "$temp/results"
expect_status 1 "a table that says otherwise"
expect '^06_coalesced copy_field_kernel n = 250: load sectors: [0-9]+ on the CPU, 99999 by ncu' "a table that says otherwise"
expect '^not counted by ncu yet: 04_jacobi_kernel, ' "a table that leaves a step out"

finish "the counts of the CPU are those of the GPU"
