// Small traces for tests.
#pragma once

#include <string>
#include <vector>

#include "sim/core/base/random.hpp"
#include "traces/trace.hpp"

namespace thinwire::test {

inline traces::TraceHeader small_header(int ranks = 4, std::int64_t components = 1000) {
  return {.components = components,
          .ranks = ranks,
          .density = 0.01,
          .seed = 7,
          .source = "drawn at random, by a test",
          .residual_rule = traces::ResidualRule::oktopk,
          .layers = {{"first.weight", 0, components - 10}, {"first.bias", components - 10, 10}}};
}

/// Every rank selects about k components, evenly distributed; all magnitudes are at least 1.
inline traces::TraceWindow small_window(const traces::TraceHeader& header, int iteration) {
  traces::TraceWindow window{
      .iteration = iteration, .selected = {}, .thresholds = {}, .global_threshold = 2};
  for (int rank = 0; rank < header.ranks; ++rank) {
    std::vector<Entry> entries;
    for (std::int64_t at = 0; at < header.components; ++at) {
      const double u = to_unit(random_bits(header.seed, iteration, rank, at));
      if (u >= header.density) continue;
      const auto magnitude = static_cast<float>(1 + u / header.density);
      entries.push_back({static_cast<std::uint32_t>(at), at % 2 == 0 ? magnitude : -magnitude});
    }
    window.selected.push_back(SparseVector::checked(std::move(entries)));
    window.thresholds.push_back(1);
  }
  return window;
}

inline traces::GradientSample small_sample() {
  return {.coordinates = {0, 10, 999},
          .iterations = {},
          .ranks = 2,
          .residuals = {{0, 1, 2}, {-1, -2, -3}}};
}

/// Writes iterations 10, 11 .., with gradients of 5, 6 .. if `gradients`.
inline void write_small_trace(const std::string& path, int iterations = 3, bool gradients = false,
                              const traces::TraceHeader& header = small_header()) {
  traces::TraceWriter writer(path, header);
  if (gradients) writer.sample_gradients(small_sample());
  for (int i = 0; i < iterations; ++i) {
    writer.append(small_window(header, 10 + i));
    if (gradients) {
      const auto x = static_cast<float>(i + 1);
      writer.append_gradients(5 + i, {{x, -2 * x, 0.5F}, {1000 * x, 0, -1e-3F}});
    }
  }
  writer.finish();
}

}  // namespace thinwire::test
