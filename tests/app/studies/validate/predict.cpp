#include "sim/app/studies/validate/predict.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/approx.hpp"

namespace {

using thinwire::plan::Point;
using thinwire::results::Row;
using thinwire::studies::MeasuredRow;
using thinwire::studies::PredictedRow;
using TimeOf = std::function<double(const Point&)>;

/// Whether NCCL's tuner takes LL, which it does from so many ranks on.
bool takes_ll(const Point& point, int from) {
  const auto protocol = std::get<std::int64_t>(point.options.at("protocol"));
  return protocol == 0 || (protocol == 3 && point.ranks >= from);
}

/// The predictions of a row of each size on `nodes` nodes by a program whose times are known.
/// Phases of NCCL are named after the protocol.
std::vector<PredictedRow> predictions(const std::string& library, const std::string& algorithm,
                                      const std::vector<std::int64_t>& sizes, int nodes,
                                      const TimeOf& time_of, int ll_from = 0) {
  thinwire::studies::MachineDescription machine;
  machine.name = "made";
  machine.gpu = library == "NCCL";
  machine.settings = {{"network", "alphabeta"},
                      {"machine", {{"alpha_s", 1e-6}, {"beta_s_per_word", 4e-10}}}};
  MeasuredRow row{.machine = "made",
                  .run = "a",
                  .test = "0",
                  .nodes = 2,
                  .tasks_per_node = 1,
                  .collective = "allreduce",
                  .library = library,
                  .algorithm = algorithm,
                  .gpu = machine.gpu,
                  .seconds = 1e-3,
                  .place = "log:1"};
  const auto run = [&](const std::vector<Point>& points) {
    std::vector<Row> rows(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      auto& outcome = rows[i].outcome.emplace();
      outcome.iteration_times = {thinwire::Seconds(time_of(points[i]))};
      if (points[i].scheme->name != "nccl_ring") continue;
      outcome.phases.push_back({.name = takes_ll(points[i], ll_from) ? "ring_ll" : "ring_simple"});
    }
    return rows;
  };
  std::vector<MeasuredRow> rows;
  for (const std::int64_t size : sizes) {
    row.elements = size;
    rows.push_back(row);
  }
  return thinwire::studies::predict(rows, machine, nodes, 1, sizes.size(), run);
}

PredictedRow predicted(const std::string& library, const std::string& algorithm, int nodes,
                       const TimeOf& time_of, int ll_from = 0) {
  return predictions(library, algorithm, {1 << 22}, nodes, time_of, ll_from).at(0);
}

double linear(const Point& point) { return 1e-5 + 2e-6 * point.ranks; }
double logarithmic(const Point& point) { return 1e-5 + 3e-6 * std::log2(point.ranks); }

}  // namespace

TEST_CASE("A point of few ranks is predicted by itself") {
  const PredictedRow few = predicted("OMPI", "ring_ompi", 64, linear);
  CHECK(few.simulated_nodes == 0);
  CHECK(few.measured_nodes == 2);
  CHECK(few.seconds.value() == thinwire::test::approx(1e-5 + 2e-6 * 64));
}

TEST_CASE("Times that grow as those of rings and of trees do go on exactly") {
  const PredictedRow ring = predicted("OMPI", "ring_ompi", 1 << 20, linear);
  CHECK(ring.simulated_nodes > 0);
  CHECK(ring.simulated_nodes < 1 << 20);
  CHECK(ring.seconds.value() == thinwire::test::approx(1e-5 + 2e-6 * (1 << 20)));
  const PredictedRow tree = predicted("OMPI", "recursive_doubling_ompi", 1 << 20, logarithmic);
  CHECK(tree.simulated_nodes > 0);
  CHECK(tree.seconds.value() == thinwire::test::approx(1e-5 + 3e-6 * 20));
  // What falls, as noise does, goes on as it is.
  const auto falling = [](const Point& point) { return 1 / std::log2(point.ranks); };
  const PredictedRow noise = predicted("OMPI", "ring_ompi", 1 << 20, falling);
  CHECK(noise.seconds.value() == thinwire::test::approx(1 / std::log2(noise.simulated_nodes)));
}

TEST_CASE("What NCCL chooses is the faster one of its ring and its tree where both go on") {
  for (const bool ring_is_faster : {true, false}) {
    CAPTURE(ring_is_faster);
    const auto time_of = [&](const Point& point) {
      const bool ring = point.scheme->name == "nccl_ring";
      return ring == ring_is_faster ? logarithmic(point) : 2 * logarithmic(point);
    };
    const PredictedRow row = predicted("NCCL", "default_nccl", 16384, time_of);
    CHECK(row.simulated_nodes > 0);
    CHECK(row.seconds.value() == thinwire::test::approx(1e-5 + 3e-6 * 14));
  }
}

TEST_CASE("A time goes on with the protocol that NCCL takes on the most nodes that run") {
  constexpr int kNodes = 1 << 20;
  const int most = predicted("NCCL", "ring", kNodes, linear).simulated_nodes;
  REQUIRE(most > 0);
  for (const int from : {most, 2 * most}) {  // LL on the most nodes alone, or nowhere
    CAPTURE(from);
    const auto time_of = [from](const Point& point) {
      return takes_ll(point, from) ? linear(point) : 3 * linear(point);
    };
    const PredictedRow row = predicted("NCCL", "ring", kNodes, time_of, from);
    CHECK(row.way == (from == most ? "ring_ll" : "ring_simple"));
    const double of_protocol = from == most ? 1 : 3;
    CHECK(row.seconds.value() == thinwire::test::approx(of_protocol * (1e-5 + 2e-6 * kNodes)));
  }
}

TEST_CASE("A longer vector goes on to no shorter time") {
  const auto time_of = [](const Point& point) {
    const double bandwidth = 4e-10 * static_cast<double>(point.space.components);
    return std::max(linear(point), bandwidth);  // the latency of a ring counts on many ranks
  };
  const std::vector<PredictedRow> rows =
      predictions("OMPI", "ring_ompi", {1 << 10, 1 << 16, 1 << 23}, 1 << 20, time_of);
  double shorter = 0;
  for (const PredictedRow& row : rows) {
    CAPTURE(row.row.elements);
    CHECK(row.simulated_nodes > 0);
    CHECK(row.seconds.value() >= shorter);
    shorter = row.seconds.value();
  }
  CHECK(shorter == thinwire::test::approx(1e-5 + 2e-6 * (1 << 20)));
}

TEST_CASE("The interval holds 90% of times that scatter as the fit's, and widens with the nodes") {
  using thinwire::studies::interval_factor;
  CHECK(interval_factor(0.1, 2, 2) == thinwire::test::approx(std::exp(0.1645)));
  CHECK(interval_factor(0, 2, 16) == thinwire::test::approx(std::exp(1.645 * 0.3)));
  CHECK(interval_factor(0.3, 2, 32) == thinwire::test::approx(std::exp(1.645 * 0.5)));
}
