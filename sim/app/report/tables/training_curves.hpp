// Accuracy over simulated time and over iterations, of trainings by thinwire-train.
#pragma once

#include <string>
#include <vector>

#include "sim/core/base/json.hpp"

namespace thinwire::report {

/// Whether a line is one of 'thinwire-train -o', or of results/training/trainings.jsonl.
[[nodiscard]] bool is_of_training(const Json& line);

/// Checks and takes the lines of a file, in their order.
class TrainingLines {
 public:
  /// Throws InputError, which begins with `at`, if a key is missing or has another type.
  void add(const Json& line, const std::string& at);

  /// A record of kind `training_curve` for each scheme, setting and place: `label`, `setting`,
  /// `place`, `seeds`, and `points` with `iteration`, `time_s` and `accuracy`, means over trainings
  /// that differ in nothing but the seed.
  [[nodiscard]] std::vector<Json> curves() const;

 private:
  struct Training {
    std::string key;  ///< of thinwire-train; empty for a line that holds a whole training
    std::string label;
    std::string setting;
    std::vector<std::string> places;
    std::vector<double> iterations = {};
    std::vector<std::vector<double>> times = {};  ///< by place
    std::vector<double> accuracies = {};
  };

  void begin(const Json& line);
  void step(const Json& line);
  void whole(const Json& line);

  std::vector<Training> trainings_;
};

}  // namespace thinwire::report
