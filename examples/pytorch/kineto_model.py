#!/usr/bin/env python3
"""Makes a model file of Thinwire from a Kineto trace of a training by PyTorch's DDP.

    kineto_model.py TRACE.json[.gz] --name NAME --batch N [--device DEVICE] [--density D]
                    [--profile PROFILE] [--group GROUP] [--smallest ELEMENTS] [--others OTHERS.json]
                    [-o MODEL.json]

Record the trace of some steps with torch.profiler.profile(schedule=...) and export_chrome_trace(), and
call the profiler's step() after each; without a schedule, torch does not mark the steps. From it come,
as medians over the complete steps (ProfilerStep#N):

- the buckets: the elements of each allreduce (record_param_comms, "In msg nelems"), in the order in
  which the backward pass fills them. They become the layers of the model, in reverse order;
- the computing time of a step: the step without the time in which only communication runs on the GPU
  (kernels whose name has "nccl"); on a CPU, without the time that it waits in gloo;
- how the backward pass is divided among the buckets: the times at which their allreduces begin.

The buckets are the allreduces of one process group: the default one, or --group by its name or
description. What else communicates is named on stderr and left out; --others keeps it in a file. Small
allreduces, of losses and metrics or of SyncBatchNorm, are no buckets: those below --smallest elements, a
thousandth of all by default, or of integers.

The trace does not say which profile the gradients have, or the density: choose them.
"""
import argparse
import collections
import gzip
import json
import statistics
import sys
import zlib

ALLREDUCE = ("allreduce", "all_reduce", "allreduce_coalesced")
DEFAULT_GROUPS = ("", "0", "default_pg")
INTEGERS = ("byte", "char", "short", "int", "long", "bool", "int8", "int16", "int32", "int64", "uint8")


def warn(text):
    print(f"kineto_model: {text}", file=sys.stderr)


def fail(text):
    sys.exit(f"kineto_model: {text}")


def read_events(path):
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            trace = json.load(file)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        fail(f"{path}: {str(error)[:200]}")
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(events, list):
        fail(f"{path}: no traceEvents; export it with export_chrome_trace()")
    return [event for event in events if is_span(event)]


def is_span(event):
    """Whether it is an event with a name, a beginning and a duration, in microseconds."""
    def is_time(value):
        return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e18
    return (isinstance(event, dict) and event.get("ph") == "X" and is_time(event.get("ts")) and is_time(event.get("dur"))
            and isinstance(event.get("name"), str) and isinstance(event.get("args", {}), dict))


def spans(events):
    """(begin, end) in seconds, sorted; Kineto has microseconds."""
    return sorted((event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6) for event in events)


def union(all_spans):
    joined = []
    for begin, end in sorted(all_spans):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return joined


def length(all_spans):
    return sum(end - begin for begin, end in union(all_spans))


def within(all_spans, begin, end):
    return [(max(begin, b), min(end, e)) for b, e in all_spans if b < end and e > begin]


def is_communication(event):
    name = event.get("name", "").lower()
    return "nccl" in name or name.startswith("gloo:")


class Collective:
    """A collective of a step, as record_param_comms has it."""

    def __init__(self, event, begin):
        args = event.get("args", {})
        self.time = event["ts"] / 1e6 - begin
        self.kind = str(args.get("Collective name", "")).lower()
        elements = args.get("In msg nelems") or 0
        if not isinstance(elements, int) or not 0 <= elements <= 2**60:
            fail(f"an allreduce at {event['ts']} us: {str(elements)[:60]!r} is no number of elements")
        self.elements = elements
        self.dtype = str(args.get("dtype", ""))
        self.group = str(args.get("Process Group Name", ""))
        self.description = str(args.get("Process Group Description", ""))
        self.size = args.get("Group size")

    @property
    def is_allreduce(self):
        return self.kind in ALLREDUCE

    @property
    def is_of_default_group(self):
        return self.description == "default_pg" or self.group in DEFAULT_GROUPS

    def is_of(self, group):
        return group in (self.group, self.description)

    @property
    def group_text(self):
        text = f"process group '{self.group}'"
        details = [self.description] if self.description else []
        details += [f"{self.size} ranks"] if self.size else []
        return text + (f" ({', '.join(details)})" if details else "")


def collectives_of(begin, end, events):
    return sorted((Collective(event, begin) for event in events
                   if event.get("name") == "record_param_comms" and begin <= event["ts"] / 1e6 < end),
                  key=lambda one: one.time)


def choose_group(path, steps, wanted):
    """The group of the gradients, as a test of collectives."""
    groups = {one.group: one for step in steps for one in step if one.is_allreduce}
    listed = "; ".join(one.group_text for one in groups.values())
    if wanted is not None:
        if not any(one.is_of(wanted) for one in groups.values()):
            fail(f"{path}: no allreduce of the process group '{wanted}'; there are {listed or 'none'}")
        return lambda one: one.is_of(wanted)
    if len(groups) == 1:
        return lambda one: True
    if len(groups) > 1:
        if not any(one.is_of_default_group for one in groups.values()):
            fail(f"{path}: none of the process groups is the default one: {listed}; give the group of the "
                 "gradients by --group")
        warn(f"{path}: allreduces of several process groups: {listed}; the default group's are taken, "
             "--group takes another's")
    return lambda one: one.is_of_default_group


def split(step, is_chosen, smallest):
    """The buckets of a step, and its other collectives."""
    candidates = [one for one in step if one.is_allreduce and is_chosen(one) and one.elements > 0
                  and one.dtype.lower() not in INTEGERS]
    least = smallest if smallest is not None else sum(one.elements for one in candidates) / 1000
    buckets = [one for one in candidates if one.elements >= least]
    return buckets, [one for one in step if one not in buckets]


def others_text(others, steps):
    """The collectives that are left out, by their kind and group."""
    kinds = collections.Counter((one.kind or "a collective", one.group_text) for one in others)
    elements = collections.Counter()
    for one in others:
        elements[(one.kind or "a collective", one.group_text)] += one.elements
    return "; ".join(f"{count / steps:g} x {kind} in {group}, {elements[kind, group] / steps:g} elements "
                     "together" for (kind, group), count in kinds.items())


def computing_time(begin, end, events):
    """The step without the time in which it only communicates."""
    kernels = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    on_gpu = bool(kernels)
    doing = kernels if on_gpu else [event for event in events if event.get("cat") == "cpu_op"
                                    and not event["name"].startswith("record_param")]
    communicating = within(spans([e for e in events if is_communication(e)
                                  and (e.get("cat") == "kernel") == on_gpu]), begin, end)
    computing = within(spans([e for e in doing if not is_communication(e)]), begin, end)
    only = length(communicating + computing) - length(computing)
    return (end - begin) - only


def model_of(path, arguments):
    events = read_events(path)
    steps = sorted((event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6) for event in events
                   if event.get("name", "").startswith("ProfilerStep#")
                   and event.get("cat") in ("user_annotation", None, "cpu_op"))
    if not steps:
        fail(f"{path}: no ProfilerStep; give the profiler a schedule, and call its step() after each "
             "iteration")
    found = [collectives_of(begin, end, events) for begin, end in steps]
    is_chosen = choose_group(path, found, arguments.group)
    data = []
    for (begin, end), step in zip(steps, found):
        buckets, others = split(step, is_chosen, arguments.smallest)
        if buckets:
            data.append((buckets, others, computing_time(begin, end, events)))
    if not data:
        kinds = sorted({one.kind for step in found for one in step})
        fail(f"{path}: no allreduce (record_param_comms with 'In msg nelems'); record a training by "
             "DDP, with PyTorch 2.1 or later"
             + (f". There are {', '.join(kinds)}" if kinds else ""))
    # The first steps of DDP have other buckets: it orders them anew after the first backward pass.
    sizes = [bucket.elements for bucket in data[-1][0]]
    same = [one for one in data if [bucket.elements for bucket in one[0]] == sizes]
    others = [one for _, step_others, _ in same for one in step_others]
    if others:
        warn(f"{path}: left out, in each step: {others_text(others, len(same))}")
    if arguments.others:
        write(arguments.others, json.dumps(
            [{"collective": one.kind, "group": one.group, "description": one.description,
              "ranks": one.size, "elements": one.elements, "dtype": one.dtype, "begin_s": one.time}
             for one in same[-1][1]], indent=2) + "\n")
    begins = [statistics.median(buckets[i].time for buckets, _, _ in same) for i in range(len(sizes))]
    # The time before the first bucket contains the forward pass and the begin of the backward pass:
    # the first bucket's share is taken to be its share of the elements.
    gaps = [later - earlier for earlier, later in zip(begins, begins[1:])]
    rest = sum(sizes[1:])
    first = sum(gaps) * sizes[0] / rest if gaps and rest else 1.0
    shares = [first, *gaps]
    total = sum(shares)
    shares = [share / total if total > 0 else size / sum(sizes) for share, size in zip(shares, sizes)]
    layers = [{"name": f"bucket_{len(sizes) - 1 - i}", "tensors": [size],
               "forward_flops": round(1e12 * share)}
              for i, (size, share) in reversed(list(enumerate(zip(sizes, shares))))]
    return {
        "format": 1,
        "name": arguments.name,
        "summary": f"{arguments.name}, from a Kineto trace",
        "source": f"{path}: medians of {len(same)} steps",
        "components": sum(sizes),
        "gradients": {"profile": arguments.profile, "source": "chosen, the trace does not say it"},
        "density": {"value": arguments.density, "source": "chosen, the trace does not say it"},
        "sample": "sample",
        "layers_source": "a layer per bucket of DDP. forward_flops are shares of 1e12, by the times at "
                         "which the allreduces of the buckets begin; the first bucket's share is "
                         "assumed to be in proportion to its elements",
        "layers": layers,
        "compute": [{"device": arguments.device, "batch": arguments.batch,
                     "seconds": statistics.median(seconds for _, _, seconds in same),
                     "source": "the steps of the trace without the time of communication alone"}],
    }


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--name", required=True)
    parser.add_argument("--batch", type=int, required=True, help="samples per rank and step")
    parser.add_argument("--device", default="v100", help="a device of 'thinwire list devices' [v100]")
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--profile", default="bert", help="of 'thinwire list profiles' [bert]")
    parser.add_argument("--group", help="process group of the gradients, by name or description [the "
                        "default one]")
    parser.add_argument("--smallest", type=int, help="elements of the smallest bucket [a thousandth of "
                        "all]")
    parser.add_argument("--others", help="file for the other collectives of a step, as JSON")
    parser.add_argument("-o", "--output", help="file to write [stdout]")
    arguments = parser.parse_args()
    if arguments.batch < 1 or not 0 <= arguments.density <= 1:
        fail("--batch is a number from 1, and --density a share from 0 to 1")
    text = json.dumps(model_of(arguments.trace, arguments), indent=2) + "\n"
    if arguments.output:
        write(arguments.output, text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
