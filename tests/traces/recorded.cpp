// The traces that come with Thinwire.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "traces/trace.hpp"

namespace thinwire::traces {

TEST_CASE("the shipped traces hold k entries a rank, their thresholds and a sample of gradients") {
  struct Shipped {
    const char* name;
    ResidualRule rule;
    double density;
    int sampled_from;
    int sampled_ranks;
    std::size_t sampled;
    std::size_t iterations;
  };
  for (const Shipped& shipped :
       {Shipped{"cnn_all", ResidualRule::all, 0.01, 1, 2, 4096, 128},
        Shipped{"cnn_oktopk", ResidualRule::oktopk, 0.01, 905, 16, 1024, 96},
        Shipped{"lstm_all", ResidualRule::all, 0.02, 301, 2, 4096, 128},
        Shipped{"lstm_oktopk", ResidualRule::oktopk, 0.02, 1405, 16, 1024, 96}}) {
    CAPTURE(std::string(shipped.name));
    const TraceReader reader(std::string(THINWIRE_SOURCE_DIR) + "/traces/recorded/" + shipped.name +
                             ".h5");
    const TraceHeader& header = reader.header();
    CHECK(header.ranks == 16);
    CHECK(header.residual_rule == shipped.rule);
    CHECK(header.density == shipped.density);
    const auto k = header.k();
    for (std::size_t at = 0; at < reader.iterations().size(); ++at) {
      CAPTURE(reader.iterations()[at]);
      const TraceWindow window = reader.window(at);
      for (std::size_t rank = 0; rank < window.selected.size(); ++rank) {
        CHECK(window.selected[rank].size() == static_cast<std::size_t>(k));
        CHECK(window.thresholds[rank] == kth_magnitude(window.selected[rank], k));
      }
      const SparseVector all = sum(window.selected);
      const double share = static_cast<double>(all.size()) / static_cast<double>(header.components);
      CHECK(share > 8 * header.density);
      CHECK(share < 1 - std::pow(1 - header.density, header.ranks));  // if ranks were independent
      CHECK(window.global_threshold.has_value() == (shipped.rule == ResidualRule::oktopk));
      if (window.global_threshold) CHECK(*window.global_threshold == kth_magnitude(all, k));
    }
    REQUIRE(reader.gradients().has_value());
    const GradientSample& sample = *reader.gradients();
    CHECK(sample.coordinates.size() == shipped.sampled);
    CHECK(sample.iterations.size() == shipped.iterations);
    CHECK(sample.iterations.front() == shipped.sampled_from);
    CHECK(sample.ranks == shipped.sampled_ranks);
    REQUIRE(sample.residuals.size() == static_cast<std::size_t>(shipped.sampled_ranks));
    const bool from_the_start = shipped.rule == ResidualRule::all;
    for (const auto& residual : sample.residuals) {
      CHECK(std::ranges::all_of(residual, [](float x) { return x == 0; }) == from_the_start);
    }
    CHECK(reader.gradient(shipped.iterations - 1, Rank(1)).size() == shipped.sampled);
  }
}

}  // namespace thinwire::traces
