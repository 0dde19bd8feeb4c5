#!/usr/bin/env bash
# The counters of CUDA on the CPU are what ncu counted on a GPU (results/h100/counters.tsv), within 5 %.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
need_build
[[ -d $source_dir/solutions ]] || skip "a handout has no published numbers"
while IFS= read -r step; do
  program=$build_dir/bin/solution_${step}_cpu_watched
  [[ -x $program ]] || skip "$program has not been built"
done < <(awk -F '\t' '/^[0-9]/ { print $1 }' "$source_dir/results/h100/counters.tsv" | sort -u)
make_temp

export LAB_BUILD_DIR=$build_dir
cat >"$temp/check.py" <<'END'
"""check.py PUBLISH TABLE: whether the CPU counts what ncu counted, within 5 %."""
import functools
import pathlib
import sys
sys.path.insert(0, sys.argv[1])
import counters
from labtools.table import Table

table, wrong = Table(pathlib.Path(sys.argv[2])), 0
count = functools.cache(lambda step, n: counters.count_on_cpu(step, counters.SOURCES[step], n, table.fact("multiprocessors", "4")))
compared = [row for row in table.rows if (row["step"][:2], row["quantity"]) not in counters.BY_NVCC]
for row in compared:
    now = count(row["step"], int(row["n"])).get(row["kernel"], {}).get(row["quantity"], 0)
    if abs(counters.difference(now, int(row["ncu"]))) > 0.05:
        print(f"{row['step']} {row['kernel']} n = {row['n']}: {row['quantity']}: {now} on the CPU, {row['ncu']} by ncu")
        wrong += 1
if missing := sorted(set(counters.SOURCES) - {row["step"] for row in table.rows}):
    print(f"not counted by ncu yet: {', '.join(missing)}")
print(f"{len(compared) - wrong} counts agree with ncu's")
sys.exit(wrong or not compared)
END
check() { run python3 "$temp/check.py" "$source_dir/scripts/publish" "$1"; }
check "$source_dir/results/h100/counters.tsv"
expect_status 0 "counted on the CPU and by ncu"
expect ' counts agree with ncu' "counted on the CPU and by ncu"
expect_no '^not counted by ncu yet: .*0[4-9]_' "counted on the CPU and by ncu"

# The loads per point that guide 13 has before its first stage, and after its last.
guide=$source_dir/exercises/13_temporal_blocking/README.md
while read -r step iterations row; do
  rm -f "$temp/counts.tsv"
  LAB_CPU_COUNTS=$temp/counts.tsv "$build_dir/bin/solution_${step}_cpu_watched" --n 960 --iterations "$iterations" --quiet
  loads=$(PYTHONPATH=$source_dir/scripts python3 -m labtools.profilers.run_tables counts "$temp/counts.tsv" --n 960 |
    awk '$1 == "loads:" { loads = $2 } END { printf "%.3f", loads }')
  grep -qF "| $row | $loads |" "$guide" || fail "guide 13, n = 960: after $row there are $loads loads per point"
done <<<$'12_register_march 1 step 12\n13_temporal_blocking 16 7'

# A table that says otherwise is noticed.
mkdir "$temp/results"
sed $'s/^\\(06_coalesced\tcopy_field_kernel\t250\tload sectors\t\\)[0-9]*\t[0-9]*/\\11\t99999/' \
  "$source_dir/results/h100/counters.tsv" | grep -E '^#|^step|^06' >"$temp/results/counters.tsv"
check "$temp/results/counters.tsv"
expect_status 1 "a table that says otherwise"
expect '^06_coalesced copy_field_kernel n = 250: load sectors: [0-9]+ on the CPU, 99999 by ncu' "a table that says otherwise"
expect '^not counted by ncu yet: 04_jacobi_kernel, ' "a table that leaves a step out"

# With a stand-in for ncu: a kernel that a variable names is found, and ncu's sectors of a kernel that copies to shared memory asynchronously are not compared.
step=$(awk '/^11_/ { print $1 }' "$source_dir/lab/steps.tsv")
if [[ -x $build_dir/bin/solution_${step}_cpu_watched ]]; then
  mkdir "$temp/tools"
  cat >"$temp/tools/nvidia-smi" <<'END'
#!/bin/sh
case $* in
  --query*) echo "NVIDIA H200, 580.159.04" ;;
  *) echo "| Driver Version: 580.159.04   CUDA Version: 13.0 |" ;;
esac
END
  cat >"$temp/tools/ncu" <<'END'
#!/usr/bin/env python3
import os, sys
if "--version" in sys.argv:
    print("Version 2025.3.1.0 (build 1)")
    sys.exit(0)
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
def line(*fields):
    print(",".join(f'"{field}"' for field in fields))
line("ID", "Kernel Name", *metrics)
line("", "", *["" for _ in metrics])
line("0", os.environ["KERNEL_NAME"], *[os.environ["COPIES"] if "ldgsts" in metric else "7" for metric in metrics])
END
  chmod +x "$temp/tools/"*
  cat >"$temp/one.py" <<'END'
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import counters
from labtools.process import fail
counters.SOURCES = {step: source for step, source in counters.SOURCES.items() if step[:2] == "11"}
counters.SIZES = (40,)
folder, sys.argv[0] = pathlib.Path(sys.argv[2]), "counters.py"
try:
    counters.write(folder)
except counters.NotPossible as error:
    fail(error)
END
  touch "$temp/solution_$step"
  mkdir "$temp/bin"
  ln -s "$temp/solution_$step" "$build_dir/bin/solution_${step}_cpu_watched" "$temp/bin"
  count() { PATH=$temp/tools:$PATH LAB_BUILD_DIR=$temp run python3 "$temp/one.py" "$source_dir/scripts/publish" "$temp/results"; }
  export KERNEL_NAME='void jacobi_sweep_kernel<(bool)1>(float *)' COPIES=0
  count
  expect_status 0 "a stand-in for ncu"
  grep -q "^$step"$'\tjacobi_sweep_kernel\t40\tload sectors\t[1-9][0-9]*\t7\t' "$temp/results/counters.tsv" ||
    fail "the kernel that a variable names is not found:" "$(grep "^$step" "$temp/results/counters.tsv")"
  COPIES=5 count
  expect_status 0 "asynchronous copies"
  if grep -q "^$step.*load sectors" "$temp/results/counters.tsv"; then fail "sectors of asynchronous copies are compared"; fi
  KERNEL_NAME='other_pass_kernel(float *)' count
  expect_status 1 "another kernel on the GPU"
  expect "^counters.py: $step: kernels on the CPU .*jacobi_sweep_kernel.*, on the GPU .*other_pass_kernel" \
    "another kernel on the GPU"
fi

finish "the counts of the CPU are those of the GPU"
