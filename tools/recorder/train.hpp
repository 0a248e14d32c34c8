// One training from its first iteration to its last: rows of its figures, and its curve of accuracy
// over simulated time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/json.hpp"
#include "tools/recorder/trainer.hpp"

namespace thinwire::recorder {

/// A training, apart from its points.
struct TrainSettings {
  std::string model;  ///< one of model_names()
  std::int64_t batch = 8;
  int iterations = 0;
  int evaluate_every = 10;  ///< also before the first iteration, and after the last
  int rows_every = 1;
  TrainerSettings trainer;
  // What the rows say about the computing time in `trainer`:
  std::string as_model = {};  ///< the shipped model whose time it is, if any
  std::string device = {};    ///< that prices local work, if any
  bool staging = false;
  Seconds compute;  ///< of an iteration
};

/// The model after an iteration, on held-out data.
struct CurvePoint {
  int iteration = 0;           ///< 0: before the first
  std::vector<double> time_s;  ///< simulated, since the start, by place
  double loss = 0;             ///< of the workers in that iteration; 0 before the first
  Evaluation held_out;
};

/// Identifies a training by all that determines it: 16 hexadecimal digits.
[[nodiscard]] std::string key_of(const TrainSettings& settings);

/// Trains `model` by its new trainer, which has the settings' own. Each row, a JSON object
/// (docs/reference/training-rows.md), goes to `write` as soon as it is known. A training that fails
/// (SimulationError) ends with a row that says why, and the error is thrown on.
[[nodiscard]] std::vector<CurvePoint> train(Model& model, Trainer& trainer,
                                            const TrainSettings& settings,
                                            const std::function<void(const Json&)>& write);

/// The simulated time at a place when the held-out accuracy first reached `target`, of those
/// iterations in which it was evaluated; nothing if it never did.
[[nodiscard]] std::optional<double> time_to(double target, const std::vector<CurvePoint>& curve,
                                            std::size_t place);

}  // namespace thinwire::recorder
