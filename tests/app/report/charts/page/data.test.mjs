// What the page makes of its data: node --test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accuracyPanels, bytes, densities, measuredPanels, percent, pointsOf, seconds, shownCurves, text, winners } from "../../../../../sim/app/report/charts/page/data.js";
import { sayAccuracy, sayBreakdown, sayCongestion, sayCrossover, sayMeasured, sayTime, sayVolume } from "../../../../../sim/app/report/charts/page/sentences.js";

const point = (ranks, time_s) => ({ ranks, time_s });
const data = {
  curves: [
    { label: 0, place: 0, setting: 0, density: null, points: [point(4, 1), point(8, 2)] },
    { label: 1, place: 0, setting: 0, density: 0.1, points: [point(4, 3), point(8, null)] },
    { label: 1, place: 0, setting: 0, density: 0.01, points: [point(4, 0.5)] },
    { label: 1, place: 1, setting: 1, density: 0.5, points: [point(4, 0)] },
  ],
  cells: [
    { place: 0, setting: 0, ranks: 4, density: 0.01, candidates: [[1, 0.5], [0, 1]] },
    { place: 1, setting: 1, ranks: 4, density: 0.5, candidates: [[1, 0], [0, 1]] },
  ],
};
const all = { setting: 0, density: 0.01, labels: new Set([0, 1]), places: new Set([0, 1]) };

test("dense curves are of all densities, sparse ones of their own", () => {
  assert.deepEqual(shownCurves(data, all).map((c) => c.density), [null, 0.01]);
  assert.deepEqual(shownCurves(data, { ...all, density: 0.1 }).map((c) => c.density), [null, 0.1]);
  assert.deepEqual(densities(data, 0), [0.01, 0.1]);
  assert.deepEqual(densities(data, 7), []);
});

test("points without a value are left out, and zero is a value", () => {
  const points = pointsOf(data.curves, (p) => p.time_s);
  assert.deepEqual(points.map((p) => p.value), [1, 2, 3, 0.5, 0]);
});

test("the winner of a cell is the fastest of those shown, and its lead is over the next of them", () => {
  assert.deepEqual(winners(data, all).map((c) => [c.label, c.second, c.lead]), [[1, 0, 2]]);
  assert.deepEqual(winners(data, { ...all, labels: new Set([0]) }).map((c) => [c.label, c.second, c.lead]), [[0, null, null]]);
  assert.deepEqual(winners(data, { ...all, labels: new Set() }), []);
  assert.equal(winners(data, { ...all, setting: 1 })[0].lead, null);  // nothing is so many times as long as no time
});

test("numbers and times are short", () => {
  assert.equal(text(null), "-");
  assert.equal(text(0), "0");
  assert.equal(text(1234567), "1.235e6");
  assert.equal(text(100000), "1e5");
  assert.equal(text(0.125), "0.125");
  assert.equal(seconds(0.0115), "11.5 ms");
  assert.equal(seconds(2e-6), "2 µs");
  assert.equal(seconds(4.3e-12), "0.0043 ns");
  assert.equal(seconds(0), "0 s");
  assert.equal(seconds(12345), "12350 s");
});

test("measured rows of one run and collective are one panel, by size", () => {
  const row = (run, elements) => ({ kind: "row", machine: "m", collective: "allreduce", ranks: 4, run, test: "0", basis: "predicted", gpu: false, elements });
  const panels = measuredPanels([row("b", 1024), { kind: "summary" }, row("a", 1), row("b", 256)]);
  assert.deepEqual(panels.map((p) => p.rows.map((r) => r.bytes)), [[1024, 4096], [4]]);
  assert.equal(panels[0].title, "m, allreduce, 4 ranks, b 0, predicted");
  assert.deepEqual([1, 1024, 3 * 2 ** 20, 2 ** 31].map(bytes), ["1 B", "1 KiB", "3 MiB", "2 GiB"]);
  assert.deepEqual([percent(0.254), percent(-0.002, true), percent(-1, true), percent(null)], ["25%", "+0%", "-100%", "-"]);
});

test("a setting of trainings has a panel for each place, and one over iterations", () => {
  const curve = (label, setting, place) => ({ label, setting, place, seeds: 2, points: [{ iteration: 10, time_s: 4, accuracy: 0.5 }, { iteration: 20, time_s: 8, accuracy: 1 }] });
  const panels = accuracyPanels([curve("a", "s", "here"), curve("a", "s", "there"), curve("b", "s", "here"), curve("a", "t", "there")]);
  assert.deepEqual(panels.map((p) => [p.title, p.x, p.points.length]),
    [["s: here", "time_s", 4], ["s: there", "time_s", 2], ["s", "iteration", 4], ["t: there", "time_s", 2], ["t", "iteration", 2]]);
  assert.deepEqual(panels[0].domain, [4, 8]);
  assert.deepEqual(panels[2].points.map((p) => p.label), ["a", "a", "b", "b"]);
});

test("a sentence says which scheme is the fastest, by how much, and where that changes", () => {
  const labels = ["a", "b", "c"];
  const places = ["here", "there", "beyond"];
  const at = (place, label, ranks, value) => ({ place, label, ranks, value });
  const one = [at(0, 0, 4, 2), at(0, 1, 4, 3), at(0, 0, 8, 4), at(0, 1, 8, 2)];
  assert.equal(sayTime(one, labels, places), "a is the fastest up to P = 4, b from 8 on. At P = 8 it is 2 times as fast as a.");
  assert.equal(sayTime(one.filter((p) => p.ranks === 4), labels, places), "At P = 4 a is the fastest: it is 1.5 times as fast as b.");
  assert.equal(sayTime(one.filter((p) => p.label === 0), labels, places), "a: 2 s at P = 4, 4 s at P = 8.");
  assert.equal(sayTime([...one, at(0, 2, 8, 1.95)], labels, places),
    "a is the fastest up to P = 4, c from 8 on. At P = 8 it is less than 5% faster than b.");
  assert.equal(sayVolume([at(0, 0, 4, 1e6), at(0, 1, 4, 2e6), at(0, 0, 8, 1e6), at(0, 1, 8, 4e6)], labels, places),
    "a sends the least from P = 4 to 8. At P = 4 b sends 2 times as much, and at P = 8 b sends 4 times as much.");
  assert.equal(sayTime([...one, at(1, 0, 8, 3), at(1, 1, 8, 1), at(2, 0, 8, 1), at(2, 1, 8, 5)], labels, places),
    "At P = 8 b is the fastest on here and there (2 to 3 times ahead of the second) and a on beyond (5 times ahead of the second). It is another scheme at fewer ranks on 1 of 3.");
  assert.equal(sayTime([], labels, places), "");
  assert.equal(sayTime([at(0, 0, 4, 0), at(0, 1, 4, 1)], labels, places), "At P = 4 a is the fastest.");
  assert.equal(sayCongestion([at(0, 0, 4, 1.01), at(0, 1, 4, 3.42)], labels, places),
    "Congestion costs b the most: 3.4 times the time without it, at P = 4. It costs a less than 5% everywhere.");
  assert.equal(sayCongestion([at(0, 0, 4, 1.01)], labels, places), "Congestion slows no scheme by more than 2%.");
  assert.equal(sayBreakdown([{ ...at(0, 0, 4, 4), parts: [["x", 1], ["y", 3]] }, { ...at(0, 1, 4, 9), parts: [["x", 9]] }], labels, places),
    "At P = 4 a, the fastest, spends 75% of its time in y.");
  assert.equal(sayCrossover([{ label: 0, lead: 2 }, { label: 1, lead: 1.02 }, { label: 0, lead: null }], labels),
    "a is the fastest in 2 of 3 cells and b in 1. In 1 the second is less than 5% slower.");
  assert.equal(sayMeasured([{ measured_s: 1, simulated_s: 1.1, algorithm: "x" }, { measured_s: 3, simulated_s: 1, algorithm: "y" }]),
    "Half of the 2 simulated times are within 10% of the measured ones; the farthest is 200% off, y.");
  const training = (label, last) => ({ label, setting: "s", place: "p", points: [{ iteration: 1, time_s: 2, accuracy: 0.5 }, { iteration: 2, time_s: 3, accuracy: last }] });
  assert.equal(sayAccuracy([training("a", 0.9), training("b", 0.895)]),
    "a ends with the highest accuracy, 90% (s); it is also the first within one point of it, after 3 s at p.");
});
