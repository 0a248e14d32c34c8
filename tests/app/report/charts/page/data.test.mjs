// What the page makes of its data: node --test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accuracyPanels, bytes, densities, measuredPanels, percent, pointsOf, seconds, shownCurves, text, winners } from "../../../../../sim/app/report/charts/page/data.js";

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
