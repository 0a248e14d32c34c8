#!/usr/bin/env bash
# tests/slurm/slurm.sh THINWIRE SOURCE: runs tools/slurm/sweep.sbatch on a real Slurm, which it starts
# on this machine alone and stops again, and compares with the same sweep without it. Exit code 77,
# with the reason, where Slurm cannot be started.
set -uo pipefail
thinwire=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
chmod 755 "$work"

skip() {
  echo "skipped: $*"
  exit 77
}
started=()
finish() {
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill "${started[i]}" 2>/dev/null; done
  for pid in "${started[@]}"; do
    for _ in {1..50}; do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null
  done
  rm -rf "$work"
}
trap finish EXIT
fail() {
  echo "FAILED: $*"
  tail -n 15 "$work"/*.log "$work"/slurm-*.out 2>/dev/null
  exit 1
}

for program in slurmctld slurmd munged sbatch; do
  command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin
  command -v "$program" >/dev/null || skip "no $program here (Debian: slurm-wlm munge)"
done
[[ $(id -u) -eq 0 ]] || skip "slurmd starts jobs as other users, and has to be run as root"

# A key, sockets and folders of its own: nothing of a Slurm that may run here is touched.
dd if=/dev/urandom of="$work/munge.key" bs=128 count=1 status=none
chmod 400 "$work/munge.key"
munged --foreground --force --socket="$work/munge.socket" --key-file="$work/munge.key" \
  --pid-file="$work/munge.pid" --seed-file="$work/munge.seed" --log-file="$work/munged.log" \
  >"$work/munged.out.log" 2>&1 &
started+=($!)
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }
host=$(hostname -s)
mkdir -p "$work/state" "$work/spool"
cat >"$work/slurm.conf" <<CONF
ClusterName=thinwire
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP MaxTime=INFINITE
CONF
export SLURM_CONF=$work/slurm.conf
slurmctld -D -f "$SLURM_CONF" >"$work/slurmctld.log" 2>&1 &
started+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" >"$work/slurmd.log" 2>&1 &
started+=($!)
for _ in {1..100}; do
  [[ "$(sinfo -h -o %T 2>/dev/null)" == idle ]] && break
  for pid in "${started[@]}"; do
    kill -0 "$pid" 2>/dev/null || skip "Slurm does not start here: $(tail -qn 2 "$work"/*.log | tr '\n' ' ')"
  done
  sleep 0.2
done
[[ "$(sinfo -h -o %T 2>/dev/null)" == idle ]] || skip "no idle node: $(tail -qn 2 "$work"/*.log | tr '\n' ' ')"
timeout 60 srun -n 1 true || skip "jobs do not run here: $(tail -qn 2 "$work"/slurmd.log | tr '\n' ' ')"

cat >"$work/small.json" <<'JSON'
{"name": "small", "base": {"components": 20000, "density": 0.05},
 "grid": {"scheme": ["topka", "gtopk", "oktopk"], "ranks": [3, 8, 12], "seed": [1, 2]}}
JSON
cd "$work" || exit 1
points() { python3 -c 'import json, sys
for line in open(sys.argv[1]): print(json.dumps(json.loads(line)["point"], sort_keys=True), json.loads(line)["result"]["time_s"])' "$1" | sort; }
"$thinwire" sweep small.json -o alone.jsonl >/dev/null 2>&1 || fail "the sweep without Slurm"
export THINWIRE=$thinwire

timeout 300 sbatch --wait --array=4-6 "$source/tools/slurm/sweep.sbatch" small.json merged.jsonl || fail "the array job"
[[ -f merged.jsonl ]] || fail "no merged results"
diff <(points alone.jsonl) <(points merged.jsonl) || fail "other results than without Slurm"
[[ $(wc -l <merged.jsonl) -eq 18 ]] || fail "points are missing or there twice"

# As after a task that was lost: the same job again runs what is missing, and no more.
before=$(md5sum merged.jsonl.parts/1-of-3.jsonl)
rm merged.jsonl merged.jsonl.parts/2-of-3.jsonl
timeout 300 sbatch --wait --array=4-6 "$source/tools/slurm/sweep.sbatch" small.json merged.jsonl || fail "the second array job"
diff <(points alone.jsonl) <(points merged.jsonl) || fail "other results the second time"
[[ "$before" == "$(md5sum merged.jsonl.parts/1-of-3.jsonl)" ]] || fail "a part that was there ran again"

# A failing point: the job fails, and the results hold it with its reason.
if timeout 300 sbatch --wait --array=1-2 "$source/tools/slurm/sweep.sbatch" small.json limited.jsonl --time-limit 0.0001; then
  fail "a job with failed points succeeded"
fi
grep -q 'took longer than the 0.0001 s' limited.jsonl || fail "no reason of the failure"
echo "the array job gives the 18 results of the sweep without Slurm"
