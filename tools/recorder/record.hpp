// Trains a model and writes a trace.
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
  int warm_up = 0;               ///< number of dense iterations at the start
  std::vector<int> recorded;     ///< iterations whose selections are recorded, increasing
  std::int64_t coordinates = 0;  ///< coordinates of the gradient sample; 0: none
  int sample_ranks = 2;
  int sample_from = 0;  ///< 0: the first sparse iteration
  int sample_iterations = 0;
  std::uint64_t seed = 1;
};

/// Parses "10,20-24,40-80/8": single iterations, from-to, from-to/step. Throws InputError if the
/// text has another form, or the iterations do not increase.
[[nodiscard]] std::vector<int> parse_iterations(std::string_view text);

/// Selects `count` of `components` coordinates, as evenly spaced as integers allow.
[[nodiscard]] std::vector<std::uint32_t> spread_coordinates(std::int64_t components,
                                                            std::int64_t count);

struct RecordSummary {
  double first_loss = 0;  ///< mean over workers and the first ten iterations
  double last_loss = 0;   ///< the same over the last ten
  Evaluation before;
  Evaluation after;
  /// The mean over recorded iterations of the share of components that any of the first 2, 4, 8 ...
  /// ranks selected.
  struct Union {
    int ranks = 0;
    double density = 0;
  };
  std::vector<Union> unions;
};

/// Trains, writes the trace, and reports progress to `say`. Throws InputError before the training
/// if the settings cannot be satisfied.
RecordSummary record(Model& model, const RecordSettings& settings, const std::string& path,
                     const std::function<void(const std::string&)>& say);

}  // namespace thinwire::recorder
