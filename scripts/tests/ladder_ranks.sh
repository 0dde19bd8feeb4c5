#!/usr/bin/env bash
# The ladder on a machine with several GPUs: steps that are jobs of ranks are validated and timed with a rank for each,
# or with as many as --ranks says, and the table, its file and the guides' words say on how many. With stand-ins for the
# GPUs and for what starts a job.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/stubs.sh"
need make
need_build
for program in ladder solution_00_serial; do
  [[ -x $build_dir/bin/$program ]] || skip "$build_dir/bin/$program has not been built"
done
make_temp
unset BACKEND RANKS
bin=$temp/bin
mkdir -p "$bin" "$temp/lab/lab"
cp "$build_dir/bin/ladder" "$bin/ladder"
{
  printf '00_serial\tjacobi.cpp\tcpu\t64\t40\tas found\t-\n'
  printf '13_one\tjacobi.cu\tcuda\t130\t30\tone GPU\t00_serial\n'
  printf '14_several\tjacobi.cu\tranks\t140\t30\tseveral GPUs\t13_one\n'
  printf '15_hidden\tjacobi.cu\tranks\t140\t30\thidden\t14_several\n'
} >"$temp/lab/lab/steps.tsv"
cat >"$bin/bandwidth" <<'END_STUB'
#!/bin/bash
[[ -z ${NO_GPU:-} ]] || { echo "bandwidth: no usable GPU was found"; exit 77; }
printf '%s\t%s\n' gpu "Test GPU" gpus "${GPUS:-2}" compute_capability 9.0 cuda_runtime 13.0 \
  driver 580.1 l2_bytes 62914560
printf 'copy_library\t900\t890\t910\t21\ncopy_float4\t1000\t990\t1010\t21\n'
END_STUB
cat >"$bin/ranks" <<'END_STUB'
#!/bin/bash
export STUB_RANKS=$1
shift
exec "$@"
END_STUB
# What the serial code computes, in the name of a job; it has every residual. An iteration takes 8 ms of one GPU.
cat >"$temp/program" <<END_STUB
#!/bin/bash
step=\${0##*solution_}
echo "\${step%%_*} \${STUB_RANKS:-alone} \$*" >>"$temp/log"
arguments=("\$@")
for ((k = 0; k < \$#; ++k)); do
  if [[ \${arguments[k]} == --check-every ]]; then unset "arguments[k]" "arguments[k + 1]"; fi
done
"$build_dir/bin/solution_00_serial" "\${arguments[@]}" || exit
while [[ \$1 != --record ]]; do shift; done
awk -v ranks="\${STUB_RANKS:-1}" '
  /"ranks":/ { sub(/[0-9]+,/, ranks ",") }
  /"iteration_ms_/ { sub(/: .*[0-9]/, ": " 8 / ranks) }
  { print }' "\$2/run.json" >"\$2/new" && mv "\$2/new" "\$2/run.json"
END_STUB
chmod +x "$bin"/* "$temp/program"
for step in 13_one 14_several 15_hidden; do
  cp "$temp/program" "$bin/solution_$step"
  cp "$temp/program" "$bin/solution_${step}_cpu"
done
ln -s "$build_dir/bin/solution_00_serial" "$bin/solution_00_serial"

ladder() {
  rm -rf "$temp/log" "$temp/results"
  run "$bin/ladder" --lab "$temp/lab" --results "$temp/results" "$@"
  local wide
  wide=$(awk 'length > 80 && !/^written to/' <<<"$out")
  [[ -z $wide ]] || fail "ladder $*: lines of more than 80 characters:" "$wide"
}
# row STEP COLUMN
row() {
  awk -F '\t' -v step="$1" -v column="$2" '
    /^#/ { next }
    !known { for (k = 1; k <= NF; ++k) if ($k == column) at = k; known = 1; next }
    $1 == step { print $at }' "$temp/results/ladder.tsv"
}
# has STEP COLUMN VALUE
has() { [[ $(row "$1" "$2") == "$3" ]] || fail "$1: its $2 should be '$3', and is '$(row "$1" "$2")'"; }
# ran REGEX: a run of a program, as "step ranks arguments".
ran() { grep -qE -- "$1" "$temp/log" || fail "there should be a run like '$1'" "$(<"$temp/log")"; }
ran_not() { if grep -E -- "$1" "$temp/log" >"$temp/found"; then fail "there should be no run like '$1'" "$(<"$temp/found")"; fi; }

ladder
expect_status 0 "two GPUs"
# The best code on all cores, beside that on one.
for n in 130 140; do
  grep -qP "^# all_cores\tn\t$n\tthreads\t[0-9]+\tms\t[0-9.]+\tq1\t[0-9.]+\tq3\t[0-9.]+\tsamples\t11\$" \
    "$temp/results/ladder.tsv" || fail "n = $n: a time of all cores:" "$(<"$temp/results/ladder.tsv")"
done
expect '^speed-up over +n +step before +best serial +all cores +strided$' "two GPUs"
for line in 'driver\t580.1' 'copy_gb_per_s\t1000.0\tq1\t990.0\tq3\t1010.0\tby\tcopy_float4'; do
  grep -qP "^# $line\$" "$temp/results/ladder.tsv" || fail "what bandwidth says:" "$(<"$temp/results/ladder.tsv")"
done
# On GPUs each run waits for the driver: every problem, and few sizes.
ran '^13 alone --n 250 --iterations 5 --problem harmonic'
ran '^13 alone --n 250 .*--problem laplace'
ran_not '^13 alone --n (33|129) '
has 13_one note ''
has 14_several note '2 GPUs, one rank per GPU'
has 15_hidden note '2 GPUs, one rank per GPU'
has 13_one ms 8
has 14_several ms 4
has 15_hidden ms 4
# The step before 14 is on one GPU, at its n; that before 15 is a job of as many.
has 14_several before_ms 8.000000
has 14_several x_before 2.0000
has 15_hidden x_before 1.0000
# Timed runs leave no field: it would be fetched and hashed, which takes long, and not be read.
ran '^13 alone --n 140 --iterations 30 .*--record-field none'
ran_not '^13 [0-9]'
ran_not '^1[45] (alone|1|3) '
# The GB/s are the job's: 140 x 140 points, 8 bytes each, in 4 ms. A copy of both GPUs has 2000 GB/s.
has 14_several gb_per_s 0.0392
has 14_several percent_of_copy 0.00196
expect '^14, 15: on 2 GPUs, one rank per GPU; the step before 14 ran on one$' "two GPUs"
expect 'GPUs that of all of them together\.' "two GPUs"

# With more of them the timed n is validated with as many, small ones with two as ever.
GPUS=4 ladder --steps 14
expect_status 0 "four GPUs"
has 14_several note '4 GPUs, one rank per GPU'
has 14_several x_before 4.0000
ran '^14 4 --n 140 .*--problem probe '
ran '^14 2 --n 100 '
ran_not '^14 4 --n (100|250) '
expect '^14: on 4 GPUs, one rank per GPU; the step before 14 ran on one$' "four GPUs"
GPUS=4 ladder --steps 15
has 15_hidden x_before 1.0000
expect '^15: on 4 GPUs, one rank per GPU$' "the step after it alone"

# A number of ranks: fewer than GPUs, and more.
GPUS=4 ladder --ranks 3 --steps 14
has 14_several note '3 GPUs, one rank per GPU'
ran '^14 3 --n 140 '
ladder --ranks 4 --steps 14,15
has 14_several note '4 ranks on 2 GPUs'
has 14_several percent_of_copy 0.00392
expect '^14, 15: 4 ranks on 2 GPUs; the step before 14 ran on one$' "ranks that share GPUs"

GPUS=1 ladder
has 14_several note '1 GPU'
expect '^14, 15: on 1 GPU$' "one GPU"
expect_no 'that of all|ran on one' "one GPU"
GPUS=1 ladder --ranks 2 --steps 14
has 14_several note '2 ranks on 1 GPU'
GPUS=2 ladder --steps 13
expect_no 'one rank per GPU|that of all' "no job of ranks"

# A serial code that is wrong gets no time at any n.
rm "$bin/solution_00_serial"
cat >"$bin/solution_00_serial" <<END_STUB
#!/bin/bash
"$build_dir/bin/solution_00_serial" "\$@" || exit
while [[ \$1 != --record ]]; do shift; done
sed -i '2s/,.*/,1/' "\$2/residuals.csv"
END_STUB
chmod +x "$bin/solution_00_serial"
GPUS=1 ladder --steps 00,13
expect_status 1 "a serial code that is wrong"
has 00_serial verdict WRONG
has 13_one x_strided_serial -
expect '^n = 130 +[0-9.]+ +[0-9.]+ \([0-9]+\) +-$' "a serial code that is wrong"
ln -sf "$build_dir/bin/solution_00_serial" "$bin/solution_00_serial"

# Without a GPU: two ranks, and no times.
NO_GPU=1 ladder --ranks 3
expect_status 0 "no GPU"
has 14_several note 'on the CPU'
expect '^  \(--ranks 3 is for times; without them jobs of ranks have 2\)$' "no GPU"
ran '^14 2 --n 100 '
ran_not '^14 3 '

# `make run RANKS=R` hands it on, with steps or without.
if [[ -d $source_dir/solutions ]]; then
  make_stubs
  stub_build
  mkdir -p "$temp/build/bin"
  printf '#!/bin/sh\necho "ladder $*"\n' >"$temp/build/bin/ladder"
  chmod +x "$temp/build/bin/ladder"
  run make_in "$source_dir" run RANKS=3 RESULTS="$temp/results"
  expect_status 0 "make run RANKS=3"
  expect "^ladder --lab [^ ]+ --ranks 3 --results $temp/results\$" "make run RANKS=3"
  run make_in "$source_dir" run RANKS=64 STEPS=14,15
  expect '^ladder --lab [^ ]+ --ranks 64 --steps 14,15$' "make run RANKS=64 STEPS=14,15"
  # STEPS are named as STEP is.
  run make_in "$source_dir" run STEPS=4,05_copy_kernel,10
  expect '^ladder --lab [^ ]+ --steps 04,05,10$' "make run STEPS=4,05_copy_kernel,10"
  run make_in "$source_dir" run RESULTS="$temp/results"
  expect "^ladder --lab [^ ]+ --results $temp/results\$" "make run"
fi

finish "the ladder with ranks"
