#!/usr/bin/env bash
# The clinic: every exercise is right and misses its goal, every solution is done, planted mistakes are wrong, and other
# ways to write a kernel are right. nvcc takes all of them without a warning.
#
# All variants are one program: see planted_bugs_common.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$source_dir/scripts/tests/planted_bugs_common.sh"
[[ -d $source_dir/solutions ]] || skip "there are no solutions here to begin with"
need_build
make_temp
headers=('-DLAB_STEP_NAME="clinic"' -I"$source_dir/lab/include" -I"$source_dir/lab/cpu/formats")
variants=() # name, kernel, exit code, what is printed

# variant NAME KERNEL CODE REGEX [SED-SCRIPT]: the kernel's solution, edited, must end with CODE and print REGEX.
variant() {
  local file=$source_dir/solutions/clinic/$2/kernel.cu
  variants+=("$1"$'\t'"$2"$'\t'"$3"$'\t'"$4")
  mkdir "$temp/$1"
  sed -E "${5:-}" "$file" >"$temp/$1/kernel.cu"
  if [[ -n ${5:-} ]] && cmp -s "$file" "$temp/$1/kernel.cu"; then fail "$1: the sed script changes nothing"; fi
}
wrong() { variant "$2" "$1" 1 "$3" "$4"; }
right() { variant "$2" "$1" "$3" "$4" "$5"; }

# 1. The list.
kernels=$(awk -F '\t' '/^[a-z]/ { print $1 }' "$source_dir/lab/clinic.tsv")
for kind in exercises solutions; do
  diff <(sort <<<"$kernels") <(cd "$source_dir/$kind/clinic" && printf '%s\n' */ | tr -d / | sort) >"$temp/diff" ||
    fail "$kind/clinic: its folders are not those that lab/clinic.tsv lists:" "$(<"$temp/diff")"
done
while IFS=$'\t' read -r kernel n _ _ title sum; do
  file=exercises/clinic/$kernel/kernel.cu
  have=$(sha256sum <"$source_dir/$file")
  if ! grep -qxF "$file" < <(edited_exercises) && [[ ${have:0:12} != "$sum" ]]; then
    fail "lab/clinic.tsv: the checksum of $file is ${have:0:12}"
  fi
  grep -q "clinic(argc, argv, $n)" "$source_dir/$file" || fail "lab/clinic.tsv: $file has another default n"
  [[ -n $title ]] || fail "lab/clinic.tsv: $kernel teaches nothing"
  for kind in exercises solutions; do
    lines=$(wc -l <"$source_dir/$kind/clinic/$kernel/kernel.cu")
    ((lines <= 80)) || fail "$kind/clinic/$kernel/kernel.cu: $lines lines are more than 80"
  done
  variant "${kernel}_done" "$kernel" 0 "^clinic/$kernel: done$"
  variant "${kernel}_exercise" "$kernel" 1 "^clinic/$kernel: right, but its goal is not reached$"
  git -C "$source_dir" show "HEAD:./$file" >"$temp/${kernel}_exercise/kernel.cu" 2>/dev/null ||
    cp "$source_dir/$file" "$temp/${kernel}_exercise/kernel.cu"
done < <(grep '^[a-z]' "$source_dir/lab/clinic.tsv")

# 2. Mistakes, and other ways.
wrong first_kernel no_guard 'writes just past the end|of them are padding' 's/if \(i < n && j < n\) //'
wrong first_kernel no_pitch 'the first: element \(i, j\) = \(100, 0\) is 1000 and should be not written' 's/j \* pitch/j * n/'
wrong first_kernel rounded_down 'none of them was written' 's/\(n \+ block\.([xy]) - 1\)/n/g'
wrong first_kernel swapped '\(1, 0\) is 1000 and should be 1$' 's/1000 \* j \+ i/1000 * i + j/'
right first_kernel wide_block 0 ': done$' 's/block\(32, 8\)/block(128)/'
right first_kernel i_from_y 1 'MISSED: stores are coalesced' 's/int i = /int J = /; s/int j = /int i = /; s/int J = /int j = /'

wrong transpose no_barrier 'race|which nothing has written|never written' 's/__syncthreads\(\);//'
wrong transpose block_not_turned 'but tile \(x, y\) is where \(y, x\) belongs$' 's/i_out = blockIdx.y/i_out = blockIdx.x/; s/j_out = blockIdx.x/j_out = blockIdx.y/'
wrong transpose tile_not_turned 'but in it rows and columns are exchanged$' 's/tile\[threadIdx\.x\]\[threadIdx\.y\]/tile[threadIdx.y][threadIdx.x]/'
wrong transpose only_copied 'they are the input, as it is' 's/out\[.*/out[j * n + i] = in[j * n + i];/; s/if \(i_out.*\)/if (i < n \&\& j < n)/; /const int [ij]_out/d'
wrong transpose old_guard 'elements are wrong|past the end' 's/i_out < n && j_out < n/i < n \&\& j < n/'
right transpose no_padding 1 'MISSED: shared memory has no bank conflicts' 's/kTile \+ 1/kTile/'
right transpose wider_padding 0 ': done$' 's/kTile \+ 1/kTile + 3/'

wrong strides past_the_end 'past the end|beyond' 's/if \(k < count\) //'
wrong strides blocks_overlap 'does each begin where the one before it ends\?$' 's/const int first = .*/const int first = blockIdx.x * kBlock + threadIdx.x;/'
wrong strides strides_overlap 'were? written|elements are wrong' 's/r \* kBlock;/r * 32;/'
wrong strides blocks_too_few 'none of them was written' 's/count \+ per_block - 1/count/'
right strides grid_stride 0 ': done$' 's/const int first = .*/const int first = blockIdx.x * kBlock + threadIdx.x;/; s/first \+ r \* kBlock/first + r * kBlock * gridDim.x/'
right strides permuted 0 ': done$' 's/threadIdx\.x;/(threadIdx.x ^ 31);/'
right strides every_second 1 'MISSED: stores' 's/const int first.*/const int first = (blockIdx.x * kBlock + threadIdx.x) * 2;/; s/first \+ r \* kBlock/first + r \/ 2 * 2 * kBlock * gridDim.x + r % 2/'

wrong redundant_access not_zeroed 'elements are wrong|nothing has written' 's/int total = 0;/int total = out[k];/'
wrong redundant_access never_set 'elements are wrong' 's/int total = 0;/int total;/'
wrong redundant_access added_to_output 'was it set to 0 first\?$' 's/out\[k\] = total/out[k] += total/'
wrong redundant_access one_array_less 'the first: element 0 is' 's/int a = 0;/int a = 1;/'
wrong redundant_access overwritten 'the first: element 0 is' 's/total \+= in/total = in/'
right redundant_access unrolled 0 ': done$' 's/^  for \(int a/#pragma unroll\n&/'
right redundant_access backwards 0 ': done$' 's/a = 0; a < kArrays; \+\+a/a = kArrays - 1; a >= 0; --a/'
right redundant_access sum_in_memory 1 'MISSED: each sum is stored once' 's/total \+= (.*);/total += \1; out[k] = total;/'

wrong divergence other_way 'all of them have an (odd|even) index' 's/backward\(table, in/forward(table, in/'
wrong divergence odd_missing 'none of them was written' 's/if \(thread >= count\)/if (thread >= even)/'
wrong divergence off_by_one 'elements are wrong|race in global memory' 's/2 \* \(thread - even\) \+ 1/2 * (thread - even)/'
wrong divergence half_rounded_down 'at n = 99: .*(past the end|are wrong)' 's/\(count \+ 1\) \/ 2/count \/ 2/'
right divergence both_ways 1 'MISSED: each element goes one way' \
  's/thread < even\)/true)/; s/2 \* thread;/thread;/; s/out\[k\] = forward.*/const int a = forward(table, in[k]), b = backward(table, in[k]); out[k] = k % 2 ? b : a;/'
right divergence one_way 0 ': done$' \
  's/thread < even/true/; s/2 \* thread;/thread;/; s/out\[k\] = forward.*/int v = in[k]; for (int r = 0; r < kRounds; ++r) v = table[k % 2 ? lab::kClinicValues - 1 - v : v]; out[k] = v;/'
right divergence pairs_of_warps 0 ': done$' \
  's/const int even = .*/const int even = thread % 64 < 32, k = thread \/ 64 * 64 + thread % 32 * 2 + thread % 64 \/ 32;/; s/thread >= count/k >= count/; s/thread < even/even/; /const int k = 2/d'

wrong local_memory value_missing 'elements are wrong' 's/int v = 0;/int v = 1;/'
wrong local_memory sum_of_all 'elements are wrong' 's/most = max\(most, bins\[c\]\)/most += bins[c]/'
wrong local_memory class_missing 'elements are wrong' 's/int c = 0; c < kClasses; \+\+c\) bins/int c = 1; c < kClasses; ++c) bins/'
right local_memory selected 0 ': done$' 's/bins\[c\] \+= c == mine/bins[c] = c == mine ? bins[c] + 1 : bins[c]/'
right local_memory in_bits 0 ': done$' \
  's/int bins\[.*/unsigned long long bins = 0;/; /#pragma/d; s/for .*bins\[c\] \+= .*/bins += 1ull << 8 * mine;/; s/bins\[c\]/int(bins >> 8 * c \& 255)/'
right local_memory rolled 1 'MISSED: no local memory' 's/#pragma unroll/#pragma unroll 1/'

wrong arithmetic row_never_ends 'elements are wrong' 's/if \(\+\+i == n\)/if (++i > n)/'
wrong arithmetic row_not_counted 'elements are wrong' 's/^ +\+\+j;//'
wrong arithmetic round_missing_here 'the first: element' 's/int r = 0;/int r = 1;/'
right arithmetic in_integers 0 ': done$' 's/float total/int total/; s/0\.5f \* i \+ 1\.5f \* j/i + 3 * j/; s/int\(2 \* total\)/total/'
right arithmetic unrolled_rounds 0 ': done$' 's/^  for \(int r/#pragma unroll 8\n&/'
right arithmetic doubles_left 1 'MISSED: no double precision' 's/0\.5f/0.5/'
right arithmetic one_division_before 0 ': done$' 's/const int k = j . n . i;/const int k = j * n + i; j = k \/ n; i = k % n;/'
right arithmetic divisions_left 1 'MISSED: no division' 's/total \+= .*/const int p = (k + r) % n, q = (k + r) \/ n; total += 0.5f * p + 1.5f * q;/'

wrong occupancy no_barrier_here 'race|nothing has written' 's/__syncthreads\(\);//'
wrong occupancy room_too_small 'past the end|beyond' 's/room\[kBlock\]/room[kGroup]/'
wrong occupancy block_reversed 'elements are wrong' 's/t \/ kGroup \* kGroup \+ kGroup - 1 - t % kGroup/kBlock - 1 - t/'
right occupancy large_blocks 0 ': done$' 's/kBlock = 256/kBlock = 1024/; s/room\[kBlock\]/room[12288]/'
right occupancy small_blocks 0 ': done$' 's/kBlock = 256/kBlock = 64/'
right occupancy half_the_room 1 'MISSED: 32 warps' 's/kBlock = 256/kBlock = 64/; s/room\[kBlock\]/room[6144]/'

wrong roofline_corners no_guard_here 'past the end|beyond' 's/if \(k >= count\) return;//'
wrong roofline_corners step_missing 'the first: element 0 is' 's/int s = 0;/int s = 1;/'
wrong roofline_corners blocks_rounded_down 'none of them was written' 's/count \+ kBlock - 1/count/'
right roofline_corners pairs 0 ': done$' \
  's/const int k = .*/const int k = 2 * (blockIdx.x * kBlock + threadIdx.x);/; s/int value = in\[k\];/int value = in[k], next = k + 1 < count ? in[k + 1] : 0;/; s/value = \((.*)1023;/{ value = (value * 613 + 1) \& 1023; next = (next * 613 + 1) \& 1023; }/; s/out\[k\] = value;/out[k] = value; if (k + 1 < count) out[k + 1] = next;/'
right roofline_corners grid_stride_of_many 0 ': done$' 's/\(count \+ kBlock - 1\) \/ kBlock/(count + 4 * kBlock - 1) \/ (4 * kBlock)/; s/const int k = (.*);/for (int k = \1; k < count; k += gridDim.x * kBlock) {/; /return;/d; s/out\[k\] = value;/out[k] = value; }/'
right roofline_corners a_warp_each 1 'MISSED: the launch has a thread' 's/\(count \+ kBlock - 1\) \/ kBlock, kBlock/132, 32/; s/const int k = (.*) kBlock(.*);/for (int k = \1 32\2; k < count; k += 132 * 32) {/; s/if \(k >= count\) return;//; s/out\[k\] = value;/out[k] = value; }/'

wrong libraries not_zeroed_sum 'was it set to 0 first\?$' '/cudaMemsetAsync/d'
wrong libraries round_missing 'at n = 256: the result is [0-9]+ and should be [0-9]+$' 's/int r = 0;/int r = 1;/'
wrong libraries sum_of_thread_0 'the result is ' 's/BlockReduce\(storage\).Sum\(sum\)/sum/'
right libraries block_per_round 0 ': done$' 's/kPerThread = 8/kPerThread = 1/'
right libraries warps 0 ': done$' \
  '/using BlockReduce|TempStorage/d; s/const int block_sum.*/for (int far = 16; far > 0; far \/= 2) sum += __shfl_down_sync(0xffffffff, sum, far);/; s/threadIdx.x == 0\) atomicAdd\(out, block_sum/threadIdx.x % 32 == 0) atomicAdd(out, sum/'

mapfile -t names < <(printf '%s\n' "${variants[@]}" | cut -f 1)
all_variants "$temp" kernel.cu "${names[@]}" >"$temp/all.cu"
{ "$build_dir/bin/cuda_to_cpp" "$temp/all.cu" "$temp/all.cpp" &&
  compile_on_cpu clinic "$temp/all.cpp" "$temp/program" _watched; } >"$temp/log" 2>&1 ||
  { fail "the variants do not compile:" "$(head -n 30 "$temp/log")" && finish "the clinic"; }
for line in "${variants[@]}"; do
  IFS=$'\t' read -r name kernel code regex <<<"$line"
  arguments=(--name "$kernel")
  if awk -F '\t' -v kernel="$kernel" '$1 == kernel { found = $4 == "nvcc" } END { exit !found }' "$source_dir/lab/clinic.tsv"; then
    if [[ -n ${LAB_TEST_NVCC:-} ]]; then
      "$LAB_TEST_NVCC" -std=c++17 -cubin -Xptxas -v --keep --keep-dir "$temp/$name" "${headers[@]}" "$temp/$name/kernel.cu" \
        -o "$temp/cubin" >"$temp/$name/log" 2>&1
      arguments+=(--from-nvcc "$temp/$name")
    elif [[ $code == 0 || $regex == *MISSED* || $name == *_exercise ]]; then
      code=0 regex=': right; the goal cannot be measured here$'
    fi
  fi
  ln "$temp/program" "$temp/$name/$name"
  run "$build_dir/bin/clinic" "${arguments[@]}" "$temp/$name/$name"
  if [[ -n ${LAB_TEST_SHOW:-} ]]; then printf '%s\n' "--- $name" "$said"; fi
  expect_status "$code" "$name"
  expect "$regex" "$name"
  if [[ $regex == *MISSED* ]]; then expect ": right, but its goal is not reached$" "$name"; fi
  if ((code == 1)) && [[ $regex != *MISSED* && $name != *_exercise ]]; then expect ": wrong$" "$name"; fi
done

# 3. The verbs, in a folder with a blank and a quote in its name.
if command -v make git cmake >/dev/null; then
  use_built
  unset CLINIC BACKEND HINT FROM TO SIDE YES
  lab="$temp/it's the lab"
  make_clone "$lab"
  exercise=exercises/clinic/strides/kernel.cu
  verb() { run make_in "$lab" "$@"; }
  verb check CLINIC=strides
  expect '^clinic/strides: right, but its goal is not reached$' "an exercise as handed out"
  expect '^make: .*check\] Error 1$' "an exercise as handed out"
  cp "$lab/solutions/clinic/strides/kernel.cu" "$lab/$exercise"
  cmake_dir=$(dirname "$(command -v cmake)")
  run env -i PATH="$cmake_dir:/usr/bin:/bin" CXX="$CXX" LAB_CMAKE_ARGS="$LAB_CMAKE_ARGS" CLINIC=strides \
    "$lab/scripts/verbs/check.sh"
  expect_status 0 "a solution"
  expect '^clinic/strides: done$' "a solution"
  sed -i 's/^  const int first = .*/&\n  const int unused_here = 0;/' "$lab/$exercise"
  verb check CLINIC=strides
  expect "^exercises/clinic/strides/kernel.cu:.* warning: unused variable ('|‘)unused_here" "a warning"
  expect '^clinic/strides: done$' "a warning"
  sed -i 's/k < count/k < cnt/' "$lab/$exercise"
  verb check CLINIC=strides
  expect "^exercises/clinic/strides/kernel.cu:[0-9:]* error: ('|‘)cnt('|’) was not declared" "what does not compile"
  expect '^clinic/strides: does not compile' "what does not compile"
  verb diff CLINIC=strides
  expect '^--- exercises/clinic/strides/kernel.cu$' "make diff"
  verb reset CLINIC=strides YES=1
  cmp -s "$lab/$exercise" "$source_dir/$exercise" || show "make reset"
  verb count CLINIC=strides
  expect 'global load +1.0000  32.00 sectors' "make count"
  verb hint CLINIC=strides
  expect '^clinic/strides: hint 1 of 2$' "make hint"
  expect '^The next one: make hint CLINIC=strides$' "make hint"
  verb guide CLINIC=strides SHOW=answer
  expect '^Answer$' "make guide"
  verb guide CLINIC=strides SHOW=hints
  expect 'From one round to the next' "make guide"
  for kernel in $kernels; do
    verb guide CLINIC="$kernel" SHOW=all
    expect_status 0 "the guide of $kernel"
    verb hint CLINIC="$kernel" HINT=2
    expect_status 0 "the second hint of $kernel"
  done
  refuses '^check_clinic.sh: CLINIC=strude: there is no such kernel; they are: first_kernel ' verb check CLINIC=strude
  refuses '^check_clinic.sh: N=64: a check of the clinic takes none; ' verb check CLINIC=strides N=64
  refuses '^hint.sh: STEP=04 CLINIC=strides: one of the two$' verb hint CLINIC=strides STEP=04
  refuses '^nsys.sh: CLINIC=strides: this verb takes a step, STEP=NN$' verb nsys CLINIC=strides
  refuses '^ncu.sh: BASELINE=previous: must be previous, with STEP=NN$' verb ncu CLINIC=strides BASELINE=previous
  verb trace CLINIC=strides BACKEND=cpu N=64
  expect '^ +20  [0-9x]+ +128x1x1 +scale_kernel, launched at line [0-9]+$' "a kernel's launches"
  run "$lab/build/bin/exercise_clinic_strides_cpu_watched" --n two
  expect '^clinic/strides: --n two: must be a whole number from 3 to 16384$' "a bad size"
  expect_status 2 "a bad size"
fi

# 4. What is measured.
if command -v python3 >/dev/null; then
  # What ncu is asked is the kernel's own: a report of any kernel shows it.
  while IFS= read -r kernel; do
    run env PYTHONPATH="$source_dir/scripts" python3 -m labtools.profilers.profile_tables ncu \
      "$source_dir/results/h200/profiles/ncu_12.csv" --step "$kernel"
    question=$(awk -F '\t' -v kernel="$kernel" '$1 == kernel { print substr($5, 1, 30); exit }' "$source_dir/scripts/lib/profile_questions.tsv")
    [[ -n $question && $out == *"> $question"* ]] || show "ncu does not ask what $kernel is about"
  done <<<"$kernels"
  LAB_BUILD_DIR=$temp run "$source_dir/scripts/publish/clinic.py" --write "$temp/results"
  expect_status 1 "clinic.py without programs"
  expect '^clinic.py: .*/bin/clinic is not there: build it first$' "clinic.py without programs"
fi

# 5. nvcc.
if [[ -n ${LAB_TEST_NVCC:-} ]]; then
  mapfile -t names < <(printf '%s\n' "${names[@]}" | grep -E '_(done|exercise)$')
  all_variants "$temp" kernel.cu "${names[@]}" >"$temp/all.cu"
  run "$LAB_TEST_NVCC" -std=c++17 -arch=sm_90 -Xcompiler=-Wall,-Wextra "${headers[@]}" -c "$temp/all.cu" -o "$temp/all.o"
  expect_status 0 "nvcc on exercises and solutions"
  [[ -z ${said//[$'\n ']/} ]] || show "nvcc on exercises and solutions: it says something"
fi
finish "the clinic"
