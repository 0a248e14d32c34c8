#include "tools/recorder/trainer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "tests/recorder/support.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/conformance.hpp"

namespace thinwire::recorder {

namespace {

using plan::Point;
using Numbers = std::vector<float>;

constexpr std::int64_t kParameters = 200;
constexpr std::int64_t kTopk = 10;

Numbers numbers(std::span<const float> values) { return {values.begin(), values.end()}; }

/// A bowl whose gradients are multiples of 1/1024, so that sums of them are exact in any order.
class Steps final : public Model {
 public:
  explicit Steps(std::int64_t size) : bowl_(size) {}

  [[nodiscard]] std::string description() const override { return "steps"; }
  [[nodiscard]] const std::vector<traces::Layer>& layers() const override { return bowl_.layers(); }
  [[nodiscard]] std::span<float> parameters() override { return bowl_.parameters(); }
  double gradient(Rank rank, int iteration, std::span<float> gradient) override {
    const double loss = bowl_.gradient(rank, iteration, gradient);
    for (float& value : gradient) value = std::round(value * 1024) / 1024;
    return loss;
  }
  double joined_gradient(int ranks, int iteration, std::span<float> gradient) override {
    return bowl_.joined_gradient(ranks, iteration, gradient);
  }
  [[nodiscard]] Evaluation evaluate() override { return bowl_.evaluate(); }

 private:
  test::Bowl bowl_;
};

/// A point for a model of `components` parameters, as one tensor: so the serial programs take them.
Point point_of(const std::string& scheme, int ranks, Json more = Json::object(),
               std::int64_t components = kParameters, std::int64_t k = kTopk) {
  more["scheme"] = scheme;
  more["ranks"] = ranks;
  more["components"] = components;
  more["granule"] = 1;
  more["k"] = k;
  if (!more.contains("error_feedback")) more["error_feedback"] = true;
  return plan::point_from(more, "test");
}

/// Options under which all parts of a scheme run within a few iterations.
Json short_options(const algorithms::SchemeInfo& info) {
  Json options = Json::object();
  for (const auto& [name, value] : test::short_periods_of(info)) {
    std::visit([&, key = name](auto given) { options[key] = given; }, value);
  }
  return options;
}

/// The same training as a serial program, with maps for residuals and momentum.
class Serial {
 public:
  Serial(const Point& point, float rate, float momentum)
      : rate_(rate),
        momentum_(momentum),
        info_(*point.scheme),
        shared_(4096),
        setup_{.ranks = point.ranks,
               .space = point.space,
               .k = point.k,
               .options = algorithms::Options(info_.options, point.options),
               .shared = &shared_,
               .alpha = point.machine.alpha,
               .beta_per_word = point.machine.beta_per_word,
               .seed = point.seed,
               .tensors = point.tensors},
        scheme_(test::serial_scheme(info_, setup_)),
        residuals_(static_cast<std::size_t>(point.ranks)),
        velocities_(residuals_.size(), Numbers(kParameters)) {}

  /// `of_scheme` is the scheme's own count, where iterations of a warm-up come first.
  void step(Model& model, int iteration, int of_scheme) {
    std::vector<SparseVector> accumulated;
    for (std::size_t rank = 0; rank < residuals_.size(); ++rank) {
      Numbers gradient(kParameters);
      model.gradient(Rank(static_cast<int>(rank)), iteration, gradient);
      std::map<std::uint32_t, float>& residual = residuals_[rank];
      for (std::uint32_t i = 0; i < kParameters; ++i) {
        float& velocity = velocities_[rank][i];
        velocity = momentum_ * velocity + rate_ * gradient[i];
        if (velocity != 0) residual[i] += velocity;
      }
      std::vector<Entry> entries;
      for (const auto& [coordinate, value] : residual) entries.push_back({coordinate, value});
      accumulated.push_back(SparseVector::checked(std::move(entries)));
    }
    const test::Expected expected = scheme_->iterate(accumulated, of_scheme);
    for (std::size_t rank = 0; rank < residuals_.size(); ++rank) {
      for (const Entry& entry : expected.contributed[rank]) {
        if (info_.approximate) {
          residuals_[rank][entry.coordinate] -= entry.value;
        } else {
          residuals_[rank].erase(entry.coordinate);
        }
        velocities_[rank][entry.coordinate] = 0;
      }
    }
    const std::span<float> parameters = model.parameters();
    for (const Entry& entry : expected.sum) {
      parameters[entry.coordinate] -= entry.value / static_cast<float>(residuals_.size());
    }
  }

  [[nodiscard]] double global_error() const {
    double sum = 0;
    for (const auto& residual : residuals_) {
      double squares = 0;
      for (const auto& [coordinate, value] : residual) squares += double{value} * value;
      sum += std::sqrt(squares);
    }
    return sum / static_cast<double>(residuals_.size());
  }

 private:
  float rate_;
  float momentum_;
  algorithms::SchemeInfo info_;
  SharedWork shared_;
  algorithms::SchemeSetup setup_;
  std::unique_ptr<test::SerialScheme> scheme_;
  std::vector<std::map<std::uint32_t, float>> residuals_;
  std::vector<Numbers> velocities_;
};

void check_against_serial(const std::string& scheme, int ranks, float momentum) {
  CAPTURE(scheme);
  CAPTURE(ranks);
  CAPTURE(momentum);
  Json more = Json::object();
  const algorithms::SchemeInfo& info = algorithms::find_scheme(scheme);
  more["options"] = short_options(info);
  const Point point = point_of(scheme, ranks, more);
  Steps model(kParameters);
  Steps serial_model(kParameters);
  Trainer trainer(model, {.points = {point}, .learning_rate = 0.125F, .momentum = momentum});
  Serial serial(point, 0.125F, momentum);
  // Halved in each iteration, a velocity soon has more digits than a sum keeps.
  const int iterations = momentum > 0 ? 6 : 12;
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    CAPTURE(iteration);
    const TrainerStep step = trainer.step(iteration);
    serial.step(serial_model, iteration, iteration);
    REQUIRE(numbers(model.parameters()) == numbers(serial_model.parameters()));
    REQUIRE(step.global_error.has_value());
    REQUIRE(*step.global_error == test::approx(serial.global_error()).epsilon(1e-6));
  }
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double{a[i]} - b[i]));
  return most;
}

/// Plain SGD of one process on the joined batch, beside the trainer. One step from the same
/// parameters differs by rounding alone. On their own the two drift apart: a network amplifies
/// rounding from step to step.
void check_joined(Model& model, Model& single, const Point& point, float rate, double drift) {
  constexpr double kRounding = 1e-6;
  Trainer trainer(model, {.points = {point}, .learning_rate = rate});
  const Numbers start = numbers(single.parameters());
  REQUIRE(numbers(model.parameters()) == start);
  Numbers own = start;  // of a single process that never sees the trainer's parameters
  Numbers gradient(start.size());
  for (int iteration = 1; iteration <= 100; ++iteration) {
    CAPTURE(iteration);
    std::ranges::copy(model.parameters(), single.parameters().begin());
    const TrainerStep step = trainer.step(iteration, false);
    const double loss = single.joined_gradient(point.ranks, iteration, gradient);
    REQUIRE(step.loss == test::approx(loss).epsilon(kRounding));
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      single.parameters()[i] -= rate * gradient[i];
    }
    REQUIRE(largest_difference(model.parameters(), single.parameters()) < kRounding);

    std::ranges::copy(own, single.parameters().begin());
    single.joined_gradient(point.ranks, iteration, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) own[i] -= rate * gradient[i];
    REQUIRE(largest_difference(model.parameters(), own) < drift);
  }
  CHECK(largest_difference(start, own) > 20 * drift);
}

Json machine(double alpha, double beta) {
  return {{"machine", {{"alpha_s", alpha}, {"beta_s_per_word", beta}}}};
}

}  // namespace

TEST_CASE("Dense training through any dense allreduce is plain SGD on the joined batch") {
  for (const char* scheme : {"dense_ring", "dense_rabenseifner", "nccl_tree"}) {
    for (const int ranks : {1, 3, 7, 8}) {
      CAPTURE(scheme);
      CAPTURE(ranks);
      test::Bowl model(kParameters);
      test::Bowl single(kParameters);
      check_joined(model, single, point_of(scheme, ranks), 0.1F, 1e-5);
    }
  }
}

TEST_CASE("The models of torch, too, are trained as by one process on the joined batch") {
  constexpr int kWorkers = 4;
  for (const std::string& name : model_names()) {
    CAPTURE(name);
    const auto model = make_model(name, kWorkers, 4, 1);
    const auto single = make_model(name, kWorkers, 4, 1);
    const auto size = static_cast<std::int64_t>(model->parameters().size());
    check_joined(*model, *single, point_of("dense_ring", kWorkers, Json::object(), size, 100),
                 0.05F, 2e-3);
  }
}

TEST_CASE("Every sparse scheme with error feedback trains as its serial program does") {
  int schemes = 0;
  for (const algorithms::SchemeInfo& info :
       algorithms::schemes_of(algorithms::Collective::allreduce)) {
    // A serial program knows no messages, and they decide what comes back to a rank.
    if (info.dense || info.returns_dropped) continue;
    ++schemes;
    for (const int ranks : {1, 3, 7}) check_against_serial(info.name, ranks, 0);
  }
  CHECK(schemes >= 20);
}

TEST_CASE("So do schemes with momentum correction, and random_k on other collectives") {
  for (const int ranks : {1, 3, 7}) {
    for (const char* scheme : {"topka", "oktopk", "dgc"}) check_against_serial(scheme, ranks, 0.5F);
    check_against_serial("topka+random_k", ranks, 0);
  }
}

TEST_CASE("Nothing selected, or everything, is no special case") {
  for (const std::int64_t k : {std::int64_t{0}, kParameters}) {
    for (const char* scheme : {"topka", "oktopk", "gtopk", "exdyna", "random_k"}) {
      CAPTURE(k);
      CAPTURE(scheme);
      test::Bowl model(kParameters);
      Trainer trainer(model, {.points = {point_of(scheme, 3, Json::object(), kParameters, k)},
                              .learning_rate = 0.1F});
      for (int iteration = 1; iteration <= 20; ++iteration) trainer.step(iteration);
      if (k == 0) CHECK(model.evaluate().loss == test::approx(1));
      if (k > 0) CHECK(model.evaluate().loss < 0.1);
    }
  }
}

TEST_CASE("Dense momentum is the usual one, and the learning rate decays in steps") {
  constexpr int kWorkers = 3;
  test::Bowl model(kParameters);
  test::Bowl single(kParameters);
  Trainer trainer(model, {.points = {point_of("dense_ring", kWorkers)},
                          .learning_rate = 0.05F,
                          .decay = 0.5F,
                          .decay_every = 10,
                          .momentum = 0.9F});
  std::vector<double> velocity(kParameters);
  Numbers gradient(kParameters);
  double rate = 0.05;
  for (int iteration = 1; iteration <= 30; ++iteration) {
    if (iteration == 11 || iteration == 21) rate /= 2;
    CHECK(trainer.step(iteration).learning_rate == test::approx(rate));
    single.joined_gradient(kWorkers, iteration, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      velocity[i] = 0.9 * velocity[i] + rate * gradient[i];
      single.parameters()[i] -= static_cast<float>(velocity[i]);
    }
    REQUIRE(largest_difference(model.parameters(), single.parameters()) < 1e-5);
  }
}

TEST_CASE("Warm-up is dense, and the scheme's first iteration comes after it") {
  constexpr int kWarmUp = 3;
  // Exact thresholds in every second iteration: it shows from where the scheme counts.
  const Point point = point_of("oktopk", 3, {{"options", {{"tau_prime", 2}}}});
  Steps model(kParameters);
  Steps reference(kParameters);
  Trainer trainer(model, {.points = {point}, .learning_rate = 0.125F, .warm_up = kWarmUp});
  Trainer dense(reference, {.points = {point_of("dense_ring", 3)}, .learning_rate = 0.125F});
  Serial serial(point, 0.125F, 0);
  for (int iteration = 1; iteration <= kWarmUp + 6; ++iteration) {
    CAPTURE(iteration);
    const TrainerStep step = trainer.step(iteration);
    if (iteration <= kWarmUp) {
      CHECK(step.result_components == kParameters);
      dense.step(iteration);
    } else {
      CHECK(step.result_components < kParameters);
      serial.step(reference, iteration, iteration - kWarmUp);
    }
    REQUIRE(numbers(model.parameters()) == numbers(reference.parameters()));
  }
}

TEST_CASE("xi is the distance from the top-k of the mean, in mean gradients") {
  constexpr int kWorkers = 3;
  const Point point = point_of("gtopk", kWorkers);
  Steps model(kParameters);
  Trainer trainer(model, {.points = {point}, .learning_rate = 0.125F});
  std::vector<Numbers> residuals(kWorkers, Numbers(kParameters));
  bool above_zero = false;
  for (int iteration = 1; iteration <= 10; ++iteration) {
    const Numbers before = numbers(model.parameters());
    const TrainerStep step = trainer.step(iteration);
    std::vector<double> gradient(kParameters);
    std::vector<double> sum(kParameters);
    for (int rank = 0; rank < kWorkers; ++rank) {
      Numbers& residual = residuals[static_cast<std::size_t>(rank)];
      const std::span<const float> own = trainer.gradient(Rank(rank));
      for (std::size_t i = 0; i < sum.size(); ++i) {
        residual[i] += own[i];
        gradient[i] += own[i];
        sum[i] += residual[i];
      }
      const auto& contributed = std::get<SparseVector>(
          trainer.ranks()[static_cast<std::size_t>(rank)].reduced.contributed);
      for (const Entry& entry : contributed.entries()) residual[entry.coordinate] = 0;
    }
    std::vector<std::size_t> order(kParameters);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t i) { return std::abs(sum[i]); });
    const std::set<std::size_t> top(order.begin(), order.begin() + kTopk);
    double apart = 0;
    double length = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double update = double{before[i]} - model.parameters()[i];
      const double ideal = top.contains(i) ? sum[i] / kWorkers : 0;
      apart += (ideal - update) * (ideal - update);
      length += gradient[i] * gradient[i] / (kWorkers * kWorkers);
    }
    REQUIRE(step.xi.has_value());
    CHECK(*step.xi == test::approx(std::sqrt(apart / length)).epsilon(1e-4));
    above_zero = above_zero || *step.xi > 0.1;
  }
  CHECK(above_zero);
  Trainer dense(model, {.points = {point_of("dense_ring", kWorkers)}});
  CHECK_FALSE(dense.step(1).xi.has_value());
}

TEST_CASE("Places time the same training, each by its own network") {
  constexpr int kWorkers = 8;
  const Point fast = point_of("dense_ring", kWorkers, machine(1e-6, 1e-9));
  const Point slow = point_of("dense_ring", kWorkers, machine(1e-4, 1e-6));
  test::Bowl model(kParameters);
  test::Bowl alone(kParameters);
  Trainer both(model,
               {.points = {fast, slow}, .learning_rate = 0.1F, .work = {.compute = Seconds(0.5)}});
  Trainer one(alone, {.points = {slow}, .learning_rate = 0.1F});
  for (int iteration = 1; iteration <= 5; ++iteration) {
    const TrainerStep step = both.step(iteration);
    REQUIRE(step.parts.size() == 2);
    // 2 (P - 1) messages of n / P words.
    CHECK(step.parts[0].communication.value() == test::approx(14 * (1e-6 + 25e-9)));
    CHECK(step.parts[1].communication.value() == test::approx(14 * (1e-4 + 25e-6)));
    for (const workloads::IterationParts& parts : step.parts) {
      CHECK(parts.computation == Seconds(0.5));
      CHECK(parts.sparsification == Seconds(0));
    }
    CHECK(one.step(iteration).parts[0].communication == step.parts[1].communication);
    CHECK(numbers(model.parameters()) == numbers(alone.parameters()));
  }
}

TEST_CASE("A training that leaves the finite numbers says so") {
  test::Bowl model(kParameters);
  Trainer trainer(model, {.points = {point_of("topka", 3)}, .learning_rate = 1e30F});
  CHECK_THROWS_WITH_AS(
      [&] {
        for (int iteration = 1; iteration <= 10; ++iteration) trainer.step(iteration);
      }(),
      doctest::Contains("a lower learning rate may help"), SimulationError);
}

TEST_CASE("What cannot be trained is refused") {
  test::Bowl model(kParameters);
  const auto refused = [&](const Point& point, const char* why) {
    CHECK_THROWS_WITH_AS(Trainer(model, {.points = {point}}), doctest::Contains(why), InputError);
  };
  refused(point_of("topka", 4, Json::object(), 300), "has 200 parameters");
  refused(point_of("topka", 4, {{"network", "counting"}}), "has no clock");
  refused(point_of("allgather_ring", 4, {{"error_feedback", false}}), "needs an allreduce");
}

}  // namespace thinwire::recorder
