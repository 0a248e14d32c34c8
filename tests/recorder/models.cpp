// The real models on their real data, for a few iterations.
#include "tools/recorder/models.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "sim/core/base/errors.hpp"
#include "tests/recorder/support.hpp"
#include "tests/support/approx.hpp"
#include "tools/recorder/record.hpp"

namespace thinwire::recorder {

namespace {

constexpr int kRanks = 3;
constexpr std::int64_t kBatch = 2;

RecordSettings few_iterations(traces::ResidualRule rule) {
  RecordSettings settings;
  settings.ranks = kRanks;
  settings.rule = rule;
  settings.learning_rate = 0.3F;
  settings.iterations = 6;
  settings.warm_up = 1;
  settings.recorded = parse_iterations("3-6");
  settings.coordinates = 8192;
  settings.sample_from = 3;
  settings.sample_iterations = 4;
  return settings;
}

std::string recorded(const std::string& which, traces::ResidualRule rule, const std::string& name) {
  const std::unique_ptr<Model> model = make_model(which, kRanks, kBatch, 1);
  const std::string path = test::scratch_file(name);
  record(*model, few_iterations(rule), path, [](const std::string&) {});
  return path;
}

void check_model(const std::string& which, const std::string& layer) {
  const std::unique_ptr<Model> model = make_model(which, kRanks, kBatch, 1);
  const std::span<float> parameters = model->parameters();
  std::int64_t end = 0;
  std::set<std::string> names;
  for (const traces::Layer& each : model->layers()) {
    CHECK(each.first == end);
    end += each.size;
    names.insert(each.name);
  }
  CHECK(end == static_cast<std::int64_t>(parameters.size()));
  CHECK(names.size() == model->layers().size());
  CHECK(names.count(layer) == 1);

  // The parameters are those that the gradient is of: a small step changes the loss as it says.
  std::vector<float> gradient(parameters.size());
  std::vector<float> other(parameters.size());
  const double loss = model->gradient(Rank(1), 5, gradient);
  CHECK(model->gradient(Rank(1), 5, other) == loss);
  CHECK(other == gradient);
  CHECK(model->gradient(Rank(2), 5, other) != loss);
  CHECK(model->gradient(Rank(1), 6, other) != loss);
  double square = 0;
  for (const float g : gradient) square += static_cast<double>(g) * g;
  const double fall = 0.01;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] -= static_cast<float>(fall / square) * gradient[i];
  }
  CHECK(loss - model->gradient(Rank(1), 5, other) == test::approx(fall).epsilon(0.2));
}

void check_recording(const std::string& which, traces::ResidualRule rule) {
  const std::string path = recorded(which, rule, "once.h5");
  const std::string again = recorded(which, rule, "again.h5");
  const traces::TraceReader reader(path);
  test::check_replay(reader);
  const traces::TraceReader second(again);
  for (std::size_t at = 0; at < reader.iterations().size(); ++at) {
    for (int rank = 0; rank < kRanks; ++rank) {
      const SparseVector a = reader.selected(at, Rank(rank));
      const SparseVector b = second.selected(at, Rank(rank));
      CHECK(std::ranges::equal(a.entries(), b.entries()));
    }
  }
  std::filesystem::remove(path);
  std::filesystem::remove(again);
}

}  // namespace

TEST_CASE("The convolutional network has layers by name and the gradient of its loss") {
  check_model("cnn", "conv1.weight");
}

TEST_CASE("The language model has layers by name and the gradient of its loss") {
  check_model("lstm", "lstm.weight_ih_l0");
}

TEST_CASE("The transformer has layers by name and the gradient of its loss") {
  check_model("transformer", "block2.qkv.weight");
}

TEST_CASE("The convolutional network's trace replays, and is the same for the same seed") {
  check_recording("cnn", traces::ResidualRule::all);
  check_recording("cnn", traces::ResidualRule::oktopk);
}

TEST_CASE("The language model's trace replays, and is the same for the same seed") {
  check_recording("lstm", traces::ResidualRule::all);
  check_recording("lstm", traces::ResidualRule::oktopk);
}

TEST_CASE("The transformer's trace replays, and is the same for the same seed") {
  check_recording("transformer", traces::ResidualRule::all);
}

TEST_CASE("Each worker needs data of its own") {
  CHECK_THROWS_AS(make_model("cnn", kMaxWorkers + 1, kBatch, 1), InputError);
  CHECK_THROWS_AS(make_model("lstm", 0, kBatch, 1), InputError);
}

}  // namespace thinwire::recorder
