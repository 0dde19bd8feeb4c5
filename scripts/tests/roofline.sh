#!/usr/bin/env bash
# scripts/labtools/roofline.py reads what ncu and the tracer print, with stand-ins for both and for a GPU: what can be
# counted is counted, what cannot is counted by hand and called so, and nothing stops the other steps.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/stubs.sh"
need python3
[[ -d $source_dir/solutions ]] || skip "a handout has no solutions to count"
make_temp
unset LAB_NCU
mkdir -p "$temp/tools" "$temp/build/bin" "$temp/build/lib"

cat >"$temp/tools/nvidia-smi" <<'END'
#!/bin/sh
case $* in
  --query*) echo "Test GPU 9000, 580.1" ;;
  *) echo "| NVIDIA-SMI 580.1   Driver Version: 580.1   CUDA Version: 13.0 |" ;;
esac
END
# An ncu on a GPU that has no DRAM to count. It prints numbers
# with commas and another program's words around them. One kernel of a template, and one that only sets up.
cat >"$temp/tools/ncu" <<'END'
#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
if "--version" in words:
    print("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2099.1.0.0 (build 1)")
    sys.exit(0)
if "CALLS" in os.environ:
    open(os.environ["CALLS"], "a").write(" ".join(words) + "\n")
if "FORBIDDEN" in os.environ:
    sys.exit("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters")
metrics = words[words.index("--metrics") + 1].split(",")
if any(metric.startswith("dram") for metric in metrics):
    sys.exit("==ERROR== Failed to find metric dram__bytes.sum\n==ERROR== Failed to find metric dram__bytes_read.sum\n"
             "==ERROR== Failed to find metric dram__bytes_write.sum")
if "solution_06" in words[-6]:
    sys.exit("==ERROR== The application crashed")
values = {"sm__cycles_elapsed.avg": ("cycle", "2,000"), "sm__cycles_elapsed.avg.per_second": ("hz", "1,000,000,000"),
          "gpu__time_duration.sum": ("ns", "2,100"), "lts__t_bytes.sum": ("byte", "3,000,500"),
          "l1tex__t_bytes.sum": ("byte", "7,000,000"),
          "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": ("inst", "4,000"),
          "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": ("inst", "1,000"),
          "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": ("inst", "500"),
          "smsp__inst_executed.sum": ("inst", "2,097,152"), "smsp__warps_eligible.avg.per_cycle_active": ("warp", "1.5"),
          "smsp__issue_active.avg.per_cycle_active": ("", "0.0625"), "l1tex__t_sector_hit_rate.pct": ("%", "59.5"),
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("sector", "1,280"),
          "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": ("request", "40")}
extra = {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": ("inst", "1.5"),
         "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": ("inst", "12.25"),
         "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": ("inst", "99")}
columns = ["ID", "Kernel Name", "Block Size", "Grid Size", *metrics, *extra]
def line(fields):
    print(",".join(f'"{field}"' for field in fields))
print("==PROF== Connected to process 1")
line(columns)
line(["", "", "", ""] + [values.get(m, ("", ""))[0] for m in metrics] + [unit for unit, _ in extra.values()])
for k, kernel in enumerate(("initialize_field_kernel(float *, Start, int)", "void sweep_kernel<(bool)1>(float *, float (*)(int))",
                            "copy_field_kernel(float *)")):
    line([k, kernel, "(32, 4, 1)", "(64, 64, 1)"] + [values.get(m, ("", "0"))[1] for m in metrics] +
         [value for _, value in extra.values()])
print("==PROF== Disconnected")
END
cat >"$temp/program" <<'END'
#!/bin/sh
[ -n "$LAB_TRACE_TSV" ] || exit 0
[ -z "$DOES_NOT_RUN" ] || { echo "no luck" >&2; exit 3; }
printf 'table\tname\tcount\tmedian_ns\tgrid\tblock\tregisters\tstatic_shared\tdynamic_shared\n' >"$LAB_TRACE_TSV"
printf 'kernels\tvoid sweep_kernel<true>(float*)\t25\t2500\t64x64x1\t32x4x1\t40\t1024\t0\n' >>"$LAB_TRACE_TSV"
printf 'kernels\tcopy_field_kernel(float*)\t100\t1000\t64x64x1\t32x32x1\t16\t0\t0\n' >>"$LAB_TRACE_TSV"
printf 'kernels\tinitialize_field_kernel(float*)\t2\t1000\t64x64x1\t32x32x1\t16\t0\t0\n' >>"$LAB_TRACE_TSV"
END
chmod +x "$temp/tools/"* "$temp/program"
touch "$temp/build/lib/liblab_trace.so"
step_05=$(awk '/^05_/ { print $1 }' "$source_dir/lab/steps.tsv")
step_06=$(awk '/^06_/ { print $1 }' "$source_dir/lab/steps.tsv")
for step in "$step_05" "$step_06"; do cp "$temp/program" "$temp/build/bin/solution_$step"; done

roofline() { LAB_BUILD_DIR=$temp/build PATH=$temp/tools:$PATH labtool roofline --write "$temp/results" "$@"; }

# cell FILE STEP KERNEL COLUMN VALUE
cell() {
  local found
  found=$(awk -F '\t' -v step="$2" -v kernel="$3" -v column="$4" '
    /^#/ { next }
    !at["step"] { for (k = 1; k <= NF; ++k) at[$k] = k; next }
    $1 == step && $2 == kernel { print $(at[column]) }' "$temp/results/$1")
  [[ $found == "$5" ]] || fail "$1: the $4 of $2's $3 should be $5, and is '$found':" "$(<"$temp/results/$1")"
}

roofline --steps 05,06
expect_status 0 "counted"
expect "^roofline.py: $step_06: .*crashed" "a step that cannot be counted"
expect '^4 kernels, 2 of them counted by ncu' "counted"
cell kernels.tsv "$step_05" "sweep_kernel<1>" counted_by ncu
cell kernels.tsv "$step_05" "sweep_kernel<1>" time_ns 2000
cell kernels.tsv "$step_05" "sweep_kernel<1>" flops_float 5000
cell kernels.tsv "$step_05" "sweep_kernel<1>" flops_double 1000
cell kernels.tsv "$step_05" "sweep_kernel<1>" dram_bytes -
cell kernels.tsv "$step_05" "sweep_kernel<1>" l2_bytes 3000500
cell kernels.tsv "$step_05" "sweep_kernel<1>" l1_bytes 7000000
cell kernels.tsv "$step_05" "sweep_kernel<1>" traced_ns 2500
cell kernels.tsv "$step_05" "sweep_kernel<1>" sweeps 4 # 100 iterations, 25 launches
cell kernels.tsv "$step_05" copy_field_kernel sweeps 0
cell kernels.tsv "$step_05" initialize_field_kernel n ""
cell kernels.tsv "$step_06" "sweep_kernel<1>" counted_by hand
cell kernels.tsv "$step_06" "sweep_kernel<1>" time_ns 2500
cell kernels.tsv "$step_06" "sweep_kernel<1>" flops_float $((4 * 4 * 2048 * 2048))
cell kernels.tsv "$step_06" copy_field_kernel dram_bytes $((8 * 2048 * 2048))
cell kernels.tsv "$step_06" copy_field_kernel flops_float 0
cell kernels.tsv "$step_05" "sweep_kernel<1>" load_sectors_per_request 32
cell kernels.tsv "$step_05" "sweep_kernel<1>" stalls "long_scoreboard 12.25, barrier 1.50"
cell kernels.tsv "$step_05" "sweep_kernel<1>" no_eligible_percent 93.75
cell kernels.tsv "$step_05" "sweep_kernel<1>" l1_hit_percent 59.5
# 4 sweeps of 2048 x 2048 points, 32 of them per warp.
cell kernels.tsv "$step_05" "sweep_kernel<1>" instructions_per_32_points 4
cell kernels.tsv "$step_05" copy_field_kernel instructions_per_32_points 16
cell kernels.tsv "$step_05" "sweep_kernel<1>" eligible_warps 1.5
cell kernels.tsv "$step_06" "sweep_kernel<1>" eligible_warps -
cell kernels.tsv "$step_05" "sweep_kernel<1>" block 32x4x1
cell kernels.tsv "$step_06" "sweep_kernel<1>" shared_bytes_per_block 1024
grep -qx $'# gpu\tTest GPU 9000' "$temp/results/kernels.tsv" || fail "the table should name the GPU"


# An exercise's rows stand next to the solution's, and the chart says which is which.
cp "$temp/program" "$temp/build/bin/exercise_$step_05"
cp -r "$temp/results" "$temp/solutions"
roofline --steps 05 --which exercise
expect_status 0 "an exercise"
cell kernels.tsv 05_yours "sweep_kernel<1>" counted_by ncu
cell kernels.tsv "$step_05" "sweep_kernel<1>" time_ns 2000
cell kernels.tsv 05_yours "sweep_kernel<1>" block 32x4x1
for words in '>05, your 05<' 'your exercise: '; do
  grep -q -- "$words" "$temp/results/roofline.svg" || fail "the chart should say '$words'"
done
rm -r "$temp/results"
mv "$temp/solutions" "$temp/results"

# A launch makes several sweeps if there are fewer launches than iterations; ncu runs enough of them. Two
# instances of a template that have one shape share ncu's count of launches.
mkdir "$temp/pass"
cat >"$temp/pass/program" <<'END'
#!/bin/sh
[ -n "$LAB_TRACE_TSV" ] || exit 0
printf 'table\tname\tcount\tmedian_ns\tgrid\tblock\tregisters\tstatic_shared\tdynamic_shared\n' >"$LAB_TRACE_TSV"
printf 'kernels\tvoid jacobi_pass_kernel<12>(float*)\t198\t9000\t64x64x1\t32x4x1\t40\t1024\t0\n' >>"$LAB_TRACE_TSV"
printf 'kernels\tvoid jacobi_pass_kernel<4>(float*)\t6\t4000\t64x64x1\t32x4x1\t40\t1024\t0\n' >>"$LAB_TRACE_TSV"
END
chmod +x "$temp/pass/program"
step_13=$(awk '/^13_/ { print $1 }' "$source_dir/lab/steps.tsv")
cp "$temp/pass/program" "$temp/build/bin/solution_$step_13"
CALLS=$temp/calls roofline --steps 13
expect_status 0 "passes"
cell kernels.tsv "$step_05" "sweep_kernel<1>" time_ns 2000 # what stood there of other steps
cell kernels.tsv "$step_06" "sweep_kernel<1>" shared_bytes_per_block 1024
cell kernels.tsv "$step_13" "jacobi_pass_kernel<12>" sweeps 12
cell kernels.tsv "$step_13" "jacobi_pass_kernel<12>" flops_float $((4 * 12 * 16384 * 16384))
cell kernels.tsv "$step_13" "jacobi_pass_kernel<12>" dram_bytes $((8 * 16384 * 16384))
grep -q -- '--launch-count 40 .*--iterations 96 ' "$temp/calls" || fail "passes: other launches were to be counted:" "$(<"$temp/calls")"
grep -q '12 sweeps per launch' "$temp/results/roofline.svg" || fail "the chart should say how many sweeps a launch performs"
rm -r "$temp/results"

# Counters that only administrators may read.
FORBIDDEN=1 roofline --steps 05
expect_status 0 "counters forbidden"
expect 'nothing can be counted: .*ERR_NVGPUCTRPERM' "counters forbidden"
expect '^2 kernels, 0 of them counted by ncu' "counters forbidden"
grep -q $'^# not_counted\t.*ERR_NVGPUCTRPERM' "$temp/results/kernels.tsv" || fail "the table should say why nothing was counted"

# Nothing at all, and no GPU: one line, and no table.
rm -r "$temp/results"
FORBIDDEN=1 DOES_NOT_RUN=1 roofline --steps 05
expect_status 1 "neither traced nor counted"
expect "not traced, exit code 3: no luck" "neither traced nor counted"
printf '#!/bin/sh\nexit 9\n' >"$temp/tools/nvidia-smi"
roofline
expect_status 77 "no GPU"
[[ $(grep -c '' <<<"$err") == 1 ]] || show "no GPU: one line"
[[ -z $(ls "$temp/results" 2>/dev/null) ]] || fail "nothing was measured, and something was written"
roofline --steps 00
expect_status 2 "a step without kernels"

# The verb: with STEP your exercise, without it all solutions.
verb() { run make --no-print-directory -C "$source_dir" roofline "$@"; }
unset STEP STEPS WHICH RESULTS
refuses 'STEP=00: .* has no kernels$' verb STEP=00
refuses 'STEP=14: .* is a job of several ranks' verb STEP=14
refuses 'STEP=16: its cycles run on grids of many sizes; make ncu STEP=16 counts a kernel of the finest$' verb STEP=16
refuses 'WHICH=exercise: which step\?' verb WHICH=exercise
refuses 'one of the two$' verb STEP=05 STEPS=06

# With a build and a GPU that only pretend: the exercise is the one that is measured.
make_stubs
stub_build
stub_gpu
mkdir -p "$temp/build/lib" "$temp/verb"
touch "$temp/build/lib/liblab_trace.so"
cp "$source_dir/results/h200/bandwidth.tsv" "$temp/verb"
cp "$temp/program" "$temp/build/bin/exercise_$step_05"
rm -f "$temp/build/bin/solution_$step_05"
verb STEP=05 RESULTS="$temp/verb"
expect_status 0 "make roofline STEP=05"
grep -q $'^05_yours\tsweep_kernel<1>\t' "$temp/verb/kernels.tsv" || fail "make roofline STEP=05: the exercise's rows:" "$out"
[[ -f $temp/verb/roofline.svg ]] || fail "make roofline STEP=05: there should be a chart"

finish "what ncu and the tracer print is read"
