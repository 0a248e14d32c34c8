#!/usr/bin/env python3
"""Tests of the Python package: package.py THINWIRE SOURCE. PYTHONPATH names the package's folder.

Oracles: the program's own output, closed formulas, and serial bookkeeping in Python.
"""
import concurrent.futures
import concurrent.futures.process
import io
import itertools
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import warnings

import numpy
import pandas

import thinwire

# All of its iterations take hours.
LONG = {"scheme": "oktopk", "components": 5_000_000, "granule": 1, "iterations": 1000}
PROGRAM = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])


def program(*arguments, check=True):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=check)


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def test_a_run_is_the_formula(self):
        alpha, beta, n = 3e-6, 5e-10, 1200
        for ranks in (1, 2, 3, 4, 6, 12):
            frame = thinwire.run(scheme="dense_ring", ranks=ranks, components=n,
                                 machine={"alpha_s": alpha, "beta_s_per_word": beta})
            expected = 2 * (ranks - 1) * (alpha + beta * n / ranks)
            self.assertTrue(math.isclose(frame.time_s[0], expected, rel_tol=1e-9, abs_tol=1e-15))

    def test_a_run_is_what_the_program_prints(self):
        frame = thinwire.run(scheme=["topka", "oktopk+dgc"], ranks=[3, 7], components="20K", density="2%",
                             input={"skew": 1})
        text = program("run", "--scheme", "topka,oktopk+dgc", "-P", "3,7", "-n", "20K", "-d", "2%",
                       "--set", "input.skew=1", "--format", "csv").stdout
        printed = pandas.read_csv(io.StringIO(text))
        frame = frame.full()
        self.assertEqual(list(frame.columns.sort_values()), list(printed.columns.sort_values()))
        for column in ("scheme", "ranks", "time_s", "words_sent_max", "machine.alpha_s", "verdict"):
            order = ["scheme", "ranks"]
            self.assertEqual(list(frame.sort_values(order)[column]),
                             list(printed.sort_values(order)[column]))

    def test_a_run_on_a_platform(self):
        for network in ("links", "smpi"):
            frame = thinwire.run(scheme="dense_ring", ranks=4, components=1000, network=network,
                                 platform="fat_tree", record={"links": True}, output="rows.jsonl")
            self.assertGreater(frame.congestion_factor[0], 0.9)
            links = thinwire.load("rows.jsonl", table="links")
            self.assertEqual(set(links.key), set(frame.key))
            self.assertGreater(links.bytes.min(), 0)

    def test_phases(self):
        phases = thinwire.run(scheme="oktopk", ranks=4, components=10000, table="phases")
        self.assertIn("split_and_reduce", list(phases.name))
        self.assertEqual(set(phases.ranks), {4})

    def test_a_column_without_values_can_be_calculated_with(self):
        frame = thinwire.run(scheme="dense_ring", ranks=2, components=100)
        for column in ("congestion_factor", "alphabeta_time_s", "steps", "k"):
            self.assertEqual(frame[column].dtype.kind, "f", column)
            self.assertFalse((frame[column] > 0).any(), column)
        self.assertEqual(list(frame.reason.str.len().isna()), [True])

    def test_a_table_without_rows_has_its_columns(self):
        thinwire.run(scheme="topka", ranks=4, components=100, output="without.jsonl")
        thinwire.run(scheme="topka", ranks=4, components=100, network="links", platform="fat_tree",
                     record={"links": True, "ranks": True}, output="with.jsonl")
        for table in ("phases", "links", "ranks"):
            full = thinwire.load("with.jsonl", table=table)
            self.assertGreater(len(full), 0)
            self.assertEqual(list(full), thinwire._DETAILS[table][1])
        self.assertEqual(list(thinwire.load("without.jsonl", table="links")),
                         list(thinwire.load("with.jsonl", table="links")))
        settings = {"schemes": ["topka", "dense_ring"], "ranks": 2, "device": "p100"}
        none = thinwire.recommend("vgg16", crossovers=False, **settings).crossovers
        some = thinwire.recommend("vgg16", most_ranks=4, **settings).crossovers
        self.assertEqual((len(none), list(none)), (0, list(some)))

    def test_where_results_cannot_be_written_nothing_is_simulated(self):
        (self.folder / "nowhere").write_text("")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with self.assertRaisesRegex(thinwire.InputError, "^nowhere/rows.jsonl: cannot be written"):
            thinwire.run(scheme="oktopk", ranks=64, components="5M", granule=1, iterations=1000,
                         output="nowhere/rows.jsonl")
        self.assertEqual(resource.getrusage(resource.RUSAGE_CHILDREN), before)  # nothing was simulated
        thinwire.run(scheme="topka", ranks=2, components=100, output="made/by/run.jsonl")
        self.assertEqual(len(thinwire.load("made/by/run.jsonl")), 1)

    def test_values_may_be_of_numpy_or_any_sequence(self):
        frame = thinwire.run(types.MappingProxyType({"scheme": "topka", "components": 100}),
                             ranks=numpy.array([2, 3]), density=numpy.float32(0.5))
        self.assertEqual(list(frame.ranks), [2, 3])
        frame = thinwire.sweep({"name": "any", "base": {"components": 100, "scheme": "topka"},
                                "grid": {"ranks": pandas.Series([2, 3]), "k": range(1, 3)}}, "any.jsonl")
        self.assertEqual(sorted(zip(frame.ranks, frame.k)), [(2, 1), (2, 2), (3, 1), (3, 2)])

    def test_errors_have_the_programs_text(self):
        for settings, arguments in (({"scheme": "oktopc"}, ["--scheme", "oktopc"]),
                                    ({"ranks": 0}, ["--set", "ranks=0"]),
                                    ({"input": {"skw": 1}}, ["--set", "input.skw=1"]),
                                    ({"platform": "fat_tre", "network": "links"},
                                     ["--platform", "fat_tre", "--network", "links"])):
            done = program("run", *arguments, check=False)
            self.assertEqual(done.returncode, 2)
            with self.assertRaises(thinwire.InputError) as caught:
                thinwire.run(**settings)
            self.assertEqual(f"thinwire: {caught.exception}\n", done.stderr)
        self.assertTrue(issubclass(thinwire.InputError, ValueError))

    def test_what_the_command_line_refuses_is_refused(self):
        grid = {"name": "small", "base": {"components": 100}, "grid": {"ranks": [2, 3]}}
        for work, text in (
                (lambda: thinwire.recommend("url", ranks=2, jobs=0), "jobs: expected a number from 1"),
                (lambda: thinwire.recommend("url", ranks=2, most_ranks=0), "most_ranks: "),
                (lambda: thinwire.recommend("url", ranks=2, state_bytes=math.nan), "state_bytes: "),
                (lambda: thinwire.recommend("url", ranks=2, scheme="topka"), "'schemes'"),
                (lambda: thinwire.recommend("url", ranks=2, workload={"model": "bert"}), "first argument"),
                (lambda: thinwire.sweep(grid, "s.jsonl", time_limit_s=-1), "time_limit_s: -1 is not valid"),
                (lambda: thinwire.sweep(grid, "s.jsonl", memory_limit_mib=math.nan), "memory_limit_mib: "),
                (lambda: thinwire.run(ranks=2, components=100, output=self.folder), "is a folder"),
                (lambda: thinwire.run(n=1000), "/n: unknown key 'n'; did you mean 'components'?"),
                (lambda: thinwire.run(alpha=1e-6), "did you mean 'machine.alpha_s'?"),
                (lambda: thinwire.run(P=8), "did you mean 'ranks'?"),
                (lambda: thinwire.sweep({"name": "s", "ranks": [2, 3]}), "did you mean 'grid.ranks'?"),
                (lambda: thinwire.load([]), "give at least one file")):
            with self.assertRaisesRegex(thinwire.InputError, text):
                work()

    def test_any_value_of_any_argument_is_taken_or_refused_in_one_line(self):
        loop = {}
        loop["inner"] = loop
        values = [None, True, -1, 0, 10**30, 10**400, 10**5000, 1.5, 1e308, math.nan, -math.inf, "", "x", "\0", "\udc80", "9" * 5000,
                  b"x", [], [[]], [None], {}, {1: 2}, loop, object(), len, itertools.count(), range(10**9), numpy.nan,
                  numpy.array([1, 2]), numpy.array("x"), pandas.DataFrame({"a": [1]}), pathlib.Path("none")]
        thinwire.run(scheme="topka", ranks=2, components=100, output="rows.jsonl")
        small = {"scheme": "topka", "ranks": 2, "components": 100}
        grid = {"name": "any", "base": {"components": 100}, "grid": {"ranks": [2]}}
        calls = [(thinwire.run, small, ["config", "table", "output", "jobs", "time_limit_s", "memory_limit_mib", "progress",
                                        "verbose", "scheme", "ranks", "k", "machine", "options", "input", "colour"]),
                 (thinwire.sweep, {"config": grid, "output": "any.jsonl"}, ["config", "output", "jobs", "force", "progress"]),
                 (thinwire.load, {"results": "rows.jsonl"}, ["results", "where", "table"]),
                 (thinwire.compare, {"results": "rows.jsonl"}, ["results", "baseline", "tolerance", "where", "group_by"]),
                 (thinwire.recommend, {"model": "url", "ranks": 2, "schemes": "topka", "crossovers": False},
                  ["model", "schemes", "crossovers", "most_ranks", "density_of", "state_bytes", "jobs", "workload", "ranks"])]
        calls += [(lambda part, name=name: thinwire.sweep({**grid, name: part}, "any.jsonl"), {}, ["part"])
                  for name in ("name", "base", "grid", "except", "options_of")]
        tried = 0
        for function, arguments, names in calls:
            for name, value in itertools.product(names, values):
                tried += 1
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        function(**{**arguments, name: value})
                except (thinwire.InputError, thinwire.SimulationError) as error:
                    self.assertNotRegex(str(error), "pybind11|incompatible|json.exception|std::|ambiguous")
                    self.assertLess(len(str(error)), 2000)
                    self.assertNotIn("\n", str(error))
                except TypeError:
                    # What a callback raises is the caller's own.
                    self.assertEqual((name, value), ("progress", len))
        self.assertGreater(tried, 1000)

    def test_a_sweep_takes_the_texts_that_run_takes(self):
        frame = thinwire.sweep({"name": "texts", "base": {"components": "1K", "density": "10%", "machine": {"alpha_s": "2us"}},
                                "grid": {"scheme": ["topka"], "ranks": ["2", 4], "input": {"skew": ["0.5", "1"]}},
                                "except": [{"ranks": ["4"], "input.skew": ["1"]}]}, "texts.jsonl")
        self.assertEqual(sorted(zip(frame.ranks, frame["input.skew"])), [(2, 0.5), (2, 1), (4, 0.5)])
        self.assertEqual(set(zip(frame.components, frame.k, frame["machine.alpha_s"])), {(1000, 100, 2e-6)})

    def test_a_run_has_jobs_limits_and_progress(self):
        told = []
        frame = thinwire.run(scheme="topka", ranks=[2, 3, 4], components=100, jobs=numpy.int64(1),
                             progress=lambda *now: told.append(now))
        self.assertEqual([now[:2] for now in told], [(1, 3), (2, 3), (3, 3)])
        self.assertEqual(list(frame.ranks), [2, 3, 4])
        with self.assertRaises(thinwire.SimulationError) as caught:
            thinwire.run(**LONG, ranks=64, time_limit_s=0.3)
        self.assertIn("took longer than the 0.3 s", str(caught.exception))

    def test_what_a_callback_raises_ends_the_run_and_keeps_its_points(self):
        def stop(done, total, left_s):
            if done == 2:
                raise LookupError("enough")
        with self.assertRaisesRegex(LookupError, "enough") as caught:
            thinwire.run(scheme="topka", ranks=[2, 3, 4], components=100, jobs=1, output="kept.jsonl", progress=stop)
        self.assertEqual(len(caught.exception.results), 2)
        self.assertEqual(len(thinwire.load("kept.jsonl")), 2)
        grid = {"name": "s", "base": {"components": 100}, "grid": {"ranks": [2, 3, 4]}}
        with self.assertRaisesRegex(LookupError, "enough"):
            thinwire.sweep(grid, "s.jsonl", jobs=1, progress=stop)
        self.assertEqual(len(thinwire.load("s.jsonl")), 2)
        self.assertEqual(len(thinwire.sweep(grid, "s.jsonl")), 3)

    def test_errors_name_arguments_and_not_flags(self):
        for text, said in (("--where: no column 'x'", "where: no column 'x'"), ("give -P or --set k=1", "give ranks or k=1"),
                           ("--most-ranks: x", "most_ranks: x"), ("a-k --unknown", "a-k --unknown")):
            self.assertEqual(thinwire._in_pythons_words(text), said)

    def test_numbers_of_numpy_are_numbers(self):
        frame = thinwire.run(scheme="topka", ranks=numpy.array(4), components=1000, output="np.jsonl")
        self.assertEqual(list(frame.ranks), [4])
        where = {"error_feedback": frame.error_feedback.unique(), "ranks": numpy.int64(4)}
        self.assertEqual(len(thinwire.load("np.jsonl", where=where)), 1)

    def test_whole_numbers_may_be_floats(self):
        frame = thinwire.run(scheme="topka", components=1e6, ranks=4.0, k=numpy.float64(10))
        self.assertEqual((frame.components[0], frame.ranks[0], frame.k[0]), (1_000_000, 4, 10))
        frame = thinwire.run(scheme="topka", components=numpy.array([1e3, 2e3]), ranks=2)
        self.assertEqual(list(frame.components), [1000, 2000])
        with self.assertRaises(thinwire.InputError):
            thinwire.run(scheme="topka", components=1000.5)
        frame = thinwire.sweep({"name": "s", "base": {"components": 1e3, "scheme": "topka"},
                                "grid": {"ranks": [2.0], "machine": {"alpha_s": [1e-6, 2e-6]}}}, "s.jsonl", jobs=2.0)
        self.assertEqual(sorted(frame["machine.alpha_s"]), [1e-6, 2e-6])

    def test_errors_are_in_the_words_of_python(self):
        """One line each, without names of libraries, flags of the command line or whole values."""
        grid = {"name": "small", "base": {"components": 100}, "grid": {"ranks": [2, 3]}}
        frame = thinwire.run(scheme="topka", ranks=2, components=100, output="rows.jsonl")
        for work, text in (
                (lambda: thinwire.sweep(grid, "s.jsonl", jobs="2"), "jobs: expected a number from 1"),
                (lambda: thinwire.sweep(grid, "s.jsonl", jobs=1.5), "jobs: "),
                (lambda: thinwire.sweep(grid, "s.jsonl", jobs=10**30), "jobs: "),
                (lambda: thinwire.sweep(grid, "s.jsonl", progress=True), "progress: expected a function"),
                (lambda: thinwire.sweep(grid, "s.jsonl", force="no"), "force: expected True or False"),
                (lambda: thinwire.sweep(5), "config: expected the path of a file, not a int"),
                (lambda: thinwire.run(scheme="topka", verbose="yes"), "verbose: expected True or False"),
                (lambda: thinwire.run(scheme=b"topka"), "scheme: expected a text, not bytes"),
                (lambda: thinwire.run("oktopk"), "'oktopk' is a scheme, not a file; give it as scheme='oktopk'"),
                (lambda: thinwire.run(scheme="topka", memory_limit_mib="1"), "memory_limit_mib: "),
                (lambda: thinwire.run(scheme="topka", components=10**400), ""),
                (lambda: thinwire.run(scheme="topka", machine={1: 2}), "the name of a setting is a text"),
                (lambda: thinwire.run(scheme="topka", ranks=frame), ""),
                (lambda: thinwire.run(scheme="n" * 5000), ""),
                (lambda: thinwire.compare(frame), "results: expected the path of a file or several, not a "),
                (lambda: thinwire.compare("rows.jsonl", tolerance="x"), "tolerance: "),
                (lambda: thinwire.load("rows.jsonl", where="x"), "where: expected a dict"),
                (lambda: thinwire.load("rows.jsonl", where={"colour": 1}), "where"),
                (lambda: thinwire.load(b"rows.jsonl"), "results: "),
                (lambda: thinwire.load("rows.jsonl", table=["links"]), "table: "),
                (lambda: thinwire.recommend(5), "model: expected the path"),
                (lambda: thinwire.recommend("url", schemes=[b"topka"]), "schemes: "),
                (lambda: thinwire.recommend("url", workload=5), "workload: expected a dict"),
                (lambda: thinwire.recommend("url", ranks=2, state_bytes="x"), "state_bytes: ")):
            with self.assertRaises(thinwire.InputError) as caught:
                work()
            said = str(caught.exception)
            self.assertIn(text, said)
            self.assertNotIn("\n", said)
            for word in ("pybind11", "incompatible function", "json.exception", "std::", "--where", "ambiguous"):
                self.assertNotIn(word, said)
        self.assertEqual(thinwire.InputError.__module__, "thinwire")
        big = thinwire.run(scheme="topka", ranks=2, components=100, memory_limit_mib=1e300)
        self.assertEqual(list(big.status), ["ok"])

    def test_without_pandas_the_package_to_install_is_named(self):
        done = subprocess.run([sys.executable, "-c", "import sys; sys.modules['pandas'] = None; import thinwire"],
                              capture_output=True, text=True, check=False)
        self.assertIn("python3-pandas", done.stderr.splitlines()[-1])
        self.assertNotIn("During handling", done.stderr)

    def test_a_frame_is_short_and_full_has_all(self):
        frame = thinwire.run(scheme=["topka", "dense_ring"], ranks=[4, 8], components=1000, density="1%")
        self.assertEqual(list(frame), ["scheme", "ranks", "time_mean_s", "paper_low_s", "paper_high_s", "ratio_low",
                                       "ratio_high", "verdict"])
        for low, high in ((frame.paper_low_s, frame.ratio_high), (frame.paper_high_s, frame.ratio_low)):
            self.assertTrue(numpy.allclose(low * high, frame.time_s, rtol=1e-12, atol=0))
        self.assertLess(len(str(frame)), 700)
        self.assertIsInstance(frame, pandas.DataFrame)
        everything = frame.full()
        self.assertGreater(len(everything.columns), 60)
        self.assertEqual(list(everything)[0], "scheme")
        self.assertIs(everything.full(), everything)
        # Rows that were chosen have theirs, and a column that is not shown is there by its name.
        chosen = frame[frame.ranks == 8].sort_values("scheme")
        self.assertEqual(list(chosen.full().scheme), ["dense_ring", "topka"])
        self.assertEqual(list(chosen.messages_sent_max), list(chosen["messages_sent_max"]))
        self.assertTrue((chosen[["scheme", "words_sent_max"]].words_sent_max > 0).all())
        for missing in ("nothing", "_nothing"):
            with self.assertRaises((KeyError, AttributeError)):
                getattr(frame, missing)
        with self.assertRaisesRegex(thinwire.InputError, "another index"):
            frame[frame.ranks == 8].reset_index(drop=True).full()
        # Settings in which rows differ are shown.
        differing = thinwire.run(scheme="topka", ranks=4, components=[1000, 2000], machine={"alpha_s": [1e-6, 2e-6]})
        self.assertEqual(list(differing)[:5], ["scheme", "ranks", "components", "machine.alpha_s", "time_mean_s"])

    def test_figures_and_pages_of_frames_and_files(self):
        frame = thinwire.run(scheme=["topka", "dense_ring"], ranks=[4, 8], components=1000, density="1%", output="rows.jsonl")
        by_file = thinwire.figure("rows.jsonl", "time", title="A title", width="85mm", height="80mm", font_size="8pt")
        by_frame = thinwire.figure(frame, "time", title="A title", width="85mm", height="80mm", font_size="8pt")
        printed = program("report", "rows.jsonl", "--figure", "time", "--title", "A title", "--width", "85mm",
                          "--height", "80mm", "--font-size", "8pt").stdout
        self.assertEqual(by_file.svg, printed)
        self.assertEqual(by_frame._repr_svg_(), printed)
        self.assertNotIn("topka", thinwire.figure(frame[frame.scheme == "dense_ring"]).svg)
        self.assertNotIn("topka", thinwire.figure("rows.jsonl", where={"scheme": "dense_ring"}).svg)
        for name, begin in (("f.pdf", b"%PDF"), ("f.png", b"\x89PNG"), ("f.svg", b"<svg"), ("f.py", b"#!")):
            self.assertEqual(by_frame.save(name), name)
            self.assertTrue(pathlib.Path(name).read_bytes().startswith(begin))
        page = thinwire.report(frame, title="A page")
        self.assertTrue(page.html.startswith("<!doctype html>"))
        self.assertIn("srcdoc=", page._repr_html_())
        page.save(self.folder / "page.html")
        for call, text in (
                (lambda: thinwire.figure(frame, "tiem"), "did you mean 'time'"),
                (lambda: thinwire.figure(frame, width="10mm"), "expected 52.9 to 1058 mm"),
                (lambda: thinwire.figure(pandas.DataFrame({"a": [1]})), "the frame is none of run"),
                (lambda: thinwire.figure("nothing.jsonl"), "nothing.jsonl"),
                (lambda: by_frame.save("f.jpg"), "ends in .svg")):
            with self.assertRaisesRegex(thinwire.InputError, text):
                call()

    def test_commands_of_the_program_are_functions(self):
        platforms = thinwire.topo("show", "fat_tree")
        self.assertIsInstance(platforms, pandas.DataFrame)
        thinwire.topo("make", "fat_tree", children="4,2", output="mine.xml")
        self.assertTrue(pathlib.Path("mine.xml").read_text().startswith("<?xml"))
        self.assertEqual(len(thinwire.run(scheme="dense_ring", ranks=8, components=100, network="links",
                                          platform=str(self.folder / "mine.xml"))), 1)
        self.assertEqual(json.loads(thinwire.command("list", "schemes", format="json")),
                         json.loads(program("list", "schemes", "--format", "json").stdout))
        for call, text in ((lambda: thinwire.topo("show", "fat_tre"), "fat_tree"),
                           (lambda: thinwire.command("no_command"), "no_command")):
            with self.assertRaisesRegex(thinwire.InputError, text):
                call()

    def test_a_sweep_on_the_workers_of_an_executor(self):
        sweep = {"name": "small", "base": {"density": 0.05},
                 "grid": {"scheme": ["oktopk", "dense_ring"], "ranks": [4, 8], "components": [5000, 6000]}}
        alone = thinwire.sweep(sweep, "alone.jsonl")
        told = []
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            spread = thinwire.sweep(sweep, "spread/s.jsonl", executor=executor, progress=lambda *now: told.append(now[:2]))
            same = ["scheme", "ranks", "components", "time_mean_s", "verdict"]
            self.assertTrue(spread[same].equals(alone[same]))
            self.assertEqual(list(spread.key), list(alone.key))
            self.assertEqual(told, [(done, 8) for done in range(1, 9)])
            again = thinwire.sweep(sweep, "spread/s.jsonl", executor=executor, progress=lambda *now: told.append(now))
            self.assertTrue(again.equals(spread))
            self.assertEqual(len(told), 8)  # nothing ran
            # What a worker skips or fails in is in the frame, as in a sweep of one machine.
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                skipped = thinwire.sweep({"name": "hosts", "base": {"scheme": "dense_ring", "components": 100,
                                                                    "platform": "gige_star", "network": "links"},
                                          "grid": {"ranks": [4, 4096]}}, "hosts.jsonl", executor=executor)
            self.assertEqual(list(skipped.status), ["ok", "skipped"])
            self.assertEqual(len(said), 1)
            with self.assertRaisesRegex(thinwire.InputError, "of the sweep 'small'"):
                thinwire.sweep({**sweep, "name": "other"}, "spread/s.jsonl", executor=executor)
            with self.assertRaisesRegex(thinwire.InputError, "jobs: the executor has workers"):
                thinwire.sweep(sweep, "s.jsonl", executor=executor, jobs=2)
        with self.assertRaisesRegex(thinwire.InputError, "executor: expected one of concurrent.futures, not a int"):
            thinwire.sweep(sweep, "s.jsonl", executor=3)

        class Dying(concurrent.futures.Executor):
            """Simulates two points, and then its workers die."""
            left = 2

            def submit(self, function, *arguments):
                future = concurrent.futures.Future()
                self.left -= 1
                if self.left < 0:
                    future.set_exception(concurrent.futures.process.BrokenProcessPool("a child was killed"))
                else:
                    future.set_result(function(*arguments))
                return future
        with self.assertRaisesRegex(thinwire.SimulationError, "a worker ended with BrokenProcessPool: a child was killed"):
            thinwire.sweep(sweep, "dying.jsonl", executor=Dying())
        self.assertEqual(len(pathlib.Path("dying.jsonl").read_text().splitlines()), 2)
        with open("dying.jsonl", "a", encoding="utf-8") as file:
            file.write('{"schema":2,"sw')  # a writer was killed
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            self.assertEqual(len(thinwire.sweep({**sweep, "grid": {**sweep["grid"], "ranks": [4]}}, "dying.jsonl",
                                                executor=executor)), 4)
        self.assertTrue(thinwire.sweep(sweep, "dying.jsonl")[same].equals(alone[same]))

    def test_another_python_is_told_which_one_is_needed(self):
        package = pathlib.Path(thinwire.__file__).parent
        (self.folder / "thinwire").mkdir()
        shutil.copy(package / "__init__.py", self.folder / "thinwire")
        (self.folder / "thinwire" / "_thinwire.cpython-399-x86_64-linux-gnu.so").write_bytes(b"")
        done = subprocess.run([sys.executable, "-c", "import thinwire"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(self.folder)})
        self.assertIn("ImportError: thinwire is built for CPython 3.99, and this is Python", done.stderr)
        self.assertNotIn("circular", done.stderr)

    def test_packets_find_their_buffers(self):
        import thinwire as again  # pylint: disable=reimported
        source = (SOURCE / "sim/machine/networks/smpi/smpi.hpp").read_text(encoding="utf-8")
        self.assertIn(f'"{again._PACKET_BUFFERS}"', source)
        self.assertIn(again._PACKET_BUFFERS, os.environ["NS_ATTRIBUTE_DEFAULT"])

    def test_other_bad_input(self):
        for settings in ({"ranks": []}, {"density": float("nan")}, {"ranks": float("inf")},
                         {"ranks": object()}, {"table": "colour"}, {"k": 1, "density": 0.1}):
            with self.assertRaises(thinwire.InputError, msg=settings):
                thinwire.run(components=100, **settings)
        with self.assertRaises(thinwire.InputError):
            thinwire.load("nothing.jsonl")
        with self.assertRaises(thinwire.InputError):
            thinwire.compare("nothing.jsonl", tolerance=float("nan"))

    def test_a_failed_simulation_raises_and_keeps_the_others(self):
        with self.assertRaises(thinwire.SimulationError) as caught:
            thinwire.run(**LONG, ranks=[2, 64], memory_limit_mib=0.001)
        self.assertIn("memory", str(caught.exception))
        self.assertEqual(list(caught.exception.results.status), ["failed", "failed"])

    def test_a_skipped_point_warns(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            frame = thinwire.sweep({"name": "hosts", "base": {"scheme": "dense_ring", "components": 100,
                                                              "network": "links", "platform": "fat_tree"},
                                    "grid": {"ranks": [4, 20000]}}, "hosts.jsonl")
        self.assertEqual(list(frame.status), ["ok", "skipped"])
        self.assertEqual(len(caught), 1)
        self.assertIn(frame.reason[1], str(caught[0].message))

    def test_config_and_settings(self):
        config = {"scheme": "topka", "components": 1000, "density": 0.1, "machine": {"alpha_s": 1e-6}}
        (self.folder / "point.json").write_text(json.dumps(config))
        by_dict = thinwire.run(config, ranks=3, k=7, machine={"beta_s_per_word": 1e-9})
        by_file = thinwire.run(self.folder / "point.json", ranks=3, k=7,
                               machine={"beta_s_per_word": 1e-9})
        self.assertEqual(by_dict.time_s[0], by_file.time_s[0])
        self.assertEqual((by_dict.k[0], by_dict["machine.alpha_s"][0]), (7, 1e-6))

    def test_edge_sizes(self):
        for ranks in (1, 3, 7, 12, 23):
            for k in (0, 1, 100):
                frame = thinwire.run(scheme="oktopk", ranks=ranks, components=100, k=k)
                self.assertTrue(frame.ranks_agree[0], (ranks, k))

    def test_sweep_load_and_compare(self):
        told = []
        sweep = {"name": "small", "base": {"components": 5000, "density": 0.05},
                 "grid": {"scheme": ["oktopk", "dense_ring"], "ranks": [4, 8]}}
        frame = thinwire.sweep(sweep, "small.jsonl", jobs=2,
                               progress=lambda done, total, left_s: told.append((done, total, left_s)))
        self.assertEqual([(done, total) for done, total, _ in told], [(1, 4), (2, 4), (3, 4), (4, 4)])
        again = thinwire.sweep(sweep, "small.jsonl", progress=lambda *now: told.append(now))
        self.assertEqual(len(told), 4)  # nothing ran
        self.assertTrue(frame.equals(again))
        loaded = thinwire.load("small.jsonl", where={"scheme": "dense_ring", "ranks": [8]})
        self.assertEqual(list(loaded.verdict), ["exact"])
        groups = thinwire.compare("small.jsonl", group_by="scheme")
        self.assertEqual(dict(zip(groups.scheme, groups["count"])), {"oktopk": 2, "dense_ring": 2})
        ring = frame[frame.scheme == "dense_ring"]
        by_name = groups.set_index("scheme")
        self.assertAlmostEqual(by_name.time_s_median["dense_ring"], ring.time_s.median(), delta=1e-18)

    def test_baseline(self):
        common = {"scheme": "dense_ring", "components": 1000}
        thinwire.run(**common, ranks=[2, 4], output="old.jsonl")
        rows = [json.loads(line) for line in pathlib.Path("old.jsonl").read_text().splitlines()]
        for row in rows:  # as if an older version had simulated the first one 2 % faster
            if row["point"]["ranks"] == 2:
                row["result"]["iteration_times_s"] = [
                    time_s / 1.02 for time_s in row["result"]["iteration_times_s"]]
                row["result"]["time_s"] = row["result"]["iteration_times_s"][-1]
        pathlib.Path("old.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        thinwire.run(**common, ranks=[2, 4, 8], output="new.jsonl")
        frame = thinwire.compare("new.jsonl", baseline="old.jsonl").set_index("ranks")
        self.assertEqual(dict(frame.change), {2: "slower", 4: "same", 8: "new"})
        self.assertAlmostEqual(frame.time_ratio[2], 1.02)
        loose = thinwire.compare("new.jsonl", baseline="old.jsonl", tolerance=0.03).set_index("ranks")
        self.assertEqual(loose.change[2], "same")

    def test_a_figure_as_a_program_for_matplotlib(self):
        frame = thinwire.run(scheme=["topka", "dense_ring"], ranks=[2, 4], components=1000,
                             output="rows.jsonl")
        program("report", "rows.jsonl", "--figure", "time", "--width", "85mm", "-o", "time.py")
        done = subprocess.run([sys.executable, "time.py", "time.svg"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "time.svg\n"), done.stderr)
        self.assertIn("<svg", (self.folder / "time.svg").read_text())
        code = compile((self.folder / "time.py").read_text(), "time.py", "exec")
        names = {"__name__": "figure"}
        exec(code, names)  # the program's data are the results
        figure = names["FIGURE"]
        self.assertAlmostEqual(figure["inches"][0], 85 / 25.4)
        drawn = sorted(tuple(mark) for series in figure["panels"][0]["series"]
                       for mark in series["marks"])
        self.assertEqual(drawn, sorted(zip(frame.ranks, frame.time_s)))
        # Ticks are texts with units, and the legend is above the axes, where it hides no curve.
        self.assertTrue(all(text.split()[1] in ("s", "ms", "µs", "ns")
                            for text in figure["panels"][0]["y"]["texts"]))
        sys.argv, before = ["time.py", "time.svg"], sys.argv
        self.addCleanup(setattr, sys, "argv", before)
        names["main"]()
        drawn = names["plt"].gcf()
        drawn.canvas.draw()
        panel, above = drawn.axes
        self.assertGreaterEqual(above.get_legend().get_window_extent().y0, panel.get_window_extent().y1)
        self.assertEqual([text.get_text() for text in above.get_legend().get_texts()],
                         ["topka", "dense_ring"])

    def test_recommend(self):
        found = thinwire.recommend("bert", schemes=["topka", "dense_ring"], ranks=4, device="p100",
                                   crossovers=False)
        text = program("recommend", "--model", "bert", "--schemes", "topka,dense_ring", "-P", "4",
                       "--device", "p100", "--fast", "--format", "csv").stdout
        printed = pandas.read_csv(io.StringIO(text))
        assumed = printed[printed.kind == "assumption"]
        self.assertEqual(list(found.assumptions.value), list(assumed.value))
        self.assertIn("network", list(found.assumptions.what))
        for one in (found.candidates, found.forecast, found.slower, found.crossovers):
            self.assertNotIn("schema", list(one))
            self.assertNotIn("kind", list(one))
        self.assertEqual(set(found.candidates.full().kind), {"candidate"})
        printed = printed[printed.kind == "candidate"]
        self.assertEqual(list(found.candidates.scheme), list(printed.scheme))
        self.assertEqual(list(found.candidates.iteration_s), list(printed.iteration_s))
        self.assertEqual(len(found.crossovers), 0)

    def test_recommend_ends_simulations_that_cannot_win(self):
        told, shown = [], []
        found = thinwire.recommend("vgg16", ranks=4, device="h100", crossovers=False, jobs=2,
                                   forecast=shown.append, progress=lambda *now: told.append(now))
        said = program("recommend", "--model", "vgg16", "-P", "4", "--device", "h100", "--fast").stdout
        self.assertIn(found.answer, said)
        whole = thinwire.recommend("vgg16", ranks=4, device="h100", crossovers=False, all=True)
        self.assertEqual(len(whole.slower), 0)
        self.assertGreater(len(found.slower), 0)
        times = whole.candidates.set_index("scheme").iteration_s
        self.assertTrue((times[list(found.candidates.scheme)].values == found.candidates.iteration_s).all())
        self.assertTrue((times[list(found.slower.scheme)].values > found.slower.over_s).all())
        self.assertEqual(found.answer, whole.answer)
        self.assertEqual(set(shown[0].scheme), set(whole.candidates.scheme))
        self.assertEqual(told[-1][:2], (len(shown[0]), len(shown[0])))

    def test_ctrl_c_keeps_what_recommend_knows(self):
        said = self.said_by(
            "def tell(done, *_):\n    if done == 3: print('ready', flush=True)\n"
            "try: thinwire.recommend('vgg16', ranks=64, platform='aries_daint', progress=tell)\n"
            "except KeyboardInterrupt as stop: print(len(stop.results.candidates), stop.results.answer)\n",
            signal.SIGINT)
        self.assertIn("to train vgg16 on 64 ranks", said)

    def test_names_say_their_units(self):
        endings = {"s": "_s", "s/word": "_s_per_word", "bytes": "_bytes", "words": "_words"}
        for _, setting in thinwire.settings().iterrows():
            if setting.unit:
                self.assertTrue(setting.setting.endswith(endings[setting.unit]), setting.setting)

    def test_names(self):
        self.assertIn("oktopk", thinwire.schemes())
        self.assertIn("fat_tree", thinwire.platforms())
        self.assertEqual(thinwire.__version__, program("--version").stdout.strip())

    def test_other_threads_go_on(self):
        counted = 0
        stop = threading.Event()

        def count():
            nonlocal counted
            while not stop.is_set():
                counted += 1
                time.sleep(0.001)
        thread = threading.Thread(target=count)
        thread.start()
        before = counted
        thinwire.run(scheme="oktopk", ranks=64, components=2_000_000)
        after = counted
        stop.set()
        thread.join()
        self.assertGreater(after - before, 5)

    def test_ctrl_c_ends_a_simulation(self):
        for call in ('thinwire.run(scheme="oktopk", ranks=64, components=5_000_000, granule=1, '
                     'iterations=1000)',
                     'thinwire.sweep({"name": "long", "base": {"components": 5_000_000, "granule": 1, '
                     '"iterations": 1000}, "grid": {"ranks": [32, 64]}}, "long.jsonl")'):
            code = ("import thinwire\nprint('ready', flush=True)\n"
                    f"try:\n    {call}\n"
                    "except KeyboardInterrupt as stop:\n    print('stopped:', stop)\n")
            child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
            self.assertEqual(child.stdout.readline(), "ready\n")
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            said = child.communicate(timeout=120)[0]  # all of its iterations take hours
            self.assertIn("stopped: interrupted", said)
            self.assertEqual(child.returncode, 0)

    def said_by(self, code, *signals):
        """What a program says that calls a long run, and gets these signals in it."""
        code = ("import signal, thinwire\n"
                f"def long(**more): return thinwire.run(**{{**{LONG!r}, **more}})\n" + code)
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "ready\n")
        for one in signals:
            time.sleep(0.5)
            child.send_signal(one)
        return child.communicate(timeout=120)[0]

    def test_handlers_of_signals_run_in_a_run(self):
        said = self.said_by(
            "def ring(*_): raise TimeoutError('too long')\n"
            "signal.signal(signal.SIGALRM, ring)\n"
            "def note(*_):\n"
            "    print('noted', flush=True)\n"
            "    signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
            "signal.signal(signal.SIGINT, note)\n"
            "print('ready', flush=True)\n"
            "try: long(ranks=64)\n"
            "except TimeoutError as error: print(error)\n", signal.SIGINT)
        self.assertEqual(said, "noted\ntoo long\n")

    def test_a_signal_that_is_ignored_stays_ignored(self):
        said = self.said_by(
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "print('ready', flush=True)\n"
            "try: long(ranks=64, time_limit_s=1.5)\n"
            "except thinwire.SimulationError as error: print(error)\n", signal.SIGINT)
        self.assertIn("took longer than the 1.5 s", said)

    def test_ctrl_c_keeps_the_points_that_had_ended(self):
        said = self.said_by(
            "def tell(done, *_): print('ready', flush=True)\n"
            "try: long(ranks=64, components=[100, 5000000], iterations=[1, 100000], output='kept.jsonl', jobs=4, progress=tell)\n"
            "except KeyboardInterrupt as stop: print(len(stop.results), len(thinwire.load('kept.jsonl')))\n",
            signal.SIGINT)
        ended, kept = map(int, said.split()[-2:])
        self.assertEqual(ended, kept)
        self.assertGreater(kept, 0)

    def test_workers_of_a_pool_ignore_ctrl_c_where_they_are_told_to(self):
        said = self.said_by(
            "import multiprocessing, os\n"
            "def quiet(): signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "def work(seed): return thinwire.run(scheme='topka', ranks=2, components=100, seed=seed).time_s[0]\n"
            "if __name__ == '__main__':\n"
            "    with multiprocessing.get_context('fork').Pool(2, quiet) as pool:\n"
            "        task = pool.map_async(work, range(1, 41))\n"
            "        print('ready', flush=True)\n"
            "        while not task.ready():\n"
            "            try: task.wait(0.1)\n"
            "            except KeyboardInterrupt: print('main', flush=True)\n"
            "        print(len(task.get()))\n", signal.SIGINT)
        self.assertEqual(said.split()[-1], "40")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
