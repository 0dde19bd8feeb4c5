#!/usr/bin/env bash
# `make doctor` on machines that only pretend: with nothing at all, with a GPU that may be profiled, with each
# thing that goes wrong.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/stubs.sh"
need python3 timeout
make_temp
make=$(type -P make)
make_stubs
unset CXX CUDACXX SLURM_JOB_ID NCCL_HOME EBROOTNCCL
doctor() {
  run "$source_dir/scripts/verbs/doctor.sh"
  narrow "the doctor"
  [[ -z $err ]] || show "the doctor says something on stderr"
}

# Nothing is installed, not even make and Python.
rm "$temp/tools/make" "$temp/tools/python3"
doctor
expect_status 1 "nothing installed"
for what in 'C\+\+ compiler' CMake make 'CUDA Toolkit' driver nsys ncu MPI NCCL Python git; do
  expect "^missing  $what " "nothing installed"
done
expect '^ +fix: make setup ' "nothing installed"
expect '^The lab cannot be built here yet. First: a C\+\+ compiler, CMake, make\.$' "nothing installed"

# Before anything is built all of it is named at once, and the command that installs it.
for mode in --ranks --tests; do
  run "$source_dir/scripts/verbs/setup.sh" $mode
  expect_status 1 "setup.sh $mode"
  [[ -z $out && $err == "setup.sh: missing: a C++ compiler, cmake, make, python3, git, MPI"*". Run \`make setup\` "*" g++ cmake make python3 git "* ]] ||
    show "setup.sh $mode, nothing installed"
done
run "$source_dir/scripts/verbs/measure/run.sh"
expect '^setup.sh: missing: a C\+\+ compiler, cmake, make, python3, git, MPI, mpirun\.' "make run, nothing installed"
[[ $status == 1 && -z $out ]] || show "make run, nothing installed"

# The commands that every verb calls. (The doctor cannot look without them, either.)
for verb in doctor progress handout; do
  for tool in awk cmp sort; do
    mv "$temp/tools/$tool" "$temp/"
    UPTO=04 run "$(find "$source_dir"/scripts/{verbs,publish} -name "$verb.sh")"
    expect_status 1 "$verb without $tool"
    [[ -z $out && $err == "$verb.sh: missing: $tool (on Debian and Ubuntu in the packages "* ]] ||
      show "$verb without $tool: one line"
    mv "$temp/$tool" "$temp/tools/"
  done
done
# Python.
for verb in report tables; do
  run "$make" --no-print-directory -C "$source_dir" $verb
  expect_status 2 "$verb without Python"
  expect "^make $verb: python3 is missing: package python3\$" "$verb without Python"
  expect 'Error 77$' "$verb without Python"
done
# A GPU: told before anything is built.
stub nvidia-smi <<<'exit 9' # it sees none, also where there is one
run "$source_dir/scripts/verbs/measure/bandwidth.sh"
expect_status 77 "bandwidth without a GPU"
[[ -z $out && $err == "bandwidth.sh: there is no NVIDIA GPU here "* ]] || show "bandwidth without a GPU: one line"
rm "$temp/stubs/nvidia-smi"

# What root is installed with apt: MPI where all steps are wanted, and no failure if it cannot be had.
if ((EUID == 0)); then
  stub make <<<'echo "GNU Make 4.3"'
  stub_build
  # shellcheck disable=SC2016
  stub apt-get <<<'echo "$*" >>"$0.log"; [[ $1 == update ]]'
  run "$source_dir/scripts/verbs/setup.sh" --needed
  expect_status 0 "setup.sh --needed"
  [[ -z $out$err && ! -e $temp/stubs/apt-get.log ]] || show "setup.sh --needed: all is there but MPI, which it does not want"
  run "$source_dir/scripts/verbs/setup.sh" --ranks
  expect_status 0 "setup.sh --ranks"
  expect '^installing python3 git libopenmpi-dev openmpi-bin with apt' "setup.sh --ranks"
  grep -q 'install .* libopenmpi-dev openmpi-bin$' "$temp/stubs/apt-get.log" || fail "setup.sh --ranks: apt was not asked for MPI"
  rm "$temp/stubs/apt-get" "$temp/stubs/make"
fi

# A laptop without a GPU.
stub_build
stub make <<<'echo "GNU Make 4.3"'
doctor
expect_status 0 "a laptop"
expect '^ok       CMake          3\.30\.0$' "a laptop"
expect '^Ready, without a GPU' "a laptop"
expect '^Begin with: exercises/00_serial/README\.md$' "a laptop: the first thing to do"
run "$make" --no-print-directory -C "$source_dir"
expect 'Begin with: exercises/00_serial/README\.md$' "make alone names the same"
sed -n '/^## Begin here/,/^## How/p' "$source_dir/README.md" | grep -q '(exercises/00_serial/README\.md)' || fail "README.md names another beginning"

# A compiler or a CMake that will not do.
stub c++ <<<'case "$*" in --version) echo "c++ 4.8" ;; *) exit 1 ;; esac'
doctor
expect_status 1 "an old compiler"
expect '^problem  C\+\+ compiler   c\+\+ 4.8: does not compile C\+\+20$' "an old compiler"
stub_build
stub cmake <<<'echo "cmake version 3.16.3"'
doctor
expect_status 1 "an old CMake"
expect '^problem  CMake          3\.16\.3; 3\.25 or newer is needed$' "an old CMake"

# A node with a GPU, and everything.
stub_build
stub_gpu
# shellcheck disable=SC2016  # expanded when it runs
stub nvcc <<<'echo "Cuda compilation tools, release ${STUB_TOOLKIT:-13.0}, V13.0.88"'
stub nsys <<<'echo "NVIDIA Nsight Systems version 2025.3.1.0-253135822"'
stub ncu <<END
case \$1 in
  --version) echo "Version 2025.3.1.0 (build 1)" ;;
  *) cat "$temp/ncu_says" ;;
esac
END
stub mpirun <<<'echo "mpirun (Open MPI) 4.1.4"'
stub git <<<'echo "git version 2.39.5"'
# The PATH's tools are links to it, so Python is named anew.
stub python3 <<<'echo 3.11.7'
mkdir -p "$temp/root/usr/lib64" "$temp/root/proc/driver/nvidia" "$temp/root/proc/self"
touch "$temp/root/usr/lib64/libnccl.so.2"
params=$temp/root/proc/driver/nvidia/params
echo "RmProfilingAdminOnly: 0" >"$params"
doctor
expect_status 0 "a node with a GPU"
expect_no '^(missing|problem) ' "a node with a GPU"
expect '^ok       GPU 0          NVIDIA H200, compute capability 9\.0$' "a node with a GPU"
expect '^ok         memory       143000 of 143771 MiB free$' "a node with a GPU"
expect '^ok       may count      the driver lets you' "a node with a GPU"
expect '^ok       nsys           2025\.3\.1\.0 ' "a node with a GPU"
expect '^Ready, with a GPU\. Begin with: exercises/00_serial/README\.md$' "a node with a GPU"

# Python 3.8 lacks what labtools calls.
stub python3 <<<'echo 3.8.10'
doctor
expect '^problem  Python         3\.8\.10; 3\.9 or newer is needed$' "an old Python"
stub python3 <<<'echo 3.11.7'

# Counters: only for administrators; and again as an administrator.
echo "RmProfilingAdminOnly: 1" >"$params"
printf 'CapEff:\t00000000a80425fb\n' >"$temp/root/proc/self/status"
doctor
expect_status 0 "no counters"
expect '^problem  may count      hardware counters are for administrators$' "no counters"
expect 'NVreg_RestrictProfilingToAdminUsers=0' "no counters"
expect 'cap-add=SYS_ADMIN' "no counters"
printf 'CapEff:\t000001ffffffffff\n' >"$temp/root/proc/self/status"
doctor
expect '^ok       may count      the driver lets you' "an administrator"

# Toolkit and driver; memory; slices; no GPU; a driver that does not answer.
STUB_CUDA=12.4 doctor
expect '^problem  driver         580\.159\.04 is for CUDA 12\.4: what toolkit 13\.0 builds$' "a toolkit newer than the driver"
expect '^ +fix: a toolkit 12 ' "a toolkit newer than the driver"
expect '^Ready, without a GPU' "a toolkit newer than the driver"
STUB_TOOLKIT=12.0 STUB_CUDA=12.4 doctor
expect '^ok       driver ' "a toolkit older than the driver"
STUB_TOOLKIT=11.8 doctor
expect '^problem  CUDA Toolkit   11\.8; 12 or newer is needed' "an old toolkit"
STUB_FREE='[N/A]' doctor
expect_status 0 "memory of which nothing is known"
expect_no '^[a-z]+ +memory ' "memory of which nothing is known"
STUB_FREE=300 doctor
expect '^problem    memory       300 of 143771 MiB free' "a GPU in use"
STUB_MIG=Enabled doctor
expect '^problem    MIG          cut into slices' "MIG"
expect_status 0 "MIG"
stub nvidia-smi <<<'echo "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver."; exit 9'
doctor
expect_status 0 "a driver that does not answer"
expect_no '^ok       GPU' "a driver that does not answer"
expect '^problem  driver         nvidia-smi sees no GPU \(the driver does not answer\)$' "a driver that does not answer"

# A full disk, Slurm.
stub df <<<'printf "%s\n" "Filesystem 1048576-blocks Used Available Capacity Mounted" "/dev/a 10000 9950 50 99% /"'
stub sinfo <<<'printf "%s\n" "cpu* (null) 40" "gpu* gpu:h100:4(S:0-1) 12" "dev gpu:a100:2 1"'
doctor
expect '^problem  disk           50 MB free in ' "a full disk"
expect '^ok       Slurm          partitions with GPUs: dev \(gpu:a100:2, 1 node\), gpu$' "Slurm"

finish "make doctor"
