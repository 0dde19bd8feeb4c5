# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of lib.sh and of the scripts
# The build folder: configured, built, one verb at a time; and where kernels run. lib.sh brings it.

# locked COMMAND...: runs it while no other verb configures or builds in this build folder.
locked() {
  (
    exec 9>"$build_dir/.lock"
    status=0
    # Without flock, or on a file system without locks, it runs without a lock.
    flock --nonblock 9 2>/dev/null || status=$?
    if ((status == 1)); then
      doing
      printf '%s\n' "${0##*/}: another make builds in ${build_dir#"$lab_root"/}: waiting for it" >&2
      flock 9 2>/dev/null || true
    fi
    # Only this shell holds the lock: what a compiler leaves running holds none.
    "$@" 9>&-
  )
}

# watched LOG COMMAND...: all that it says goes to LOG. On a terminal one line shows how far a build is meanwhile.
watched() {
  local log=$1 status=0 watcher=""
  shift
  if [[ -t 2 ]]; then
    show_progress "$log" >/dev/null &
    watcher=$!
  fi
  "$@" >"$log" 2>&1 || status=$?
  if [[ -n $watcher ]]; then
    { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
    doing
  fi
  return "$status"
}

# newest_of LOG: the newest "[12/84]" or "[ 14%]" that the build tool wrote there, or nothing.
newest_of() { tail -c 4096 "$1" 2>/dev/null | grep -aoE '^\[ *[0-9]+(/[0-9]+|%)\]' | tail -n 1 || true; }

# bar MARK: such a mark with a bar before it: "#######............. [30/84]".
bar() {
  local at=${1//[^0-9\/]/} of=100 full
  if [[ $at == */* ]]; then of=${at#*/} at=${at%/*}; fi
  full=$((20 * 10#$at / 10#$of))
  printf '%.*s%.*s %s\n' "$full" "####################" $((20 - full)) "...................." "$1"
}

# show_newest LOG: shows that of the log.
show_newest() {
  local newest
  newest=$(newest_of "$1")
  if [[ -n $newest ]]; then doing "building $(bar "$newest")"; fi
}

# show_progress LOG: does so until it is ended, or the script is gone.
show_progress() { while sleep 0.3 && kill -0 $$ 2>/dev/null; do show_newest "$1"; done; }

# compiler_words LOG: what the compiler said there, without what the build tool says around it.
compiler_words() {
  grep -avE '^(\[|ninja: build stopped|FAILED: |gmake|make)|^(cd .*|:) && |^/[^:]*(nvcc|c\+\+|g\+\+|cuda_to_cpp) ' "$1" |
    sed "s#$lab_root/##g" || true
}

# show_log LOG: that, or what CMake said there; and whether it had space to say it.
show_log() {
  compiler_words "$1" >&2
  has_space "${1%/*}" || printf '%s\n' "${0##*/}: no space left in ${1%/*}" >&2
}

# errors_first: the compiler's words on stdin, what it says of errors before what it says of warnings.
errors_first() {
  awk '
    function put() { if (kind == "warning") later = later text; else printf "%s", text; text = kind = "" }
    # The way through templates, of which the last line is in the program itself.
    /: In (instantiation|substitution) of |: +(recursively )?required (by|from)/ && !/required from here/ { next }
    # Of what follows: where it is, and through which files it came.
    /: (In|At) [a-z]|^In file included|^ +from / { if (kind != "") put(); text = text $0 "\n"; next }
    match($0, /: (fatal )?(error|warning): |[(][0-9]+[)]: (error|warning)/) {
      if (kind != "") put()
      kind = substr($0, RSTART, RLENGTH) ~ /error/ ? "error" : "warning"
    }
    NF { text = text $0 "\n" }
    END { put(); printf "%s", later }'
}

# of_the_lab: whether the build folder has been configured, and for the lab.
of_the_lab() { grep -qsx 'CMAKE_PROJECT_NAME:STATIC=jacobi_porting_lab' "$build_dir/CMakeCache.txt"; }

# forget_moved: CMake keeps absolute paths. If the build folder or the lab was moved, everything is built again; what was
# built stays until then.
forget_moved() {
  local cache=$build_dir/CMakeCache.txt of here
  of_the_lab || return 0
  of=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  here=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache")
  if [[ -z $of || -z $here ]] || [[ $of -ef $lab_root && $here -ef $build_dir ]]; then return 0; fi
  doing
  say "The lab or its build folder was moved since it was built (in $here): everything is built again" >&2
  find "$build_dir" -name CMakeFiles -type d -prune -exec rm -rf {} +
  rm -f "$cache"
}

# run_cmake ARGUMENT...: for configure, locked. Its log is there whole or not at all: other verbs read it.
run_cmake() {
  local log=$build_dir/configure.log status=0
  local -a generator=()
  forget_moved
  # In a compiler's list of headers Ninja (1.11) ends a name at other characters than these, such as ', and then builds
  # everything again each time.
  if [[ ! -f $build_dir/CMakeCache.txt && $lab_root$build_dir =~ ^[[:alnum:]\ +,/_:.~@=%\$-]*$ ]] &&
    command -v ninja >/dev/null; then
    generator=(-G Ninja)
  fi
  watched "$log.new" cmake -S "$lab_root" -B "$build_dir" "${generator[@]}" "$@" || status=$?
  if ((status)); then show_log "$log.new"; fi
  mv -f "$log.new" "$log"
  return "$status"
}

# what_decides: all that decides what CMake finds, as text: the machine, the environment, tools, places where packages put
# things, and which steps there are.
what_decides() {
  printf '%s\n' "$HOSTNAME" "$lab_root" "$lab_root"/{exercises,solutions}/*/*.c{pp,u} /dev/nvidia[0-9]*
  env | grep -E '^(PATH|CC|CXX|C[A-Z]*FLAGS|LDFLAGS|(CUDA|NVCC|NVHPC|NCCL|MPI|OMPI|CMAKE|GTest|LAB_CMAKE)[A-Za-z_]*)=' | sort
  # shellcheck disable=SC2046  # names of commands
  stat -L -c '%n %i %y' $(type -P cmake make ninja c++ "${CXX:-c++}" nvcc mpicxx nvidia-smi) /usr/local/cuda/bin/nvcc \
    /usr/include /usr/local/{include,lib} /usr/lib/*-linux-gnu "$steps_file" "$clinic_file" 2>/dev/null
}

# cmake_found WHAT: whether it did: CUDA, or MPI.
cmake_found() { grep -qsE "^-- $1 [0-9]" "$build_dir/configure.log"; }

# configure: makes the build folder ready. What CMake says is shown only if it fails. all_steps=1: it is for all of them.
configure() {
  local needed=--needed log=$build_dir/configure.log known=$build_dir/configured_for
  if ((${step_ranks:-0} || ${all_steps:-0})); then needed=--ranks; fi
  # If none of it has changed, nor CMake's own files, at which the build looks, there is nothing to do.
  if ((${all_steps:-0})) || ! cmp -s <(what_decides) "$known" || ! of_the_lab ||
    { [[ $needed == --ranks ]] && ! cmake_found MPI; }; then
    "$lab_root/scripts/verbs/setup.sh" "$needed"
    # Only now is it known how the exercises were handed out.
    if [[ ! -e $lab_root/.start ]]; then "$lab_root/scripts/lib/start.sh" --keep; fi
    local -a extra
    # For sites and CI: further arguments to CMake, separated by blanks.
    read -r -a extra <<<"${LAB_CMAKE_ARGS:-}"
    { mkdir -p "$build_dir" && [[ -w $build_dir ]]; } 2>/dev/null ||
      die "$exit_cannot_write" "$build_dir: cannot be written; LAB_BUILD_DIR names another folder to build in"
    doing configuring
    rm -f "$known"
    locked run_cmake "${extra[@]}" || die 1 "CMake could not configure the build; its messages are above. make clean forgets what it found before"
    what_decides >"$known" || true
  fi
  doing
  grep -E '^-- CUDA ' "$log" | sed 's/^-- //' || true
  if ((${step_ranks:-0})) && ! cmake_found MPI; then
    die "$exit_no_gpu" "$step: skipped: it needs MPI, and none was found: make setup, or your site's module (such as: module load openmpi)"
  fi
}

# gpu_here: whether this machine has an NVIDIA GPU, as far as can be told before a program runs on it.
gpu_here() {
  if command -v nvidia-smi >/dev/null; then
    grep -q '^GPU ' <<<"$(timeout 30 nvidia-smi --list-gpus 2>/dev/null)"
  else
    [[ -e /dev/nvidia0 ]]
  fi
}

# read_backend: sets backend to gpu, cpu or auto, from $BACKEND.
read_backend() {
  backend=${BACKEND:-auto}
  [[ $backend =~ ^(gpu|cpu|auto)$ ]] || die "$exit_bad_usage" "BACKEND=$backend: must be gpu or cpu"
}

# choose_backend: sets backend to "gpu", or to "cpu" if the step's kernels run on the CPU instead of
# a GPU (lab/cpu): if there is no GPU, or no nvcc, and says so; or if BACKEND asks for it. After configure.
choose_backend() {
  read_backend
  if [[ $backend != auto ]]; then return; fi
  backend=cpu
  if ! cmake_found CUDA; then
    say "No nvcc here: the CPU runs the kernels instead of a GPU (results, no times)"
  elif ! gpu_here; then
    say "No GPU here: the CPU runs the kernels instead (results, no times)"
  else
    backend=gpu
  fi
}

# build_watched LOG TARGET...: builds them on all cores, with all that the build says in LOG; returns its status. A first
# build, which takes long, is announced. On a terminal one line shows how far it is.
build_watched() {
  local log=$1
  shift
  if [[ ! -e $build_dir/lab/liblab.a ]]; then
    doing
    printf '%s\n' "building ... (the first build takes a minute or two)" >&2
  fi
  doing building
  locked watched "$log" cmake --build "$build_dir" --parallel "$(nproc)" --target "$@"
}

# build_targets TARGET...: builds them. If that fails, the compiler's words are shown, without the build tool's.
build_targets() {
  build_watched "$build_dir/build.log" "$@" || { show_log "$build_dir/build.log"; return 1; }
}

# build_step: builds the program of read_step and read_which for where its kernels run; sets backend, target and ranks.
build_step() {
  need_source
  backend=gpu target=${which}_$step_target
  ranks_of_run # RANKS that cannot be is told now, not after the build
  configure >/dev/null
  if [[ $step_needs == cuda ]]; then choose_backend; fi
  if [[ $backend == cpu ]]; then target+=_cpu; fi
  have_target "$target" || die "$exit_no_gpu" "$step cannot be built here for a GPU: no nvcc was found"
  build_targets "$target" || die 1 "$source_file does not compile; the compiler's messages are above"
  ranks_of_run
}

# trace_to TABLE: sets variables to those with which a program leaves a table of its ranges and its calls there: on a GPU the
# tracer writes it, which is built; elsewhere the lab's own NVTX, and CUDA on the CPU.
trace_to() {
  local library=$build_dir/lib/liblab_trace.so
  variables=("LAB_TRACE_TSV=$1")
  if [[ $backend == gpu ]] && cmake_found CUDA; then
    build_targets lab_trace || die 1 "the tracer does not build; the compiler's messages are above"
    variables+=("CUDA_INJECTION64_PATH=$library" "NVTX_INJECTION64_PATH=$library")
  fi
}

# have_target NAME: whether this build has the step's program (without CUDA it lacks some).
have_target() {
  grep -qx "$1" "$build_dir/step_targets.txt"
}
