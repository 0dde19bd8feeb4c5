#!/usr/bin/env bash
# Counts what each line of a step's kernels does to memory, without a GPU and without its hardware
# counters. `make count STEP=NN` calls it.
#
#   STEP=NN                    the step, from 04 on
#   CLINIC=NAME                or the kernel of the clinic
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N                        points per side (default 256)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/lib.sh"

read_step_or_kernel
read_which
n=${N:-256}
check_n "$n"
need_source
need_python
[[ $source_file == *.cu ]] || die $exit_bad_usage "$step has no kernels: they come with step 04"

configure >/dev/null
target=${which}_${step_target}_cpu_watched
build_targets "$target" || die 1 "$source_file does not compile; the compiler's messages are above"
counts=$build_dir/counts_${which}_$step_target.tsv
rm -f "$counts"
# One sweep; if a step performs several per pass, one pass.
levels=$(sed -n 's/^constexpr int kLevels = \([0-9]*\);.*/\1/p' "$lab_root/$source_file")
LAB_CPU_COUNTS=$counts "$build_dir/bin/$target" --n "$n" --iterations "${levels:-1}" --quiet

say "$source_file: accesses to memory, n = $n"
say ""
labtool profilers.run_tables counts "$counts" --n "$n" "$lab_root/$source_file"
