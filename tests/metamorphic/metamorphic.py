#!/usr/bin/env python3
"""Draws configurations of all schemes, and checks what must hold between their simulations.

tests/metamorphic/metamorphic.py THINWIRE [--configurations N] [--seed SEED] [--minutes M] [--print]

Nobody knows the time of a drawn configuration, but:
  doubled    twice α, β and γ is twice the time
  monotone   more α, β or γ is no less time
  counted    alphabeta, links and counting send equal words and messages (smpi too, now and then)
  as_links   links on a platform that is the α-β machine takes the time of alphabeta
  permuted   ranks at other places of that platform take the same time
  goal       the schedule that is exported as GOAL takes the same time when it is simulated
  chakra     so does the schedule that is exported as a Chakra trace
  at_once    -j changes nothing
Every configuration is checked for the first two, and for one of the others in turn. --seed draws
others; --minutes goes on until the time is over; --print prints each one. What does not hold is
printed with the command that shows it, and the exit code is 1.
"""
from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import math
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
ALPHABETA = str(SOURCE / "platforms" / "alphabeta.xml")
# NCCL's protocols take times of their own, which do not double with α and β: the cost table says so.
PROTOCOL_TIMES = {"nccl_ring", "nccl_tree", "dense_auto", "dense_auto_ovlp", "allgather_nccl_ring",
                  "reduce_scatter_nccl_ring"}
# They choose a schedule by its cost: others of α, β and γ may get another one.
CHOOSES_BY_COST = {"dense_auto", "dense_auto_ovlp", "dragonn"}
# Messages of two channels share a port, where sums and words stagger them: docs/explanation/alpha-beta.md says why.
STAGGERED = {"nccl_tree", "dense_auto", "dense_auto_ovlp"}
# Each needs what a drawn configuration has not: switches that sum.
LEFT_OUT = {"dense_in_network"}
COUNTS = ["words_sent_max", "words_received_max", "messages_sent_max", "messages_received_max"]


class Refused(Exception):
    """The program says that a configuration cannot be run."""


class Broken(Exception):
    """What must hold does not."""


class Checker:
    def __init__(self, program: str, folder: str) -> None:
        self.program, self.folder = program, folder

    def call(self, words: list[str]) -> str:
        ended = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=300, check=False,
                               cwd=self.folder)
        if ended.returncode == 2:
            raise Refused(ended.stderr.strip())
        if ended.returncode != 0:
            raise Broken(f"{shlex.join(words)}: exit code {ended.returncode}: {ended.stderr.strip()}")
        return ended.stdout

    def rows(self, words: list[str]) -> list[dict[str, str]]:
        rows = list(csv.DictReader(io.StringIO(self.call(["run", *words, "--format", "csv"]))))
        if any(row.get("status", "ok") != "ok" for row in rows):
            raise Broken(f"{shlex.join(words)}: {[row['reason'] for row in rows]}")
        return rows

    def time(self, words: list[str]) -> float:
        return float(self.rows(words)[0]["time_s"])

    # --- what must hold

    def doubled_and_monotone(self, words: list[str], scheme: str, prices: tuple[float, float, float]) -> None:
        flags = ["--alpha", "--beta", "--gamma"]
        lists = [word for flag, price in zip(flags, prices) for word in (flag, f"{price!r},{2 * price!r}")]
        rows = self.rows([*words, *lists, "-j", "1"])
        names = ["machine.alpha_s", "machine.beta_s_per_word", "machine.gamma_s_per_word"]
        found = {tuple(round(float(row[name]) / price) for name, price in zip(names, prices)): row for row in rows}
        times = {factors: float(row["time_s"]) for factors, row in found.items()}
        shown = shlex.join([*words, *lists])
        once, twice = times[(1, 1, 1)], times[(2, 2, 2)]
        if scheme not in PROTOCOL_TIMES | CHOOSES_BY_COST and not math.isclose(twice, 2 * once, rel_tol=1e-9):
            raise Broken(f"doubled: {shown}: {once} s, and {twice} s with twice α, β and γ")
        for at, name in enumerate(names):
            if name != names[0] and scheme in STAGGERED:
                continue
            for others in itertools.product((1, 2), repeat=2):
                cheap, dear = ((*others[:at], factor, *others[at:]) for factor in (1, 2))
                if scheme in CHOOSES_BY_COST and any(found[cheap][name] != found[dear][name] for name in COUNTS):
                    continue  # another schedule
                low, high = times[cheap], times[dear]
                # A sum may end in the middle of a message that shares the port: it wins what it takes at most.
                sums = prices[2] * float(found[cheap]["words_received_max"]) if name == names[2] else 0
                if high < low * (1 - 1e-9) - sums:
                    raise Broken(f"monotone: {shown}: {low} s, and {high} s with twice {name} at {others}")

    def counted(self, words: list[str], with_smpi: bool) -> None:
        networks = "alphabeta,links,counting" + (",smpi" if with_smpi else "")
        on_each = [*words, "--network", networks, "--platform", ALPHABETA]
        rows = self.rows(on_each)
        if len(rows) != networks.count(",") + 1 or any(row[name] != rows[0][name] for row in rows for name in COUNTS):
            raise Broken(f"counted: {shlex.join(on_each)}: {[[row[name] for name in COUNTS] for row in rows]}")

    def as_links(self, words: list[str]) -> None:
        shown = [*words, "--network", "alphabeta,links", "--platform", ALPHABETA]
        self.same_time("as_links", shown, *(float(row["time_s"]) for row in self.rows(shown)))

    def permuted(self, words: list[str], seed: int) -> None:
        on_links = [*words, "--network", "links", "--platform", ALPHABETA]
        shown = [*on_links, "--placement", f"random:{seed}"]
        self.same_time("permuted", shown, self.time(on_links), self.time(shown))

    def same_time(self, what: str, shown: list[str], first: float, second: float) -> None:
        if not math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-15):
            raise Broken(f"{what}: {shlex.join(shown)}: {second} s instead of {first} s")

    def replayed(self, words: list[str], kind: str) -> None:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            to = os.path.join(folder, "schedule" if kind == "chakra" else "schedule.goal")
            self.call(["export", *words, f"--{kind}", to])
            try:
                replayed = self.time([f"--{kind}", to])
            except Refused as why:
                raise Broken(f"{kind}: {shlex.join(words)}: the exported schedule is refused: {why}") from why
        simulated = self.time(words)
        # Local work is in whole nanoseconds in a GOAL text, in microseconds of a double in a Chakra trace.
        if not math.isclose(replayed, simulated, rel_tol=1e-6, abs_tol=1e-15):
            raise Broken(f"{kind}: {shlex.join(words)}: {simulated} s, and the exported schedule {replayed} s")

    def at_once(self, words: list[str]) -> None:
        lists = [*words, "--seed", "1,2,3"]
        if self.rows([*lists, "-j", "1"]) != self.rows([*lists, "-j", "3"]):
            raise Broken(f"at_once: {shlex.join(lists)}: -j 1 and -j 3 differ")


def log_uniform(draws: random.Random, low: float, high: float) -> float:
    return math.exp(draws.uniform(math.log(low), math.log(high)))


def configuration(draws: random.Random, scheme: dict[str, str]) -> list[str]:
    ranks = draws.choice([2 ** draws.randint(0, 5), draws.randint(1, 24)])
    words = ["--scheme", scheme["name"], "-P", str(ranks), "-n", str(round(log_uniform(draws, 1, 20_000))),
             "--seed", str(draws.randint(1, 10 ** 6)), "--iterations", str(draws.choice([1, 2, 3]))]
    if scheme["input"] == "sparse":
        words += ["-d", f"{log_uniform(draws, 1e-3, 0.5):.4g}"]
        words += draws.choice([[], ["--overlap", f"{draws.random():.3g}"], ["--skew", f"{draws.uniform(0, 3):.3g}"]])
    return words


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", metavar="THINWIRE")
    parser.add_argument("--configurations", type=int, default=224)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    draws = random.Random(options.seed)
    end = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    failures, done, refused = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(os.path.abspath(options.program), folder)
        schemes = [one for one in json.loads(checker.call(["list", "schemes", "--format", "json"]))
                   if one["kind"] == "scheme" and one["name"] not in LEFT_OUT]
        for number in itertools.count():
            if (done >= options.configurations) if end is None else (time.monotonic() >= end):
                break
            scheme = schemes[number % len(schemes)]
            words = configuration(draws, scheme)
            prices = (log_uniform(draws, 1e-8, 1e-4), log_uniform(draws, 1e-11, 1e-7), log_uniform(draws, 1e-12, 1e-8))
            others = [lambda: checker.counted(words, number % 8 == 0), lambda: checker.as_links(words),
                      lambda: checker.permuted(words, draws.randint(1, 999)), lambda: checker.replayed(words, "goal"),
                      lambda: checker.replayed(words, "chakra"), lambda: checker.at_once(words)]
            other = others[(number // len(schemes) + number) % len(others)]
            try:
                checker.doubled_and_monotone(words, scheme["name"], prices)
                other()
                done += 1
            except Refused:
                refused += 1
                if refused > 20 * (done + 100):
                    print("almost every configuration is refused")
                    return 1
                continue
            except (Broken, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                done += 1
                failures += 1
                print(f"FAILED (seed {options.seed}): {error}", flush=True)
            if options.print:
                print(shlex.join(words), flush=True)
    print(f"{done} configurations of {len(schemes)} schemes, seed {options.seed}; {refused} more were refused; "
          f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
