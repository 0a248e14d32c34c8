#!/usr/bin/env python3
"""Makes a model file of Thinwire from a Kineto trace of a training by PyTorch's DDP.

    kineto_model.py TRACE.json[.gz] --name NAME --batch N [--device DEVICE] [--density D]
                    [--profile PROFILE] [-o MODEL.json]

Record the trace of some steps with torch.profiler.profile(schedule=...) and export_chrome_trace(), and
call the profiler's step() after each; without a schedule, torch does not mark the steps. From it come,
as medians over the complete steps (ProfilerStep#N):

- the buckets: the elements of each allreduce (record_param_comms, "In msg nelems"), in the order in
  which the backward pass fills them. They become the layers of the model, in reverse order;
- the computing time of a step: the step without the time in which only communication runs on the GPU
  (kernels whose name has "nccl"); on a CPU, without the time that it waits in gloo;
- how the backward pass is divided among the buckets: the times at which their allreduces begin.

The trace does not say which profile the gradients have, or the density: choose them.
"""
import argparse
import gzip
import json
import statistics
import sys

ALLREDUCE = ("allreduce", "all_reduce", "allreduce_coalesced")


def fail(text):
    sys.exit(f"kineto_model: {text}")


def read_events(path):
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            trace = json.load(file)
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(events, list):
        fail(f"{path}: no traceEvents; export it with export_chrome_trace()")
    return [event for event in events
            if isinstance(event, dict) and event.get("ph") == "X" and "ts" in event and "dur" in event]


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


def is_allreduce(event):
    if event.get("name") != "record_param_comms":
        return False
    return str(event.get("args", {}).get("Collective name", "")).lower() in ALLREDUCE


def step_data(begin, end, events):
    """The buckets of a step, (begin, elements), and its computing time."""
    inside = [event for event in events if begin <= event["ts"] / 1e6 < end]
    buckets = [(event["ts"] / 1e6 - begin, int(event["args"]["In msg nelems"]))
               for event in inside if is_allreduce(event)]
    kernels = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    on_gpu = bool(kernels)
    doing = kernels if on_gpu else [event for event in events if event.get("cat") == "cpu_op"
                                    and not event["name"].startswith("record_param")]
    communicating = within(spans([e for e in events if is_communication(e)
                                  and (e.get("cat") == "kernel") == on_gpu]), begin, end)
    computing = within(spans([e for e in doing if not is_communication(e)]), begin, end)
    only = length(communicating + computing) - length(computing)
    return sorted(buckets), (end - begin) - only


def model_of(path, arguments):
    events = read_events(path)
    steps = sorted((event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6) for event in events
                   if event.get("name", "").startswith("ProfilerStep#")
                   and event.get("cat") in ("user_annotation", None, "cpu_op"))
    if not steps:
        fail(f"{path}: no ProfilerStep; give the profiler a schedule, and call its step() after each "
             "iteration")
    data = [step_data(begin, end, events) for begin, end in steps]
    data = [(buckets, seconds) for buckets, seconds in data if buckets]
    if not data:
        fail(f"{path}: no allreduce (record_param_comms with 'In msg nelems'); record a training by "
             "DDP, with PyTorch 2.1 or later")
    # The first steps of DDP have other buckets: it orders them anew after the first backward pass.
    sizes = [elements for _, elements in data[-1][0]]
    same = [(buckets, seconds) for buckets, seconds in data
            if [elements for _, elements in buckets] == sizes]
    begins = [statistics.median(buckets[i][0] for buckets, _ in same) for i in range(len(sizes))]
    # The time before the first bucket contains the forward pass and the begin of the backward pass:
    # the first bucket's share is taken to be that of its elements.
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
                         "which the allreduces of the buckets begin; that of the first bucket is "
                         "assumed to be in proportion to its elements",
        "layers": layers,
        "compute": [{"device": arguments.device, "batch": arguments.batch,
                     "seconds": statistics.median(seconds for _, seconds in same),
                     "source": "the steps of the trace without the time of communication alone"}],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--name", required=True)
    parser.add_argument("--batch", type=int, required=True, help="samples per rank and step")
    parser.add_argument("--device", default="v100", help="a device of 'thinwire list devices' [v100]")
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--profile", default="bert", help="of 'thinwire list profiles' [bert]")
    parser.add_argument("-o", "--output", help="file to write [stdout]")
    arguments = parser.parse_args()
    if arguments.batch < 1 or not 0 <= arguments.density <= 1:
        fail("--batch is a number from 1, and --density a share from 0 to 1")
    text = json.dumps(model_of(arguments.trace, arguments), indent=2) + "\n"
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
