#include "traces/fit.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/traces.hpp"

namespace thinwire::traces {

using test::contains;
using test::error_of;
using test::small_profile;
using test::TemporaryFolder;
using test::write_trace_of;

namespace {

ProfileFit fit_of(const std::string& path) {
  return fit_profile(TraceReader(path), {.name = "fit"});
}

/// The share of the components that a rank selects, counted over a whole trace.
double density_of(const std::string& path) {
  TraceReader trace(path);
  std::size_t selected = 0;
  for (std::size_t at = 0; at < trace.iterations().size(); ++at) {
    for (const SparseVector& of_rank : trace.window(at).selected) selected += of_rank.size();
  }
  const double places = static_cast<double>(trace.header().components) * trace.header().ranks *
                        static_cast<double>(trace.iterations().size());
  return static_cast<double>(selected) / places;
}

}  // namespace

TEST_CASE("a fit finds what a trace was drawn from" * doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const Profile drawn = small_profile();
  write_trace_of(drawn, PopularityFamily::copula, 16, 64, 1, folder.path("trace.h5"));
  const ProfileFit fit = fit_of(folder.path("trace.h5"));
  const Profile& fitted = fit.profile;
  write_profile(fitted, folder.path("fit.json"));  // is one

  // The density is the trace's. It is not the drawn one: the trace has 157 blocks of popular
  // or unpopular coordinates, so the mean over them scatters by some 8%.
  CHECK(fitted.density == test::approx(density_of(folder.path("trace.h5"))).epsilon(1e-3));
  CHECK(fitted.density == test::approx(drawn.density).epsilon(0.15));
  CHECK(fitted.layers == drawn.layers);
  // Regions absorb a part of what is popular by chance, so rho is lower than the drawn one.
  CHECK(fitted.popularity.rho == test::approx(drawn.popularity.rho).epsilon(0.2));
  CHECK(fitted.popularity.clustering == test::approx(drawn.popularity.clustering).epsilon(0.3));
  CHECK(fitted.popularity.never == 0);
  CHECK(fitted.provenance.at("popularity.never").kind == "assumed");
  CHECK(fitted.magnitudes.shape == test::approx(drawn.magnitudes.shape).epsilon(0.02));
  CHECK(fitted.magnitudes.scale == test::approx(drawn.magnitudes.scale).epsilon(0.02));
  CHECK(fit.magnitude_distance < 0.005);
  CHECK(fit.union_error() < 0.02);
  CHECK(fit.imbalance_profile == test::approx(fit.imbalance_trace).epsilon(0.15));
  CHECK(fitted.popularity.bursts < 0.1);
  REQUIRE(fit.increments.size() == 6);
  for (const FittedIncrement& increment : fit.increments) {
    CHECK(increment.profile == test::approx(increment.trace).epsilon(0.1));
  }
  CHECK(fitted.thresholds.noise == test::approx(drawn.thresholds.noise).epsilon(0.2));
  CHECK(fitted.thresholds.walk == test::approx(drawn.thresholds.walk).epsilon(0.35));
  CHECK(fitted.thresholds.ranks == test::approx(drawn.thresholds.ranks).epsilon(0.5));
}

TEST_CASE("a fit of the Beta family finds its a") {
  const TemporaryFolder folder;
  Profile drawn = small_profile();
  drawn.popularity.clustering = 0;  // else regions take a part of what is popular for themselves
  write_trace_of(drawn, PopularityFamily::beta, 16, 16, 2, folder.path("trace.h5"));
  const ProfileFit fit = fit_of(folder.path("trace.h5"));
  CHECK(fit.profile.popularity.beta_a == test::approx(drawn.popularity.beta_a).epsilon(0.05));
  for (const FittedUnion& one : fit.unions) {
    CHECK(one.beta == test::approx(one.trace).epsilon(0.01));
  }
}

TEST_CASE("a fit's unions are the mean over all subsets of the ranks") {
  const TemporaryFolder folder;
  TraceHeader header = test::small_header(3, 100);
  TraceWriter writer(folder.path("trace.h5"), header);
  const auto of = [](std::vector<std::uint32_t> coordinates) {
    std::vector<Entry> entries;
    for (const std::uint32_t at : coordinates) entries.push_back({at, 2});
    return SparseVector::checked(entries);
  };
  writer.append({.iteration = 1,
                 .selected = {of({1, 2}), of({2, 3}), of({2, 4, 5})},
                 .thresholds = {1, 1, 1},
                 .global_threshold = {}});
  writer.finish();
  const ProfileFit fit = fit_of(folder.path("trace.h5"));
  REQUIRE(fit.unions.size() == 3);
  CHECK(fit.unions[0].trace == test::approx(7.0 / 3 / 100));
  CHECK(fit.unions[1].trace == test::approx((3 + 4 + 4) / 3.0 / 100));
  CHECK(fit.unions[2].ranks == 3);
  CHECK(fit.unions[2].trace == test::approx(0.05));
}

TEST_CASE("a start-up is found where the trace begins with the training") {
  const TemporaryFolder folder;
  Profile drawn = small_profile(4000);
  drawn.thresholds = {
      .ranks = 0.01, .noise = 0.01, .walk = 0, .memory = 20, .start = 0.3, .filling = 25};
  write_trace_of(drawn, PopularityFamily::copula, 4, 120, 3, folder.path("trace.h5"));
  const ProfileFit fit = fit_of(folder.path("trace.h5"));
  CHECK(fit.profile.thresholds.start == test::approx(0.3).epsilon(0.1));
  CHECK(fit.profile.thresholds.filling == test::approx(25).epsilon(0.1));
  CHECK(fit.profile.provenance.at("thresholds.start").kind == "fitted");
  CHECK(fit.profile.thresholds.noise == test::approx(0.01).epsilon(0.1));
  CHECK(fit.profile.thresholds.walk < 0.007);
}

TEST_CASE("a share that is never selected is found on many ranks" * doctest::test_suite("large")) {
  const TemporaryFolder folder;
  Profile drawn = small_profile(8000);
  drawn.density = 0.1;
  drawn.popularity.never = 0.4;
  write_trace_of(drawn, PopularityFamily::copula, 128, 2, 4, folder.path("trace.h5"));
  const ProfileFit fit = fit_of(folder.path("trace.h5"));
  CHECK(fit.profile.popularity.never == test::approx(0.4).epsilon(0.3));
  CHECK(fit.profile.provenance.at("popularity.never").kind == "fitted");
}

TEST_CASE("what a trace does not tell is assumed, and said to be") {
  const TemporaryFolder folder;
  test::write_small_trace(folder.path("trace.h5"));
  const ProfileFit fit = fit_of(folder.path("trace.h5"));
  for (const char* entry : {"magnitudes.below", "magnitudes.rms", "thresholds.memory"}) {
    CAPTURE(std::string(entry));
    CHECK(fit.profile.provenance.at(entry).kind == "assumed");
  }
  write_profile(fit.profile, folder.path("fit.json"));
}

TEST_CASE("accumulators are rebuilt from sampled gradients under either rule") {
  // Gradients of 1 everywhere: what is never selected grows by 1 an iteration.
  const TemporaryFolder folder;
  TraceHeader header = test::small_header(2, 400);
  header.residual_rule = ResidualRule::all;
  TraceWriter writer(folder.path("trace.h5"), header);
  GradientSample sample;
  for (std::uint32_t i = 0; i < 400; ++i) sample.coordinates.push_back(i);
  sample.ranks = 2;
  sample.residuals.assign(2, std::vector<float>(400, 0));
  writer.sample_gradients(sample);
  for (int iteration = 1; iteration <= 4; ++iteration) {
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i < 200; ++i) {
      entries.push_back({i, 1});  // the first half, each time: stays at 1
    }
    const SparseVector selected = SparseVector::checked(entries);
    writer.append({.iteration = iteration,
                   .selected = {selected, selected},
                   .thresholds = {1, 1},
                   .global_threshold = {}});
    writer.append_gradients(iteration, {std::vector<float>(400, 1), std::vector<float>(400, 1)});
  }
  writer.finish();
  const ProfileFit fit = fit_of(folder.path("trace.h5"));
  // In iterations 3 and 4 the halves are at 1 and 1, and at 3 and 4.
  CHECK(fit.profile.magnitudes.mean == test::approx((1 + 1 + 3 + 4) / 4.0).epsilon(1e-3));
  CHECK(fit.profile.magnitudes.rms ==
        test::approx(std::sqrt((1 + 1 + 9 + 16) / 4.0)).epsilon(1e-3));
  CHECK(fit.profile.provenance.at("magnitudes.rms").kind == "fitted");
}

TEST_CASE("a trace of one rank is refused") {
  const TemporaryFolder folder;
  test::write_small_trace(folder.path("trace.h5"), 2, false, test::small_header(1));
  CHECK(
      contains(error_of<InputError>([&] { (void)fit_of(folder.path("trace.h5")); }), "two ranks"));
}

}  // namespace thinwire::traces
