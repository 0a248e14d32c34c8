#include "sim/app/studies/selection.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/traces.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::studies;
using test::contains;
using test::error_of;

constexpr int kSampled = 500;
constexpr int kRanks = 3;
constexpr int kIterations = 30;

/// Whole numbers up to 1024, which is reached: then 16 bits a value hold them exactly.
using Gradients = std::vector<std::vector<std::vector<float>>>;  // [iteration][rank][sampled]

Gradients whole_gradients() {
  std::mt19937_64 random(11);
  Gradients all(kIterations);
  for (auto& ranks : all) {
    for (int rank = 0; rank < kRanks; ++rank) {
      std::vector<float> gradient;
      for (int i = 0; i < kSampled; ++i) {
        // Some coordinates are larger than others.
        const auto width = static_cast<std::uint64_t>(i % 7 == 0 ? 1000 : 200);
        gradient.push_back(static_cast<float>(random() % (2 * width + 1)) -
                           static_cast<float>(width));
      }
      gradient[static_cast<std::size_t>(random() % kSampled)] = 1024;
      ranks.push_back(gradient);
    }
  }
  return all;
}

std::vector<std::vector<float>> whole_residuals() {
  std::vector<std::vector<float>> residuals(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int i = 0; i < kSampled; ++i) {
      residuals[static_cast<std::size_t>(rank)].push_back(
          static_cast<float>((i * 37 + rank) % 301) - 150);
    }
  }
  return residuals;
}

/// A trace with those gradients, of every second component; what was selected does not matter.
void write_gradients(const std::string& path, double density) {
  traces::TraceHeader header = test::small_header(kRanks, 2 * kSampled);
  header.density = density;
  traces::TraceWriter writer(path, header);
  traces::GradientSample sample{
      .coordinates = {}, .iterations = {}, .ranks = kRanks, .residuals = whole_residuals()};
  for (std::uint32_t i = 0; i < kSampled; ++i) sample.coordinates.push_back(2 * i);
  writer.sample_gradients(sample);
  const Gradients gradients = whole_gradients();
  for (int i = 0; i < kIterations; ++i) {
    writer.append(test::small_window(header, 1 + i));
    writer.append_gradients(1 + i, gradients[static_cast<std::size_t>(i)]);
  }
  writer.finish();
}

std::vector<double> magnitudes_of(const std::vector<double>& values) {
  std::vector<double> magnitudes;
  for (const double value : values) magnitudes.push_back(std::abs(value));
  std::ranges::sort(magnitudes, std::greater<>());
  return magnitudes;
}

/// threshold_reuse, serially: counts over k by iteration and rank.
std::vector<std::vector<double>> serial_threshold_reuse(std::size_t k, int period,
                                                        traces::ResidualRule rule) {
  const Gradients gradients = whole_gradients();
  std::vector<std::vector<double>> residual(kRanks);
  std::vector<std::vector<double>> received(kRanks);  // residual and gradients, added up
  std::vector<std::vector<double>> sent(kRanks, std::vector<double>(kSampled, 0.0));
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const std::vector<float> at_first = whole_residuals()[rank];
    residual[rank].assign(at_first.begin(), at_first.end());
    received[rank] = residual[rank];
  }
  std::vector<double> threshold(kRanks, 0.0);
  std::vector<std::vector<double>> counts;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    counts.emplace_back();
    std::vector<double> total(kSampled, 0.0);
    std::vector<bool> in_union(kSampled);
    std::vector<std::vector<bool>> selected(kRanks, std::vector<bool>(kSampled));
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      for (std::size_t i = 0; i < kSampled; ++i) {
        const double gradient = gradients[static_cast<std::size_t>(iteration)][rank][i];
        residual[rank][i] += gradient;
        received[rank][i] += gradient;
      }
      if (iteration % period == 0) threshold[rank] = magnitudes_of(residual[rank])[k - 1];
      double count = 0;
      for (std::size_t i = 0; i < kSampled; ++i) {
        if (std::abs(residual[rank][i]) < threshold[rank]) continue;
        selected[rank][i] = true;
        in_union[i] = true;
        total[i] += residual[rank][i];
        ++count;
      }
      counts.back().push_back(count / static_cast<double>(k));
    }
    // The k largest of the union, of equal ones those that come first.
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < kSampled; ++i) {
      if (in_union[i]) order.push_back(i);
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return std::abs(total[a]) > std::abs(total[b]);
    });
    if (rule == traces::ResidualRule::oktopk) order.resize(std::min(order.size(), k));
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      for (const std::size_t i : order) {
        if (!selected[rank][i]) continue;
        sent[rank][i] += residual[rank][i];
        residual[rank][i] = 0;
      }
    }
  }
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (std::size_t i = 0; i < kSampled; ++i) {
      REQUIRE(sent[rank][i] + residual[rank][i] == received[rank][i]);
    }
  }
  return counts;
}

SelectionSeries on_trace(const std::string& path, const std::string& choice,
                         traces::ResidualRule rule) {
  return selection_over(traces::TraceReader(path), SparsifierChoice::parse(choice), rule);
}

}  // namespace

TEST_CASE("a sparsifier is read with its options") {
  CHECK(SparsifierChoice::parse("exact_topk").name == "exact_topk");
  CHECK(SparsifierChoice::parse("exact_topk").options.empty());
  const SparsifierChoice choice =
      SparsifierChoice::parse("threshold_reuse:tau_prime=128,nudge=true,nudge_low=0.8");
  CHECK(choice.name == "threshold_reuse");
  CHECK(choice.options.size() == 3);
  CHECK(choice.options.at("tau_prime") == algorithms::OptionValue(std::int64_t{128}));
  CHECK(choice.options.at("nudge") == algorithms::OptionValue(true));
  CHECK(choice.options.at("nudge_low") == algorithms::OptionValue(0.8));
  CHECK(choice.text() == "threshold_reuse:nudge=true,nudge_low=0.8,tau_prime=128");
  CHECK_THROWS_AS(static_cast<void>(SparsifierChoice::parse("exdyna:settled=true")), InputError);
  CHECK(SparsifierChoice::parse(choice.text()).options == choice.options);
}

TEST_CASE("a sparsifier that does not exist, or not so, is refused") {
  const auto refusal = [](const std::string& text) {
    return error_of<InputError>([&] { static_cast<void>(SparsifierChoice::parse(text)); });
  };
  CHECK(contains(refusal("exact_topc"), "did you mean 'exact_topk'?"));
  CHECK(contains(refusal(""), "''"));
  CHECK(contains(refusal("threshold_reuse:tau=3"), "unknown option 'tau'"));
  CHECK(contains(refusal("threshold_reuse:tau_prime=0"), "option 'tau_prime' must be at least 1"));
  CHECK(contains(refusal("threshold_reuse:tau_prime=many"), "'many' is no number"));
  CHECK(contains(refusal("threshold_reuse:tau_prime=3x"), "'3x' is no number"));
  CHECK(contains(refusal("threshold_reuse:tau_prime="), "'' is no number"));
  CHECK(contains(refusal("threshold_reuse:nudge_low=1e999"), "'1e999' is no number"));
  CHECK(contains(refusal("threshold_reuse:nudge"), "an option is NAME=VALUE"));
  CHECK(contains(refusal("threshold_reuse:"), "an option is NAME=VALUE"));
}

TEST_CASE("deviations are means over the iterations that are asked for") {
  const SelectionSeries series{
      .sparsifier = "x", .iterations = {1, 2, 3}, .selected = {{5.0, 5.0}, {1.5, 0.5}, {0.5, 0.7}}};
  const SelectionDeviation late = deviation_of(series, 2);
  CHECK(late.mean == test::approx(0.8));       // of 1 and 0.6
  CHECK(late.of_means == test::approx(0.2));   // of 0 and 0.4
  CHECK(late.of_ranks == test::approx(0.45));  // of 0.5, 0.5, 0.5 and 0.3
  CHECK(late.most == test::approx(0.4));
  CHECK(studies::deviation_of(series, 0).most == test::approx(4));
  CHECK(studies::deviation_of(series, 4).mean == 0);
}

TEST_CASE("an exact top-k selects k of a trace's gradients in every iteration") {
  const test::TemporaryFolder folder;
  write_gradients(folder.path("t.h5"), 0.02);
  for (const traces::ResidualRule rule :
       {traces::ResidualRule::all, traces::ResidualRule::oktopk}) {
    const SelectionSeries series = on_trace(folder.path("t.h5"), "exact_topk", rule);
    REQUIRE(series.iterations.size() == kIterations);
    CHECK(series.iterations.front() == 1);
    CHECK(series.iterations.back() == kIterations);
    CHECK(series.selected.size() == kIterations);
    CHECK(series.selected.front().size() == kRanks);
    const SelectionDeviation all = deviation_of(series, 0);
    CHECK(all.mean == 1);
    CHECK(all.of_ranks == 0);
    CHECK(all.most == 0);
  }
}

TEST_CASE("a reused threshold selects as many of a trace's gradients as a serial program's") {
  const test::TemporaryFolder folder;
  write_gradients(folder.path("t.h5"), 0.03);  // k = 15
  for (const traces::ResidualRule rule :
       {traces::ResidualRule::all, traces::ResidualRule::oktopk}) {
    for (const int period : {1, 4, 32}) {
      CAPTURE(period);
      CAPTURE((rule == traces::ResidualRule::all));
      const SelectionSeries series = on_trace(
          folder.path("t.h5"), "threshold_reuse:tau_prime=" + std::to_string(period), rule);
      CHECK(series.selected == serial_threshold_reuse(15, period, rule));
    }
  }
}

TEST_CASE("a trace without gradients is refused") {
  const test::TemporaryFolder folder;
  test::write_small_trace(folder.path("t.h5"));
  CHECK(contains(error_of<InputError>([&] {
                   static_cast<void>(
                       on_trace(folder.path("t.h5"), "exact_topk", traces::ResidualRule::all));
                 }),
                 "holds no gradients"));
}

TEST_CASE("on a profile the same seed selects the same, and another one something else") {
  const traces::Profile profile = test::small_profile();
  const SparsifierChoice choice = SparsifierChoice::parse("threshold_reuse:tau_prime=8");
  const SelectionSeries one = selection_over(profile, choice, 3, 20, 5);
  CHECK(one.selected.size() == 20);
  CHECK(one.selected.front().size() == 3);
  CHECK(one.iterations.front() == 1);
  CHECK(one.iterations.back() == 20);
  CHECK(studies::selection_over(profile, choice, 3, 20, 5).selected == one.selected);
  CHECK(studies::selection_over(profile, choice, 3, 20, 6).selected != one.selected);
}

TEST_CASE("on a profile an exact top-k selects k, and a reused threshold does when it is new") {
  const traces::Profile profile = test::small_profile();
  const SelectionSeries exact =
      selection_over(profile, SparsifierChoice::parse("exact_topk"), 4, 40, 1);
  CHECK(studies::deviation_of(exact, 0).of_ranks < 2.0 / 800);
  const SelectionSeries reused =
      selection_over(profile, SparsifierChoice::parse("threshold_reuse:tau_prime=8"), 4, 40, 1);
  for (std::size_t i = 0; i < 40; i += 8) {
    for (const double share : reused.selected[i]) CHECK(std::abs(share - 1) <= 2.0 / 800);
  }
  CHECK(studies::deviation_of(reused, 0).of_ranks > 2.0 / 800);  // it drifts in between
  CHECK(studies::deviation_of(reused, 0).most < 1);
}
