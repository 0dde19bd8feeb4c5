#!/usr/bin/env bash
# Jobs of several ranks, by real MPI, with the CPU in place of their GPUs: right at sizes at which a rank has just
# its halo, with every way to check, and on two nodes; a rank that dies, that hangs, or that was started with other
# options ends the job within seconds, with one line that names it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$source_dir/scripts/tests/planted_bugs_common.sh"
need_build
need pgrep
unset LAB_MPIRUN LAB_HALOS LAB_EXCHANGE_SECONDS LAB_CPU_ORDER RANKS OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent
make_temp

# Open MPI is told of an agent only if it would find none, and what the user has set stays. Any version.
mkdir "$temp/tools" "$temp/ssh_here"
for tool in bash env; do ln -s "$(type -P $tool)" "$temp/tools/"; done
printf '#!/bin/sh\n' >"$temp/ssh_here/ssh"
chmod +x "$temp/ssh_here/ssh"
sed "s#@MPIEXEC_EXECUTABLE@#$temp/mpirun#" "$source_dir/lab/cmake/ranks.sh.in" >"$temp/start_ranks"
cat >"$temp/mpirun" <<'END'
#!/usr/bin/env bash
if [[ $1 == --version ]]; then echo "$MPI" && exit; fi
echo "agents ${OMPI_MCA_plm_rsh_agent-none} ${PRTE_MCA_plm_ssh_agent-none}"
END
chmod +x "$temp/start_ranks" "$temp/mpirun"
agents() { # agents WANTED [NAME=VALUE...]
  run env PATH="$temp/tools" MPI="mpirun (Open MPI) 5.0.3" "${@:2}" bash "$temp/start_ranks" 2 true
  [[ $out == "agents $1" ]] || show "agents with ${*:2}: should be $1"
}
agents '/bin/false /bin/false'
agents '/bin/false /bin/false' MPI="OpenRTE 4.1.4"
agents 'none none' PATH="$temp/tools:$temp/ssh_here"
agents '/opt/qrsh /bin/false' OMPI_MCA_plm_rsh_agent=/opt/qrsh
agents '/bin/false /opt/qrsh' PRTE_MCA_plm_ssh_agent=/opt/qrsh
agents 'none none' MPI="HYDRA build details:"
agents 'none none' LAB_MPIRUN="$temp/mpirun"
((failures == 0)) || finish "how jobs are started"

step=$(awk -F '\t' '$3 == "ranks" { print $1; exit }' "$source_dir/lab/steps.tsv")
program=$build_dir/bin/solution_${step}_cpu
start_job=$build_dir/bin/ranks
[[ -x $program && -x $start_job ]] || skip "$program is not there: this build has no MPI, or the lab no solutions"
levels=$(sed -n 's/^constexpr int kLevels = \([0-9]*\);.*/\1/p' "$source_dir/solutions/$step/jacobi.cu")
[[ -n $levels ]] || fail "$step: no kLevels was found: the test is at fault"

# Right, at a size at which each rank has as many rows as the halo.
small=$((4 * levels))
run "$build_dir/bin/validate" --ranks 4 --problem probe --n $small "$program"
expect_status 0 "n = $small on 4 ranks"
expect ': right: [0-9]+ runs, .*bit for bit, residuals within rounding$' "n = $small on 4 ranks"
# One rank takes any n; so does a program that is started without MPI.
run "$build_dir/bin/validate" --ranks 1 --n 3 "$program"
expect_status 0 "n = 3 on one rank"
run "$build_dir/bin/validate" --problem probe --n 34 "$program"
expect_status 0 "without a launcher"
# The records of different numbers of ranks are the same, row hashes too.
for r in 1 3; do
  run "$start_job" $r "$program" --n 150 --iterations 40 --problem probe --quiet --record "$temp/$r" --record-field rows
  expect_status 0 "row hashes, $r ranks"
done
cmp -s "$temp/1/rows.csv" "$temp/3/rows.csv" || fail "the row hashes of 1 and 3 ranks differ"
grep -q '"ranks": 3,' "$temp/3/run.json" || fail "run.json does not say how many ranks there were:" "$(<"$temp/3/run.json")"

name=$step
run "$start_job" 2 "$program" --help
expect_status 0 "--help"
[[ $(grep -c -- '--iterations K' <<<"$out") == 1 ]] || show "--help should be printed once"
run "$start_job" 3 "$program" --n 2
one_line 2 "^$name: --n 2: must be a whole number from 3 " "bad usage"
run "$start_job" 4 "$program" --n $((small - 1))
one_line 2 "^$name: n = $((small - 1)) has too few rows for 4 ranks: each needs $levels, .*; this n allows at most 3 ranks" \
  "too many ranks"
LAB_EXCHANGE_SECONDS=0 run "$start_job" 2 "$program" --n 100
one_line 2 "^$name: LAB_EXCHANGE_SECONDS=0: must be " "a bad time limit"
LAB_HALOS=pigeon run "$start_job" 2 "$program" --n 100
one_line 2 "^$name: LAB_HALOS=pigeon: must be " "a bad way for halos"
run "$start_job" 2 "$program" --n 1000000 --iterations 1
one_line 5 "^$name: n = 1000000 on 2 ranks needs [0-9.]+ GB of GPU memory in each, .* the largest n that fits is [0-9]+$" \
  "a field that does not fit"
run "$start_job" 2 "$program" --n 100 --iterations 1 --record /proc/nowhere
one_line 4 "^$name: (rank 0: )?--record /proc/nowhere: " "a record that cannot be written"
# A job that refuses its size is not right, though so few rows per rank are no mistake among other sizes.
printf '#!/bin/sh\nexit 2\n' >"$temp/refuses"
chmod +x "$temp/refuses"
LAB_MPIRUN="env" run "$build_dir/bin/validate" --ranks 4 --n 84 --problem probe "$temp/refuses"
expect_status 1 "a job that refuses its size"
# A signal to one rank of three (or of four on two nodes), in the middle of the run.
strike() { # strike SIGNAL RANK
  local pid="" many=3
  if [[ -n ${LAB_MPIRUN:-} ]]; then many=4; fi
  status=0
  "$start_job" $many "$program" --n 200 --iterations 1000000 --quiet >"$temp/out" 2>"$temp/err" &
  local job=$!
  for ((k = 0; k < 20 * $(patience 15); ++k)); do
    for pid in $(pgrep -f "^$program --n 200" || true); do
      if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$2"; then break 2; fi
    done
    pid=""
    sleep 0.05
  done
  [[ -n $pid ]] || skip "no rank $2 was found: this MPI is none that the test knows"
  sleep 1 # past the start of MPI
  kill -"$1" "$pid"
  local began=$SECONDS
  wait "$job" || status=$?
  seconds=$((SECONDS - began))
  kill -KILL "$pid" 2>/dev/null || true
  out=$(<"$temp/out") err=$(<"$temp/err")
  said=$out$'\n'$err
  ((seconds <= $(patience 15))) || fail "$1 to rank $2: the job went on for $seconds s"
  if pgrep -f "^$program --n 200" >/dev/null; then fail "$1 to rank $2: some ranks are still there"; fi
}
# Where a rank may not read another one's memory, as in many containers, MPI needs no such reading.
need c++
cat >"$temp/refused.cpp" <<'END'
#include <cerrno>
extern "C" long process_vm_readv() {
  errno = EPERM;
  return -1;
}
END
c++ -shared -fPIC -o "$temp/refused.so" "$temp/refused.cpp"
LD_PRELOAD=$temp/refused.so run "$start_job" 2 "$program" --n 200 --iterations 40 --quiet
expect_status 0 "memory of others that may not be read"
[[ -z $out$err ]] || show "memory of others that may not be read: nothing should be said"

# All ranks fail at once, and the one that says why takes its time: no other one ends the job meanwhile.
cat >"$temp/fails.cpp" <<'END'
#include <cstdarg>
#include <cstdio>
#include <unistd.h>
#include <lab/exit_codes.h>
#include <lab/ranks.h>
extern "C" int fprintf(FILE* to, const char* pattern, ...) {
  if (to == stderr) usleep(300000);
  va_list arguments;
  va_start(arguments, pattern);
  const int written = vfprintf(to, pattern, arguments);
  va_end(arguments);
  return written;
}
int main(int argc, char** argv) {
  lab::Ranks ranks(&argc, &argv);
  ranks.connect();
  lab::fail(lab::kExitCudaError, "no rank can go on");
}
END
compile_on_cpu "$step" "$temp/fails.cpp" "$temp/fails" "" 2>"$temp/log" || fail "a program does not compile:" "$(<"$temp/log")"
run "$start_job" 3 "$temp/fails"
one_line 3 "^[a-z0-9_]*: rank [012]: no rank can go on$" "all ranks fail"

# The host of some ranks waits for the others, and these for what its GPU does meanwhile.
sed 's/^  ranks.wait_for(found.done);/  if (ranks.rank() > 0) ranks.sum(0.0);\n&\n  if (ranks.rank() == 0) ranks.sum(0.0);/' \
  "$source_dir/solutions/15_overlap/jacobi.cu" >"$temp/sums.cu"
grep -q 'ranks.sum(0.0)' "$temp/sums.cu" || fail "15_overlap waits in another line than this test changes"
"$build_dir/bin/cuda_to_cpp" "$temp/sums.cu" "$temp/sums.cpp"
compile_on_cpu 15_overlap "$temp/sums.cpp" "$temp/sums" ""
LAB_HALOS=nccl run "$start_job" 3 "$temp/sums" --n 100 --problem probe --iterations 10 --check-every 1 --quiet
expect_status 0 "a GPU that goes on while its host waits"

# One that hangs before the first exchange.
cat >"$temp/late.cpp" <<'END'
#include <cstdlib>
#include <cstring>
#include <unistd.h>
extern "C" int PMPI_Allreduce(const void*, void*, int, void*, void*, void*);
extern "C" int MPI_Allreduce(const void* from, void* to, int n, void* type, void* operation, void* comm) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  while (rank && std::strcmp(rank, "1") == 0) pause();
  return PMPI_Allreduce(from, to, n, type, operation, comm);
}
END
c++ -shared -fPIC -o "$temp/late.so" "$temp/late.cpp"
LAB_EXCHANGE_SECONDS=1 LD_PRELOAD=$temp/late.so run timeout 60 "$start_job" 2 "$program" --n 200 --iterations 40 --quiet
# Both have the limit, and the one that is first to reach it says so.
one_line 3 "^$name: rank [01]: gave up after waiting 6 s for the other ranks: not all have reached the start of the job" \
  "a rank that hangs at the start"

strike KILL 1
one_line 137 "^$name: rank 1 has died: " "a rank that is killed"
LAB_EXCHANGE_SECONDS=2 strike STOP 2
one_line 3 "^$name: rank [01]: gave up after waiting 2 s for (rank 2|.*) \(LAB_EXCHANGE_SECONDS " "a rank that hangs"

# Two nodes with two ranks each. A stand-in for ssh starts the daemon of either one here, under its name; so ranks
# of different nodes share no memory, and know each other by the network alone.
if [[ $(mpirun --version 2>/dev/null) == *"Open MPI"* ]]; then
  cat >"$temp/ssh" <<'END'
#!/usr/bin/env bash
while [[ $1 == -* ]]; do shift; done
echo "$1" >>"${0%/*}/nodes"
shift
# As on a machine of its own: what one daemon leaves and removes is not the other one's.
TMPDIR=$(mktemp -d "${0%/*}/n.XXXX")
export TMPDIR
exec bash -c "$*"
END
  chmod +x "$temp/ssh"
  LAB_MPIRUN="mpirun --quiet --oversubscribe --bind-to none --mca plm rsh --mca plm_rsh_agent $temp/ssh"
  LAB_MPIRUN+=" --mca rtc ^hwloc" # two daemons on one machine make the same map of it, and may crash
  LAB_MPIRUN+=" --mca btl tcp,self --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo --host node-a:2,node-b:2 -n {ranks}"
  export LAB_MPIRUN
  # Two daemons on one machine come into each other's way now and then, and say so: then once more.
  for attempt in 1 2 3; do
    run "$build_dir/bin/validate" --ranks 4 --problem probe --n 100 "$program"
    if ((status == 0 || attempt == 3)) || [[ $said != *ORTE* ]]; then break; fi
  done
  expect_status 0 "two nodes"
  expect ': right: [0-9]+ runs, .*bit for bit, residuals within rounding$' "two nodes"
  [[ $(sort -u "$temp/nodes") == node-a$'\n'node-b ]] || fail "two nodes should have been asked for:" "$(<"$temp/nodes")"
  # Rank 2 is on the second node: nobody of the first one sees its process.
  strike KILL 2
  expect_status 137 "a rank of another node that is killed"
  expect "^$name: rank 2 has died: " "a rank of another node that is killed"
  LAB_EXCHANGE_SECONDS=2 strike STOP 2
  expect_status 3 "a rank of another node that hangs"
  expect "^$name: rank [013]: gave up after waiting 2 s for (rank 2|.*) \(LAB_EXCHANGE_SECONDS " "a rank of another node that hangs"
  unset LAB_MPIRUN
fi

# By real MPI, on a machine that has neither ssh nor rsh.
mkdir "$temp/no_ssh"
for tool in /usr/bin/* /bin/* "$(type -P mpirun)"; do
  case ${tool##*/} in ssh | rsh | slogin) ;; *) ln -sf "$tool" "$temp/no_ssh/" ;; esac
done
PATH=$temp/no_ssh run "$start_job" 2 "$program" --n 100 --iterations 3 --quiet
expect_status 0 "neither ssh nor rsh"
[[ -z $out$err ]] || show "neither ssh nor rsh: nothing should be said"

# Another launcher; none.
LAB_MPIRUN="echo start {ranks}:" run "$start_job" 4 "$program" --n 100
expect "^start 4: $program --n 100\$" "LAB_MPIRUN"
run "$start_job" four "$program"
one_line 2 '^ranks: say how many' "ranks, asked badly"
finish "jobs of ranks, and what ends them"
