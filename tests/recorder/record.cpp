#include "tools/recorder/record.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "sim/core/base/errors.hpp"
#include "tests/recorder/support.hpp"

namespace thinwire::recorder {

namespace {

void silent(const std::string&) {}

RecordSettings small_settings(traces::ResidualRule rule = traces::ResidualRule::all) {
  RecordSettings settings;
  settings.ranks = 4;
  settings.density = 0.05;
  settings.rule = rule;
  settings.iterations = 20;
  settings.warm_up = 2;
  settings.recorded = parse_iterations("5-12");
  settings.coordinates = 200;
  settings.sample_ranks = 4;
  settings.sample_from = 5;
  settings.sample_iterations = 8;
  return settings;
}

}  // namespace

TEST_CASE("A list of iterations has single ones, ranges and steps") {
  CHECK(parse_iterations("7") == std::vector<int>{7});
  CHECK(parse_iterations("1,3-5,8-16/4,17") == std::vector<int>{1, 3, 4, 5, 8, 12, 16, 17});
  for (const char* wrong : {"", "0", "a", "1,", "5-3", "3,3", "3-5,4", "1-2/0", "4/2", "1;2"}) {
    CAPTURE(std::string(wrong));
    CHECK_THROWS_AS(parse_iterations(wrong), InputError);
  }
}

TEST_CASE("Sampled coordinates are spread evenly") {
  CHECK(spread_coordinates(100, 4) == std::vector<std::uint32_t>{12, 37, 62, 87});
  CHECK(spread_coordinates(3, 3) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(spread_coordinates(3, 0).empty());
}

TEST_CASE("A recorded trace leads from its gradients to its selections") {
  for (const traces::ResidualRule rule :
       {traces::ResidualRule::all, traces::ResidualRule::oktopk}) {
    test::Bowl model(200);
    const std::string path = test::scratch_file("replay.h5");
    const RecordSummary summary = record(model, small_settings(rule), path, silent);
    CHECK(summary.last_loss < summary.first_loss);
    REQUIRE(summary.unions.size() == 2);
    CHECK(summary.unions[1].ranks == 4);
    CHECK(summary.unions[1].density >= summary.unions[0].density);

    const traces::TraceReader reader(path);
    CHECK(reader.header().components == 200);
    CHECK(reader.header().k() == 10);
    CHECK(reader.header().residual_rule == rule);
    CHECK(reader.header().layers == model.layers());
    CHECK(reader.iterations() == parse_iterations("5-12"));
    test::check_replay(reader);
    std::filesystem::remove(path);
  }
}

TEST_CASE("Selections and gradients may be of different iterations") {
  test::Bowl model(200);
  RecordSettings settings = small_settings();
  settings.recorded = {9, 20};
  settings.sample_from = 0;
  settings.sample_iterations = 3;
  settings.coordinates = 20;
  settings.sample_ranks = 1;
  const std::string path = test::scratch_file("apart.h5");
  record(model, settings, path, silent);
  const traces::TraceReader reader(path);
  CHECK(reader.iterations() == std::vector<int>{9, 20});
  REQUIRE(reader.gradients().has_value());
  CHECK(reader.gradients()->iterations == std::vector<int>{3, 4, 5});
  REQUIRE(reader.gradients()->residuals.size() == 1);
  CHECK(reader.gradients()->residuals.front() == std::vector<float>(20));
  std::filesystem::remove(path);
}

TEST_CASE("What cannot be recorded is refused before anything is trained") {
  const std::vector<std::function<void(RecordSettings&)>> wrongs{
      [](RecordSettings& s) { s.ranks = 0; },
      [](RecordSettings& s) { s.density = 0; },
      [](RecordSettings& s) { s.learning_rate = 0; },
      [](RecordSettings& s) { s.warm_up = 20; },
      [](RecordSettings& s) { s.recorded.clear(); },
      [](RecordSettings& s) {
        s.recorded = {2, 3};
      },
      [](RecordSettings& s) {
        s.recorded = {20, 21};
      },
      [](RecordSettings& s) { s.coordinates = 201; },
      [](RecordSettings& s) { s.sample_ranks = 5; },
      [](RecordSettings& s) { s.sample_iterations = 0; },
      [](RecordSettings& s) { s.sample_from = 1; },
      [](RecordSettings& s) { s.sample_from = 14; },
  };
  const std::string path = test::scratch_file("refused.h5");
  for (std::size_t i = 0; i < wrongs.size(); ++i) {
    CAPTURE(i);
    test::Bowl model(200);
    RecordSettings settings = small_settings();
    wrongs[i](settings);
    CHECK_THROWS_AS(record(model, settings, path, silent), InputError);
    CHECK(model.parameters()[0] == 0);
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("A training that leaves the finite numbers ends with an error") {
  test::Bowl model(200);
  RecordSettings settings = small_settings();
  settings.learning_rate = 1e38F;
  const std::string path = test::scratch_file("infinite.h5");
  CHECK_THROWS_AS(record(model, settings, path, silent), SimulationError);
  std::filesystem::remove(path);
}

}  // namespace thinwire::recorder
