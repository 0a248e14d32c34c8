// A training that writes a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/recorder/models.hpp"
#include "tools/recorder/topk_sgd.hpp"
#include "traces/trace.hpp"

namespace thinwire::recorder {

struct RecordSettings {
  int ranks = 16;
  double density = 0.01;
  traces::ResidualRule rule = traces::ResidualRule::all;
  float learning_rate = 0.1F;
  int iterations = 0;
  int warm_up = 0;               ///< the first so many iterations are dense
  std::vector<int> recorded;     ///< iterations whose selections are recorded, increasing
  std::int64_t coordinates = 0;  ///< of the gradient sample; 0: none
  int sample_ranks = 2;
  int sample_from = 0;  ///< 0: the first sparse iteration
  int sample_iterations = 0;
  std::uint64_t seed = 1;
};

/// Iterations of "10,20-24,40-80/8": single ones, from-to, from-to/step. Throws InputError where
/// that is not what is written, or they do not increase.
[[nodiscard]] std::vector<int> parse_iterations(std::string_view text);

/// `count` of `components` coordinates, as even as whole numbers allow.
[[nodiscard]] std::vector<std::uint32_t> spread_coordinates(std::int64_t components,
                                                            std::int64_t count);

struct RecordSummary {
  double first_loss = 0;  ///< mean of the workers', first ten iterations
  double last_loss = 0;   ///< last ten
  Evaluation before;
  Evaluation after;
  /// Of recorded iterations' mean: the share of components that any of the first 2, 4, 8 ... ranks
  /// selected.
  struct Union {
    int ranks = 0;
    double density = 0;
  };
  std::vector<Union> unions;
};

/// Trains, writes the trace, says now and then how far it is. Throws InputError where the settings
/// cannot be met, before anything is trained.
RecordSummary record(Model& model, const RecordSettings& settings, const std::string& path,
                     const std::function<void(const std::string&)>& say);

}  // namespace thinwire::recorder
