#!/usr/bin/env python3
"""The formats of other tools: schedules out and in, benchmarks' texts, rules for libraries.

usage: formats.py THINWIRE [TEST ...]
The program runs as a user runs it. What it writes is read by readers of this folder that know
nothing of it, by Open MPI and LogGOPSim (with txt2bin) if they are on the PATH, and by the program
itself.
"""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import loggops  # noqa: E402

PROGRAM = sys.argv[1]
FAILURES = []


def check(holds, what):
    if not holds:
        FAILURES.append(what)
        print("FAILED:", what, flush=True)


def run(arguments, code=0):
    ended = subprocess.run([PROGRAM, *arguments.split()], capture_output=True, text=True)
    check(ended.returncode == code, f"{arguments}: exit code {ended.returncode}: {ended.stderr}")
    return ended


def refused(arguments, wanted):
    ended = run(arguments, 2)
    check(wanted in ended.stderr, f"{arguments}: '{wanted}' is not in: {ended.stderr}")


def records(arguments):
    text = run(arguments + " --format json").stdout
    return json.loads(text) if text.startswith("[") else []


def time_of(arguments):
    """The simulated seconds of a run."""
    found = records("run " + arguments)
    return found[0]["time_s"] if found else float("nan")


def near(a, b, tolerance=1e-9):
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


# -- Schedules --

# LogGOPSim's times of schedules of loggops.random_schedule, by seed, in nanoseconds.
LOGGOPSIM_TIMES = [
    56803, 52725, 7442, 21737, 30587, 16597, 55661, 17198, 11527, 8955, 65665, 22495, 6872, 71652,
    26570, 46925, 9066, 46604, 28037, 33449, 44241, 40289, 14276, 26412, 9982, 85087, 2228, 11658,
    32947, 44419]


def stand_in_is_loggopsim(folder):
    """LogGOPSim's stand-in takes exactly as long as it: on any schedule, with any parameters."""
    if not loggops.has_loggopsim():
        print("no LogGOPSim and txt2bin on the PATH: their stand-in alone is compared with")
    for seed, time in enumerate(LOGGOPSIM_TIMES):
        text, parameters = loggops.random_schedule(seed)
        stand_in = loggops.simulate(loggops.parse(text), **parameters)
        check(stand_in == time, f"random schedule {seed}: {stand_in} ns, in LogGOPSim {time} ns")
        if loggops.has_loggopsim():
            check(loggops.loggopsim(folder, text, **parameters) == time,
                  f"random schedule {seed}: LogGOPSim takes another time than the {time} ns that it "
                  "took when this list was made")
    # The example of LogGOPSim's manual, a dissemination among 16 ranks: 22 us.
    text = "num_ranks 16\n"
    for rank in range(16):
        text += f"rank {rank} {{\n"
        for i in range(4):
            text += f"s{i}: send 1b to {(rank + 2**i) % 16}\nr{i}: recv 1b from {(rank - 2**i) % 16}\n"
            text += f"s{i} requires r{i - 1}\n" if i else ""
        text += "}\n"
    parameters = {"L": 2500, "o": 1500, "g": 1000, "G": 6, "S": 65535}
    check(loggops.simulate(loggops.parse(text), **parameters) == 22000, "dissemination")
    if loggops.has_loggopsim():
        check(loggops.loggopsim(folder, text, **parameters) == 22000, "dissemination, LogGOPSim")
    goal = folder / "dissemination.goal"
    goal.write_text(text)
    ours = time_of(f"--goal {goal} --alpha 0 --set machine.latency_s=2.5e-6 "
                   "--set machine.overhead_s=1.5e-6 --beta 2.4e-8")
    check(near(ours, 22e-6), f"dissemination: {ours} s")


# On ranks in step, with at most one message at a time each way, alphabeta and LogGOPS agree to the
# last digit; with blocks of unequal sizes, to the last word.
IN_STEP = ["dense_ring", "dense_ring_segmented", "allgather_ring", "allgather_recursive_doubling",
           "allgather_bruck", "reduce_scatter_ring", "reduce_scatter_pairwise",
           "alltoall_pairwise", "alltoall_bruck", "topka"]
# These agree where the number of ranks is a power of two, and the latency hides their blocks of
# unequal sizes.
POWERS_OF_TWO = ["dense_rabenseifner", "dense_recursive_doubling", "dense_nonoverlapping",
                 "dense_ovlp", "hierarchical_rabenseifner", "hierarchical_ring", "oktopk",
                 "allgather_neighbor_exchange", "reduce_scatter_recursive_halving", "gtopk",
                 "ssar_recursive_double", "dsar_split_allgather", "ring_sparse"]
# Several messages come to a rank at once.
CROWDED = ["alltoall_linear", "topkdsa", "dense_double_tree"]
SPARSE = {"topka", "oktopk", "gtopk", "ssar_recursive_double", "dsar_split_allgather",
          "ring_sparse", "topkdsa", "exdyna", "hierarchical_oktopk"}


def with_density(scheme, density):
    """The flags for a scheme; dense ones take no density."""
    return f"--scheme {scheme} -d {density}" if scheme in SPARSE else f"--scheme {scheme}"


def loggops_time(folder, point, text, **parameters):
    """The time of a schedule under LogGOPS; LogGOPSim and its stand-in must agree."""
    time = loggops.simulate(loggops.parse(text), **parameters)
    if loggops.has_loggopsim():
        real = loggops.loggopsim(folder, text, **parameters)
        check(real == time, f"{point}: LogGOPSim {real}, its stand-in {time}")
    return time


def schedules_are_what_others_simulate(folder):
    """LogGOPS takes as long for an exported schedule as alphabeta under the same parameters.

    L = 2 us, G = 0.1 or 1 ns, o = g = 0. Where they differ, two rules make the difference. LogGOPS
    receives on the processor that could send meanwhile: without that rule, it takes the time of
    alphabeta, or of alphabeta with --eager, where messages leave before they are expected."""
    goal = folder / "loggp.goal"
    for scheme in IN_STEP + POWERS_OF_TWO + CROWDED:
        for ranks, unit, beta in ((8, 1e-10, "4e-10"), (7, 1e-9, "4e-9")):
            point = (f"{with_density(scheme, 0.05)} -P {ranks} -n 20000 --alpha 0 "
                     f"--set machine.latency_s=2e-6 --beta {beta}")
            run(f"export {point} --goal {goal}")
            # LogGP counts G for the bytes after the first one; alphabeta for all of them.
            text = loggops.longer(goal.read_text())
            parameters = {"L": round(2e-6 / unit), "G": 1}
            theirs = unit * loggops_time(folder, point, text, **parameters)
            ours = time_of(point)
            if scheme in IN_STEP or (scheme in POWERS_OF_TWO and ranks == 8):
                check(near(ours, theirs, 1e-9 if ranks == 8 else 2e-4),
                      f"{point}: alphabeta {ours} s, LogGOPS {theirs} s")
            if scheme == "dense_double_tree":
                continue
            duplex = unit * loggops.simulate(loggops.parse(text), **parameters, full_duplex=True)
            check(near(ours, duplex, 1e-3) or
                  near(time_of(point + " --eager 1000000000"), duplex, 1e-9),
                  f"{point}: alphabeta {ours} s, LogGOPS that sends while it receives {duplex} s")
    # Trainings, whose computation and messages are on two processors.
    for scheme in ("dense_ovlp", "topka --by-layer"):
        point = (f"--scheme {scheme} -P 4 --model vgg16 --device p100 --iterations 1 --alpha 0 "
                 "--set machine.latency_s=2e-6 --beta 4e-9")
        run(f"export {point} --goal {goal}")
        text = loggops.longer(goal.read_text())
        loggops_time(folder, point, text, L=2000, G=1)
        ours = time_of(point)
        duplex = 1e-9 * loggops.simulate(loggops.parse(text), L=2000, G=1, full_duplex=True)
        check(near(ours, duplex, 1e-7),
              f"{point}: alphabeta {ours} s, LogGOPS that sends while it receives {duplex} s")


def round_trips(folder):
    """An exported schedule takes as long as the scheme itself, on any network."""
    networks = {
        "alphabeta": "--network alphabeta",
        "loggp": "--network alphabeta --set machine.latency_s=1e-6 --set machine.overhead_s=3e-7",
        "links": "--network links --platform fat_tree",
    }
    schemes = ["dense_rabenseifner", "dense_ovlp", "oktopk", "topkdsa", "gtopk", "exdyna",
               "hierarchical_oktopk"]
    for scheme in schemes:
        for ranks in (1, 7) if scheme == "oktopk" else (7,):
            point = f"{with_density(scheme, 0.02)} -P {ranks} -n 30000"
            run(f"export {point} --goal {folder}/s.goal --chakra {folder}/s-{scheme}-{ranks}")
            for name, network in networks.items():
                ours = time_of(f"{point} {network}")
                goal = time_of(f"--goal {folder}/s.goal {network}")
                check(near(ours, goal), f"{scheme}, P {ranks}, {name}: {ours} s, as GOAL {goal} s")
                # Chakra has no order of beginnings, which matters where processors are busy.
                if name == "loggp":
                    continue
                chakra = time_of(f"--chakra {folder}/s-{scheme}-{ranks} {network}")
                check(near(ours, chakra),
                      f"{scheme}, P {ranks}, {name}: {ours} s, as Chakra {chakra} s")
    point = "--scheme oktopk -P 6 -n 30000 -d 0.02"
    run(f"export {point} --goal {folder}/s.goal")
    for network in ("--network counting", "--network smpi --platform gige_star"):
        ours = records(f"run {point} {network}")[0]
        theirs = records(f"run --goal {folder}/s.goal {network}")[0]
        if ours["steps"] is not None:
            check(ours["steps"] == theirs["steps"], f"{network}: {ours['steps']} steps, "
                  f"as GOAL {theirs['steps']}")
        else:
            check(near(ours["time_s"], theirs["time_s"]), f"{network}: {ours['time_s']} s, as GOAL "
                  f"{theirs['time_s']} s")


def computation_is_included(folder):
    """A training with its computation, in units that lose nothing."""
    for options in ("", "--by-layer"):
        point = (f"--scheme oktopk -P 4 --model vgg16 --device p100 --network alphabeta "
                 f"--iterations 1 {options}")
        run(f"export {point} --goal {folder}/t.goal --chakra {folder}/t{options} --time-unit 1e-15")
        ours = time_of(point)
        goal = time_of(f"--goal {folder}/t.goal --time-unit 1e-15")
        check(near(ours, goal, 1e-6), f"training {options}: {ours} s, as GOAL {goal} s")
        if not options:  # Chakra's computation shares one processor, where ours has one a strand
            chakra = time_of(f"--chakra {folder}/t")
            check(near(ours, chakra, 1e-6), f"training: {ours} s, as Chakra {chakra} s")


def foreign_schedules(folder):
    """Schedules that this program has not written, with times that are known."""
    goal = folder / "foreign.goal"
    network = "--alpha 1e-6 --beta 4e-9"  # 1 us and 1 ns a byte
    # Two processors: the message of the first needs its work, not the second's.
    goal.write_text("""num_ranks 2 // two
rank 0 {
a: calc 5000
b: send 1000b to 1 tag 7
b requires a
c: calc 20000 cpu 1
d: recv 4000b from 1 tag 7
e: calc 1000
e requires d
e requires c
}
rank 1 { /* in
any order */
reply: send 4000b to 0 tag 7
got: recv 1000b from 0 tag 7
reply requires got
}
""")
    # a 5 us, b 2 us, reply 5 us: 12 us; c ends at 20 us, e takes 1 us.
    check(near(time_of(f"--goal {goal} {network}"), 21e-6), "two processors")
    check(near(time_of(f"--goal {goal} {network} --time-unit 1e-12"), 7.006e-6),
          "the unit of work")
    # A rank that waits for two messages goes on with the first that comes, whatever its place.
    goal.write_text("""num_ranks 3
rank 0 {
late: recv 4b from 1
early: recv 4b from 2
x: calc 2000
x requires late
y: send 996b to 2 tag 1
y requires early
}
rank 1 {
w: calc 50000
s: send 4b to 0
s requires w
}
rank 2 {
send 4b to 0
a: recv 996b from 0 tag 1
z: calc 60000
z requires a
}
""")
    # early 1.004 us, y 1.996 us later, z: 63 us. late would have come at 51 us.
    check(near(time_of(f"--goal {goal} {network}"), 63e-6), "the first of two messages")
    refused(f"run --goal {goal} --scheme oktopk", "a schedule does not read it")
    refused(f"run --goal {goal} -P 4", "a schedule does not read it")
    refused(f"run --goal {goal} --phases", "--phases")
    refused(f"run --goal {goal} --format nccl", "nccl and osu")
    refused(f"run --goal {folder}/none.goal", "none.goal")
    for text, wanted in (
            ("num_ranks 2\nrank 0 {\nsend 8b to 5\n}\nrank 1 {\n}\n",
             "rank 0, line 3: the peer 5 is no rank; ranks are 0 to 1"),
            ("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na: calc 2\n}\n",
             ":5: line 3 has the label 'a' already"),
            ("num_ranks 2\nrank 0 {\nsend 9223372036854775807b to 1\n}\nrank 1 {\n}\n",
             ":3: '9223372036854775807b' where a size in bytes, as in 8b, of at most"),
            ("num_ranks 2\nrank 0 {\n" + 2 * "send 1000000000000000000b to 1\n" + "}\nrank 1 {\n}\n",
             "line 4: up to here the messages have more than"),
            ("num_ranks 2\nrank 0 {\nsend 800b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
             "rank 1, line 6: a receive of 8 bytes gets the message of 800 bytes of rank 0, line 3"),
            ("num_ranks 1\n// thinwire.eager_bytes: many\nrank 0 {\n}\n",
             "many' is not valid; expected a number of bytes"),
            ("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
             "in a circle"),
            ("num_ranks 1\nrank 0 {\nl1 requires l2\n}\n", ":3: no operation of this rank above"),
            ("num_ranks 1\nrank 0 {\nsend b to 0\n}\n", ":3: 'b' where a size"),
            ("num_ranks 2\nrank 0 {\n}\n", "rank 1 of 2 is missing"),
            ("num_ranks 16000000\nrank 0 {\n}\n", "the text is too short for them"),
            ("num_ranks 2\nrank 0 {\nrecv 8b from -1\n}\n", "any source"),
            ("num_ranks 1\nrank 0 {\n", "'}'"), ("", "num_ranks")):
        goal.write_text(text)
        refused(f"run --goal {goal}", wanted)
    goal.write_text("num_ranks 2\nrank 0 {\nrecv 8b from 1\n}\nrank 1 {\n}\n")
    text = run(f"run --goal {goal}", 1).stderr  # waits forever
    check("rank 0, line 3, a receive of 8 bytes from rank 1: no send of rank 1 answers it" in text, text)
    goal.write_bytes(b"\xef\xbb\xbfnum_ranks 1\nrank 0 {\ncalc 1000\n}\n")
    check(near(time_of(f"--goal {goal}"), 1e-6), "a byte order mark")
    refused("export --scheme topka -P 4", "--goal FILE or --chakra")
    run(f"export --scheme dense_ring -P 4 -n 100 --chakra {folder}/four")
    refused(f"export --scheme dense_ring -P 2 -n 100 --chakra {folder}/four", "dense_ring.2.et")
    refused(f"export --scheme topka -P 4,8 --goal {goal}", "one point")
    (folder / "holes").mkdir()
    refused(f"run --chakra {folder}/holes", "holds no traces")
    (folder / "holes" / "x.1.et").write_bytes(b"")
    refused(f"run --chakra {folder}/holes", "x.0.et")
    (folder / "holes" / "x.0.et").write_bytes(b"no trace at all")
    refused(f"run --chakra {folder}/holes", "x.0.et")


# -- Eager sends --

def ring_goal(ranks, size, steps, receive_first=False):
    """Steps of a ring in which every rank sends and then receives, or the other way round."""
    text = f"num_ranks {ranks}\n"
    for rank in range(ranks):
        text += f"rank {rank} {{\n"
        for step in range(steps):
            send = f"send {size}b to {(rank + 1) % ranks} tag {step}"
            receive = f"recv {size}b from {(rank - 1) % ranks} tag {step}"
            first, second = (receive, send) if receive_first else (send, receive)
            text += f"a{step}: {first}\nb{step}: {second}\nb{step} requires a{step}\n"
            if step:
                text += f"a{step} requires b{step - 1}\n"
        text += "}\n"
    return text


def binary_goal(ranks):
    """LogGOPSim's binary form of operations (kind, peer, size, tag, cpu, what they require)."""
    blocks = []
    for ops in ranks:
        later = [[i for i, op in enumerate(ops) if j in op[5]] for j in range(len(ops))]
        roots = [i for i, op in enumerate(ops) if not op[5]]
        block = struct.pack(f"<II{len(roots)}I", len(ops), len(roots), *roots)
        at = 0
        for op, waiting in zip(ops, later):
            kind, peer, size, tag, cpu, requires = op
            block += struct.pack("<IBIQIBBIIII", len(requires), kind, peer, size, tag, cpu, 0,
                                 len(waiting), at, 0, at + len(waiting))
            at += len(waiting)
        block += b"".join(struct.pack(f"<{len(waiting)}I", *waiting) for waiting in later)
        blocks.append(block)
    at = 4 + 2 + 16 * len(ranks)
    text = struct.pack("<QIBB", 4223, len(ranks), 0, 0)
    for block in blocks:
        text += struct.pack("<QQ", at, at + len(block))
        at += len(block)
    return text + b"".join(blocks)


def eager_sends(folder):
    """Schedules of others are eager as their simulators are, and exported ones as they say."""
    goal = folder / "eager.goal"
    network = "--alpha 1e-6 --beta 4e-9"  # 1 us and 1 ns a byte
    goal.write_text(ring_goal(4, 1024, 1))
    for where in ("", "--network links --platform gige_star", "--network smpi --platform gige_star",
                  "--network counting"):
        check(records(f"run --goal {goal} {where}")[0]["eager_bytes"] == 65535, f"{where}: eager")
    check(near(time_of(f"--goal {goal} {network}"), 2.024e-6), "an eager ring")
    stuck = ("line 4, a send of 1024 bytes to rank 1, and rank 1, line 9, a send of 1024 bytes to rank "
             "2, wait for each other over other ranks; sends of up to 0 bytes do not wait for their "
             "receives here: --eager 1024 lets these pass")
    goal.write_text("// four\n" + ring_goal(4, 1024, 1))
    for where in ("", "--network links --platform gige_star", "--network smpi --platform gige_star",
                  "--network counting"):
        text = run(f"run --goal {goal} --eager 0 {where}", 1).stderr
        check(stuck in text, f"{where}: {text}")
        run(f"run --goal {goal} --eager 1024 {where}")
    # LogGOPSim's limit, to the byte, of its default and in sizes that are no words.
    for size, code in ((65532, 0), (65533, 0), (65535, 0), (65536, 1)):
        goal.write_text(ring_goal(4, size, 1))
        run(f"run --goal {goal}", code)
    # Receives first wait for ever, whatever is eager.
    goal.write_text(ring_goal(2, 8, 1, receive_first=True))
    text = run(f"run --goal {goal} --eager 1M", 1).stderr
    check("line 3, a receive of 8 bytes from rank 1, and rank 1, line 8, a receive of 8 bytes from rank 0"
          in text and "--eager" not in text, text)
    # What an exported schedule states.
    point = "--scheme dense_ring -P 4 -n 1000"
    for eager in ("", "--eager 2000"):
        run(f"export {point} {eager} --goal {goal} --chakra {folder}/eager{eager[8:]}")
        stated = 2000 if eager else 0
        check(f"// thinwire.eager_bytes: {stated}\n" in goal.read_text(), "the comment")
        for schedule in (f"--goal {goal}", f"--chakra {folder}/eager{eager[8:]}"):
            found = records(f"run {schedule}")[0]
            check(found["eager_bytes"] == stated, f"{schedule}: {found}")
            check(near(found["time_s"], time_of(f"{point} {eager}")), f"{schedule} {eager}: the time")
            check(records(f"run {schedule} --eager 4000")[0]["eager_bytes"] == 4000, "--eager overrides")


def binary_schedules(folder):
    goal, text = folder / "b.bin", folder / "b.goal"
    # Rank 0 computes, sends and receives, and computes on another processor from the first on.
    ranks = [[(3, 0, 5000, 0, 0, []), (1, 1, 1000, 7, 0, [0]), (3, 0, 20000, 0, 1, []),
              (2, 1, 4000, 7, 0, []), (3, 0, 1000, 0, 0, [3, 2])],
             [(1, 0, 4000, 7, 0, [1]), (2, 0, 1000, 7, 0, [])]]
    data = binary_goal(ranks)
    goal.write_bytes(data)
    network = "--alpha 1e-6 --beta 4e-9"
    check(near(time_of(f"--goal {goal} {network}"), 21e-6), "a binary schedule")
    check(near(time_of(f"--goal {goal} {network} --time-unit 1e-12"), 7.006e-6), "its unit")
    for size in range(0, len(data), 7):  # cut off anywhere
        goal.write_bytes(data[:size])
        check(run(f"run --goal {goal}", 2).returncode == 2, f"{size} bytes of a binary schedule")
    goal.write_bytes(struct.pack("<Q", 2342) + data[8:])
    refused(f"run --goal {goal}", "has used up this schedule")
    goal.write_bytes(data[:30] + data[14:22] + data[38:])  # both ranks have the operations of the first
    refused(f"run --goal {goal}", "its operations are others', too")
    goal.write_bytes(binary_goal([[(1, 5, 8, 0, 0, [])], []]))
    refused(f"run --goal {goal}", "rank 0, operation 1: the peer 5 is no rank")
    # An all-to-all of 65536 bytes on 8 ranks, as LogGOPSim's generator makes it: rendezvous in a window.
    window = pathlib.Path(__file__).parent / "window.bin"
    found = records(f"run --goal {window} --alpha 1e-6 --beta 4e-9")[0]
    check((found["ranks"], found["messages"], found["bytes"]) == (8, 56, 56 * 65536), f"{found}")


# -- Compression as frameworks do it --

def frameworks(_folder):
    # A hook compresses buckets of 25 MiB: as many as without it, and half as long on the wire.
    point = "--scheme dense_ovlp -P 4 -n 30000000"
    hook = time_of(f"{point} --value-bits 16 --set options.bucket_bits=32")
    check(near(hook, time_of(f"{point} --value-bits 16 --set options.bucket_words=3276800")), "a hook")
    check(near(time_of(f"{point} --value-bits 16"),
               time_of(f"{point} --value-bits 16 --set options.bucket_bits=16")), "a model in BF16")
    # 1-bit Adam: signs and a scale, all to all and gathered: 6 messages of ceil(800/32) + 1 words.
    found = records("run --scheme quantised_alltoall --set options.bits=1 -P 4 -n 3200 --alpha 1e-6 "
                    "--beta 4e-9 --iterations 1")[0]
    check(near(found["time_s"], 6 * (1e-6 + 26 * 4e-9)) and found["verdict"] == "exact", f"{found}")
    bits = {bits: time_of(f"--scheme quantised_alltoall --set options.bits={bits} -P 8 -n 1000000")
            for bits in (1, 2, 8)}
    check(bits[1] < bits[2] < bits[8], f"fewer bits take less time: {bits}")


# -- Chakra --

def pb_varint(value):
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def pb_field(number, value):
    if isinstance(value, int):
        return pb_varint(number << 3) + pb_varint(value)
    if isinstance(value, float):
        return pb_varint(number << 3 | 1) + struct.pack("<d", value)
    return pb_varint(number << 3 | 2) + pb_varint(len(value)) + value


# The field of an attribute's value, by its type here.
PB_KINDS = {bool: 27, int: 9, float: 3, str: 29}


def trace_of(nodes, version=b"0.0.4"):
    """A Chakra trace of nodes (id, kind, dependencies, microseconds, attributes, values). The
    attribute "calls" are control dependencies."""
    metadata = pb_field(1, version)
    text = pb_varint(len(metadata)) + metadata
    for node_id, kind, before, micros, attributes, *values in nodes:
        node = pb_field(1, node_id) + pb_field(2, b"node") + pb_field(3, kind)
        if before:
            node += pb_field(5, b"".join(map(pb_varint, before)))
        node += pb_field(7, micros)
        attributes = dict(attributes)
        node += b"".join(pb_field(4, before) for before in attributes.pop("calls", []))
        for value in values:
            node += pb_field(8, pb_field(1, value.encode()))
        for name, value in attributes.items():
            coded = value.encode() if isinstance(value, str) else value
            node += pb_field(10, pb_field(1, name.encode()) + pb_field(PB_KINDS[type(value)], coded
                             if not isinstance(value, bool) else int(value)))
        text += pb_varint(len(node)) + node
    return text


def chakra_folder(folder, name, ranks):
    path = folder / name
    path.mkdir()
    for rank, nodes in enumerate(ranks):
        (path / f"x.{rank}.et").write_bytes(nodes if isinstance(nodes, bytes) else trace_of(nodes))
    return path


COMPUTE, SEND_NODE, RECEIVE_NODE, COLLECTIVE = 4, 5, 6, 7


def chakra_collectives(folder):
    """Collectives are what schemes do, among the ranks of their process group."""
    network = "--alpha 1e-6 --beta 4e-9"
    def of(comm_type, size, **more):
        return {"is_cpu_op": False, "comm_type": comm_type, "comm_size": size, **more}
    def time_with(name, nodes, ranks=4, flags=""):
        path = chakra_folder(folder, name, [nodes] * ranks)
        return time_of(f"--chakra {path} {network} {flags}")
    # Each rank has 4000 bytes: an all-gather around a ring of 4, 3 messages of 4000 bytes.
    check(near(time_with("ag", [(0, COLLECTIVE, [], 0, of(2, 4000))]), 15e-6), "all-gather")
    check(near(time_with("rs", [(0, COLLECTIVE, [], 0, of(7, 4000))]), 6e-6), "reduce-scatter")
    check(near(time_with("aa", [(0, COLLECTIVE, [], 0, of(6, 4000))]), 6e-6), "all-to-all")
    check(near(time_with("bc", [(0, COLLECTIVE, [], 0, of(5, 4000))]), 10e-6), "broadcast")
    check(near(time_with("ba", [(0, COLLECTIVE, [], 0, of(9, 0))]), 2.008e-6), "barrier")
    ring = "--collective allreduce=dense_ring"
    check(near(time_with("ar", [(0, COLLECTIVE, [], 0, of(0, 4000))], flags=ring), 12e-6), "all-reduce")
    auto = time_of(f"--scheme dense_auto -P 4 -n 1000 {network}")
    check(near(time_with("au", [(0, COLLECTIVE, [], 0, of(0, 4000))]), auto), "dense_auto by default")
    # Computation before and after, and beside: 5 us, then the ring's 12 us beside 20 us, then 1 us.
    nodes = [(10, 1, [], 0, {}), (11, COMPUTE, [10], 5, {"is_cpu_op": False}),
             (12, COLLECTIVE, [11], 0, of(0, 4000)), (13, COMPUTE, [11], 20, {"is_cpu_op": False}),
             (14, COMPUTE, [12, 13], 1, {"is_cpu_op": False}), (15, 2, [14], 2, {}),
             (16, COMPUTE, [], 17, {"is_cpu_op": True})]
    check(near(time_with("both", nodes, flags=ring), 28e-6), "computation beside a collective")
    # Groups of two: ranks 0 and 2, 1 and 3; then all. 4000 bytes in two: 2 (1 + 2) us.
    pairs = [{"1": [0, 2], "2": [1, 3]}, [{"pg_name": "1", "ranks": [0, 2]},
                                          {"pg_name": "2", "ranks": [1, 3]},
                                          {"pg_name": "0", "ranks": []}]]
    (folder / "groups.json").write_text(json.dumps(pairs[0]))
    def in_pairs(rank, first=()):
        return [*first, (1, COLLECTIVE, [], 0, of(0, 4000, pg_name=str(1 + rank % 2))),
                (2, COLLECTIVE, [1], 0, of(0, 4000, pg_name="0"))]
    path = chakra_folder(folder, "pairs", [in_pairs(rank) for rank in range(4)])
    refused(f"run --chakra {path}", "is of the process group '1', whose ranks nobody says")
    check(near(time_of(f"--chakra {path} {network} {ring} --groups {folder}/groups.json"), 18e-6),
          "groups of a file")
    init = (0, 1, [], 0, {}, f'["{json.dumps(pairs[1])}"]')
    path = chakra_folder(folder, "torch", [in_pairs(rank, [init]) for rank in range(4)])
    check(near(time_of(f"--chakra {path} {network} {ring}"), 18e-6), "groups that PyTorch names")
    for where in ("--network links --platform gige_star", "--network smpi --platform gige_star"):
        point = f"{where} --scheme dense_ring -n 1000"
        wanted = time_of(f"{point} -P 2") + time_of(f"{point} -P 4")
        found = time_of(f"--chakra {path} {where} {ring}")
        check(near(found, wanted, 1e-6), f"{where}: {found}, wanted {wanted}")
    # Half of the ranks sum first; then all gather, also those that had nothing to sum.
    def overlapping(rank):
        first = [(1, COLLECTIVE, [], 0, of(0, 1024, pg_name="2"))] if rank > 3 else []
        return first + [(2, COLLECTIVE, [1] if first else [], 0, of(2, 1024, pg_name="1"))]
    path = chakra_folder(folder, "overlapping", [overlapping(rank) for rank in range(8)])
    (folder / "groups.json").write_text(json.dumps({"1": list(range(8)), "2": [4, 5, 6, 7]}))
    # Eager, the four blocks of the others arrive at rank 4 while it sums, through the same port.
    summed, gathered = 6 * (1e-6 + 64 * 4e-9), 1e-6 + 256 * 4e-9
    for eager, messages in (("--eager 0", 7), ("", 4 + 7)):
        found = time_of(f"--chakra {path} {network} {ring} {eager} --groups {folder}/groups.json")
        check(near(found, summed + messages * gathered), "groups that overlap in their ranks")
    # Ranks at any distances: 12 us in each of two groups of 4, then 8 us among three of them.
    halves = {"1": [7, 4, 1, 0], "2": [2, 3, 5, 6], "3": [1, 2, 7]}
    def irregular(rank):
        first = (1, COLLECTIVE, [], 0, of(0, 4000, pg_name="1" if rank in halves["1"] else "2"))
        then = (2, COLLECTIVE, [1], 0, of(0, 3000, pg_name="3"))
        return [first, then] if rank in halves["3"] else [first]
    path = chakra_folder(folder, "irregular", [irregular(rank) for rank in range(8)])
    (folder / "groups.json").write_text(json.dumps(halves))
    groups = f"{ring} --groups {folder}/groups.json"
    check(near(time_of(f"--chakra {path} {network} {groups}"), 20e-6), "irregular groups")
    star = "--platform gige_star"
    links, smpi = (time_of(f"--chakra {path} --network {name} {star} {groups}") for name in ("links", "smpi"))
    check(near(links, smpi, 1e-6), f"irregular groups: {links}, on smpi {smpi}")
    for value, wanted in (({"1": [0, 2, 0], "2": [1, 3]}, "rank 0 is in a process group twice"),
                          ({"1": [1, 3], "2": [0, 2]}, "rank 0 is not in its process group"),
                          ({"1": [0, 9], "2": [1, 3]}, "has no trace"), ([1], "expected a JSON object")):
        (folder / "groups.json").write_text(json.dumps(value))
        refused(f"run --chakra {folder}/pairs --groups {folder}/groups.json", wanted)
    for flags, wanted in (("--collective allreduce=topka", "not a dense scheme for allreduce"),
                          ("--collective allreduce=alltoall_bruck", "not a dense scheme for allreduce"),
                          ("--collective gather=dense_ring", "expected COLLECTIVE=SCHEME"),
                          ("--groups none.json", "none.json")):
        refused(f"run --chakra {folder}/pairs {flags}", wanted)
    for comm_type, wanted in ((1, "comm_type 1; simulated are all-reduce"),):
        path = chakra_folder(folder, f"kind{comm_type}", [[(0, COLLECTIVE, [], 0, of(comm_type, 8))]] * 2)
        refused(f"run --chakra {path}", wanted)


def chakra_as_others_have_it(folder):
    """Traces that send first, and those that are none."""
    send = lambda to, size: (0, SEND_NODE, [], 0, {"comm_src": 0, "comm_dst": to, "comm_size": size})
    receive = {"comm_src": 0, "comm_dst": 1, "comm_size": 4000}
    network = "--alpha 1e-6 --beta 4e-9"
    path = chakra_folder(folder, "pair", [[send(1, 4000)], [(7, RECEIVE_NODE, [], 0, receive)]])
    check(records(f"run --chakra {path} {network}")[0]["eager_bytes"] is None, "all are eager")
    check(near(time_of(f"--chakra {path} {network}"), 5e-6), "a message")
    (path / "x.01.et").write_bytes((path / "x.1.et").read_bytes())
    refused(f"run --chakra {path}", "rank 1 has two traces")
    path = chakra_folder(folder, "zeros", [b"\0" * 100000])
    refused(f"run --chakra {path}", "at byte 1 is a message of no bytes")
    path = chakra_folder(folder, "words", [[(0, COMPUTE, [], 0, {"duration_s": "long"})]])
    refused(f"run --chakra {path}", "duration_s is no double or float")
    path = chakra_folder(folder, "other", [[(0, SEND_NODE, [], 0, {"comm_src": 3, "comm_dst": 0,
                                                                   "comm_size": 8})]])
    refused(f"run --chakra {path}", "is of rank 3, in the trace of rank 0")
    path = chakra_folder(folder, "short", [[send(1, 4000)], [(7, RECEIVE_NODE, [], 0,
                                                              {**receive, "comm_size": 8})]])
    refused(f"run --chakra {path}", "rank 1, node 7: a receive of 8 bytes gets the message of 4000 bytes "
            "of rank 0, node 0")
    path = chakra_folder(folder, "operations", [[(0, COMPUTE, [], 0, {"num_ops": 1000})]])
    check("1 computations give operations" in run(f"run --chakra {path}").stderr, "num_ops")
    # As PyTorch's converter leaves it: the call of a collective on the CPU, and a node that is not there.
    path = chakra_folder(folder, "torch_calls", [[(5, COLLECTIVE, [3], 7, {"is_cpu_op": True}),
                                                  (6, COMPUTE, [5], 2, {"is_cpu_op": False})]])
    check("1 dependencies are on nodes" in run(f"run --chakra {path}").stderr, "a node that is not there")
    check(near(time_of(f"--chakra {path}"), 9e-6), "a call of a collective")
    # The calls of a training step, which wait for each other in a circle: they are no order.
    path = chakra_folder(folder, "step", [[(1, COMPUTE, [], 2, {"is_cpu_op": False, "calls": [1, 3]}),
                                           (2, COMPUTE, [1], 3, {"is_cpu_op": False, "calls": [3]}),
                                           (3, COMPUTE, [2], 4, {"is_cpu_op": False, "calls": [1]})]])
    check(near(time_of(f"--chakra {path}"), 9e-6), "calls are no order")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: pairs of their numbers and values."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"wire type {kind}")
        yield key >> 3, value


def chakra_nodes(path):
    """The nodes of a trace: id, kind, dependencies and attributes (numbers of et_def.proto)."""
    data, at, messages = path.read_bytes(), 0, []
    while at < len(data):
        length, at = varint(data, at)
        messages.append(data[at:at + length])
        at += length
    check(dict(fields(messages[0])).get(1) == b"0.0.4", f"{path}: version")
    nodes = []
    for message in messages[1:]:
        node = {"id": 0, "deps": [], "attr": {}}
        for number, value in fields(message):
            if number == 1:
                node["id"] = value
            elif number == 3:
                node["kind"] = value
            elif number == 5:
                at = 0
                while at < len(value):  # packed
                    dependency, at = varint(value, at)
                    node["deps"].append(dependency)
            elif number == 10:
                attribute = dict(fields(value))
                name = attribute.pop(1).decode()
                node["attr"][name] = next(iter(attribute.items()), (0, 0))
        nodes.append(node)
    return nodes


def chakra_traces(folder):
    """The traces as another reader of protobuf sees them."""
    run(f"export --scheme oktopk -P 5 -n 30000 -d 0.02 --goal {folder}/c.goal --chakra {folder}/c")
    goal = loggops.parse((folder / "c.goal").read_text())
    sent, received = [], []
    for rank in range(5):
        nodes = chakra_nodes(folder / "c" / f"oktopk.{rank}.et")
        seen = set()
        for node in nodes:
            check(node["id"] not in seen and seen.issuperset(node["deps"]), "dependencies come first")
            seen.add(node["id"])
            if node["kind"] not in (5, 6):  # COMM_SEND_NODE, COMM_RECV_NODE
                continue
            attributes = node["attr"]
            check(attributes["comm_size"][0] == 9, "comm_size is an int64")
            for name in ("comm_src", "comm_dst", "comm_tag"):
                check(attributes[name][0] == 7, f"{name} is an int32")
            check(attributes["is_cpu_op"] == (27, 0), "is_cpu_op is false, a bool")
            message = tuple(attributes[key][1] for key in
                            ("comm_src", "comm_dst", "comm_tag", "comm_size"))
            check(message[0 if node["kind"] == 5 else 1] == rank, "the rank's own message")
            (sent if node["kind"] == 5 else received).append(message)
        messages = sum(op.kind != loggops.CALC for op in goal[rank])
        check(messages == sum(node["kind"] in (5, 6) for node in nodes), "as many as in GOAL")
    check(sent and sorted(sent) == sorted(received), "what is sent is received")
    # ASTRA-sim's feeder takes no trace without nodes, and its analytical network no empty message;
    # LogGOPSim takes no schedule without operations.
    run(f"export --scheme topka -P 1 -n 100 --goal {folder}/one.goal --chakra {folder}/one")
    nodes = chakra_nodes(folder / "one" / "topka.0.et")
    check([node["kind"] for node in nodes] == [4], f"one COMP_NODE: {nodes}")
    ops = loggops.parse((folder / "one.goal").read_text())[0]
    check([(op.kind, op.size) for op in ops] == [(loggops.CALC, 0)], "one calc 0")
    check(time_of(f"--chakra {folder}/one") == time_of(f"--goal {folder}/one.goal") == 0, "no time")
    point = "--scheme oktopk -P 5 -n 30000 -k 0"
    run(f"export {point} --chakra {folder}/empty")
    sizes = [node["attr"]["comm_size"][1] for rank in range(5)
             for node in chakra_nodes(folder / "empty" / f"oktopk.{rank}.et")
             if "comm_size" in node["attr"]]
    check(min(sizes) == 1, f"an empty message is one of a byte: {min(sizes)}")
    check(near(time_of(point), time_of(f"--chakra {folder}/empty")), "empty messages as Chakra")


# -- Texts of benchmarks --

def benchmark_texts(folder):
    text = run("run --scheme dense_ring -P 8 -b 8 -e 1M -f 2 --format nccl").stdout
    # The columns of nccl-tests: size count type redop root, then time algbw busbw #wrong twice.
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    check([int(line[0]) for line in lines] == [8 << i for i in range(18)], "sizes of -b, -e, -f")
    for line in lines:
        size, count, kind, operation, root = line[:5]
        time, algorithm, bus, wrong = map(float, line[5:9])
        check((int(count), kind, operation, root) == (int(size) // 4, "float", "sum", "-1"),
              f"columns: {line}")
        check(wrong == 0 and len(line) == 13 and line[5:9] == line[9:], f"columns: {line}")
        check(abs(bus - algorithm * 14 / 8) < 0.02, f"bandwidths: {line}")
        check(abs(algorithm - int(size) / time / 1e3) < 0.01 + 0.01 * algorithm, f"time: {line}")
    check(re.search(r"^# Avg bus bandwidth    : [0-9.e+]+ $", text, re.M), "the last line")
    ours = records("run --scheme dense_ring -P 8 --sizes 8:1M:2")
    check(len(ours) == 18 and near(ours[-1]["time_s"] * 1e6, float(lines[-1][5]), 1e-2), "times")
    text = run("run --scheme dense_ring,alltoall_pairwise -P 8 --sizes 64K,1M --format osu").stdout
    check(text.count("# Size       Avg Latency(us)") == 2, "two tables of OSU")
    rows = re.findall(r"^(\d+) +(\d+\.\d\d)$", text, re.M)
    check([int(row[0]) for row in rows] == [65536, 1 << 20, 8192, 131072], f"sizes of OSU: {rows}")
    # Both are read back, as is IMB's, and a machine that is the simulated one has no error.
    machine = folder / "mine.json"
    machine.write_text(json.dumps({"name": "mine", "settings": {"network": "alphabeta"}}))
    gpu = folder / "gpu.json"
    gpu.write_text(json.dumps({"name": "mine", "gpu": True, "settings": {"network": "alphabeta"}}))
    sizes = "run --scheme dense_ring -P 8 --sizes 64K,1M --format"
    (folder / "nccl.txt").write_text(run(sizes + " nccl").stdout)
    (folder / "osu.txt").write_text(run(sizes + " osu").stdout)
    times = [row["time_s"] * 1e6 for row in records("run --scheme dense_ring -P 8 --sizes 64K,1M")]
    (folder / "imb.txt").write_text(f"""#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            4         1000         1.00         1.00

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 8
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.00         0.00         0.00
        65536          640         1.00 {times[0]:12.2f}         1.00
      1048576           40         1.00 {times[1]:12.2f}         1.00
""")
    for name, description, facts in (("nccl", gpu, "algorithm=dense_ring"),
                                     ("osu", machine, "algorithm=dense_ring,nodes=2,tasks_per_node=4"),
                                     ("imb", machine, "algorithm=dense_ring,tasks_per_node=4")):
        ended = subprocess.run(
            [PROGRAM, "validate", "--measured", f"{folder}/{name}.txt,machine=mine,{facts}",
             "--machine", str(description), "--format", "jsonl"],
            capture_output=True, text=True, cwd=folder)
        rows = [json.loads(line) for line in ended.stdout.splitlines()]
        rows = [row for row in rows if row.get("kind") == "row"]
        check(len(rows) == 2, f"{name}: {len(rows)} rows read: {ended.stderr}")
        for row in rows:
            check(abs(row["simulated_s"] / row["measured_s"] - 1) < 2e-3, f"{name}: {row}")
    # A density makes one table, though k is rounded at small sizes; two densities make two.
    text = run("run --scheme oktopk -P 4 -b 8 -e 64K -d 0.01 --format osu").stdout
    check(text.count("# Size") == 1 and len(re.findall(r"^\d+ ", text, re.M)) == 14, text)
    text = run("run --scheme topka -P 4 --sizes 800,40K,400K -d 0.02,0.1 --format osu").stdout
    tables = text.split("# OSU")[1:]
    check([re.findall(r"^\d+", table, re.M) for table in tables] == [["800", "40960", "409600"]] * 2,
          f"two densities: {text}")
    check(["density 0.02" in tables[0], "density 0.1" in tables[1]] == [True, True], f"headings: {text}")
    check(all(near(float(re.search(r"^409600 +(\S+)", table, re.M)[1]) * 1e-6,
                   records(f"run --scheme topka -P 4 --sizes 400K -d {density}")[0]["time_s"], 1e-3)
              for table, density in zip(tables, ("0.02", "0.1"))), f"times of two densities: {text}")
    refused("run --scheme dense_ring -P 8 -e 1M", "-b: is missing")
    refused("run --scheme dense_ring -P 8 -b 1M -e 1K", "below the smallest")
    refused("run --scheme dense_ring -P 8 -b 1M -n 100", "leave one of them out")
    refused("run --scheme dense_ring -P 8 --sizes 1K:2K:1", "a factor above 1")
    refused("run --scheme dense_ring -P 8 --sizes 1x", "expected a size")
    refused("run --scheme dense_ring -P 8 --network counting --format nccl", "has none")
    refused("run --scheme oktopk --model vgg16 --format osu", "leave --model out")


def read_by_scripts(folder):
    """What is printed is read by the rules of public scripts, whose rules are written anew here."""
    text = run("run --scheme nccl_ring -P 16 --platform dgx_h100 --network links -b 1M -e 64M -f 4 "
               "--format nccl").stdout
    ours = records("run --scheme nccl_ring -P 16 --platform dgx_h100 --network links -b 1M -e 64M -f 4")
    times = [row["time_s"] * 1e6 for row in ours]
    # microsoft/superbenchmark, cuda_nccl_bw_performance.py: the lines between the line with
    # "out-of-place" and the line with "Out of bounds values"; columns by their names in the heading,
    # counted from the end.
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if "out-of-place" in line)
    end = next(i for i, line in enumerate(lines) if "Out of bounds values" in line)
    names = next(line for line in lines[begin:end] if "time" in line and "busbw" in line)[1:].split()
    rows = [line.split() for line in lines[begin:end] if re.match(r" *\d", line)]
    time = names.index("time") - len(names)
    check([int(row[names.index("size")]) for row in rows] == [1 << i for i in (20, 22, 24, 26)],
          f"sizes of SuperBench: {rows}")
    check(all(near(float(row[time]), ours, 1e-3) for row, ours in zip(rows, times)),
          f"times of SuperBench: {rows}")
    bus = [float(row[names.index("busbw") - len(names)]) for row in rows]
    # FlagOpen/FlagPerf: the last word of the line of the average.
    average = next(line for line in lines if "# Avg bus bandwidth" in line).split()[-1]
    check(near(float(average), sum(bus) / len(bus), 1e-3), f"average: {average}, {bus}")
    # Scripts that make JSON of the whole text take the sweep's parameters and the devices too, and
    # find the table by its heading as nccl-tests write it.
    sweep = re.search(r"^# nThread (\d+) nGpus (\d+) minBytes (\d+) maxBytes (\d+) step: (\d+)\((\w+)\) "
                      r"warmup iters: (\d+) iters: (\d+) agg iters: (\d+) validation: (\d+) "
                      r"graph: (\d+)", text, re.M)
    check(sweep is not None and sweep.groups()[2:6] == ("1048576", "67108864", "4", "factor"),
          f"parameters: {text}")
    devices = re.findall(r"^#\s+Rank\s+(\d+)\s+Group\s+(\d+)\s+Pid\s+(\d+)\s+on\s+(\S+)\s+device\s+"
                         r"(\d+)\s+\[([0-9a-fA-F:.]+)\]\s+(.*?)\s*$", text, re.M)
    check([(int(device[0]), device[3], int(device[4])) for device in devices] ==
          [(rank, f"node{rank // 8}", rank % 8) for rank in range(16)], f"devices: {devices}")
    check("# Using devices" in lines and
          "#       size         count      type   redop    root     time   algbw   busbw #wrong     time"
          "   algbw   busbw #wrong" in lines, "the headings of nccl-tests")
    check(all(re.match(r"^\s*\d+\s+\d+\s+\w+\s+\S+\s+-?\d+(\s+\S+){8}\s*$", line)
              for line in lines[begin + 3:end]), "rows of thirteen words")
    # The ranks are enough for validate: no facts about nodes.
    (folder / "dgx.txt").write_text(text)
    (folder / "dgx.json").write_text(json.dumps({"name": "dgx", "gpu": True, "settings": {
        "network": "links", "platform": "dgx_h100"}}))
    ended = subprocess.run([PROGRAM, "validate", "--measured", f"{folder}/dgx.txt,machine=dgx,algorithm=ring_simple",
                            "--machine", f"{folder}/dgx.json", "--format", "jsonl"],
                           capture_output=True, text=True, cwd=folder)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    found = [row for row in found if row.get("kind") == "row"]
    check([(row["nodes"], row["ranks"]) for row in found] == [(2, 16)] * 4 and
          all(abs(row["error"]) < 1e-3 for row in found), f"validate: {ended.stderr}{found}")
    # Two runs in one text would be taken for one of twice as many ranks.
    both = run("run --scheme dense_ring -P 2,4 --sizes 1K --format nccl").stdout
    (folder / "both.txt").write_text(both)
    refused(f"validate --measured {folder}/both.txt,machine=dgx,algorithm=ring "
            f"--machine {folder}/dgx.json", "another run begins here")
    (folder / "osu.txt").write_text(
        run("run --scheme dense_ring,alltoall_bruck -P 2 --sizes 1K --format osu").stdout)
    refused(f"validate --measured {folder}/osu.txt,machine=dgx,algorithm=ring,nodes=2,tasks_per_node=1 "
            f"--machine {folder}/dgx.json", "another collective begins here")
    # Steps in bytes, and no step.
    for sizes, step in (("8,12,16", "4(bytes)"), ("8,12,48", "0(bytes)"), ("8", "0(bytes)")):
        text = run(f"run --scheme dense_ring -P 3 --sizes {sizes} --format nccl").stdout
        check(f" step: {step} " in text, f"step of {sizes}: {text}")
    # OSU: reframe-hpc/reframe takes the word after a size at the beginning of a line. Others take name
    # and version from the title, the datatype from its line, or all that follows three lines of
    # heading. The scheme's name is another collective's.
    text = run("run --scheme dsar_split_allgather -P 4 -d 0.1 --sizes 8,1K --format osu").stdout
    time = records("run --scheme dsar_split_allgather -P 4 -d 0.1 --sizes 8")[0]["time_s"] * 1e6
    found = re.search(r"^8\s+(\S+)", text, re.M)
    check(found and abs(float(found[1]) - time) < 0.006, f"ReFrame: {text}")
    title = re.search(r"# OSU MPI (.+) Test (v[\d.]+)", text)
    check(title and title.groups() == ("Allreduce Latency", "v7.4"), f"title: {text}")
    check(re.search(r"# Datatype: (.+)\.", text)[1] == "MPI_FLOAT", f"datatype: {text}")
    check([line.split()[0] for line in text.strip().split("\n")[3:]] == ["8", "1024"],
          f"lines of the heading: {text}")
    (folder / "osu.txt").write_text(text)
    ended = run(f"validate --measured {folder}/osu.txt,machine=dgx,collective=allreduce,gpu=no,"
                f"algorithm=ring_ompi,nodes=4,tasks_per_node=1 --machine {folder}/dgx.json",
                code=1)  # the machine has GPUs, so nothing is compared
    check("contradicts" not in ended.stderr, f"the collective of OSU's title: {ended.stderr}")


def calibration_from_texts(folder):
    """A machine is fitted to the texts of all three benchmarks: the simulated one is found again."""
    true = "--alpha 3e-6 --beta 8e-10"
    start = {"name": "mine", "calibrated_on": [{"run": "1"}], "settings": {
        "network": "alphabeta", "machine": {"alpha_s": 5e-6, "beta_s_per_word": 1e-9}}}
    for name, facts in (("osu", "algorithm=dense_ring,nodes=8,tasks_per_node=1"),
                        ("nccl", "algorithm=dense_ring"),
                        ("imb", "algorithm=dense_ring,tasks_per_node=1")):
        text = folder / f"{name}.txt"
        if name == "imb":
            rows = records(f"run --scheme dense_ring -P 8 {true} --sizes 1K:16M:4")
            table = "".join(f"{row['size_bytes']:13} 1000 1.00 {row['time_s'] * 1e6:.4f} 1.00\n"
                            for row in rows)
            text.write_text("# Benchmarking Allreduce\n# #processes = 8\n#bytes #repetitions "
                            "t_min[usec] t_max[usec] t_avg[usec]\n" + table)
        else:
            text.write_text(run(f"run --scheme dense_ring -P 8 {true} --sizes 1K:16M:4 --format {name}")
                            .stdout)
        machine = folder / f"{name}.json"
        machine.write_text(json.dumps({**start, "gpu": name == "nccl"}))
        command = ["fit", f"{text},machine=mine,run=1,{facts}", "--machine", str(machine), "--fit", "machine.alpha_s", "--fit",
                   "machine.beta_s_per_word"]
        ended = subprocess.run([PROGRAM, *command], capture_output=True, text=True, cwd=folder)
        check(ended.returncode == 0, f"fit, {name}: {ended.stderr}")
        if ended.returncode == 0:
            found = json.loads(ended.stdout)["settings"]["machine"]
            check(near(found["alpha_s"], 3e-6, 5e-3) and near(found["beta_s_per_word"], 8e-10, 5e-3),
                  f"fit, {name}: {found}")
    machine.write_text(json.dumps({"name": "mine", "settings": start["settings"]}))
    ended = subprocess.run([PROGRAM, *command], capture_output=True, text=True, cwd=folder)
    check(ended.returncode == 2 and "/calibrated_on: is missing" in ended.stderr,
          f"without calibrated_on: {ended.stderr}")


# -- Rules for libraries --

ALLREDUCE = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int count, char** sizes) {
  MPI_Init(&count, &sizes);
  const int length = atoi(sizes[1]) / 4;
  float* from = calloc(length, sizeof(float));
  float* to = calloc(length, sizeof(float));
  MPI_Allreduce(from, to, length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


def library_rules(folder):
    arguments = "-P 2,4,8 -b 1K -e 16M -f 4 --alpha 2e-6"
    ended = subprocess.run(
        [PROGRAM, "recommend", "--nccl-tuner", "tuner.csv", "--ompi-rules", "rules.conf",
         *arguments.split(), "--format", "json"], capture_output=True, text=True, cwd=folder)
    check(ended.returncode == 0, f"recommend: {ended.stderr}")
    rules = json.loads(ended.stdout)
    # NCCL's plugin: eight to ten fields without spaces, the first that matches counts.
    lines = [line.split(",") for line in (folder / "tuner.csv").read_text().splitlines()
             if not line.startswith("#")]
    check(all(len(line) == 10 for line in lines), "ten fields a line")
    for ranks in (2, 4, 8):
        of_ranks = [line for line in lines if line[7] == str(ranks)]
        check(of_ranks[0][1] == "0" and int(of_ranks[-1][2]) >= 2**32 - 1, "all sizes are covered")
        for before, after in zip(of_ranks, of_ranks[1:]):
            check(int(before[2]) + 1 == int(after[1]), "sizes without gaps")
        for line in of_ranks:
            # Channels: 0 leaves them to NCCL. At -1 the plugin answers 1, which NCCL then takes.
            check(line[5] == "0", f"channels: {line}")
            check(line[0] == "allreduce" and line[3] in ("ring", "tree") and
                  line[4] in ("ll", "ll128", "simple"),
                  f"line of NCCL: {line}")
    # The winner at a size is the one whose simulated time is the least.
    for size in (1024, 16 << 20):
        times = {(algorithm, protocol): time_of(
            f"--scheme nccl_{algorithm} --set options.protocol={number} -P 8 -b {size} "
            "--alpha 2e-6 --iterations 1")
                 for algorithm in ("ring", "tree")
                 for number, protocol in enumerate(("ll", "ll128", "simple"))}
        wanted = min(times, key=times.get)
        line = next(line for line in lines if line[7] == "8" and
                    int(line[1]) <= size <= int(line[2]))
        check((line[3], line[4]) == wanted, f"{size} bytes on 8 ranks: {line}, but {times}")
    refused("recommend --nccl-tuner x.csv", "--ranks is missing")
    refused("recommend --nccl-tuner x.csv -P 4 --model bert", "--model")
    refused("recommend --model bert --sizes 1K", "--nccl-tuner")
    open_mpi(folder, [rule for rule in rules if rule["library"] == "Open MPI"])


def open_mpi(folder, rules):
    """Open MPI reads the rules and follows them: each algorithm sends as many messages as it does.

    Its monitoring component counts them."""
    if not shutil.which("mpirun") or not shutil.which("mpicc"):
        print("no MPI library: Open MPI's rules are not tried")
        return
    (folder / "allreduce.c").write_text(ALLREDUCE)
    subprocess.run(["mpicc", "allreduce.c", "-o", "allreduce"], cwd=folder, check=True)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    # Messages that rank 0 of four sends.
    messages = {"dense_recursive_doubling": 2, "dense_ring": 6, "dense_rabenseifner": 4}
    tried = set()
    for size in (1024, 16 << 20):
        rule = next(rule for rule in rules if rule["collective"] == "allreduce" and
                    rule["ranks"] == 4 and rule["min_bytes"] <= size and
                    (rule["max_bytes"] is None or size <= rule["max_bytes"]))
        shutil.rmtree(folder / "counts", ignore_errors=True)
        (folder / "counts").mkdir()
        parameters = {"btl": "self,vader", "coll_tuned_use_dynamic_rules": "1",
                      "coll_tuned_dynamic_rules_filename": str(folder / "rules.conf"),
                      "pml_monitoring_enable": "1", "pml_monitoring_enable_output": "3",
                      "pml_monitoring_filename": str(folder / "counts" / "of")}
        given = [word for item in parameters.items() for word in ("--mca", *item)]
        ended = subprocess.run(["mpirun", "-n", "4", "--oversubscribe", *given, "./allreduce",
                                str(size)], cwd=folder, env=environment, capture_output=True,
                               text=True, timeout=120)
        check(ended.returncode == 0, f"mpirun: {ended.stderr}")
        counts = (folder / "counts" / "of.0.prof").read_text()
        sent = sum(int(n) for n in re.findall(r"^[EI]\t0\t\d+\t\d+ bytes\t(\d+) msgs", counts, re.M))
        wanted = messages.get(rule["scheme"])
        check(wanted is not None, f"no count is known of {rule['scheme']}")
        check(sent == wanted, f"{size} bytes: {rule['scheme']} sends {wanted} messages, and Open MPI "
              f"sent {sent}")
        tried.add(rule["scheme"])
    check(len(tried) == 2, f"both sizes have one algorithm: {tried}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for test in (stand_in_is_loggopsim, schedules_are_what_others_simulate, round_trips,
                     computation_is_included, foreign_schedules, frameworks, eager_sends, binary_schedules,
                     chakra_collectives, chakra_as_others_have_it, chakra_traces, benchmark_texts,
                     read_by_scripts, calibration_from_texts, library_rules):
            if sys.argv[2:] and test.__name__ not in sys.argv[2:]:
                continue
            print(f"-- {test.__name__}", flush=True)
            test(folder)
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
