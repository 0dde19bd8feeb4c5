#!/usr/bin/env bash
# Lists what this machine has, what it lacks, and how to get the rest. `make doctor` calls it. It installs and
# changes nothing. Exit code: 0 if you can work with the lab here, with a GPU or without; else 1.
#
# Each line begins with ok, missing (it is not here), or problem (it is here, but does not work for the lab).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/profilers.sh"
step_number=NN # in words that the verbs share

# line STATUS WHAT TEXT [FIX]: one thing, and what to do about it; at most 80 columns.
line() { printf '%-8s %-14s %s\n' "$1" "$2" "$3" ${4:+"" "" "fix: $4"} | wrapped 24; }

# found WHAT TEXT ABSENT FIX: what it is, or ABSENT if TEXT is empty; then it fails.
found() {
  if [[ -n $2 ]]; then line ok "$1" "$2"; else
    line missing "$1" "$3" "$4"
    return 1
  fi
}

# at_least WHAT VERSION LEAST WHERE ABSENT FIX: its version; fails if it is not here, or too old.
at_least() {
  if [[ -n $2 ]] && ! version_at_least "$2" "$3"; then
    line problem "$1" "$2; $3 or newer is needed$4" "$6"
    return 1
  fi
  found "$1" "${2:+$2$4}" "$5" "$6"
}

# quietly SECONDS COMMAND...: its stdout, or nothing; never an error, and not for long.
quietly() { timeout "$@" 2>/dev/null </dev/null || true; }

have() { command -v "$1" >/dev/null; }

begin=exercises/$(awk '/^[0-9]/ { print $1; exit }' "$steps_file")/README.md

cannot_build=()
make_scratch

# What builds.
read -r -a compiler <<<"${CXX:-c++}"
install="make setup (with apt and sudo), or your site's module, such as: module load"
version=$(quietly 30 "${compiler[@]}" --version | head -n 1)
if ! have "${compiler[0]}"; then
  line missing "C++ compiler" "${compiler[0]} is not on the PATH" "$install gcc"
  cannot_build+=("a C++ compiler")
elif echo 'int main() {}' >"$temp/a.cpp" && timeout 120 "${compiler[@]}" -std=c++20 "$temp/a.cpp" -o "$temp/a" >/dev/null 2>&1; then
  line ok "C++ compiler" "${version:-${compiler[*]}}"
else
  line problem "C++ compiler" "${version:-${compiler[*]}}: does not compile C++20" "$install gcc (g++ 11, clang++ 14 or newer)"
  cannot_build+=("a C++ compiler for C++20")
fi

at_least CMake "$(quietly 30 cmake --version | awk 'NR == 1 { print $3 }')" 3.25 "" "3.25 or newer is needed" \
  "$install cmake; or python3 -m pip install --user cmake" || cannot_build+=(CMake)
found make "$(quietly 10 make --version | head -n 1)" "every command of the lab is run by make" "$install make" ||
  cannot_build+=(make)

# The GPU and what is built for it.
nvcc=$(LAB_NVCC=$(command -v "${CUDACXX:-nvcc}") find_tool nvcc) || true
toolkit=${nvcc:+$(quietly 30 "$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')}
at_least "CUDA Toolkit" "$toolkit" 12 "${nvcc:+ ($nvcc)}" "no nvcc found, so the CPU runs the kernels" \
  "module load cuda, or https://developer.nvidia.com/cuda-downloads (12 or 13)" || toolkit=""

driver_cuda="" gpus="" gpu_usable=0
if ! have nvidia-smi; then
  line missing driver "no nvidia-smi, so no NVIDIA driver here" \
    "on a cluster, srun --gpus=1 make doctor (a node with a GPU); in a container, --gpus all"
else
  smi=$(quietly 30 nvidia-smi)
  driver_cuda=$(sed -n 's/.*CUDA Version *:* *\([0-9][0-9.]*\).*/\1/p' <<<"$smi" | head -n 1)
  driver=$(sed -n 's/.*Driver Version *:* *\([0-9][0-9.]*\).*/\1/p' <<<"$smi" | head -n 1)
  if ! gpu_here; then
    line problem driver "nvidia-smi sees no GPU (${driver:-the driver does not answer})" \
      "srun --gpus=1 make doctor (a node with a GPU); or see dmesg: is the kernel module loaded?"
  elif [[ -n $toolkit && ${toolkit%%.*} -gt ${driver_cuda%%.*} ]]; then
    line problem driver "$driver is for CUDA $driver_cuda: what toolkit $toolkit builds cannot run" \
      "a toolkit ${driver_cuda%%.*} (module avail cuda), or a newer driver"
  else
    line ok driver "$driver, for CUDA up to $driver_cuda"
    gpu_usable=1
  fi
  if gpu_here; then
    gpus=$(quietly 30 nvidia-smi --query-gpu=name,compute_cap,memory.total,memory.free,mig.mode.current --format=csv,noheader)
  fi
fi
# Two fields of the largest step, and what CUDA takes for itself, in MiB.
needed=$(awk -F '\t' '/^[0-9]/ && $4 > n { n = $4 } END { printf "%d", 8 * n * n / 1048576 + 600 }' "$steps_file")
k=0
while IFS=, read -r name capability total free mig; do
  [[ -n $name ]] || continue
  capability=${capability// /} total=${total//[!0-9]/} free=${free//[!0-9]/} mig=${mig// /}
  least=6.0
  if [[ ${toolkit%%.*} == 13 ]]; then least=7.5; fi
  if ! version_at_least "$capability" $least; then
    line problem "GPU $k" "$name, compute capability $capability: ${toolkit:+toolkit $toolkit }needs $least or more" \
      "a newer GPU${toolkit:+, or toolkit 12, which supports 6.0 and later}"
    gpu_usable=0
  else
    line ok "GPU $k" "$name, compute capability $capability"
  fi
  # Of a slice, or where the GPU has the host's memory, nvidia-smi may know no number.
  if [[ -z $free || -z $total ]]; then :; elif ((free < needed)); then
    line problem "  memory" "$free of $total MiB free; the largest step takes $needed MiB" \
      "nvidia-smi shows who uses it; or choose a smaller --n"
  else
    line ok "  memory" "$free of $total MiB free"
  fi
  if [[ $mig == Enabled ]]; then
    line problem "  MIG" "cut into slices: correct results, but a slice's bandwidth, and perhaps no counters" \
      "ask for a whole GPU to measure on"
  fi
  k=$((k + 1))
done <<<"$gpus"

# Profilers, and whether they may count.
nsys=$(find_tool nsys) || true
found nsys "${nsys:+$(profiler_version "$nsys") ($nsys)}" "Nsight Systems; make trace shows most of the same" \
  "module avail nsight, or package nsight-systems" || true
ncu=$(find_tool ncu) || true
found ncu "${ncu:+$(profiler_version "$ncu") ($ncu)}" "Nsight Compute; make count works without it" \
  "module avail nsight, or package nsight-compute" || true

# Whether the driver, or this process's capabilities (CAP_SYS_ADMIN is bit 21), let it read counters.
if [[ -n $gpus ]]; then
  params=$system_root/proc/driver/nvidia/params
  effective=$(awk '/^CapEff:/ { print $2 }' "$system_root/proc/self/status" 2>/dev/null || true)
  if grep -qs '^RmProfilingAdminOnly: 0' "$params" || ((16#${effective:-0} >> 21 & 1)); then
    line ok "may count" "the driver lets you read hardware counters"
  elif [[ ! -r $params ]]; then
    line problem "may count" "unknown: there is no /proc/driver/nvidia/params here" "try: make ncu STEP=06"
  else
    line problem "may count" "hardware counters are for administrators (RmProfilingAdminOnly)" \
      "an administrator sets: options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, and reboots; in a \
container, --cap-add=SYS_ADMIN; on a cluster, ask the operators. make trace and make count need no counters"
  fi
fi

# For more than one GPU.
mpi=$(command -v mpirun || command -v mpiexec) || true
found MPI "${mpi:+$(quietly 20 "$mpi" --version | head -n 1) ($mpi)}" "only needed for several GPUs (steps from 14 on)" \
  "module load openmpi, or package libopenmpi-dev" || true
nccl=$(newest "${NCCL_HOME:-/nowhere}"/{lib,lib64}/libnccl.so* "${EBROOTNCCL:-/nowhere}"/lib/libnccl.so* \
  "$system_root"/usr/lib/{x86_64,aarch64}-linux-gnu/libnccl.so* "$system_root"/usr/lib64/libnccl.so* \
  "$system_root"/usr/local/cuda/lib64/libnccl.so* "${NVHPC_ROOT:-/nowhere}"/comm_libs/nccl/lib/libnccl.so* | head -n 1)
found NCCL "$nccl" "only needed for several GPUs (steps from 14 on)" "module load nccl, or package libnccl-dev" || true

# What prints and draws.
at_least Python "$(quietly 20 python3 -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')" 3.9 "" \
  "for guides, counts, progress and reports" "module load python, or package python3" || true
found git "$(quietly 10 git --version)" "make reset and make diff use it" "package git" || true

folder=$build_dir
until [[ -d $folder ]]; do folder=$(dirname "$folder"); done
free=$(df -Pm "$folder" 2>/dev/null | awk 'NR == 2 { print $4 }')
if [[ ! -w $folder ]]; then
  line problem disk "$folder cannot be written" "choose another build folder: export LAB_BUILD_DIR=/scratch/..."
  cannot_build+=("a folder to build in")
elif [[ $free =~ ^[0-9]+$ ]] && ((free < 1000)); then
  line problem disk "$free MB free in $folder; a build takes up to 1 GB" \
    "choose another build folder: export LAB_BUILD_DIR=/scratch/..."
else
  line ok disk "${free:-unknown} MB free in $folder"
fi

# Partition, generic resources, nodes: those with a GPU.
partitions=$(quietly 30 sinfo -h -o '%P %G %D' | awk '/gpu/ {
  sub(/\*$/, "", $1)
  sub(/\(S:.*/, "", $2)
  print $1 " (" $2 ", " $3 ($3 == 1 ? " node)" : " nodes)")
}' | sort -u | head -n 8 | awk '{ printf "%s%s", (NR > 1 ? ", " : ""), $0 }')
if [[ -n $partitions ]]; then
  line ok Slurm "partitions with GPUs: $partitions. Name yours in scripts/slurm/site.sh"
fi

say ""
if ((${#cannot_build[@]} > 0)); then
  list=$(printf '%s, ' "${cannot_build[@]}")
  say_wrapped "The lab cannot be built here yet. First: ${list%, }."
  exit 1
elif [[ -n $toolkit ]] && ((gpu_usable)); then
  say "Ready, with a GPU. Begin with: $begin"
else
  say "Ready, without a GPU: the CPU runs the kernels (results and races, no times)."
  if [[ -n $toolkit ]]; then say "The toolkit builds for nodes that have a GPU."; fi
  say "Begin with: $begin"
fi
