#include "sim/app/report/charts/figures.hpp"

#include "sim/app/plan/config.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/app/report/charts/figure_svg.hpp"
#include "sim/app/report/charts/palette.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"

using namespace thinwire;
using namespace thinwire::report;

namespace {

results::Row row_of(const Json& point, double seconds) {
  results::Row row;
  row.sweep = "made up";
  row.version = "1";
  row.point = plan::point_from(point, "test");
  results::Outcome outcome;
  outcome.iteration = 1;
  outcome.iteration_times = {Seconds(seconds)};
  outcome.machine = row.point.machine;
  outcome.words_sent = {.max = 100, .mean = 100};
  outcome.phases.push_back({"allreduce", Seconds(seconds), Words(100), 1});
  outcome.ranks_agree = true;
  row.outcome = outcome;
  return row;
}

Json small(const char* scheme, int ranks) {
  return {{"scheme", scheme}, {"ranks", ranks}, {"components", 10'000}, {"density", 0.01}};
}

Json with(Json point, const std::string& key, const Json& value) {
  plan::set_by_path(point, key, value);
  return point;
}

}  // namespace

TEST_CASE("a density is the shortest decimal that comes to its k") {
  const GradientSpace bert{.components = 133'547'324, .granule = 1};
  CHECK(report::given_density(1'335'473, bert) == 0.01);
  CHECK(report::given_density(1'335'473 * 2, bert) == 0.02);
  CHECK(report::given_density(1'327'104, {.components = 133'547'324, .granule = 16'384}) == 0.01);
  CHECK(report::given_density(551'391, {.components = 27'569'568, .granule = 1}) == 0.02);
  // Neighbours are told apart.
  const GradientSpace thousand{.components = 1000, .granule = 1};
  std::set<double> found;
  for (int k = 0; k <= 1000; ++k) found.insert(report::given_density(k, thousand));
  CHECK(found.size() == 1001);
  CHECK(report::given_density(0, thousand) == 0);
  CHECK(report::given_density(1000, thousand) == 1);
  CHECK(report::given_density(1, {.components = 3, .granule = 1}) ==
        test::approx(1.0 / 3).epsilon(0.1));
}

TEST_CASE("one curve runs over the ranks alone") {
  std::vector<results::Row> rows;
  for (const int p : {7, 1, 3}) rows.push_back(row_of(small("topka", p), p));
  report::Figures figures = report::figures_of(rows);
  REQUIRE(figures.curves.size() == 1);
  CHECK(figures.labels == std::vector<std::string>{"topka"});
  CHECK(figures.settings == std::vector<std::string>{""});
  REQUIRE(figures.curves[0].points.size() == 3);
  CHECK(figures.curves[0].points[0].ranks == 1);
  CHECK(figures.curves[0].points[2].ranks == 7);

  // What differs otherwise is never on the same curve.
  const std::vector<std::pair<std::string, Json>> others{
      {"density", 0.02},
      {"components", 20'000},
      {"seed", 2},
      {"iterations", 3},
      {"input.overlap", 0.5},
      {"machine.alpha_s", 1e-6},
      {"network", "counting"},
      {"platform", "fat_tree"},
      {"error_feedback", true},
      {"workload", {{"model", "vgg16"}, {"device", "p100"}}}};
  for (const auto& [key, value] : others) {
    CAPTURE(key);
    std::vector<results::Row> both(rows);
    Json other = with(small("topka", 3), key, value);
    if (key == "workload") other.erase("components");
    results::Row added = row_of(other, 3);
    if (!added.point.workload.model.empty()) added.outcome->training.emplace();
    both.push_back(added);
    figures = report::figures_of(both);
    CHECK(figures.curves.size() == 2);
    CHECK(figures.curves.back().points.size() == 1);
    const bool told = figures.settings.size() == 2 || figures.places.size() == 2 ||
                      figures.curves[0].density != figures.curves[1].density;
    CHECK(told);
  }
}

TEST_CASE("ten schemes are shown by default, with the fastest dense one in full precision") {
  std::vector<results::Row> rows;
  const std::vector<const char*> fast{"topka",   "topkdsa",   "gtopk",   "oktopk",
                                      "exdyna",  "cltk",      "dragonn", "sidco",
                                      "signsgd", "gaussiank", "dgc"};
  double seconds = 1;
  for (const char* scheme : fast) rows.push_back(row_of(small(scheme, 4), seconds += 0.1));
  rows.push_back(row_of(small("dense_ring", 4), 70));
  rows.push_back(row_of(small("dense_rabenseifner", 4), 60));
  const report::Figures figures = report::figures_of(rows);
  REQUIRE(figures.labels.size() == fast.size() + 2);
  std::set<std::string> shown;
  for (const std::size_t label : figures.leading) shown.insert(figures.labels[label]);
  CHECK(shown.size() == 10);
  // They have the first numbers, and so different colours.
  CHECK(figures.leading.front() == 0);
  CHECK(figures.leading.back() == 9);
  CHECK(figures.labels.front() == "topka");
  std::set<std::string> colours;
  for (const std::size_t label : figures.leading) colours.insert(colour_of(label));
  CHECK(colours.size() == 10);
  // Curves and cells kept their schemes.
  for (const Curve& curve : figures.curves) {
    const bool dense = figures.labels[curve.label].starts_with("dense_") ||
                       figures.labels[curve.label] == "signsgd";
    CHECK(dense == !curve.density);
  }
  CHECK(shown.contains("signsgd"));
  CHECK(shown.contains("dense_rabenseifner"));
  CHECK_FALSE(shown.contains("dense_ring"));
}

TEST_CASE("options that differ within a scheme are in its labels, others are not") {
  const std::vector<results::Row> rows{row_of(with(small("oktopk", 4), "options.bucket", 1), 1),
                                       row_of(with(small("oktopk", 4), "options.bucket", 4), 1),
                                       row_of(small("topka", 4), 1)};
  CHECK(report::figures_of(rows).labels ==
        std::vector<std::string>{"oktopk bucket=1", "oktopk bucket=4", "topka"});
}

TEST_CASE("granules and versions tell curves apart only where they must") {
  std::vector<results::Row> rows{row_of(with(small("topka", 4), "granule", 1), 1),
                                 row_of(with(small("topka", 8), "granule", 2), 2)};
  rows[1].version = "2";
  CHECK(report::figures_of(rows).curves.size() == 1);
  rows.push_back(row_of(with(small("topka", 8), "granule", 1), 3));
  CHECK(report::figures_of(rows).curves.size() == 2);
  rows.pop_back();
  rows.push_back(rows[0]);
  rows.back().version = "3";
  const Figures figures = figures_of(rows);
  CHECK(figures.settings.size() == 1);
  CHECK(figures.labels ==
        std::vector<std::string>{"topka version=1", "topka version=2", "topka version=3"});
  // The same result twice is once there, the later one.
  rows.back().version = rows[0].version;
  rows.back().outcome->iteration_times = {Seconds(5)};
  const Figures again = figures_of(rows);
  REQUIRE(again.curves.size() == 1);
  CHECK(again.curves[0].points[0].time_s == 5);
}

TEST_CASE("the crossover map knows the fastest, and dense schemes at every density") {
  std::vector<results::Row> rows{row_of(small("dense_ring", 4), 2), row_of(small("topka", 4), 1),
                                 row_of(with(small("topka", 4), "density", 0.1), 3)};
  const Figures figures = figures_of(rows);
  REQUIRE(figures.cells.size() == 2);
  CHECK(figures.cells[0].density == 0.01);
  CHECK(figures.labels[figures.cells[0].candidates[0].label] == "topka");
  CHECK(figures.cells[1].density == 0.1);
  CHECK(figures.labels[figures.cells[1].candidates[0].label] == "dense_ring");
  CHECK(figures.cells[1].candidates.size() == 2);
  rows.erase(rows.begin() + 1, rows.end());
  const Figures dense = figures_of(rows);
  REQUIRE(dense.cells.size() == 1);
  CHECK(!dense.cells[0].density);
}

TEST_CASE("only schemes of one collective compete for a cell") {
  const std::vector<results::Row> rows{
      row_of(small("dense_ring", 4), 2), row_of(small("topka", 4), 3),
      row_of(small("allgather_ring", 4), 1), row_of(small("allgather_bruck", 4), 0.5)};
  const Figures figures = figures_of(rows);
  REQUIRE(figures.cells.size() == 2);
  for (const Cell& cell : figures.cells) {
    REQUIRE(cell.candidates.size() == 2);
    const bool gathers = !cell.density;
    CHECK(figures.labels[cell.candidates[0].label] == (gathers ? "allgather_bruck" : "dense_ring"));
    CHECK(figures.labels[cell.candidates[1].label] == (gathers ? "allgather_ring" : "topka"));
  }
}

TEST_CASE("what failed or was skipped is no curve, and keeps its reason") {
  std::vector<results::Row> rows{row_of(small("topka", 4), 1)};
  rows[0].outcome.reset();
  rows[0].status = results::Status::failed;
  rows[0].reason = "out of memory";
  const Figures figures = figures_of(rows);
  CHECK(figures.curves.empty());
  REQUIRE(figures.troubles.size() == 1);
  CHECK(figures.troubles[0].reason == "out of memory");
  CHECK(to_json(figures).at("troubles").at(0).at("status") == "failed");
  for (const std::string& name : report::figure_names()) {
    CAPTURE(name);
    CHECK_THROWS_AS(static_cast<void>(report::figure_svg(name, figures, {})), InputError);
  }
  CHECK(report::figures_of({}).curves.empty());
}

TEST_CASE("what all results agree in is said of all of them") {
  std::vector<results::Row> rows{row_of(small("topka", 4), 1), row_of(small("dense_ring", 8), 1)};
  CHECK(report::figures_of(rows).common == "n = 10k, density 0.01, α 2 µs, β 0.4 ns/word");
  rows.push_back(row_of(with(small("topka", 4), "components", 20'000), 1));
  rows.push_back(row_of(with(small("topka", 4), "density", 0.02), 1));
  CHECK(report::figures_of(rows).common == "α 2 µs, β 0.4 ns/word");
  CHECK(report::figures_of({}).common.empty());
}

TEST_CASE("the times of a platform's routes are said as a range in one unit") {
  const auto common = [](double least, double most) {
    std::vector<results::Row> rows{row_of(with(small("topka", 4), "platform", "fat_tree"), 1),
                                   row_of(with(small("topka", 8), "platform", "fat_tree"), 1)};
    rows[0].outcome->machine.alpha = Seconds(least);
    rows[1].outcome->machine.alpha = Seconds(most);
    const std::string text = report::figures_of(rows).common;
    const std::size_t from = text.find("α ");
    return text.substr(from, text.find(", ", from) - from);
  };
  CHECK(common(1e-6, 1.25397e-6) == "α 1.0 to 1.25 µs");
  CHECK(common(9e-7, 2e-6) == "α 0.9 to 2.0 µs");
  CHECK(common(1.25397e-6, 1.25398e-6) == "α 1.254 µs");
  CHECK(common(2e-6, 2e-6) == "α 2 µs");
}

TEST_CASE("times that are 0 or not finite spoil no figure") {
  std::vector<results::Row> rows;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (const double time : {0.0, kNone, kInfinite}) {
    rows.push_back(row_of(small("topka", static_cast<int>(rows.size()) + 1), time));
  }
  rows.push_back(row_of(small("topka", 7), 1));
  rows.push_back(row_of(small("dense_ring", 1), 0));
  const Figures figures = figures_of(rows);
  for (const char* name : {"time", "volume", "breakdown", "crossover"}) {
    CAPTURE(name);
    const std::string svg = report::figure_svg(name, figures, {});
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
  }
}

TEST_CASE("a scheme that selects far from k wins no cell") {
  std::vector<results::Row> rows{row_of(small("topka", 8), 2), row_of(small("gaussiank", 8), 1)};
  rows[1].outcome->selection = results::SelectionSummary{.most = 1, .total = 8, .ranks = 8};
  const Figures figures = figures_of(rows);
  REQUIRE(figures.cells.size() == 1);
  REQUIRE(figures.cells[0].candidates.size() == 1);
  CHECK(figures.labels[figures.cells[0].candidates[0].label] == "topka");
}

TEST_CASE("names in a drawing are text, and a PNG of it is a PNG") {
  std::vector<results::Row> rows{row_of(small("topka", 4), 1)};
  report::Figures figures = report::figures_of(rows);
  figures.labels[0] = "<b>&\"α";
  const std::string svg = report::figure_svg("time", figures, {});
  CHECK(svg.find("&lt;b&gt;&amp;&quot;α") != std::string::npos);
  const std::string png = report::image_of(svg, "png");
  CHECK(png.starts_with("\x89PNG\r\n"));
  CHECK(png.size() > 1000);
  CHECK_THROWS_AS(static_cast<void>(report::image_of("<svg", "png")), SimulationError);
}
