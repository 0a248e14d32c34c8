"""Makes testbeds with tools/testbed, sends through their cables, and breaks them off.

tests/testbed/testbed.py TESTBED THINWIRE [PATTERN]
tests/testbed/testbed.py TESTBED THINWIRE --rates

Each test is a function below; PATTERN chooses some by a part of their names. Exit code 1 if one
fails, 77 where this machine cannot make a testbed. No test depends on how busy the machine is;
--rates measures what the cables carry, which wants an idle one, and prints it.
"""
from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TESTBED, THINWIRE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# What another testbed on this machine is not named.
NAME = f"test{os.getpid()}"
SKIPPED = 77
MBIT = 1e6 / 8
TESTS: list[Callable[[], None]] = []
RUNS: list[subprocess.Popen[bytes]] = []  # of the tests, on a testbed

# Sends a number of bytes to another host.
SEND = """
import socket, sys, time
deadline = time.monotonic() + 20
while True:
    try:
        s = socket.create_connection((sys.argv[1], 5000))
        break
    except ConnectionRefusedError:
        if time.monotonic() > deadline:
            raise
        time.sleep(0.01)
s.sendall(bytes(int(sys.argv[2])))
"""
# Prints how many bytes came, and the moment of the machine's clock when the last ones did.
RECEIVE = """
import socket, time
listener = socket.create_server(("", 5000))
listener.settimeout(20)
s, _ = listener.accept()
count = 0
while received := len(s.recv(1 << 20)):
    count += received
    last = time.monotonic()
print(count, last)
"""
AS_NOBODY = """
import importlib.machinery, importlib.util, os, sys
loader = importlib.machinery.SourceFileLoader("testbed", sys.argv.pop(1))
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("testbed", loader))
sys.modules["testbed"] = module
loader.exec_module(module)
os.setuid(65534)
sys.exit(module.main())
"""


def test(function: Callable[[], None]) -> Callable[[], None]:
    TESTS.append(function)
    return function


def check(holds: bool, what: object) -> None:
    if not holds:
        raise AssertionError(what)


def testbed_words(*arguments: str, name: str = NAME) -> list[str]:
    return [sys.executable, TESTBED, "--name", name, *arguments]


def testbed(*arguments: str, name: str = NAME) -> subprocess.CompletedProcess[str]:
    return subprocess.run(testbed_words(*arguments, name=name), capture_output=True, text=True, timeout=60,
                          check=False)


def made(command: str, platform: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return testbed(command, platform, "--thinwire", THINWIRE, *arguments)


def needs_mpi(function: Callable[[], None]) -> Callable[[], None]:
    """A test that is said to be skipped where there is no launcher of MPI."""
    if shutil.which("mpirun") is not None:
        return function

    def skipped() -> None:
        print("no mpirun here (Debian: openmpi-bin); skipped is ", end="")

    skipped.__name__ = function.__name__
    return skipped


def succeeded(ended: subprocess.CompletedProcess[str]) -> str:
    check(ended.returncode == 0, ended)
    return ended.stdout


def refused(ended: subprocess.CompletedProcess[str], what: str) -> None:
    """One line, and exit code 2."""
    check(ended.returncode == 2 and ended.stderr.count("\n") == 1 and what in ended.stderr, (what, ended))


def namespaces() -> list[str]:
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.startswith(NAME)]


def interfaces() -> list[str]:
    """Of the machine itself."""
    listed = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


def processes_with(word: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(folder.name)
        except OSError:
            continue
    return found


def processes_asleep(word: str) -> list[str]:
    """The MPI processes `sleep WORD`, without their launchers, which may end meanwhile."""
    found = []
    for pid in processes_with(word):
        try:
            if Path(f"/proc/{pid}/comm").read_text("ascii") == "sleep\n":
                found.append(pid)
        except OSError:
            continue
    return found


def asleep_on_testbed(word: str) -> subprocess.Popen[bytes]:
    """A run of two processes `sleep WORD`, both of which have begun. main() ends it if its test fails."""
    run = subprocess.Popen(testbed_words("run", "testbed_one_switch", "--thinwire", THINWIRE, "-P", "2", "--",
                                         "sleep", word), stderr=subprocess.DEVNULL, start_new_session=True)
    RUNS.append(run)
    wait_until(lambda: len(processes_asleep(word)) == 2, "it does not run")
    return run


def nothing_is_left(word: str = "-") -> None:
    check(namespaces() == [], namespaces())
    left = [path.name for path in Path("/run/thinwire-testbed").iterdir() if path.name in (NAME, f"{NAME}.lock")]
    check(left == [], left)
    check(word == "-" or processes_with(word) == [], f"processes with {word} are left")


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        check(time.monotonic() < end, what)
        time.sleep(0.05)


def carried(pairs: list[tuple[int, int]], size: int) -> float:
    """Sends `size` bytes from host to host, all pairs at once. Returns the bytes per second of all of
    them, from before the first was sent until the last had come."""
    begin = time.monotonic()
    receivers = [subprocess.Popen(testbed_words("enter", str(to), "--", sys.executable, "-c", RECEIVE),
                                  stdout=subprocess.PIPE, text=True) for _, to in pairs]
    senders = [subprocess.Popen(testbed_words("enter", str(source), "--", sys.executable, "-c", SEND,
                                              f"{NAME}-{to}", str(size))) for source, to in pairs]
    came = [receiver.communicate(timeout=60)[0].split() for receiver in receivers]
    check(all(sender.wait(20) == 0 for sender in senders), "a sender has failed")
    check(all(int(count) == size for count, _ in came), f"{size} bytes were sent, and {came} came")
    return len(pairs) * size / (max(float(last) for _, last in came) - begin)


def filters(namespace: str) -> dict[str, tuple[float, int]]:
    """By device: the rate of its token bucket in bytes per second of frames, and the bytes it has sent."""
    told = subprocess.run(["tc", "-n", namespace, "-j", "-s", "qdisc", "show"], capture_output=True, text=True,
                          check=True).stdout
    return {one["dev"]: (float(one["options"]["rate"]), int(one["bytes"]))
            for one in json.loads(told) if one["kind"] == "tbf"}


def small_platform(folder: str) -> str:
    """Two switches with two hosts of 50 Mbit/s each; the uplink has 50 Mbit/s as well."""
    path = os.path.join(folder, "small.xml")
    subprocess.run([THINWIRE, "topo", "make", "star", "hosts=4", "flat=1", "switches=2", "uplink=50Mbps",
                    "bandwidth=50Mbps", "gap=0s", "-o", path], check=True)
    return path


# --- tests


@test
def up_and_down_leave_nothing() -> None:
    before = interfaces()
    succeeded(testbed("down"))
    succeeded(made("up", "testbed_two_switches"))
    check(len(namespaces()) == 13, namespaces())
    check(interfaces() == before, "the machine itself has new interfaces")
    status = succeeded(testbed("status"))
    check("2 switches" in status and "11  10.77.0.12   50 Mbit/s  host-11" in status, status)
    # Again, over the one that is up.
    succeeded(made("up", "testbed_one_switch"))
    check("1 switches" in succeeded(testbed("status")), "the first testbed is still up")
    check(succeeded(testbed("enter", "3", "--", "hostname")).strip() == f"{NAME}-3", "another host name")
    for _ in range(2):
        succeeded(testbed("down"))
        nothing_is_left()
    check("is down" in succeeded(testbed("status")), "status after down")
    check(interfaces() == before, "the machine itself has new interfaces")


@test
def cables_carry_the_bandwidth_of_the_platform() -> None:
    """What the kernel was told, what arrived, and that no more passed than a cable carries: each of them
    holds on a busy machine too."""
    size = 500_000
    frame, payload = 1514, 1448  # bytes of a full frame, and of what TCP carries in it
    with tempfile.TemporaryDirectory() as folder:
        succeeded(made("up", small_platform(folder)))
        try:
            hosts = [filters(f"{NAME}-{host}") for host in range(4)]
            switches = filters(next(name for name in namespaces() if not re.fullmatch(rf"{NAME}-\d+", name)))
            check(all(list(host) == ["eth0"] for host in hosts), hosts)
            # Each of the four hosts' cables has an end here, and the uplink has both.
            check(len(switches) == 6, switches)
            for rate, _ in [host["eth0"] for host in hosts] + list(switches.values()):
                check(abs(rate / (50 * MBIT * frame / payload) - 1) < 1e-3, f"{rate} bytes per second of frames")
            before = sum(sent for _, sent in switches.values())
            for pairs in ([(0, 1)], [(0, 1), (1, 0)], [(0, 2), (1, 3)]):
                rate = carried(pairs, size)
                most = 50 * MBIT * (2 if pairs[-1] == (1, 0) else 1)
                check(rate < 1.05 * most, f"{pairs}: {rate / MBIT:.1f} Mbit/s are more than the cable carries")
            for host, ends in ((0, 3), (1, 2)):
                sent = filters(f"{NAME}-{host}")["eth0"][1]
                check(sent >= ends * size, f"host {host} has sent {sent} bytes")
            switches = filters(next(name for name in namespaces() if not re.fullmatch(rf"{NAME}-\d+", name)))
            # Three streams from switch to host, and two of five over the uplink as well.
            sent = sum(sent for _, sent in switches.values()) - before
            check(sent >= 7 * size, f"the switches have sent {sent} bytes")
        finally:
            succeeded(testbed("down"))


@test
@needs_mpi
def programs_run_with_one_process_per_host() -> None:
    ended = made("run", "testbed_one_switch", "-P", "3", "--", "hostname")
    check(sorted(succeeded(ended).split()) == [f"{NAME}-{rank}" for rank in range(3)], ended)
    nothing_is_left()
    check(made("run", "testbed_one_switch", "-P", "1", "--", "sh", "-c", "exit 3").returncode == 3, "exit code")
    nothing_is_left()


@test
@needs_mpi
def interrupted_runs_leave_nothing() -> None:
    for number, direct in ((signal.SIGINT, False), (signal.SIGTERM, True)):
        word = f"1000.{int(number)}{os.getpid()}"
        run = asleep_on_testbed(word)
        # A terminal sends SIGINT to all processes of the run, a batch system sends one process SIGTERM.
        (os.kill if direct else os.killpg)(run.pid, number)
        check(run.wait(20) == 128 + number, f"exit code {run.returncode}")
        nothing_is_left(word)


@test
@needs_mpi
def killed_runs_are_removed_by_down() -> None:
    word = f"2000.{os.getpid()}"
    run = asleep_on_testbed(word)
    in_use = testbed("down")
    check(in_use.returncode == 1 and f"is in use by process {run.pid}" in in_use.stderr, in_use)
    # A testbed of another name stands beside it.
    other = f"{NAME}b"
    succeeded(testbed("up", "testbed_one_switch", "--thinwire", THINWIRE, name=other))
    succeeded(testbed("down", name=other))
    run.kill()
    run.wait()
    check(len(namespaces()) == 13, "killed, it has removed its testbed")
    succeeded(testbed("down"))
    nothing_is_left(word)


@test
def what_is_no_testbed_is_refused() -> None:
    def platform(body: str) -> str:
        return (f"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
                f"<platform version='4.1'><zone id='world' routing='Floyd'>{body}</zone></platform>\n")

    def host(name: str) -> str:
        return f"<host id='{name}' speed='1Gf'/>"

    def cable(number: int, one: str, other: str, policy: str = "SPLITDUPLEX") -> str:
        way = " direction='UP'" if policy == "SPLITDUPLEX" else ""
        return (f"<link id='l{number}' bandwidth='50Mbps' latency='0s' sharing_policy='{policy}'/>"
                f"<route src='{one}' dst='{other}'><link_ctn id='l{number}'{way}/></route>")

    three = "".join(f"<router id='s{i}'/>" for i in range(3))
    hosts = host("a") + host("b") + host("c")
    spokes = cable(0, "a", "s0") + cable(1, "b", "s1") + cable(2, "c", "s2")
    ring = cable(3, "s0", "s1") + cable(4, "s1", "s2") + cable(5, "s2", "s0")
    wrong = {
        "form a loop": hosts + three + spokes + ring,
        "shares its bandwidth": hosts + "<router id='s'/>" + cable(0, "a", "s") + cable(1, "b", "s") +
                                cable(2, "c", "s", "SHARED"),
        "FATPIPE": hosts + "<router id='s'/>" + cable(0, "a", "s") + cable(1, "b", "s") +
                   cable(2, "c", "s", "FATPIPE"),
        "no switch between": host("a") + host("b") + cable(0, "a", "b"),
        "host b has 2 links": hosts + cable(0, "a", "b") + cable(1, "b", "c"),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wrong.xml")
        for reason, body in wrong.items():
            # In a platform, all links come before all routes.
            routes = re.findall("<route .*?</route>", body)
            Path(path).write_text(platform(re.sub("<route .*?</route>", "", body) + "".join(routes)), encoding="ascii")
            refused(made("up", path), reason)
        Path(path).write_text("<platform version='4.1'><zone", encoding="ascii")
        refused(made("up", path), "wrong.xml")
    refused(made("up", "no_such_platform"), "no_such_platform")
    refused(made("up", "gige_star"), "64 hosts are more than the 16")
    refused(made("run", "testbed_one_switch", "-P", "13", "--", "true"), "12 hosts")
    refused(made("up", "testbed_one_switch", "--congestion-control", "pigeon"), "'pigeon' is not allowed")
    refused(testbed("enter", "0", "--", "true"), "has no host 0")
    refused(testbed("down", name="No-Name"), "--name: 'No-Name'")
    nothing_is_left()


@test
def users_without_rights_skip() -> None:
    if os.geteuid() == 0:
        # Neither Python nor this tree need be readable for others, so the user changes within Python.
        ended = subprocess.run([sys.executable, "-B", "-c", AS_NOBODY, TESTBED, "down"], capture_output=True,
                               text=True, check=False)
        check(ended.returncode == SKIPPED and "only root" in ended.stderr, ended)


def print_rates() -> None:
    """What the cables carry, as TCP sees it, with its beginning: a benchmark, which passes no judgement."""
    with tempfile.TemporaryDirectory() as folder:
        succeeded(made("up", small_platform(folder)))
        try:
            for what, pairs in (("one stream", [(0, 1)]), ("both directions", [(0, 1), (1, 0)]),
                                ("two over the uplink", [(0, 2), (1, 3)])):
                print(f"{what}: {carried(pairs, 10_000_000) / MBIT:.1f} Mbit/s of 50 in each direction", flush=True)
        finally:
            succeeded(testbed("down"))


def main() -> int:
    first = made("up", "testbed_one_switch")
    testbed("down")
    if first.returncode == SKIPPED:
        print(first.stderr.strip())
        return SKIPPED
    if sys.argv[3:] == ["--rates"]:
        print_rates()
        return 0
    failures = 0
    for function in TESTS:
        if len(sys.argv) > 3 and sys.argv[3] not in function.__name__:
            continue
        began = time.monotonic()
        try:
            function()
            result = "ok"
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            result = f"FAILED: {error}"
            failures += 1
            for run in RUNS:
                run.kill()
                run.wait()
            testbed("down")
        print(f"{function.__name__}: {result} ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
