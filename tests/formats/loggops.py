"""A simulator of GOAL text under the LogGOPS model, to check exported schedules with.

It follows the published rules (Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC 2010): a send takes
the sender's processor for o and its NIC for g + (s - 1) G; the first byte arrives after o + L; a
receive takes the receiver's NIC for g + (s - 1) G and its processor until the last byte has come,
and o. A message of more than S bytes is complete at its sender when its receive has begun, others
at once. Times are seconds, and nothing is shared with the simulator that wrote the schedule.
"""

import heapq
import itertools
import re

SEND, RECEIVE, CALC = range(3)


class Op:
    def __init__(self, kind, size=0, peer=0, tag=0, cpu=0):
        self.kind, self.size, self.peer, self.tag, self.cpu = kind, size, peer, tag, cpu
        self.left = 0  # what it still waits for
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


def simulate(ranks, L, o=0.0, g=0.0, G=0.0, S=float("inf"), unit=1e-9, extra_bytes=0):
    """The time at which the last rank ends. extra_bytes is added to the size of every message."""
    cpu = [{} for _ in ranks]
    sends_free = [0.0] * len(ranks)
    receives_free = [0.0] * len(ranks)
    posted = [{} for _ in ranks]      # by source and tag: receives without a message
    unexpected = [{} for _ in ranks]  # the other way round
    ended = [0.0] * len(ranks)
    events, number = [], itertools.count()

    def push(time, rank, op, source=None):
        heapq.heappush(events, (time, next(number), rank, op, source))

    def release(rank, ops, time):
        for op in ops:
            op.left -= 1
            if op.left == 0:
                push(time, rank, op)

    def begin(rank, op, time):
        release(rank, op.after_begin, time)

    def end(rank, op, time):
        ended[rank] = max(ended[rank], time)
        release(rank, op.after_end, time)

    def bulk(op):
        return (op.size + extra_bytes - 1) * G

    for rank, ops in enumerate(ranks):
        for op in ops:
            if op.left == 0:
                push(0.0, rank, op)
    open_ops = sum(len(ops) for ops in ranks)
    while events:
        time, _, rank, op, source = heapq.heappop(events)
        busy = cpu[rank].get(op.cpu, 0.0)
        if source is not None:  # a message arrives
            start = max(busy, receives_free[rank])
            if start > time:
                push(start, rank, op, source)
                continue
            last = time + bulk(op)
            receives_free[rank] = last + g
            cpu[rank][op.cpu] = last + o
            key = (source, op.tag)
            if posted[rank].get(key):
                receive = posted[rank][key].pop(0)
                open_ops -= 1
                end(rank, receive, last + o)
                if op.size > S:
                    open_ops -= 1
                    end(source, op, time)
            else:
                unexpected[rank].setdefault(key, []).append((op, last + o))
        elif op.kind == CALC:
            if busy > time:
                push(busy, rank, op)
                continue
            begin(rank, op, time)
            cpu[rank][op.cpu] = time + op.size * unit
            open_ops -= 1
            end(rank, op, cpu[rank][op.cpu])
        elif op.kind == SEND:
            start = max(busy, sends_free[rank])
            if start > time:
                push(start, rank, op)
                continue
            begin(rank, op, time)
            cpu[rank][op.cpu] = time + o
            sends_free[rank] = time + g + bulk(op)
            push(time + o + L, op.peer, op, rank)
            if op.size <= S:
                open_ops -= 1
                end(rank, op, time + o)
        else:
            begin(rank, op, time)
            key = (op.peer, op.tag)
            if unexpected[rank].get(key):
                send, arrived = unexpected[rank][key].pop(0)
                open_ops -= 1
                end(rank, op, max(time, arrived))
                if send.size > S:
                    open_ops -= 1
                    end(op.peer, send, time)
            else:
                posted[rank].setdefault(key, []).append(op)
    if open_ops:
        raise RuntimeError(f"{open_ops} operations never ended")
    return max(ended)
