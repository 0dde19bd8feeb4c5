#!/usr/bin/env bash
# Every experiment of scripts/publish/experiments.py can still be made of the solutions; and with stand-ins for nvcc, the
# validator, the tracer, ncu and a GPU, what fails has a line with the reason and stops nothing else.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 patch
[[ -d $source_dir/solutions ]] || skip "a handout has no solutions to change"
make_temp
unset LAB_NCU
experiments() { LAB_BUILD_DIR=$temp/build PATH=$temp/tools:$PATH run "$lab/scripts/publish/experiments.py" "$@"; }
lab=$source_dir

experiments --help
expect_status 0 "--help"
experiments
expect_status 2 "nothing asked for"

cat >"$temp/sources.py" <<'END'
import pathlib, sys
sys.path.insert(0, sys.argv[2])
import experiments
sys.argv[0] = "experiments.py"
made = experiments.make_sources(pathlib.Path(sys.argv[1]), {one.guide for one in experiments.variants()})
print(f"{len(made)} variants can be made")
END
mkdir "$temp/sources"
sources() { run python3 "$temp/sources.py" "$temp/sources" "$lab/scripts/publish"; }
# The variants of the solutions as they are now.
sources
expect_status 0 "the variants can be made"
tiles=$(find "$lab/validate/tests/bank/right/09_shared_tile" -name 'tile_by_*.patch' | wc -l)
expect "^$((78 + tiles)) variants can be made" "the variants can be made"
cmp -s "$temp/sources/08_as_it_is.cu" "$lab"/solutions/08_*/jacobi.cu || fail "step 08 as it is should be the solution"
for name in "$temp/sources"/*.cu; do
  case $name in
    */07_copy.cu | */05_step_0?.cu | */08_as_it_is.cu | */08_threads_4.cu | */09_no_tile.cu) ;;
    */09_flat_loop.cu | */11_step_1?.cu | */11_every_sweep.cu | */1[236]_as_it_is*.cu) ;;
    *) cmp -s "$name" "$lab/solutions"/"$(basename "${name%%_*}")"_*/jacobi.cu && fail "$name is the solution" ;;
  esac
done
grep -q 'cudaMemPrefetchAsync' "$temp/sources/05_prefetch.cu" || fail "the prefetching variant should prefetch"

# A solution in which a text is gone, or there twice, and one that a patch no longer fits.
lab=$temp/lab
copy_tree "$lab"
sed -i -e 's/CUDA_CHECK(cudaMemset(sum, 0, sizeof(double)));/&\n  &/' \
  -e 's/thread_sum += change/thread_sum = thread_sum + change/' "$lab"/solutions/08_*/jacobi.cu
sed -i 's/^constexpr int kAhead = \([0-9]*\);/constexpr int kAhead = 1 + \1;/' "$lab"/solutions/12_*/jacobi.cu
sources
expect_status 1 "a solution that has changed"
expect '^experiments.py: 12_register_march, kAhead=1: solutions/12_.* has 0 times, and not once: ' "a constant that is gone"
expect '^experiments.py: 08_cub_reduction, sum_on_host: solutions/08_.* has 2 times, and not once: CUDA_CHECK' "a text"
expect '^experiments.py: 08_cub_reduction, float_tree: validate/.*/float_tree.patch does not apply' "a patch"
expect_no 'shuffles' "a patch that does apply"
lab=$source_dir

# A GPU, a compiler and the rest that only pretend.
mkdir -p "$temp/tools" "$temp/build/bin" "$temp/build/lib" "$temp/build/lab"
cat >"$temp/tools/nvidia-smi" <<'END_OF_SMI'
#!/bin/sh
[ -z "$NO_GPU" ] || exit 9
case $* in
  --query*) echo "Test GPU 9000, 580.1" ;;
  *) echo "| NVIDIA-SMI 580.1   Driver Version: 580.1   CUDA Version: 13.0 |" ;;
esac
END_OF_SMI
cat >"$temp/tools/nvcc" <<'END_OF_NVCC'
#!/bin/sh
case $1 in --version) echo "Cuda compilation tools, release 12.9, V12.9.1"; exit 0 ;; esac
for program; do :; done # the last word, after -o
case $ALL_WELL$program in /*/08_threads_16 | /*/12_kAhead=2) echo "jacobi.cu(7): error: no such luck" >&2; exit 2 ;; esac
echo "ptxas info    : Compiling entry function '_Z19jacobi_sweep_kernelPf' for 'sm_90'" >&2
echo "    0 bytes stack frame, 0 bytes spill stores, 16 bytes spill loads" >&2
echo "ptxas info    : Used 40 registers, used 0 barriers" >&2
cp "$STUBS/program" "$program"
END_OF_NVCC
cat >"$temp/build/bin/validate" <<'END_OF_VALIDATE'
#!/bin/sh
for program; do :; done
case $ALL_WELL$program in
  1*) ;;
  */08_no_atomic) printf 'wrong\n  the field is right\n'; exit 1 ;;
  */08_no_reduction) printf 'wrong\n  diagnosis: all is lost\n  579 points are wrong\n'; exit 1 ;;
  */08_shuffles) printf 'wrong\n  the field is right\n'; exit 1 ;;
esac
END_OF_VALIDATE
cat >"$temp/program" <<'END_OF_PROGRAM'
#!/bin/sh
case $ALL_WELL$0 in 1*) ;; */08_float_tree) echo "no luck" >&2; exit 3 ;; esac
if [ -n "$LAB_TRACE_TSV" ]; then
  printf 'table\tname\tcount\tmedian_ns\tmin_ns\tmax_ns\tregisters\n' >"$LAB_TRACE_TSV"
  printf 'kernels\tjacobi_sweep_kernel(float*)\t100\t2000000\t1000000\t9000000\t32\n' >>"$LAB_TRACE_TSV"
  printf 'kernels\tcopy_field_kernel(float*)\t100\t1024\t512\t2048\t16\n' >>"$LAB_TRACE_TSV"
fi
echo "  exact solution   2.5e-06 % away from it"
while [ $# -gt 0 ]; do
  if [ "$1" = --record ]; then
    mkdir -p "$2"
    echo '{"iteration_ms_median": 2.5, "iteration_ms_min": 2, "iteration_ms_max": 3, "iteration_ms_q1": 2, "iteration_ms_q3": 3, "iteration_samples": 7, "first_iteration_ms": 40}' >"$2/run.json"
  fi
  shift
done
END_OF_PROGRAM
cat >"$temp/tools/ncu" <<'END_OF_NCU'
#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
if "--version" in words:
    print("Version 2099.1.0.0 (build 1)")
    sys.exit(0)
if "FORBIDDEN" in os.environ:
    sys.exit("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters")
metric = words[words.index("--metrics") + 1]
print(f'"ID","Kernel Name","{metric}"\n"","","byte"')
for k, value in enumerate(("2,097,152", "1,048,576", "4,194,304")):
    print(f'"{k}","copy_field_kernel(float *)","{value}"')
END_OF_NCU
printf '#!/bin/sh\nprintf "copy\\t4000\\ncudaMemcpy\\t2000\\nread\\t9999\\n"\n' >"$temp/build/bin/bandwidth"
chmod +x "$temp/tools/"* "$temp/program" "$temp/build/bin/"*
for step in 09_shared_tile 10_pointer_swap 11_cuda_graph 12_register_march 13_temporal_blocking; do
  cp "$temp/program" "$temp/build/bin/solution_$step"
done
touch "$temp/build/lib/liblab_trace.so" "$temp/build/lab/liblab.a"
export STUBS=$temp

# line STEP VARIANT N QUANTITY: the rest of that line of the table, tabs as blanks.
line() {
  awk -F '\t' -v step="$1" -v variant="$2" -v n="$3" -v quantity="$4" '
    $1 ~ "^" step && $2 == variant && $3 == n && $4 == quantity { print $5, $6, $7, $8, $9 }' \
    "$temp/results/experiments.tsv"
}
# has STEP VARIANT N QUANTITY REGEX
has() {
  grep -qE -- "$5" < <(line "$1" "$2" "$3" "$4") ||
    fail "$1 $2, n = $3: $4 should be $5, and is: $(line "$1" "$2" "$3" "$4")"
}

experiments --write "$temp/results"
expect_status 0 "measured"
has 07 copy 512 "copy kernel" '^GB/s 2048 1024 4096 8 bytes'
has 07 copy 512 "DRAM bytes" '^bytes per point 8 4 16 counted by ncu'
has 05 prefetch 2048 iteration '^ms 2.5 2 3 step 04 with'
has 08 as_it_is 8192 "sweep kernel" '^ms 2 1 9 step 08 as it is$'
has 08 as_it_is 8192 "copy kernel" '^ms 0.001024 '
has 08 copy_with_loop 8192 "copy kernel" '^ms 0.001024 '
has 08 threads_8 8192 occupancy '^% 2\.'
has 08 no_atomic 8192 "sweep kernel" '^ms 2 '
has 08 no_reduction - - '^- - - - not right: diagnosis: all is lost$'
has 08 shuffles - - '^- - - - not right: the field is right$'
has 08 float_tree 8192 "sweep kernel" '^ms - - - not traced, exit code 3: no luck$'
has 08 threads_16 - - '^- - - - does not compile: .*no such luck$'
has 09 flat_loop 8192 "sweep kernel" '^ms 2 1 9 One flat loop over the tile$'
has 09 tile_by_nested_loops 8192 "sweep kernel" '^ms 2 1 9 The tile is loaded by two nested loops'
has 11 late 128 iteration '^ms 2.5 2 3 read one check late$'
has 16 as_it_is 32768 solution '^ms 40 40 40 step 16 as it is$'
has 16 as_it_is 256 distance '^relative 2.5e-08 '
has 16 no_start 16384 solution '^ms 40 40 40 Every cycle on the finest level$'
[[ $(grep -c '^11_' "$temp/results/experiments.tsv") == 30 ]] || fail "six sizes, five variants of step 11"
grep -qx $'# cuda\t12.9' "$temp/results/experiments.tsv" || fail "the table should name the toolkit"
[[ ! -e $temp/results/experiments.tsv.partial ]] || fail "nothing half-written should be left"

# has_line FILE LINE: that line, its tabs written as blanks.
has_line() { grep -qxE -- "$2" < <(tr '\t' ' ' <"$temp/results/$1") || fail "$1 should have the line: $2" "$(<"$temp/results/$1")"; }
has_line tuning.tsv '# copy_gb_per_s 4000.0'
has_line tuning.tsv '12_register_march as it is: kWarps=[0-9] kRows=[0-9]* kAhead=[0-9] 40 16 2.500000 2.000000 3.000000 0.2147 right'
has_line tuning.tsv '12_register_march kAhead=1 40 16 2.500000 2.000000 3.000000 0.2147 right'
has_line tuning.tsv '12_register_march kAhead=2 - - - - - - wrong'
has_line tuning.tsv '13_temporal_blocking as it is, --check-every 16 40 16 .* right'
has_line large.tsv '8192 10_pointer_swap 2.500000 2.000000 3.000000 7 26.84 0.0537 right'

# Every number that a text takes from the experiments is measured.
ALL_WELL=1 experiments --write "$temp/all"
expect_status 0 "nothing fails"
cat >"$temp/read.py" <<'END_OF_READ'
import ast, pathlib, sys
sys.path.insert(0, sys.argv[1])
import labtools_here
from blocks import inline
from labtools.files import ROOT
inline.RESULTS = pathlib.Path(sys.argv[2])
read = 0
for path in [ROOT / "README.md", *(ROOT / "exercises").rglob("*.md")]:
    for marker, _ in inline.MARKED.findall(path.read_text(encoding="utf-8")):
        expression = " ".join(marker.replace("\\|", "|").partition(" | ")[0].split())
        for node in ast.walk(ast.parse(expression, mode="eval")):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "experiments":
                read += 1
                try:
                    inline.row_of(node)
                except inline.Wrong as error:
                    if str(error).startswith("0 "):  # the stand-ins' numbers may also be a key
                        print(f"{path.relative_to(ROOT)}: {error}")
sys.exit(read < 100)
END_OF_READ
run python3 "$temp/read.py" "$lab/scripts/publish" "$temp/all"
[[ $status == 0 && -z $said || $said == $'\n' ]] || show "a text reads what is not measured"

# Of one guide: the rows of the others stay.
cp "$temp/results/experiments.tsv" "$temp/before.tsv"
cp "$temp/results/tuning.tsv" "$temp/tuning.tsv"
experiments --write "$temp/results" --steps 11
expect_status 0 "--steps 11"
cmp -s "$temp/before.tsv" "$temp/results/experiments.tsv" || fail "--steps 11: the rows of other steps should stay"
cmp -s "$temp/tuning.tsv" "$temp/results/tuning.tsv" || fail "--steps 11: the constants that were tried should stay"
experiments --write "$temp/results" --steps 06
expect_status 2 "a step without experiments"

FORBIDDEN=1 experiments --write "$temp/results"
expect_status 0 "counters that are for administrators"
has 07 copy 512 "copy kernel" '^GB/s 2048 '
has 07 copy 512 "DRAM bytes" '^bytes per point - - - .*ERR_NVGPUCTRPERM'

NO_GPU=1 experiments --write "$temp/none"
expect_status 77 "no GPU"
rm "$temp/build/lab/liblab.a"
experiments --write "$temp/none"
expect_status 1 "nothing built"
expect '^experiments.py: .*liblab.a is not there: build it first$' "nothing built"
[[ ! -e $temp/none ]] || fail "nothing should be written where nothing was measured"

finish "the experiments can be made, and what fails is said"
