"""LogGOPSim, and a simulator of GOAL text that stands in for it, to check exported schedules with.

LogGOPSim (Hoefler, Schneider, Lumsdaine: HPDC 2010) is run where its two programs are on the PATH.
The stand-in follows its rules, to the nanosecond: a send takes the sender's processor for o and its
NIC for g + (s - 1) G; the first byte arrives after o + L; a message takes the receiver's NIC for
g + (s - 1) G and its processor for o + (s - 1) G, from the moment at which both are free, also if no
receive is posted yet. A message of more than S bytes is complete at its sender when its receive has
begun, others at once. What an operation requires is done when it has taken its processor: where
that is another processor than its own, the operation does not wait for it to be free again. Times
are whole numbers of a unit, LogGOPSim's nanosecond, and nothing is shared with the simulator that
wrote the schedule.
"""

import collections
import heapq
import itertools
import random
import re
import shutil
import subprocess

SEND, RECEIVE, CALC = range(3)


class Op:
    def __init__(self, kind, size=0, peer=0, tag=0, cpu=0):
        self.kind, self.size, self.peer, self.tag, self.cpu = kind, size, peer, tag, cpu
        self.left = 0   # how many it still waits for
        self.ready = 0  # when all of them have ended, if that counts
        self.after_begin, self.after_end = [], []  # what waits for it


def parse(text):
    """The operations of each rank."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    ranks = [[] for _ in range(int(re.match(r"\s*num_ranks (\d+)", text).group(1)))]
    for rank, body in re.findall(r"rank (\d+)\s*\{(.*?)\}", text, flags=re.S):
        labels = {}
        for line in filter(None, (line.strip() for line in body.splitlines())):
            order = re.fullmatch(r"(\w+) (i?requires) (\w+)", line)
            if order:
                later, kind, earlier = order.groups()
                waits = labels[earlier]
                (waits.after_begin if kind == "irequires" else waits.after_end).append(labels[later])
                labels[later].left += 1
                continue
            words = re.fullmatch(
                r"(?:(\w+):\s*)?(?:(send|recv) (\d+)b (?:to|from) (\d+)|calc (\d+))"
                r"(?: tag (\d+))?(?: cpu (\d+))?", line)
            label, kind, size, peer, calc, tag, cpu = words.groups()
            if calc is not None:
                op = Op(CALC, int(calc), cpu=int(cpu or 0))
            else:
                op = Op(SEND if kind == "send" else RECEIVE, int(size), int(peer), int(tag or 0),
                        int(cpu or 0))
            if label:
                labels[label] = op
            ranks[int(rank)].append(op)
    return ranks


def longer(text, by=1):
    """The same schedule with messages that are longer by some bytes."""
    return re.sub(r"(send|recv) (\d+)b", lambda found: f"{found[1]} {int(found[2]) + by}b", text)


def random_schedule(seed):
    """Ranks with messages, work and an order of them that cannot block, and parameters for them."""
    dice = random.Random(seed)

    def draw(most):
        return int(dice.random() * (most + 1))

    ranks = 2 + draw(6)
    processors = 1 + draw(1)
    ops = [[] for _ in range(ranks)]
    for tag in range(3 + draw(25)):
        rank, peer = draw(ranks - 1), draw(ranks - 1)
        if rank == peer:
            ops[rank].append(f"calc {draw(9000)}")
            continue
        size = 1 + draw(5000)
        ops[rank].append(f"send {size}b to {peer} tag {tag}")
        ops[peer].append(f"recv {size}b from {rank} tag {tag}")
    text = f"num_ranks {ranks}\n"
    for rank, statements in enumerate(ops):
        text += f"rank {rank} {{\n"
        for at, statement in enumerate(statements):
            processor = draw(processors - 1)
            text += f"l{at}: {statement}" + (f" cpu {processor}" if processor else "") + "\n"
            for before in range(at):
                if draw(at) == 0:
                    text += f"l{at} {'irequires' if draw(1) else 'requires'} l{before}\n"
        text += "}\n"
    parameters = {"L": draw(3000), "o": draw(1) * draw(900), "g": draw(1) * draw(900), "G": draw(3)}
    return text, parameters | ({"S": 1000} if draw(3) == 0 else {})


def has_loggopsim():
    return shutil.which("LogGOPSim") is not None and shutil.which("txt2bin") is not None


def loggopsim(folder, text, L, o=0, g=0, G=0, S=2**31 - 1):
    """LogGOPSim's time for a schedule that has operations."""
    (folder / "loggopsim.goal").write_text(text)
    binary = folder / "loggopsim.bin"
    subprocess.run(["txt2bin", "-i", str(folder / "loggopsim.goal"), "-o", str(binary)], check=True)
    ended = subprocess.run(["LogGOPSim", "-b", "-f", str(binary), f"-L{L}", f"-o{o}", f"-g{g}",
                            f"-G{G}", f"-S{S}"], capture_output=True, text=True, check=True)
    time = re.search(r"^Maximum finishing time at host \d+: (\d+)", ended.stdout, re.M)
    if not time:
        raise RuntimeError(f"LogGOPSim has not ended: {ended.stdout}")
    return int(time[1])


def simulate(ranks, L, o=0, g=0, G=0, S=float("inf"), full_duplex=False):
    """The time at which the last processor is free.

    With full_duplex, a message that arrives leaves the processor alone, so that a rank sends while
    it receives, and operations wait until those that they require have ended.
    """
    cpu = [collections.defaultdict(int) for _ in ranks]
    sends_free = [0] * len(ranks)
    receives_free = [0] * len(ranks)
    posted = [{} for _ in ranks]      # by source and tag: receives without a message
    unexpected = [{} for _ in ranks]  # messages without a receive, and when they have arrived
    events, numbers = [], itertools.count()
    released = []                     # the operations that the present event lets begin
    last = 0

    def done(rank, ops, time):
        for op in ops:
            op.left -= 1
            if full_duplex:
                op.ready = max(op.ready, time)
            if op.left == 0:
                released.append((rank, op))

    def free(rank, op):
        """When an operation may begin, for all that its rank is busy with."""
        busy = max(cpu[rank][op.cpu], op.ready)
        return max(busy, sends_free[rank]) if op.kind == SEND else busy

    def push_released():
        # Of the operations of a rank, sends come first, then receives.
        released.sort(key=lambda item: (item[0], item[1].kind))
        for rank, op in released:
            heapq.heappush(events, (free(rank, op), next(numbers), rank, op, None))
        released.clear()

    def matched(time, arrived, rank, receive, source, send, later):
        """A message has met its receive; `later` is the one of them that came later."""
        done(rank, receive.after_end, max(time, arrived))
        if later.size > S:
            done(source, send.after_end, time)
            cpu[source][later.cpu] = max(cpu[source][later.cpu], time)
            sends_free[source] = max(sends_free[source], time)

    for rank, ops in enumerate(ranks):
        released.extend((rank, op) for op in ops if op.left == 0)
    push_released()
    begun = 0
    while events:
        # An event that must wait keeps its number: it goes before others of the same time.
        time, number, rank, op, source = heapq.heappop(events)
        arrives = source is not None
        if arrives:
            start = max(0 if full_duplex else cpu[rank][op.cpu], receives_free[rank])
        else:
            start = time if op.kind == RECEIVE else free(rank, op)
        if start > time:
            heapq.heappush(events, (start, number, rank, op, source))
            continue
        bulk = (op.size - 1) * G
        if arrives:
            arrived = time + o + bulk
            last = max(last, arrived)
            receives_free[rank] = time + g + bulk
            if not full_duplex:
                cpu[rank][op.cpu] = arrived
            key = (source, op.tag)
            if posted[rank].get(key):
                matched(time, arrived, rank, posted[rank][key].pop(0), source, op, op)
            else:
                unexpected[rank].setdefault(key, []).append((op, arrived))
        else:
            begun += 1
            done(rank, op.after_begin, time)
            if op.kind == CALC:
                cpu[rank][op.cpu] = time + op.size
                done(rank, op.after_end, time + op.size)
            elif op.kind == SEND:
                cpu[rank][op.cpu] = time + o
                sends_free[rank] = time + g + bulk
                heapq.heappush(events, (time + o + L, next(numbers), op.peer, op, rank))
                if op.size <= S:
                    done(rank, op.after_end, time + o)
            else:
                key = (op.peer, op.tag)
                if unexpected[rank].get(key):
                    send, arrived = unexpected[rank][key].pop(0)
                    matched(time, arrived, rank, op, op.peer, send, op)
                else:
                    posted[rank].setdefault(key, []).append(op)
        push_released()
    if begun != sum(len(ops) for ops in ranks) or any(
            queue for queues in (posted, unexpected) for of_rank in queues
            for queue in of_rank.values()):
        raise RuntimeError("operations that never ended")
    return max([last] + [time for of_rank in cpu for time in of_rank.values()])
