// Declares the models to train. Their implementation (libtorch) is confined to models.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/core/base/units.hpp"
#include "traces/trace.hpp"

namespace thinwire::recorder {

/// The result of an evaluation on data that no worker trains on.
struct Evaluation {
  double loss = 0;
  double accuracy = 0;  ///< share of images, or of next characters, predicted correctly
};

/// A model and its data, split into one share per worker. All workers have the same parameters.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  /// The model, the data and the batch in words.
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual const std::vector<traces::Layer>& layers() const = 0;
  [[nodiscard]] virtual std::span<float> parameters() = 0;
  /// The gradient of the mean loss over a batch of the worker's share, which depends on seed, rank
  /// and iteration only. Returns the loss.
  virtual double gradient(Rank rank, int iteration, std::span<float> gradient) = 0;
  /// The same over the batches of the first `ranks` workers as one batch, as a single process would have it.
  virtual double joined_gradient(int ranks, int iteration, std::span<float> gradient) = 0;
  [[nodiscard]] virtual Evaluation evaluate() = 0;
};

/// The limit on workers: each needs its own images or verses.
inline constexpr int kMaxWorkers = 1024;

/// The models that make_model makes.
///   cnn: a convolutional classifier of 8 x 8 images of digits, of 105,994 parameters;
///   lstm: a character-level LSTM on the King James Bible, of 93,087;
///   transformer: a character-level transformer on the same text.
[[nodiscard]] const std::vector<std::string>& model_names();
/// Makes a model by its name. Throws InputError if there is none, or for the number of ranks. Torch
/// uses a single thread from then on.
[[nodiscard]] std::unique_ptr<Model> make_model(const std::string& name, int ranks,
                                                std::int64_t batch, std::uint64_t seed);
/// Whether a model predicts characters, so that its loss has a perplexity.
[[nodiscard]] bool predicts_text(const std::string& model);

}  // namespace thinwire::recorder
