# shellcheck shell=bash disable=SC2154
# What the compiler says of a learner's program, and why the program is not there, for check.sh and check_clinic.sh.
# Source it after lib.sh; it reads the variables of read_step, and $which, $backend, $source_file, $scratch (a folder)
# and $log (of the build).

# cannot_run_here REASON: the machine's trouble, and not the learner's.
cannot_run_here() {
  say "$step: cannot run here"
  say_wrapped "  $1"
  exit "$exit_no_gpu"
}

# nvcc_of_build: the CUDA compiler that CMake found, or nothing.
nvcc_of_build() {
  if ! cmake_found CUDA; then return; fi
  sed -n 's/^set(CMAKE_CUDA_COMPILER "\(.*\)")$/\1/p' "$build_dir"/CMakeFiles/*/CMakeCUDACompiler.cmake 2>/dev/null |
    head -n 1 || true
}

# nvcc_takes FILE: whether nvcc compiles it. Names without the lab's own folder: nvcc mistakes some characters.
nvcc_takes() {
  nice -n 19 "$nvcc" -x cu -std=c++17 -ptx -Ilab/include "-DLAB_STEP_NAME=\"$step\"" "$1" -o "$scratch/ptx"
}

# nvcc_errors LOG: what nvcc says there, each error once and wrapped.
nvcc_errors() {
  local words
  # The same is said of each place.
  words=$(sed "s#$lab_root/##g" "$1" | awk '
    NF && !/errors? detected in/ { text = $0; sub(/^[^ ]*: /, "", text); if (!seen[text]++ && ++count <= 10) print }')
  say_wrapped "$words"
}

# advice_on LOG: what is to be done about the most common errors: a header that was forgotten, and in a first kernel a
# function that is only for the CPU.
advice_on() {
  local name line word header
  while read -r word header; do
    # Where any header of that library is included, the name is wrong, or something else is.
    if grep -qE "error: (identifier |use of undeclared identifier )?('|\"|‘)$word" "$1" &&
      ! grep -q "#include <${header%%[/.]*}" "$source_file"; then
      say "  This line is missing: #include <$header>"
    fi
  done <<'END'
cub cub/block/block_reduce.cuh
nvtx nvtx3/nvToolsExt.h
cooperative_groups cooperative_groups.h
__pipeline_ cuda_pipeline_primitives.h
END
  if grep -qE "cudaStream_t.*(size_t|unsigned long)" "$1"; then
    say "  A stream is the fourth between <<< and >>>: <<<grid, block, 0, stream>>>."
  fi
  name=$(sed -n 's/.*calling a __host__ function("\([A-Za-z_][A-Za-z_0-9:]*\).*/\1/p' "$1" | head -n 1)
  name=${name##*:}
  if [[ -z $name ]]; then return; fi
  line=$(grep -nE "^[A-Za-z_].*[ *&]$name\(" "$source_file" | head -n 1)
  line=${line%%:*}
  say_wrapped "  $name is only for the CPU: write __host__ __device__ before it${line:+ (line $line)}."
}

# known_good: a file that nvcc compiles if it works at all: what the exercise began with.
known_good() {
  if [[ -d solutions ]]; then
    echo "solutions/$step_before/$step_before_source"
  else
    echo ".start/$step/$step_source"
  fi
}

# show_warnings: those of the build, one of a kind for each place. They are also worth reading.
show_warnings() {
  grep -E 'warning' "$log" | sed "s#$lab_root/##g" |
    awk -v log_file="${log#"$lab_root"/}" '
      !seen[$1 $NF]++ && ++count <= 20
      END { if (count > 20) print count - 20 " more warnings: " log_file }' || true
}

# why_not_built: says why the program is not there, by the log of its build, and ends the check.
why_not_built() {
  local trouble troubles
  troubles='[^:]*No space left on device|Disk quota exceeded|File size limit exceeded|CPU time limit exceeded'
  troubles+='|virtual memory exhausted|out of memory allocating.*|Killed signal terminated.*|unsupported GNU version.*'
  trouble=$(grep -m 1 -oiE "$troubles" "$log" || true)
  if [[ -n $trouble ]]; then cannot_run_here "the compiler says: $trouble"; fi
  has_space "${log%/*}" || cannot_run_here "no space left in ${log%/*}"
  compiler_words "$log" | errors_first
  # What nvcc refuses as well is a mistake.
  if grep 'CUDA on the CPU does not cover' "$log" | grep -qv 'as nvcc does not'; then
    cannot_run_here "The program may well be right. On a GPU: make check $step_words"
  fi
  if grep -qE 'undefined reference|undefined symbol|ld returned' "$log"; then
    say "$step: does not link: what is named above is declared or called, and defined nowhere"
  else
    # If nvcc takes it, the CPU in place of a GPU lacks something: no mistake of the learner's. (What -fpermissive would
    # allow is one, though nvcc may only warn: a shift by as many bits as the type has. And of too much
    # shared memory, of host code and of a reference to the host's memory nvcc -ptx says nothing.)
    nvcc=$(nvcc_of_build)
    if [[ $backend == cpu && $step_source == *.cu && -x $nvcc ]] && ! grep -qE 'error: .*(\[-fpermissive\]|at most 48 KiB|__device__ alone|give it by value$)' "$log" && nvcc_takes "$source_file" >"$scratch/nvcc" 2>&1; then
      cannot_run_here "nvcc compiles it. CUDA on the CPU lacks what the first error above names (lab/cpu/README.md). On a GPU: make check $step_words"
    fi
    say "$step: does not compile; begin with the first error above"
    advice_on "$log"
  fi
  echo "does not compile" >"$scratch/verdict"
  exit 1
}
