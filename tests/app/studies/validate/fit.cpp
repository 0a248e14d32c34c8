#include "sim/app/studies/validate/fit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/results/results_file.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/app/studies/validate/least_squares.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using thinwire::Json;
using thinwire::results::Row;
using thinwire::run::Sweep;
using thinwire::studies::MachineFit;
using thinwire::studies::Vector;

/// A machine whose settings the fits look for.
Json described(double overhead, double gamma, double copy) {
  return {{"name", "made"},
          {"settings",
           {{"network", "alphabeta"},
            {"machine",
             {{"alpha_s", 1e-6},
              {"beta_s_per_word", 4e-10},
              {"host_latency_s", 1e-6},
              {"overhead_s", overhead},
              {"gamma_s_per_word", gamma},
              {"eager_bytes", 4096},
              {"eager_copy_s_per_word", copy}}}}},
          {"calibrated_on", {{{"run", "a"}}}}};
}

std::vector<Row> simulated(const Sweep& sweep) {
  std::vector<Row> rows;
  for (const auto& point : sweep.points) {
    rows.push_back(thinwire::run::simulate_point(sweep.name, point));
  }
  return rows;
}

/// Rows whose measured times are simulated on a machine; sizes from `least` words on.
std::vector<thinwire::studies::MeasuredRow> rows_of_machine(const std::string& path,
                                                            std::int64_t least) {
  std::vector<thinwire::studies::MeasuredRow> rows;
  for (const char* algorithm : {"ring_ompi", "recursive_doubling_ompi", "rabenseifner_ompi"}) {
    for (std::int64_t elements = least; elements <= 400'000; elements *= 10) {
      rows.push_back({.machine = "made",
                      .run = "a",
                      .test = "0",
                      .nodes = 8,
                      .collective = "allreduce",
                      .library = "OMPI",
                      .algorithm = algorithm,
                      .elements = elements,
                      .seconds = 1,
                      .place = "made.csv:2"});
    }
  }
  thinwire::studies::Validation truth =
      plan_validation(rows, {thinwire::studies::read_machine(path)}, "");
  take_results(truth, simulated(truth.sweep));
  REQUIRE(truth.rows.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].seconds = *truth.rows[i].simulated;
  return rows;
}

/// A fit of settings of the description in a file.
MachineFit fitted(const std::vector<thinwire::studies::MeasuredRow>& rows, const std::string& path,
                  const std::vector<std::string>& settings) {
  return thinwire::studies::fit(
      rows, thinwire::studies::settings_to_fit(thinwire::studies::read_machine(path), settings), "",
      simulated);
}

MachineFit calibration_of(std::int64_t least, const std::vector<std::string>& paths,
                          double overhead = 5e-7, double true_overhead = 2e-6) {
  const thinwire::test::TemporaryFolder folder;
  const std::string truth =
      folder.write("truth.json", described(true_overhead, 3e-10, 5e-10).dump());
  const std::string start = folder.write("start.json", described(overhead, 1e-10, 2e-9).dump());
  return fitted(rows_of_machine(truth, least), start, paths);
}

}  // namespace

TEST_CASE("Least squares finds the parameters of an exponential and their deviations") {
  // y = exp(a + b t), with a = 1 and b = -2; the residuals are logarithms.
  const auto residuals = [](const std::vector<Vector>& points) {
    std::vector<Vector> all;
    for (const Vector& point : points) {
      Vector values;
      for (int t = 0; t < 5; ++t) {
        const double noise = t % 2 == 0 ? 0.1 : -0.1;
        values.push_back(point[0] + point[1] * t - (1 - 2.0 * t) - noise);
      }
      all.push_back(values);
    }
    return all;
  };
  const thinwire::studies::LeastSquares found =
      thinwire::studies::least_squares(residuals, {0, 0}, {.enough = 0});
  // The line through (0, .1), (1, -.1), (2, .1), (3, -.1), (4, .1): mean 0.02, slope 0.
  CHECK(found.point[0] == thinwire::test::approx(1.02).epsilon(1e-6));
  CHECK(found.point[1] == thinwire::test::approx(-2).epsilon(1e-6));
  // s² = 0.048/3; the slope's variance is s² / 10, the offset's s² (1/5 + 4/10).
  CHECK(found.deviations[1] == thinwire::test::approx(std::sqrt(0.016 / 10)).epsilon(1e-6));
  CHECK(found.deviations[0] == thinwire::test::approx(std::sqrt(0.016 * 0.6)).epsilon(1e-6));
  CHECK(found.rms == thinwire::test::approx(std::sqrt(0.048 / 5)).epsilon(1e-6));
}

TEST_CASE("Variables that the residuals do not tell from each other have no deviation") {
  // The times are c (x + y) + d z: x and y count only by their sum. There is no noise, but the
  // derivatives for x and y, which are differences, are not quite proportional.
  const auto residuals = [](const std::vector<Vector>& points) {
    std::vector<Vector> all;
    for (const Vector& point : points) {
      Vector values;
      for (int row = 1; row <= 8; ++row) {
        const double sum = std::exp(point[0]) + std::exp(point[1]);
        values.push_back(std::log((row * sum + std::exp(point[2]) + 2) / (row * 5 + 3 + 2)));
      }
      all.push_back(values);
    }
    return all;
  };
  const thinwire::studies::LeastSquares found =
      thinwire::studies::least_squares(residuals, {1, -1, 0.5});
  CHECK(found.converged);
  CHECK(found.rms < 1e-4);
  CHECK(std::isinf(found.deviations[0]));
  CHECK(std::isinf(found.deviations[1]));
  CHECK(found.deviations[2] < 0.01);
  CHECK(std::exp(found.point[2]) == thinwire::test::approx(3).epsilon(0.01));
}

TEST_CASE("A descent that runs out of steps, or finds no better one, has not converged") {
  const auto valley = [](const std::vector<Vector>& points) {
    std::vector<Vector> all;
    for (const Vector& point : points) {
      all.push_back({10 * (point[1] - point[0] * point[0]), 1 - point[0], 0.1});
    }
    return all;
  };
  CHECK(thinwire::studies::least_squares(valley, {-1.2, 1}).converged);
  const thinwire::studies::LeastSquares short_of =
      thinwire::studies::least_squares(valley, {-1.2, 1}, {.most_steps = 2});
  CHECK_FALSE(short_of.converged);
  CHECK(short_of.steps == 2);
  // The differences promise a gain that no step has.
  const auto cliff = [](const std::vector<Vector>& points) {
    std::vector<Vector> all;
    for (const Vector& point : points) {
      const double x = point[0];
      all.push_back({x > 0.04 ? 0.9 : 1 + std::abs(x), x > 0.04 ? 0.9 : 1 + std::abs(x)});
    }
    return all;
  };
  CHECK_FALSE(thinwire::studies::least_squares(cliff, {0}, {.most_move = 0.03}).converged);
}

TEST_CASE("Calibration finds the settings that the measured times were made with" *
          doctest::test_suite("large")) {
  const MachineFit found = calibration_of(
      500, {"machine.overhead_s", "machine.gamma_s_per_word", "machine.eager_copy_s_per_word"});
  CHECK(found.rms < 1e-3);
  CHECK(found.rows == 9);
  REQUIRE(found.variables.size() == 3);
  const std::vector<double> truth{2e-6, 3e-10, 5e-10};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    CAPTURE(found.variables[i].name);
    CHECK(found.variables[i].identified);
    CHECK(found.variables[i].value == thinwire::test::approx(truth[i]).epsilon(0.01));
    CHECK(found.variables[i].deviation < 0.05);
  }
  CHECK(found.machine.settings.at("machine").at("overhead_s") == found.variables[0].value);
}

TEST_CASE("A setting that the rows do not depend on keeps its value, and the others are found" *
          doctest::test_suite("large")) {
  // All messages are longer than the eager limit.
  const MachineFit found =
      calibration_of(400'000, {"machine.gamma_s_per_word", "machine.eager_copy_s_per_word"}, 2e-6);
  REQUIRE(found.variables.size() == 2);
  CHECK(found.variables[0].name == "machine.gamma_s_per_word");
  CHECK(found.variables[0].value == thinwire::test::approx(3e-10).epsilon(0.01));
  CHECK(found.variables[1].name == "machine.eager_copy_s_per_word");
  CHECK_FALSE(found.variables[1].identified);
  CHECK(found.variables[1].value == 2e-9);
}

TEST_CASE("A setting of which the rows want nothing becomes 0, and the others are found" *
          doctest::test_suite("large")) {
  const MachineFit fit =
      calibration_of(40'000, {"machine.overhead_s", "machine.gamma_s_per_word"}, 5e-7, 0);
  REQUIRE(fit.variables.size() == 2);
  CHECK(fit.variables[0].name == "machine.gamma_s_per_word");
  CHECK(fit.variables[0].identified);
  CHECK(fit.variables[0].value == thinwire::test::approx(3e-10).epsilon(0.02));
  CHECK(fit.variables[1].name == "machine.overhead_s");
  CHECK_FALSE(fit.variables[1].identified);
  CHECK(fit.variables[1].value == 0);
  CHECK(fit.machine.settings.at("machine").at("overhead_s") == 0);
  CHECK(fit.rms < 0.01);
}

TEST_CASE("Of two settings that count only by their sum, one keeps its value") {
  const thinwire::test::TemporaryFolder folder;
  Json machine = described(2e-6, 3e-10, 5e-10);
  machine["settings"]["machine"]["alpha_s"] = 4e-6;
  const std::string truth = folder.write("truth.json", machine.dump());
  machine["settings"]["machine"]["alpha_s"] = 1e-6;
  const std::string start = folder.write("start.json", machine.dump());
  const MachineFit found =
      fitted(rows_of_machine(truth, 500), start, {"machine.alpha_s", "machine.host_latency_s"});
  REQUIRE(found.variables.size() == 2);
  CHECK(found.variables[0].name == "machine.host_latency_s");
  CHECK(found.variables[0].identified);
  CHECK(found.variables[0].value == thinwire::test::approx(4e-6).epsilon(0.01));
  CHECK(found.variables[1].name == "machine.alpha_s");
  CHECK_FALSE(found.variables[1].identified);
  CHECK(found.variables[1].value == 1e-6);
}

TEST_CASE("Rows of measure, among them a ping-pong and a sparse scheme, determine alpha and beta") {
  // The rows are simulated on a machine that the fit does not know, and then called measured.
  const thinwire::test::TemporaryFolder folder;
  std::vector<Row> rows;
  for (const char* scheme : {"ping_pong", "dense_ring", "topka"}) {
    for (const int components : {100, 10'000, 1'000'000}) {
      const Json given{{"scheme", scheme},
                       {"ranks", 4},
                       {"k", 50},
                       {"components", components},
                       {"iterations", 3},
                       {"granule", 1},
                       {"network", "alphabeta"},
                       {"machine", {{"alpha_s", 7e-6}, {"beta_s_per_word", 3e-9}}}};
      Row row = thinwire::run::simulate_point("measure", thinwire::plan::point_from(given, "test"));
      REQUIRE(row.outcome);
      rows.push_back(row);  // a simulated one, which is left out
      row.point.network = "mpi";
      const thinwire::Seconds time = row.outcome->time();
      row.outcome->measured = thinwire::results::Measured{
          .time = {.median = time, .least = time, .p10 = time, .p90 = time},
          .library = "a library",
          .hosts = {"a", "b"}};
      rows.push_back(row);
    }
  }
  const std::string path = folder.write("rows.jsonl", thinwire::results::lines_of(rows));
  const std::vector<thinwire::studies::MeasuredRow> measured = thinwire::studies::read_measured(
      thinwire::studies::measured_file(path + ",machine=here,run=1"));
  REQUIRE(measured.size() == 9);
  CHECK(measured[0].collective == "ping_pong");
  CHECK(measured[0].nodes == 2);
  CHECK(measured[8].selected() == 50);
  const Json start{
      {"name", "here"},
      {"settings",
       {{"network", "alphabeta"}, {"machine", {{"alpha_s", 1e-6}, {"beta_s_per_word", 1e-9}}}}},
      {"calibrated_on", {{{"run", "1"}}}}};
  const MachineFit found = fitted(measured, folder.write("here.json", start.dump()),
                                  {"machine.alpha_s", "machine.beta_s_per_word"});
  CHECK(found.rows == 9);
  REQUIRE(found.variables.size() == 2);
  CHECK(found.variables[0].value == thinwire::test::approx(7e-6).epsilon(1e-3));
  CHECK(found.variables[1].value == thinwire::test::approx(3e-9).epsilon(1e-3));
}

TEST_CASE("What cannot be fitted is refused") {
  const auto refused = [](const std::string& path) {
    return thinwire::test::error_of<thinwire::InputError>(
        [&] { static_cast<void>(calibration_of(500, {path})); });
  };
  CHECK(refused("machine.overheads").find("did you mean") != std::string::npos);
  CHECK(refused("network").find("only numbers can be fitted") != std::string::npos);
  CHECK(refused("machine.latency_s").find("must be above 0") != std::string::npos);
  const std::string twice = thinwire::test::error_of<thinwire::InputError>([] {
    static_cast<void>(calibration_of(500, {"machine.alpha_s", "machine.alpha_s"}));
  });
  CHECK(twice == "--fit machine.alpha_s: is given twice");
}
