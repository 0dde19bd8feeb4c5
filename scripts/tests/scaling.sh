#!/usr/bin/env bash
# scripts/publish/scaling.py: with stand-ins for GPUs, MPI and the programs it writes the table of several GPUs, gives no time
# to what is wrong, and ends what hangs. tables.py puts it into the guides.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
[[ -d $source_dir/solutions ]] || skip "a handout has no solutions to measure"
make_temp
scripts=$source_dir/scripts
unset CUDA_VISIBLE_DEVICES

# one_line CODE REGEX WHAT: that exit code, and on stderr one line that matches and is no stack of calls.
one_line() {
  expect_status "$1" "$3"
  [[ $(grep -c '' <<<"$err") == 1 && $err != *Traceback* ]] || show "$3: there should be one line on stderr"
  grep -qE -- "$2" <<<"$err" || show "$3: its line should match '$2'"
}

# ---- A machine that only pretends

mkdir -p "$temp/tools" "$temp/build/bin"
cat >"$temp/tools/nvidia-smi" <<'END_STUB'
#!/bin/sh
case "$*" in
  --list-gpus) k=0; while [ $k -lt "${GPUS:-4}" ]; do echo "GPU $k: Test GPU 9000"; k=$((k + 1)); done ;;
  topo*)
    printf '\t\033[4mGPU0\tGPU1\tNIC0\tCPU Affinity\033[0m\n'
    printf 'GPU0\t X \tNV18\tPIX\t0-31\nGPU1\tNV18\t X \tSYS\t0-31\nNIC0\tPIX\tSYS\t X \t\n\nLegend:\n\n  NV#  = Connection\n' ;;
  *) echo "Test GPU 9000, 580.1" ;;
esac
END_STUB
cat >"$temp/tools/nvcc" <<<$'#!/bin/sh\necho "Cuda compilation tools, release 12.9, V12.9.1"'
cat >"$temp/tools/mpirun" <<<$'#!/bin/sh\necho "mpirun (Open MPI) 9.8.7"'
cat >"$temp/build/bin/ranks" <<END_STUB
#!/bin/sh
mpirun=$temp/tools/mpirun
STUB_RANKS=\$1
export STUB_RANKS
shift
exec "\$@"
END_STUB
# A sweep of n * n points takes n * n ns on one rank; on four ranks they lose a fifth.
cat >"$temp/program" <<'END_STUB'
#!/bin/bash
step=${0##*solution_} step=${step%%_*} ranks=${STUB_RANKS:-1} n=0 every=1 iterations=0
echo "$step $ranks $CUDA_VISIBLE_DEVICES $NCCL_NVLS_ENABLE $* ${LAB_HALOS:-}${NCCL_P2P_DISABLE:-}" >>"$STUBS/log"
[[ -z ${BREAKS:-} ]] || { echo "$step: no luck today" >&2; exit 3; }
while (($# > 0)); do
  case $1 in
    --n) n=$2 ;;
    --iterations) iterations=$2 ;;
    --check-every) every=$2 ;;
  esac
  shift
done
if ((n == 131072 && ranks == 1)); then echo "$step: too large" >&2; exit 5; fi
if [[ "$step $ranks" == "${HANGS:-}" ]]; then sleep 60 & wait; fi
echo "$step: probe, n = $n"
if ((ranks > 1)); then echo "  halos: NCCL 2.99.1, each rank has its own GPU"; fi
[[ -z ${NO_TIMES:-} ]] || { echo "  no times         they would say nothing"; exit; }
awk -v n="$n" -v ranks="$ranks" -v samples=$((iterations / every - 1)) 'BEGIN {
  ms = n * n * 1e-6 / ranks * (ranks == 4 ? 1.25 : 1)
  printf "  per iteration    %.4g ms, median of %d (middle half: %.4g to %.4g)\n", ms, samples, ms * 0.99, ms * 1.02
}'
END_STUB
cat >"$temp/build/bin/validate" <<'END_STUB'
#!/bin/bash
ranks=1
echo "validate $NCCL_NVLS_ENABLE $*" >>"$STUBS/log"
while (($# > 1)); do
  if [[ $1 == --ranks ]]; then ranks=$2; fi
  shift
done
step=${1##*solution_}
[[ -z ${BREAKS:-} ]] || { echo "$step: no luck today" >&2; exit 77; }
if [[ "${step%%_*} $ranks" == "${WRONG:-}" ]]; then printf '%s: wrong: probe\n  diagnosis: all is lost\n' "$step"; exit 1; fi
END_STUB
chmod +x "$temp/tools/"* "$temp/build/bin/ranks" "$temp/build/bin/validate" "$temp/program"
while IFS=$'\t' read -r step _; do cp "$temp/program" "$temp/build/bin/solution_$step"; done < <(
  grep '^[0-9]' "$source_dir/lab/steps.tsv"
)
export STUBS=$temp

table=$temp/results/scaling.tsv
measure() {
  rm -f "$temp/log"
  PATH=$temp/tools:$PATH LAB_BUILD_DIR=$temp/build run "$scripts/publish/scaling.py" --write "$temp/results"
}
has() { grep -qxE -- "$1" < <(tr '\t' ' ' <"$table") || fail "scaling.tsv should have the line: $1" "$(<"$table")"; }

measure
expect_status 0 "scaling.py"
has '# gpu Test GPU 9000'
has '# gpus 4'
has '# nccl 2.99.1'
has '# mpi Open MPI 9.8.7'
has '# links NV18'
has 'step n ranks check_every way ms ms_q1 ms_q3 samples glups efficiency own_efficiency weak_efficiency halos verdict'
has '13_temporal_blocking 16384 1 16 - 268.4 265.8 273.8 [0-9]+ 1.00 100.00 100.00 100.00 - right'
has '14_multi_gpu 16384 2 16 - 134.2 132.9 136.9 [0-9]+ 2.00 100.00 100.00 - NCCL 2.99.1 right'
has '15_overlap 16384 4 64 - 83.89 83.05 85.56 [0-9]+ 3.20 79.99 79.99 - NCCL 2.99.1 right'
has '15_overlap 32768 4 16 - 335.5 332.2 342.3 [0-9]+ 3.20 80.03 80.03 80.00 NCCL 2.99.1 right'
has '14_multi_gpu 23170 2 16 - 268.4 .* - - 100.00 NCCL 2.99.1 right'
has '13_temporal_blocking 131072 1 16 - - - - - - - - - - does not fit'
has '15_overlap 131072 4 16 - 5369 .* - - - NCCL 2.99.1 right'
has '14_multi_gpu 16384 4 16 NCCL, host memory 83.89 .* right'
grep -qE '^15 4 .* mpi$' "$temp/log" || fail "LAB_HALOS=mpi should be one of the ways" "$(<"$temp/log")"
[[ $(grep -c '^1[345]_' "$table") == 41 ]] || fail "there should be 41 rows" "$(<"$table")"
mkdir "$temp/made"
cp "$table" "$temp/made/scaling.tsv"
awk -F '\t' '/^1[345]_/ && $5 != "-" && $8 < 20 { bad = 1 } END { exit bad }' "$table" || fail "20 samples at least"
[[ -s $temp/results/scaling.svg ]] || fail "the picture should be drawn, too"
# It has its colours as attributes, because not every program that draws SVG knows CSS variables.
picture=$(<"$temp/results/scaling.svg")
[[ $picture == *'fill="#ffffff"/>'* && $picture == *'stroke="#0067a5"'* && $picture != *'var(--'* ]] ||
  fail "the picture's colours should be attributes"
# Validated before anything is timed, on as many GPUs as there are ranks, without NVLink's multicast.
awk '!/^validate/ { timed = 1 } /^validate/ && timed { print "validated late: " $0; bad = 1 }
  /^validate/ ? $2 != "0" : split($3, gpus, ",") != $2 || $4 != "0" { print "other GPUs: " $0; bad = 1 } END { exit bad }' \
  "$temp/log" >"$temp/bad" || fail "jobs" "$(<"$temp/bad")"
for compared in '--ranks 4 --gpu .*_14_' '--ranks 2 .*_15_' '--ranks 1 --gpu .*_15_' '60 --gpu .*_13_'; do
  grep -qE -- "^validate 0 --problem probe --n 4099 .*$compared" "$temp/log" ||
    fail "$compared should be validated" "$(<"$temp/log")"
done

# ---- What is wrong gets no time, and what hangs ends

WRONG="14 4" measure
expect_status 0 "a program that is wrong"
has '14_multi_gpu 16384 4 16 - - - - - - - - - - wrong: diagnosis: all is lost'
has '14_multi_gpu 16384 2 16 - 134.2 .* right'
if grep -qE '^14 4 ' "$temp/log"; then fail "what is wrong should not run"; fi

GPUS=2 measure
expect_status 0 "two GPUs"
if grep -qP '^1[45]\S+\t\d+\t4' "$table"; then fail "two GPUs: nothing should run on four ranks" "$(<"$table")"; fi

cat >"$temp/soon.py" <<'END_PYTHON'
import sys
sys.path.insert(0, sys.argv.pop(1))
import scaling
scaling.TIMED_LIMIT = 1
scaling.main()
END_PYTHON
HANGS="15 2" PATH=$temp/tools:$PATH LAB_BUILD_DIR=$temp/build run python3 "$temp/soon.py" "$scripts/publish" --write "$temp/results"
expect_status 0 "a job that hangs"
has '15_overlap 16384 2 16 - - - - - - - - - - exit code 124: did not end within 1 s'
# It is waited for once; and it is not what is called wrong.
has '15_overlap 32768 2 16 - - - - - - - - - - exit code 124: did not end within 1 s'
has '15_overlap 16384 4 16 - 83.89 .* right'
if pgrep -f "$temp/build/bin/solution_15" >/dev/null; then fail "a job that hangs should be ended"; fi
# Whoever ends the script ends its jobs.
HANGS="14 1" PATH=$temp/tools:$PATH LAB_BUILD_DIR=$temp/build run timeout --foreground 5 "$scripts/publish/scaling.py" --write "$temp/results"
expect_status 124 "a script that is ended"
if pgrep -f "$temp/build/bin/solution_14" >/dev/null; then fail "the jobs of a script that is ended should be, too"; fi

# ---- Errors are one line, and the table of before stays

cp "$table" "$temp/before"
run "$scripts/publish/scaling.py"
expect_status 2 "nothing asked for"
GPUS=1 measure
expect_status 0 "one GPU"
cp "$temp/before" "$table"
BREAKS=1 measure
one_line 1 '^scaling.py: nothing could be timed; 13_temporal_blocking: wrong: 13_.*: no luck today$' "programs that break"
NO_TIMES=1 measure
one_line 1 '^scaling.py: nothing could be timed; 13_temporal_blocking: exit code 0: ' "programs without times"
rm "$temp/build/bin/ranks"
measure
one_line 1 '^scaling.py: .*/bin/ranks is not there: build it first$' "nothing built"
cmp -s "$table" "$temp/before" || fail "what failed should leave the table as it was"

# ---- In the guides

lab=$temp/lab guide=exercises/15_overlap/README.md
copy_tree "$lab"
[[ -f $lab/$guide ]] || printf '<!-- scaling:begin -->\n<!-- scaling:end -->\n' >"$lab/$guide"
# The texts have an efficiency at n = 131072, too, a grid that the stand-in's single GPU cannot hold.
awk -F '\t' -v OFS='\t' '/^1[45]_/ && $2 == 131072 { $11 = $12 = "99.00" } { print }' "$temp/made/scaling.tsv" >"$lab/results/h200/scaling.tsv"
run "$lab/scripts/publish/tables.py" --check
expect_status 1 "times that no guide has"
expect "^$guide: its numbers are not the measured ones" "times that no guide has"
expect "^results/h200/scaling.svg: its numbers are not" "times that nobody has drawn"
run "$lab/scripts/publish/tables.py" --write
expect_status 0 "written into the guides"
run "$lab/scripts/publish/tables.py" --check
expect_status 0 "the guides as written"
sed -i 's/Weak scaling/Strong scaling/' "$lab/results/h200/scaling.svg"
run "$lab/scripts/publish/tables.py" --check
expect_status 1 "a picture edited by hand"
grep -qE '^\| 32768 \| 15 \|( [0-9.,]+ \([0-9.]+\) \|){3} [0-9.,]+ \|$' "$lab/$guide" || fail "$guide: strong scaling" "$(grep '32768 |' "$lab/$guide")"
grep -qxE '\| MPI, host memory \| 83.9 \(80.0\) \| 83.9 \(80.0\) \|' "$lab/$guide" || fail "$guide: ways" "$(grep MPI "$lab/$guide")"
grep -qE '^\| 16384² \| 14 \| [0-9,.]+ \(100\.0\) \| ' "$lab/$guide" || fail "$guide: weak scaling"

finish "scaling.py, and what the guides say of it"
