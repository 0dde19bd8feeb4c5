# shellcheck shell=bash
# A machine of the tests' own: a PATH with the usual tools and nothing of NVIDIA's, of Slurm's or of a build's,
# to which programs that only pretend are added. Source it after lib.sh, and call make_temp first.
# shellcheck disable=SC2154  # temp, source_dir

# make_stubs: makes $temp/tools (the PATH from then on), $temp/root (LAB_SYSTEM_ROOT) and $temp/build.
make_stubs() {
  local tool
  mkdir -p "$temp/tools" "$temp/stubs" "$temp/root" "$temp/build"
  for tool in awk basename bash cat chmod cmp cp cut date df diff dirname env expand find grep head id kill ln make mkdir mktemp mv \
    nproc printf ps readlink rm sed sha256sum sh sleep sort stat tail tee timeout touch tr uname wc; do
    ln -s "$(type -P "$tool")" "$temp/tools/$tool"
  done
  ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$temp/tools/python3"
  export PATH=$temp/stubs:$temp/tools LAB_SYSTEM_ROOT=$temp/root LAB_BUILD_DIR=$temp/build
  unset CUDA_HOME NVHPC_ROOT LAB_NSYS LAB_NCU BASELINE
  unset REPORT KERNEL SET ITERATIONS
}

# stub NAME: a program of that name, on the PATH, with stdin as its body.
stub() {
  { printf '#!%s\n' "$(type -P bash)" && cat; } >"$temp/stubs/$1"
  chmod +x "$temp/stubs/$1"
}

# stub_build: a cmake that builds nothing, and says that every program can be built, and was.
stub_build() {
  mkdir -p "$temp/build/lab"
  touch "$temp/build/lab/liblab.a"
  stub cmake <<END
case \$1 in
  --version) echo "cmake version 3.30.0" ;;
  -S)
    echo "-- CUDA 13.0.88, architectures 90: a stub"
    awk '/^[0-9]/ { print "solution_" \$1; print "exercise_" \$1 }' "$source_dir/lab/steps.tsv" >"$temp/build/step_targets.txt"
    touch "$temp/build/CMakeCache.txt"
    ;;
esac
END
  stub c++ <<<'echo "c++ (stub) 13.2.0"'
}

# stub_gpu: an nvidia-smi with one GPU.
stub_gpu() {
  stub nvidia-smi <<'END'
case "$*" in
  *--list-gpus* | -L) echo "GPU 0: NVIDIA H200 (UUID: GPU-0)" ;;
  *query-gpu=name,driver_version\ * | *query-gpu=name,driver_version) echo "NVIDIA H200, 580.159.04" ;;
  *query-gpu=name,compute_cap*) echo "NVIDIA H200, 9.0, 143771 MiB, ${STUB_FREE:-143000} MiB, ${STUB_MIG:-Disabled}" ;;
  *query-gpu=*) exit 1 ;;
  *) echo "| NVIDIA-SMI 580.159.04   Driver Version: 580.159.04   CUDA Version: ${STUB_CUDA:-13.0} |" ;;
esac
END
}
