#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/traces.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

using test::contains;
using test::error_of;
using test::small_header;
using test::small_sample;
using test::small_window;
using test::TemporaryFolder;

TEST_CASE("a trace comes back as it was written") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  const TraceHeader header = small_header();
  test::write_small_trace(path, 3, true);

  const TraceReader reader(path);
  CHECK(reader.header().components == header.components);
  CHECK(reader.header().ranks == header.ranks);
  CHECK(reader.header().density == header.density);
  CHECK(reader.header().seed == header.seed);
  CHECK(reader.header().source == header.source);
  CHECK(reader.header().residual_rule == header.residual_rule);
  CHECK(reader.header().layers == header.layers);
  CHECK(reader.header().k() == 10);
  CHECK(reader.iterations() == std::vector<int>{10, 11, 12});
  for (std::size_t at = 0; at < 3; ++at) {
    const TraceWindow wanted = small_window(header, 10 + static_cast<int>(at));
    const TraceWindow window = reader.window(at);
    CHECK(window.iteration == wanted.iteration);
    CHECK(window.thresholds == wanted.thresholds);
    CHECK(window.global_threshold == wanted.global_threshold);
    REQUIRE(window.selected.size() == wanted.selected.size());
    for (std::size_t rank = 0; rank < wanted.selected.size(); ++rank) {
      CHECK(std::ranges::equal(window.selected[rank].entries(), wanted.selected[rank].entries()));
      CHECK(std::ranges::equal(reader.selected(at, Rank(static_cast<int>(rank))).entries(),
                               wanted.selected[rank].entries()));
    }
  }
}

TEST_CASE("sampled gradients come back as float16 holds them, scaled by rank and iteration") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  test::write_small_trace(path, 3, true);
  const TraceReader reader(path);
  REQUIRE(reader.gradients());
  CHECK(reader.gradients()->coordinates == small_sample().coordinates);
  CHECK(reader.gradients()->residuals == small_sample().residuals);
  CHECK(reader.gradients()->ranks == 2);
  CHECK(reader.gradients()->iterations == std::vector<int>{5, 6, 7});
  for (std::size_t at = 0; at < 3; ++at) {
    const auto x = static_cast<float>(at + 1);
    const std::vector<float> first = reader.gradient(at, Rank(0));
    CHECK(first[0] == test::approx(x).epsilon(1e-3));
    CHECK(first[1] == test::approx(-2 * x).epsilon(1e-3));
    CHECK(first[2] == test::approx(0.5).epsilon(1e-3));
    const std::vector<float> second = reader.gradient(at, Rank(1));
    CHECK(second[0] == test::approx(1000 * x).epsilon(1e-3));
    CHECK(second[1] == 0);
    CHECK(std::abs(second[2] + 1e-3F) <= 1000 * x * 0x1p-25F);  // below float16's normal numbers
  }
}

TEST_CASE("gradients come back with a relative error of at most 2^-11") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  const TraceHeader header = small_header(1, 20'000);
  GradientSample sample{.coordinates = {}, .iterations = {}, .ranks = 1, .residuals = {}};
  std::vector<float> gradient;
  for (std::uint32_t i = 0; i < 20'000; ++i) {  // magnitudes from 1 to 2^-13, in no order
    sample.coordinates.push_back(i);
    gradient.push_back(std::exp2(-13.0F * static_cast<float>(i * 7919 % 20'000) / 20'000));
  }
  sample.residuals.emplace_back(gradient.size());
  TraceWriter writer(path, header);
  writer.sample_gradients(sample);
  writer.append_gradients(1, {gradient});
  writer.append(small_window(header, 1));
  writer.finish();
  const std::vector<float> found = TraceReader(path).gradient(0, Rank(0));
  int wrong = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (std::abs(found[i] - gradient[i]) > gradient[i] * 0x1p-11F) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a rank that selected nothing, and gradients that are all zero, come back") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  const TraceHeader header = small_header(2);
  {
    TraceWriter writer(path, header);
    GradientSample sample = small_sample();
    writer.sample_gradients(sample);
    writer.append({.iteration = 1,
                   .selected = {SparseVector(), SparseVector()},
                   .thresholds = {1, 2},
                   .global_threshold = {}});
    writer.append_gradients(1, {{0, 0, 0}, {1e-40F, 0, 0}});
    writer.finish();
  }
  const TraceReader reader(path);
  CHECK(reader.window(0).selected[1].size() == 0);
  CHECK_FALSE(reader.window(0).global_threshold);
  CHECK(reader.gradient(0, Rank(0)) == std::vector<float>{0, 0, 0});
  CHECK(reader.gradient(0, Rank(1)) == std::vector<float>{0, 0, 0});
}

TEST_CASE("the same trace is the same file, whenever it is written") {
  const TemporaryFolder folder;
  test::write_small_trace(folder.path("a.h5"), 3, true);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times in HDF5 are whole seconds
  test::write_small_trace(folder.path("b.h5"), 3, true);
  CHECK(test::text_of(folder.path("a.h5")) == test::text_of(folder.path("b.h5")));
}

TEST_CASE("a recording that was not finished is no trace") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  const TraceHeader header = small_header();
  {
    TraceWriter writer(path, header);
    writer.append(small_window(header, 1));
  }
  const std::string error = error_of<InputError>([&] { const TraceReader reader(path); });
  CHECK(contains(error, path + ": /header/format: is missing"));
  CHECK(contains(error, "recording did not end"));
}

TEST_CASE("the writer refuses what is no trace") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  const auto with_header = [&](auto change) {
    return error_of<InputError>([&] {
      TraceHeader header = small_header();
      change(header);
      const TraceWriter writer(path, header);
    });
  };
  CHECK(contains(with_header([](TraceHeader& h) { h.density = 0; }), "density: 0"));
  CHECK(contains(with_header([](TraceHeader& h) { h.ranks = 0; }), "ranks: 0"));
  CHECK(contains(with_header([](TraceHeader& h) { h.components = 1LL << 33; }), "32 bits"));
  CHECK(contains(with_header([](TraceHeader& h) { h.layers.pop_back(); }), "990 components of"));
  CHECK(contains(with_header([](TraceHeader& h) { h.layers[1].first = 3; }), "first.bias"));
  CHECK(contains(with_header([](TraceHeader& h) { h.source = std::string(70'000, 'x'); }),
                 "70000 bytes"));

  const auto with_window = [&](auto change) {
    return error_of<InputError>([&] {
      const TraceHeader header = small_header();
      TraceWriter writer(path, header);
      writer.append(small_window(header, 3));
      TraceWindow window = small_window(header, 4);
      change(window);
      writer.append(window);
    });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(with_window([](TraceWindow&) {}) == "(nothing was thrown)");
  CHECK(contains(with_window([](TraceWindow& w) { w.iteration = 3; }), "iteration 3: comes after"));
  CHECK(contains(with_window([](TraceWindow& w) { w.selected.pop_back(); }), "of 3"));
  CHECK(contains(with_window([](TraceWindow& w) { w.thresholds[1] = -1; }), "negative"));
  CHECK(contains(with_window([&](TraceWindow& w) { w.global_threshold = nan; }), "not finite"));
  CHECK(contains(with_window([](TraceWindow& w) { w.global_threshold = {}; }), "global threshold"));
  CHECK(contains(with_window([](TraceWindow& w) {
                   w.selected[2] = SparseVector::trusted({{1000, 1.0F}});
                 }),
                 "rank 2: component 1000 after -1"));
  CHECK(contains(with_window([](TraceWindow& w) {
                   w.selected[2] = SparseVector::trusted({{5, 1.0F}, {5, 1.0F}});
                 }),
                 "component 5 after 5"));
  CHECK(contains(with_window([&](TraceWindow& w) {
                   w.selected[0] = SparseVector::trusted({{5, nan}});
                 }),
                 "component 5 is not finite"));
  CHECK(contains(error_of<InputError>([&] {
                   TraceWriter writer(path, small_header());
                   writer.finish();
                 }),
                 "no iteration was recorded"));
  CHECK(contains(error_of<InputError>(
                     [&] { const TraceWriter w(folder.path("no/folder.h5"), small_header()); }),
                 "cannot be written (HDF5: "));
}

TEST_CASE("the writer refuses gradients of another shape, or out of order") {
  const TemporaryFolder folder;
  const auto with = [&](auto change, int iteration, const std::vector<std::vector<float>>& rows) {
    return error_of<InputError>([&] {
      TraceWriter writer(folder.path("t.h5"), small_header());
      GradientSample sample = small_sample();
      change(sample);
      writer.sample_gradients(sample);
      writer.append_gradients(5, {{1, 2, 3}, {4, 5, 6}});
      writer.append_gradients(iteration, rows);
    });
  };
  const auto as_is = [](GradientSample&) {};
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(with(as_is, 6, {{1, 2, 3}, {4, 5, 6}}) == "(nothing was thrown)");
  CHECK(contains(with(as_is, 7, {{1, 2, 3}, {4, 5, 6}}), "iteration 7: gradients have to follow"));
  CHECK(contains(with(as_is, 6, {{1, 2, 3}}), "gradients of 1 ranks"));
  CHECK(contains(with(as_is, 6, {{1, 2, 3}, {4, 5}}), "gradients of 2 components"));
  CHECK(contains(with(as_is, 6, {{1, 2, 3}, {4, 5, inf}}), "not finite"));
  CHECK(contains(with([](GradientSample& s) { s.ranks = 5; }, 6, {}), "of 5 ranks"));
  CHECK(contains(with([](GradientSample& s) { s.coordinates[1] = 0; }, 6, {}), "0 after 0"));
  CHECK(contains(with([](GradientSample& s) { s.residuals[1].pop_back(); }, 6, {}),
                 "residuals of 2 components"));
}

}  // namespace thinwire::traces
