#!/usr/bin/env python3
"""Gives the program what it must survive, and counts.

tests/faults/faults.py THINWIRE [PATTERN]
tests/faults/faults.py THINWIRE --kills N [SEED]

Each fault is a function below, run in an empty folder. It holds where it raises nothing; all that
does not hold is printed, and the exit code is 1. PATTERN chooses faults by a part of their names.

--kills is the long mode: N times it kills a sweep, a recommendation or a run of several jobs, at a
random moment, by SIGKILL, SIGHUP, SIGTERM or SIGINT. Five seconds later no process of it lives. Every
tenth time it lets the sweep end, and compares all rows with the rows of a sweep that nobody killed.
"""
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
FAULTS = []
SMALL = ["run", "--scheme", "topka", "-P", "4", "-n", "1000"]
SWEEP = {"name": "small", "base": {"components": 1000, "ranks": 4}, "grid": {"scheme": ["topka", "gtopk"]}}


class Broken(Exception):
    """What a fault did that it must not do."""


class Ended:
    """How a run of the program ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out.decode(errors="replace"), err.decode(errors="replace")

    def __str__(self):
        return f"exit code {self.code}, stderr {self.err[:300]!r}, stdout {self.out[:100]!r}"


def fault(function):
    FAULTS.append(function)
    return function


def check(holds, what):
    if not holds:
        raise Broken(str(what))


def thinwire(*arguments, limits=(), stdin=b"", shell=None, seconds=120):
    """Runs the program with limits (resource, value); `shell` is a shell's tail as in '2>&-'."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a limit on the size of files is a full disk
        for which, value in limits:
            resource.setrlimit(which, (value, value))

    command = [PROGRAM, *arguments]
    if shell is not None:
        command = ["bash", "-c", f'"$0" "$@" {shell}', *command]
    try:
        run = subprocess.run(command, input=stdin, capture_output=True, preexec_fn=limit, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise Broken(f"longer than {seconds} s: {arguments}") from error
    return Ended(run.returncode, run.stdout, run.stderr)


def one_line(ended):
    """The complaint is one short line, of this program and not of a library; notes may stand before it,
    and the line of a file behind it."""
    lines = [line for line in ended.err.strip("\n").split("\n")
             if not line.startswith("note: ") and not re.match(r" +\d* *\| ", line)]
    check(len(lines) == 1 and lines[0], f"not one line: {ended}")
    check(len(ended.err) < 4000, f"{len(ended.err)} characters of complaint")
    check(all(c.isprintable() for c in lines[0]), f"control characters: {ended}")
    for word in ("json.exception", "what():", "terminate called", "std::", "signal"):
        check(word not in ended.err, f"a library's text: {ended}")


def refused(ended, what=""):
    check(ended.code == 2, f"not refused: {ended}")
    one_line(ended)
    check(what in ended.err, f"not named is {what!r}: {ended}")


def well(ended):
    check(ended.code == 0, f"did not end well: {ended}")
    return ended


def write(name, text):
    """A file; `text` may be bytes, or what JSON is made of."""
    if not isinstance(text, (str, bytes)):
        text = json.dumps(text)
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


def rows_of(name):
    return [json.loads(line) for line in pathlib.Path(name).read_text(encoding="utf-8").splitlines()]


def small_rows(name="rows.jsonl"):
    well(thinwire("sweep", write("small.json", SWEEP), "-o", name))
    return rows_of(name)


def leaves(value, path=()):
    """(path, value) of all that is no object and no list."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path, value
        return
    for key, below in items:
        yield from leaves(below, (*path, key))


def with_value(document, path, value):
    copy = json.loads(json.dumps(document))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return copy


DEEP = "[" * 100_000 + "]" * 100_000


# --- documents

@fault
def deep_json_in_every_reader():
    deep = write("deep.json", '{"name":' + DEEP + "}")
    refused(thinwire("sweep", deep), "deeper")
    for flag in ("--config", "--model", "--profile"):
        refused(thinwire("run", flag, "./" + deep), "deeper")
    refused(thinwire("run", "--model", "bert", "--device", "./" + deep), "deeper")
    refused(thinwire("recommend", "--model", "./" + deep, "-P", "4"), "deeper")
    write("deep.jsonl", '{"schema":' + DEEP + "}\n")
    for command in ("compare", "merge", "report"):
        refused(thinwire(command, "deep.jsonl"), "deeper")
    refused(thinwire(*SMALL, "--set", "options=" + DEEP[50_000:150_000]), "deeper")
    write("claims.jsonl", '{"claim":"x","what":' + DEEP + "}\n")
    refused(thinwire("report", "claims.jsonl"), "deeper")


@fault
def numbers_that_no_double_holds():
    for text in ("1e999", "-1e999", "9" * 400):
        write("big.json", '{"name":"x","base":{"ranks":%s}}' % text)
        refused(thinwire("sweep", "big.json"), "big.json")
        refused(thinwire("run", "--config", "big.json"), "big.json")
        write("big.jsonl", '{"schema":%s}\n' % text)
        refused(thinwire("compare", "big.jsonl"), "big.jsonl:1")


@fault
def doubled_keys():
    refused(thinwire("sweep", write("a.json", '{"name":"x","base":{"ranks":2},"base":{"seed":3}}')), "/base")
    refused(thinwire("run", "--config", write("b.json", '{"input":{"skew":1,"skew":2}}')), "/input/skew")
    write("c.jsonl", '{"schema":2,"schema":2}\n')
    refused(thinwire("compare", "c.jsonl"), "c.jsonl:1")


@fault
def rows_changed_by_hand():
    row = small_rows()[0]
    write("good.jsonl", json.dumps(row) + "\n")
    well(thinwire("compare", "good.jsonl"))
    tried = random.Random(1)
    places = [path for path, value in leaves(row) if value is not None]
    for path in tried.sample(places, min(40, len(places))):
        write("bad.jsonl", json.dumps(with_value(row, path, [])) + "\n")
        ended = thinwire("compare", "bad.jsonl")
        if ended.code != 0:
            refused(ended, "bad.jsonl:1")
    for path, value, named in ((("sweep",), 3, "/sweep"), (("wall_s",), "x", "/wall_s"), (("result", "steps"), "x", "/result/steps"),
                               (("result", "phases"), 5, "/result/phases"), (("result", "time_s"), [], ""),
                               (("point",), 1, "/point"), (("result",), 7, "/result"), (("key",), None, "/key"),
                               (("result", "selection", "ranks"), "x", "/result/selection/ranks"),
                               (("result", "phases", 0, "name"), 1, "/result/phases/0/name")):
        write("bad.jsonl", json.dumps(with_value(row, path, value)) + "\n")
        ended = thinwire("compare", "bad.jsonl")
        if named:
            refused(ended, "bad.jsonl:1: " + named)
    del row["key"]
    write("bad.jsonl", json.dumps(row) + "\n")
    refused(thinwire("compare", "bad.jsonl"), "'key' is missing")


@fault
def a_dotted_key_of_the_grid_below_a_value():
    write("a.json", {"name": "x", "base": {"ranks": 4}, "grid": {"ranks.x": [1]}})
    refused(thinwire("sweep", "a.json"), "a.json")
    refused(thinwire(*SMALL, "--set", "ranks.x=1"), "ranks")


@fault
def a_name_of_50000_letters():
    refused(thinwire("sweep", write("a.json", {"name": "x" * 50_000})), "/name")


@fault
def doubled_points_of_a_grid():
    write("a.json", {**SWEEP, "grid": {"scheme": ["topka", "topka"], "seed": [2, 4]}})
    ended = well(thinwire("sweep", "a.json", "-o", "a.jsonl"))
    keys = [row["key"] for row in rows_of("a.jsonl")]
    check(len(keys) == len(set(keys)) == 2, keys)
    check("repeated points left out: 2" in ended.err, ended)


@fault
def a_grid_without_end():
    many = list(range(1, 1001))
    write("a.json", {"name": "x", "grid": {"ranks": many, "seed": many, "iterations": many, "k": many}})
    refused(thinwire("sweep", "a.json", limits=[(resource.RLIMIT_AS, 1 << 30)]), "1000000000000")


@fault
def a_value_of_many_megabytes():
    write("a.json", {"name": "x", "base": {"scheme": "y" * 20_000_000}})
    refused(thinwire("sweep", "a.json"), "/scheme")
    write("a.json", {"name": "x", "base": {"ranks": "y" * 20_000_000}})
    refused(thinwire("sweep", "a.json"), "/ranks")
    write("a.json", {"name": "x", "base": {"y" * 20_000_000: 1}})
    refused(thinwire("sweep", "a.json"), "a.json")


@fault
def names_with_control_characters():
    hostile = "a\nb\x1b[31mc\x07"
    for flag in ("--scheme", "--network", "--platform", "--placement", "--profile", "--trace", "--model"):
        network = ("--network", "links") if flag == "--placement" else ()
        refused(thinwire("run", *network, flag, hostile), r"a\nb\x1b[31mc\x07")
    refused(thinwire("sweep", hostile + ".json"), r"a\nb")
    refused(thinwire("compare", hostile), r"a\nb")
    refused(thinwire("topo", "show", hostile), r"a\nb")
    refused(thinwire("sweep", write("a.json", {"name": "x", "base": {hostile: 1}})), r"a\nb")


@fault
def text_that_is_no_utf8():
    hostile = b"topka\xff\xfe"
    for flag in ("--scheme", "--network", "--platform", "--placement", "--profile", "--trace", "--model"):
        refused(thinwire("run", flag, hostile), r"\xff\xfe")
    write("a.json", b'{"name":"x","base":{"scheme":"\xff"}}')
    refused(thinwire("sweep", "a.json"), "a.json:1:")
    write(b"row\xff.jsonl", json.dumps(small_rows()[0]) + "\n")
    well(thinwire("compare", b"row\xff.jsonl", "--format", "json"))
    well(thinwire("report", b"row\xff.jsonl", "-o", "a.html"))
    host = SOURCE / "platforms/gige_star.xml"
    os.makedirs(b"p\xff")
    write(b"p\xff/a.xml", host.read_bytes())
    refused(thinwire(*SMALL, "--network", "links", "--platform", b"p\xff/a.xml"), r"p\xff")
    traced(source="a")
    well(thinwire("trace", "fit", "t.h5", "--name", b"n\xff", "-o", "p.json"))


def traced(source):
    """A small trace whose source ends in that text."""
    profile = json.loads((SOURCE / "traces/profiles/vgg16.json").read_text(encoding="utf-8"))
    write("profile.json", {**profile, "source": source})
    well(thinwire("trace", "synth", "./profile.json", "-n", "20000", "-P", "2", "--iterations", "2", "-o", "t.h5"))


@fault
def a_placement_token_of_a_megabyte():
    write("a.json", {"name": "x", "base": {"network": "links", "placement": "p" * 1_000_000}})
    refused(thinwire("sweep", "a.json"), "placement")
    write("hosts.txt", "p" * 1_000_000 + "\n")
    ended = thinwire(*SMALL, "--network", "links", "--placement", "./hosts.txt")
    refused(ended, "hosts.txt:1")


# --- flags

@fault
def empty_values():
    for flag in ("-d", "-k", "-P", "-n", "--alpha", "--beta", "--gamma", "--platform", "--trace", "--profile", "--model", "--config", "--timeline",
                 "--format", "--scheme", "--network", "--seed", "--set"):
        refused(thinwire("run", "-n", "1000", "-P", "4", flag, ""))
    write("small.json", SWEEP)
    for flag in ("-o", "-j", "--shard", "--time-limit", "--memory-limit"):
        refused(thinwire("sweep", "small.json", flag, ""), flag)
    refused(thinwire("sweep", ""))
    small_rows()
    for command, flag in (("merge", "-o"), ("report", "-o"), ("compare", "--tolerance"), ("compare", "--where"), ("compare", "--sort-by")):
        refused(thinwire(command, "rows.jsonl", flag, ""), flag)
    refused(thinwire("trace", "fit", "", "-o", ""))
    refused(thinwire("topo", "show", "gige_star", "--dot", ""), "--dot")


@fault
def flags_that_exclude_one_another():
    refused(thinwire(*SMALL, "-k", "10", "-d", "0.1"), "-k")
    refused(thinwire(*SMALL, "--timeline-ranks", "0"), "--timeline")
    refused(thinwire(*SMALL, "--timeline-events", "5"), "--timeline")


@fault
def numbers_that_are_none():
    write("small.json", SWEEP)
    for word in ("nan", "inf", "-inf", "-1", "0"):
        refused(thinwire("sweep", "small.json", "--time-limit", word), "--time-limit")
    for word in ("0", "-1", "1.5"):
        ended = thinwire("sweep", "small.json", "-j", word)
        refused(ended, "--jobs")
        check(len(ended.err) < 300, ended)
    refused(thinwire(*SMALL, "--timeline", "a", "--timeline-events", "-1"), "--timeline-events")
    for word in ("nan", "inf", "-1", "2"):
        refused(thinwire("list", "schemes", "--costs", "-d", word), "--density")
        refused(thinwire(*SMALL, "-d", word), "density")
    small_rows()
    for word in ("nan", "inf", "-1"):
        refused(thinwire("compare", "rows.jsonl", "--tolerance", word), "--tolerance")
    refused(thinwire("run", "--scheme", "topka+dgc", "--set", "options.sample=2"), "sample")
    refused(thinwire("topo", "show", "gige_star", "--traffic", "ring", "--bytes", "nan"), "--bytes")


@fault
def times_that_overflow():
    for flag in ("--alpha", "--beta"):
        refused(thinwire(*SMALL, flag, "1e308"), "too large")
    ended = thinwire(*SMALL, "--gamma", "1e308")
    check(ended.code != 0 and "finite" in ended.err, ended)
    refused(thinwire(*SMALL, "--set", "machine.latency_s=1e308"), "too large")
    # A time that is a number, of which the mean over iterations would be none.
    for flag in ("--beta", "--gamma"):
        refused(thinwire(*SMALL, flag, "1e304"), "too large")


@fault
def components_at_the_end_of_32_bits():
    most = [(resource.RLIMIT_AS, 1 << 30)]
    for arguments in (("trace", "synth", "vgg16", "--components", "4294967295", "--ranks", "2", "--iterations", "1", "-o", "t.h5"),
                      ("run", "--scheme", "topka", "-P", "4", "--profile", "vgg16", "--statistical", "-n", "4294967295", "-d", "1e-6")):
        ended = thinwire(*arguments, limits=most, seconds=60)
        check(ended.code in (0, 1, 2), ended)
        if ended.code != 0:
            check("memory" in ended.err, ended)
            one_line(ended)


@fault
def memory_is_estimated_before_it_is_taken():
    """Refused at once with the estimate: one rank alone would take more than a million GiB."""
    ended = thinwire("trace", "synth", "vgg16", "--components", "4294967295", "--ranks", "2000000000", "-d", "1",
                     "--iterations", "1", "-o", "v.h5")
    refused(ended, "GiB of memory")
    check(not os.path.exists("v.h5"), "a file is left")


@fault
def memory_of_points_and_platforms_is_estimated():
    """Refused at once, each with its estimate: one point, those that run at once, a platform's cables."""
    write("huge.json", {"name": "huge", "base": {"scheme": "topka", "granule": 1, "components": 4 * 10**9, "k": 10**9},
                        "grid": {"ranks": [100000, 2]}})
    for command in (["sweep", "huge.json", "-o", "h.jsonl"],
                    ["run", "--scheme", "topka", "-P", "100000", "-n", "4e9", "-k", "1e9", "--set", "granule=1"]):
        refused(thinwire(*command, seconds=20), "topka of 100000 ranks and 4000000000 components: takes about 7.45e+05 GiB")
    write("tree.xml", '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
          '<platform version="4.1"><cluster id="c" prefix="h" suffix="" radical="0-7" speed="1Gf" bw="1GBps" lat="1us" '
          'topology="FAT_TREE" topo_parameters="1;8;1000000;1"/></platform>\n')
    ended = thinwire("topo", "show", "tree.xml", seconds=20, limits=[(resource.RLIMIT_AS, 4 << 30)])
    refused(ended, "cluster c: takes about 15.6 GiB of memory")


@fault
def more_memory_than_there_is():
    ended = thinwire("run", "--scheme", "topka", "-P", "64", "-n", "1e7", "-d", "0.5", "--set", "granule=1", "--memory-limit", "50")
    check(ended.code == 1 and "50 MiB" in ended.err, ended)
    ended = thinwire("run", "--scheme", "oktopk", "-P", "1000000")
    check(ended.code in (1, 2) and "ranks" in ended.err and "granule" not in ended.err, ended)


@fault
def whole_numbers_of_64_bits():
    """They would become negative: k = -1, eager messages of up to -1 bytes."""
    for key in ("k", "granule", "machine.eager_bytes", "machine.buffered_bytes", "options.bucket"):
        for number in (2**64 - 1, 2**63, 2**60 + 1):
            refused(thinwire("run", "--scheme", "oktopk", "-P", "4", "-n", "1000", "--set", f"{key}={number}"),
                    f"{number} is not valid; expected a whole number, at most {2**60}")


@fault
def tensors_whose_sum_wraps_around():
    write("wrap.json", {"scheme": "deft", "ranks": 2, "components": 1_000_000, "tensors": [*[2**60] * 16, 1_000_000]})
    refused(thinwire("run", "--config", "wrap.json"), "/tensors: they have more than 2^63 components together")


@fault
def a_number_of_components_is_kept_or_refused():
    refused(thinwire("run", "--scheme", "topka", "-P", "4", "-n", "1e12", "-k", "255"), "/k: 255 are fewer than the 256")
    ended = well(thinwire("run", "--scheme", "topka", "-P", "64", "-n", "1e11", "-k", "60"))
    check("k is 32 instead of 60" in ended.err, ended)
    check("note" not in well(thinwire("run", "--scheme", "topka", "-P", "4", "-n", "1e6", "-k", "255")).err, "a note without a reason")


# --- files

@fault
def a_foreign_file_as_output():
    write("small.json", SWEEP)
    for text in ("my only line", "a\nb", '{"a": 1', '{"schema":2}\nmine', "{\"schem", "12"):
        write("n.txt", text)
        ended = thinwire("sweep", "small.json", "-o", "n.txt")
        if text == "{\"schem":  # a row begins so
            well(ended)
            continue
        refused(ended, "n.txt:")
        check(pathlib.Path("n.txt").read_text(encoding="utf-8") == text, "the foreign file is gone")
        refused(thinwire("compare", "n.txt"), "n.txt:")


@fault
def a_torn_row():
    rows = small_rows()
    text = pathlib.Path("rows.jsonl").read_text(encoding="utf-8")
    for left in (1, 5, 20, len(text) - 3):
        write("rows.jsonl", text[:left])
        well(thinwire("sweep", "small.json", "-o", "rows.jsonl"))
        check([row["key"] for row in rows_of("rows.jsonl")] == [row["key"] for row in rows], "rows are missing")


@fault
def zeros_behind_the_rows():
    """What a power loss leaves of a file that grew: its end was never written. The rest is read."""
    rows = small_rows()
    text = pathlib.Path("rows.jsonl").read_bytes()
    first = text.index(b"\n") + 1
    for begin in (text, text[:first], text[:first + 100], text[:-1]):
        write("rows.jsonl", begin + bytes(4096))
        compared = thinwire("compare", "rows.jsonl", "--format", "json")
        check(compared.code == 0 and "not complete" in compared.err, compared)
        well(thinwire("sweep", "small.json", "-o", "rows.jsonl"))
        check(rows_of("rows.jsonl")[0]["key"] == rows[0]["key"] and len(rows_of("rows.jsonl")) == 2, "rows are missing")
    write("zeros.jsonl", bytes(4096))
    refused(thinwire("sweep", "small.json", "-o", "zeros.jsonl"), "zeros.jsonl:")


@fault
def endless_files_and_pipes():
    write("small.json", SWEEP)
    os.mkfifo("pipe")
    for name, what in (("/dev/zero", "longer than"), ("./pipe", "nobody writes")):
        for arguments in (("sweep", name), ("run", "--config", name)):
            refused(thinwire(*arguments, seconds=120), what)
    refused(thinwire("compare", "/dev/zero", seconds=120, limits=[(resource.RLIMIT_AS, 8 << 30)]), "longer than")
    refused(thinwire(*SMALL, "--network", "links", "--platform", "fat_tree", "--placement", "/dev/zero", seconds=120), "longer than")
    # A pipe with a writer is read to its end.
    well(thinwire("run", "--config", "/dev/stdin", stdin=b'{"scheme": "topka", "ranks": 4, "components": 1000}'))


@fault
def long_names_are_cut():
    name = "n" * 5000
    for arguments in (("run", "--scheme", name), ("run", "--network", name), ("run", "--platform", name, "--network", "links"),
                      ("run", "--set", f"options.{name}=1"), ("run", "--model", name), ("run", f"--{name}"), (name,),
                      ("topo", "make", name), ("sweep", write("long.json", {"name": "x", "base": {name: 1}}))):
        ended = thinwire(*arguments)
        refused(ended)
        check("nnn" in ended.err and len(ended.err) < 2600, f"{len(ended.err)} characters of complaint: {ended}")


@fault
def what_a_full_device_does_not_take_is_said_in_one_way():
    small_rows()
    for command in (["compare", "rows.jsonl"], ["list", "schemes"], ["list", "settings", "--format", "json"], SMALL):
        ended = thinwire(*command, shell=">/dev/full")
        check(ended.code == 1 and ended.err == "thinwire: what was printed could not be written\n", f"{command}: {ended}")


@fault
def closed_and_full_streams():
    write("small.json", SWEEP)
    well(thinwire("sweep", "small.json", "-o", "a.jsonl", shell="2>&-"))
    check(len(rows_of("a.jsonl")) == 2, "rows are missing")
    well(thinwire("sweep", "small.json", "-o", "b.jsonl", shell="2>/dev/full"))
    check(len(rows_of("b.jsonl")) == 2, "rows are missing")
    well(thinwire("sweep", "small.json", "-o", "c.jsonl", shell="0>&- >/dev/null"))
    ended = thinwire("sweep", "small.json", "-o", "d.jsonl", shell=">&-")
    check(ended.code == 1 and len(rows_of("d.jsonl")) == 2, ended)
    for shell in (">/dev/full", ">&-"):
        ended = thinwire(*SMALL, shell=shell)
        check(ended.code == 1 and "could not be written" in ended.err or "write" in ended.err, ended)
    check(thinwire("run", "--scheme", "nope", shell="2>/dev/full").code == 2, "another exit code without stderr")
    check(thinwire("nope", shell="2>&-").code == 2, "another exit code without stderr")
    well(thinwire(*SMALL, shell="0>&- 2>&-"))


OUTPUTS = {"page": ("report", "rows.jsonl", "-o"), "merged": ("merge", "rows.jsonl", "-o"),
           "timeline": (*SMALL, "--timeline"), "dot": ("topo", "show", "gige_star", "--dot"),
           "graphml": ("topo", "show", "gige_star", "--graphml"), "xml": ("topo", "make", "star", "--hosts", "4096", "-o"),
           "svg": ("trace", "show", "t.h5", "--svg"), "profile": ("trace", "fit", "t.h5", "-o")}


@fault
def outputs_on_a_full_disk():
    """A limit on the size of files stands for the disk: what was there stays."""
    small_rows()
    traced("a")
    for name, command in OUTPUTS.items():
        file = name + (".svg" if name == "svg" else "")
        well(thinwire(*command, file))
        size = os.path.getsize(file)
        check(size > 64, f"{name}: {size} bytes")
        write(file, "an old one\n")
        ended = thinwire(*command, file, limits=[(resource.RLIMIT_FSIZE, 64)])
        check(ended.code not in (0,), f"{name}: {ended}")
        check(pathlib.Path(file).read_text(encoding="utf-8") == "an old one\n", f"{name}: the old one is gone")
        check(not [f for f in os.listdir() if ".new" in f], f"{name}: {os.listdir()}")


@fault
def outputs_that_are_no_files():
    small_rows()
    traced("a")
    for name, command in OUTPUTS.items():
        if name in ("page", "merged", "xml", "profile"):  # the others write from a child without a stdout
            ended = well(thinwire(*command, "/dev/stdout"))
            check(len(ended.out) > 64, f"{name}: {ended}")
        well(thinwire(*command, "/dev/null"))
        check(thinwire(*command, "/dev/full").code != 0, f"{name} says that a full device is well")
        link = name + (".svg" if name == "svg" else "")
        os.symlink("target", link)
        well(thinwire(*command, link))
        check(os.path.islink(link) and os.path.getsize("target") > 64, f"{name}: the link is gone")
        os.remove("target")


@fault
def long_names_of_files():
    write("small.json", SWEEP)
    for length in (230, 245, 250, 255):
        name = "f" * (length - 6) + ".jsonl"
        well(thinwire("sweep", "small.json", "-o", name))
        check(len(rows_of(name)) == 2, f"{length}: rows are missing")
        well(thinwire("report", name, "-o", "p" * length))
        well(thinwire("merge", name, "-o", "m" * length))
    refused(thinwire("sweep", "small.json", "-o", "f" * 256), "too long")
    refused(thinwire("report", name, "-o", "f" * 256), "too long")
    refused(thinwire("merge", name, "-o", "f" * 256), "too long")
    refused(thinwire("sweep", "f" * 5000), "")


@fault
def an_output_folder_is_made():
    small_rows()
    traced("a")
    for name, command in OUTPUTS.items():
        to = f"new/{name}/file" + (".svg" if name == "svg" else "")
        well(thinwire(*command, to))
        check(os.path.getsize(to) > 64, name)


@fault
def an_output_folder_that_cannot_be_made():
    write("small.json", SWEEP)
    write("file", "x")
    refused(thinwire("sweep", "small.json", "-o", "file/below/out.jsonl"), "file/below")
    refused(thinwire("sweep", "small.json", "-o", "/proc/nowhere/out.jsonl"), "/proc/nowhere")


@fault
def few_open_files():
    write("many.json", {**SWEEP, "grid": {"seed": list(range(60))}})
    well(thinwire("sweep", "many.json", "-o", "a.jsonl", "-j", "100", limits=[(resource.RLIMIT_NOFILE, 40)]))
    check(len(rows_of("a.jsonl")) == 60, "rows are missing")


def long_sweep(points=200):
    return write("long.json", {"name": "long", "base": {"components": 200_000, "ranks": 16, "granule": 1, "scheme": "oktopk"},
                               "grid": {"seed": list(range(points))}})


def start(*arguments):
    return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for_rows(name, count):
    end = time.time() + 120
    while time.time() < end:
        if os.path.exists(name) and pathlib.Path(name).read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.005)
    raise Broken("the sweep writes no rows")


def children_of(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def none_survives(processes):
    """The system ends them with their parent; it takes them longer to be gone on a busy machine."""
    end = time.time() + 5
    while any(map(lives, processes)) and time.time() < end:
        time.sleep(0.01)
    check(not any(map(lives, processes)), "children outlive their parent by five seconds")


@fault
def children_of_a_killed_sweep():
    write("long.json", {"name": "long", "base": {"components": 10_000_000, "ranks": 64, "granule": 1, "iterations": 50, "scheme": "dense_ring"},
                        "grid": {"machine.alpha_s": [1e-6, 2e-6]}})
    sweep = start("sweep", "long.json", "-o", "a.jsonl", "-j", "2")
    end = time.time() + 120
    while len(children := children_of(sweep.pid)) < 2 and time.time() < end:
        time.sleep(0.01)
    check(len(children) == 2, "no children")
    sweep.send_signal(signal.SIGKILL)
    sweep.wait()
    none_survives(children)


@fault
def a_sweep_killed_and_resumed():
    chance = random.Random(3)
    long_sweep(40)
    for which in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM) * 3:
        sweep = start("sweep", "long.json", "-o", "a.jsonl", "-j", "2")
        time.sleep(chance.uniform(0.02, 0.25))
        sweep.send_signal(which)
        sweep.wait()
    well(thinwire("sweep", "long.json", "-o", "a.jsonl"))
    keys = [row["key"] for row in rows_of("a.jsonl")]
    check(len(keys) == len(set(keys)) == 40, f"{len(keys)} rows, {len(set(keys))} keys")


@fault
def a_second_writer():
    rows = small_rows()
    sweep = start("sweep", long_sweep(), "-o", "a.jsonl", "-j", "1")
    try:
        wait_for_rows("a.jsonl", 1)
        refused(thinwire("merge", "rows.jsonl", "-o", "a.jsonl"), "a.jsonl")
        refused(thinwire("sweep", "long.json", "-o", "a.jsonl"), "a.jsonl")
        os.symlink("a.jsonl", "link.jsonl")
        refused(thinwire("merge", "rows.jsonl", "-o", "link.jsonl"), "a.jsonl")
    finally:
        sweep.send_signal(signal.SIGINT)
        sweep.communicate()
    check(rows[0]["key"] not in [row["key"] for row in rows_of("a.jsonl")], "merged into a running sweep")


@fault
def a_file_deleted_under_a_sweep():
    small_rows()
    for again in (False, True):
        sweep = start("sweep", long_sweep(), "-o", "a.jsonl", "-j", "1")
        wait_for_rows("a.jsonl", 1)
        os.remove("a.jsonl")
        if again:
            well(thinwire("merge", "rows.jsonl", "-o", "a.jsonl"))
        _, said = sweep.communicate(timeout=300)
        check(sweep.returncode == 1 and b"deleted or replaced" in said, said[-300:])
        if again:
            check(len(rows_of("a.jsonl")) == 2, "the new file is gone")
            os.remove("a.jsonl")


@fault
def stale_temporary_files():
    write("small.json", SWEEP)
    write("a.jsonl.new4000001", "x")
    write("b.jsonl.new4000001", "x")
    write("a.jsonl.newest", "x")
    well(thinwire("sweep", "small.json", "-o", "a.jsonl"))
    check(not os.path.exists("a.jsonl.new4000001"), "the stale file is still there")
    check(os.path.exists("b.jsonl.new4000001") and os.path.exists("a.jsonl.newest"), "a file of someone else is gone")


@fault
def doubled_keys_of_rows():
    row = small_rows()[0]
    other = with_value(row, ("result", "iteration_times_s"), [1.0, 2.0])
    other = with_value(other, ("result", "time_s"), 2.0)
    failed = {**row, "status": "failed", "reason": "x", "result": None}
    for order in ((row, other, failed), (failed, row, other), (row, failed, other)):
        for i, one in enumerate(order):
            write(f"{i}.jsonl", json.dumps(one) + "\n")
        files = [f"{i}.jsonl" for i in range(3)]
        merged = well(thinwire("merge", *files, "-o", "m.jsonl"))
        compared = well(thinwire("compare", *files, "--format", "json"))
        for ended in (merged, compared):
            check("different results" in ended.err, ended)
        kept = [one["result"]["iteration_times_s"] for one in rows_of("m.jsonl")]
        check(kept == [other["result"]["iteration_times_s"]], "merge keeps another one than the last that succeeded")
        check(json.loads(compared.out)[0]["time_s"] == 2.0, "compare keeps another one")


@fault
def a_source_with_escape_codes():
    traced("evil\x1b[2Jx\nline")
    ended = well(thinwire("trace", "show", "t.h5"))
    check("\x1b" not in ended.out and r"evil\x1b[2Jx\nline" in ended.out, ended)


def marked(mark):
    """The processes that inherited this variable of the environment, and live."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0") and lives(process):
                found.append(process)
        except OSError:
            continue
    return found


def essence(rows):
    """What of rows does not depend on the machine and the moment."""
    return sorted(json.dumps({**row, "wall_s": 0, "peak_rss_bytes": 0}, sort_keys=True) for row in rows)


def kills(count, seed):
    """Nothing of a killed command is lost, doubled or torn, and no process of it survives."""
    chance = random.Random(seed)
    grid = {"name": "killed", "base": {"components": 50_000, "ranks": 16, "granule": 1},
            "grid": {"scheme": ["oktopk", "topka", "dense_ring"], "seed": list(range(20))}}
    write("killed.json", grid)
    well(thinwire("sweep", "killed.json", "-o", "whole.jsonl"))
    whole = essence(rows_of("whole.jsonl"))
    commands = {
        "sweep": (["sweep", "killed.json", "-o", "killed.jsonl", "-j", "2"], 0.8),
        "recommend": (["recommend", "--model", "bert", "--schemes", "topka,oktopk", "-P", "32", "--device", "p100"], 1.0),
        "concurrent": (["concurrent", "--job", "scheme=oktopk,ranks=16", "--job", "scheme=dense_ring,ranks=16", "--network",
                        "links", "--platform", "fat_tree", "-n", "1000000"], 0.5)}
    signals = [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM, signal.SIGINT]
    tried = dict.fromkeys(commands, 0)
    for number in range(1, count + 1):
        name = chance.choice(["sweep", "sweep", "sweep", "recommend", "concurrent"])
        command, longest = commands[name]
        mark = f"THINWIRE_KILLED={os.getpid()}.{number}"
        process = subprocess.Popen([PROGRAM, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, **dict([mark.split("=")])})
        time.sleep(chance.uniform(0, longest))
        process.send_signal(which := chance.choice(signals))
        process.wait(timeout=60)
        tried[name] += 1
        end = time.time() + 5
        while (left := marked(mark)) and time.time() < end:
            time.sleep(0.02)
        check(not left, f"kill {number}, {name} by {which.name}: {left} live five seconds later")
        if number % 10 == 0 or number == count:
            well(thinwire("sweep", "killed.json", "-o", "killed.jsonl", seconds=600))
            check(essence(rows_of("killed.jsonl")) == whole, f"after kill {number} the rows are others")
            check(not [file for file in os.listdir() if ".new" in file], f"after kill {number}: {os.listdir()}")
            os.remove("killed.jsonl")
    print(f"{count} kills, seed {seed}: {tried}; nothing lost, doubled, torn or alive")


def long_mode(count, seed):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            kills(count, seed)
        except Broken as broken:
            print(f"DOES NOT HOLD (seed {seed}): {broken}")
            return 1
        finally:
            os.chdir("/")
    return 0


@fault
def twelve_kills():
    kills(12, 1)


def main():
    if sys.argv[2:3] == ["--kills"]:
        return long_mode(int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time()))
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    tried = survived = 0
    for function in FAULTS:
        if wanted not in function.__name__:
            continue
        tried += 1
        begin = time.time()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function()
                survived += 1
                outcome = "held"
            except Exception as error:  # pylint: disable=broad-except
                outcome = f"DOES NOT HOLD: {type(error).__name__}: {error}"
            os.chdir("/")
        print(f"{function.__name__.replace('_', ' ')}: {outcome} ({time.time() - begin:.1f} s)", flush=True)
    print(f"{tried} tried, {survived} survived")
    return 0 if tried == survived else 1


if __name__ == "__main__":
    sys.exit(main())
