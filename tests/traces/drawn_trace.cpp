#include "traces/drawn_trace.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/temporary_folder.hpp"
#include "traces/fit.hpp"
#include "traces/shipped.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

using test::contains;
using test::error_of;
using test::small_profile;
using test::TemporaryFolder;

namespace {

ProfileFit fitted_profile(const std::string& path) {
  return fit_profile(TraceReader(path), {.name = "fit"});
}

}  // namespace

TEST_CASE("a drawn trace holds exact top-k selections at the profile's thresholds") {
  const TemporaryFolder folder;
  Profile profile = small_profile();
  profile.popularity.bursts = 0.3;
  const std::string path = folder.path("made.h5");
  write_drawn_trace(profile, {.components = 20'000, .ranks = 3, .density = 0.01, .iterations = 4},
                    path);
  const TraceReader trace(path);
  CHECK(trace.header().components == 20'000);
  CHECK(trace.header().layers.size() == 3);
  CHECK(trace.iterations().size() == 4);
  for (std::size_t at = 0; at < 4; ++at) {
    const TraceWindow window = trace.window(at);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      CHECK(window.selected[rank].size() == 200);
      for (const Entry& entry : window.selected[rank].entries()) {
        CHECK(std::abs(entry.value) >= window.thresholds[rank]);
      }
    }
  }
}

TEST_CASE("one seed gives one trace") {
  const TemporaryFolder folder;
  const Profile profile = small_profile();
  const DrawnTraceSettings settings{
      .components = 10'000, .ranks = 2, .density = 0.02, .iterations = 2};
  write_drawn_trace(profile, settings, folder.path("a.h5"));
  write_drawn_trace(profile, settings, folder.path("b.h5"));
  DrawnTraceSettings other = settings;
  other.seed = 2;
  write_drawn_trace(profile, other, folder.path("c.h5"));
  CHECK(TraceReader(folder.path("a.h5")).selected(1, Rank(1)).size() == 200);
  const SparseVector a = TraceReader(folder.path("a.h5")).selected(1, Rank(1));
  const SparseVector b = TraceReader(folder.path("b.h5")).selected(1, Rank(1));
  const SparseVector c = TraceReader(folder.path("c.h5")).selected(1, Rank(1));
  CHECK(std::ranges::equal(a.entries(), b.entries()));
  CHECK_FALSE(std::ranges::equal(a.entries(), c.entries()));
}

TEST_CASE("a trace drawn from a recorded one's profile has its unions and its imbalance" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  for (const char* name : {"cnn_oktopk", "lstm_all"}) {
    CAPTURE(std::string(name));
    const TraceReader recorded(kTraces.file(name));
    const ProfileFit fit = fit_profile(recorded, {.name = name});
    for (const PopularityFamily family : {PopularityFamily::copula, PopularityFamily::beta}) {
      write_drawn_trace(fit.profile,
                        {.family = family,
                         .components = fit.profile.components,
                         .ranks = recorded.header().ranks,
                         .density = fit.profile.density,
                         .iterations = 8},
                        folder.path("made.h5"));
      const ProfileFit again = fitted_profile(folder.path("made.h5"));
      REQUIRE(again.unions.size() == fit.unions.size());
      for (std::size_t i = 0; i < fit.unions.size(); ++i) {
        CHECK(again.unions[i].trace == test::approx(fit.unions[i].trace).epsilon(0.05));
      }
      CHECK(again.imbalance_trace == test::approx(fit.imbalance_trace).epsilon(0.15));
      // Fit, synth, fit: docs/decisions/0021-fitting-profiles.md states these errors.
      CHECK(again.profile.popularity.rho == test::approx(fit.profile.popularity.rho).epsilon(0.15));
      CHECK(again.profile.popularity.beta_a ==
            test::approx(fit.profile.popularity.beta_a).epsilon(0.2));
      CHECK(again.profile.magnitudes.shape ==
            test::approx(fit.profile.magnitudes.shape).epsilon(0.02));
      CHECK(again.profile.magnitudes.scale ==
            test::approx(fit.profile.magnitudes.scale).epsilon(0.02));
    }
  }
}

TEST_CASE("a trace that starts with the training shows its start-up") {
  const TemporaryFolder folder;
  Profile profile = small_profile(10'000);
  profile.thresholds = {
      .ranks = 0.01, .noise = 0.01, .walk = 0.01, .memory = 20, .start = 0.3, .filling = 15};
  write_drawn_trace(
      profile,
      {.components = 10'000, .ranks = 4, .density = 0.02, .iterations = 100, .start_up = true},
      folder.path("made.h5"));
  const ProfileFit fit = fitted_profile(folder.path("made.h5"));
  CHECK(fit.profile.thresholds.start == test::approx(0.3).epsilon(0.15));
  CHECK(fit.profile.thresholds.filling == test::approx(15).epsilon(0.15));
}

TEST_CASE("what no trace can be drawn with is refused") {
  const TemporaryFolder folder;
  const auto refusal = [&](const DrawnTraceSettings& settings) {
    return error_of<InputError>(
        [&] { write_drawn_trace(small_profile(), settings, folder.path("made.h5")); });
  };
  CHECK(contains(refusal({.components = 0, .density = 0.01}), "components: 0 is not valid"));
  CHECK(contains(refusal({.components = 100, .ranks = 0, .density = 0.01}), "ranks: 0 is not"));
  CHECK(contains(refusal({.components = 100, .density = 1.5}), "density: 1.5 is not valid"));
  CHECK(contains(refusal({.components = 100, .density = 0.1, .iterations = 0}), "iterations: 0"));
}

}  // namespace thinwire::traces
