// A model to be trained: its layers, and a device's compute time for an iteration. It is read from
// JSON (docs/explanation/iterations.md), and every figure of a file has its source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/training_step.hpp"
#include "sim/core/base/default_options.hpp"
#include "sim/core/base/shipped_files.hpp"
#include "sim/core/base/units.hpp"

namespace thinwire::workloads {

struct ModelLayer {
  std::string name;
  std::vector<std::int64_t> tensors;  ///< components per tensor, in the order of the gradient
  std::vector<std::int64_t> rows;     ///< of each tensor, 1 for a vector; empty: not known
  double forward_flops = 0;           ///< for one sample
  /// Components of the activations of one sample that tensor-parallel ranks sum when the layer's
  /// forward pass, or its backward pass, has ended.
  std::int64_t forward_sum = 0;
  std::int64_t backward_sum = 0;

  [[nodiscard]] std::int64_t components() const;
};

/// The time of an iteration on a device without any communication: input, forward and backward
/// pass, and update.
struct ModelCompute {
  std::string device;
  std::int64_t batch = 1;  ///< samples per rank
  Seconds time;
  std::string source;
};

struct Model {
  std::string name;
  std::string summary;
  std::string source;
  std::int64_t components = 0;
  std::string profile;  ///< of its gradients
  std::string profile_source;
  double density = 0.01;
  std::string density_source;
  DefaultOptions options;
  std::string sample;  ///< "image"
  std::string layers_source;
  std::vector<ModelLayer> layers;  ///< in the order of the forward pass
  std::vector<ModelCompute> compute;

  [[nodiscard]] std::vector<std::int64_t> tensors() const;
  /// The rows of each tensor; empty if a layer does not tell.
  [[nodiscard]] std::vector<std::int64_t> rows() const;
  /// Whether a layer's activations are summed among tensor-parallel ranks.
  [[nodiscard]] bool sums_activations() const;
};

/// Reads and checks. Throws InputError with the file, JSON pointer, value and what would be right.
[[nodiscard]] Model read_model(const std::string& path);

/// The share of one of `tensor` tensor-parallel ranks: of each matrix its rows or, if these are not
/// divisible, its columns are divided, and of each vector its components, rounded up.
[[nodiscard]] Model divided(Model model, int tensor);

inline constexpr ShippedFiles kModels{.what = "model",
                                      .extension = ".json",
                                      .in_source = "sim/machine/workloads/models",
                                      .in_share = "models"};

/// A sum of activations in the forward pass, `time` seconds of work after its beginning.
struct ForwardSum {
  Seconds time;
  std::int64_t components = 0;
};

/// The compute time of an iteration in its parts. The forward pass takes a third of it and the
/// backward pass two thirds, distributed over the layers by their operations (evenly over
/// components if the file does not count operations).
struct ComputeTimes {
  Seconds forward;
  Seconds backward;
  std::vector<algorithms::ReadyAt> ready;     ///< from the last layer to the first
  std::vector<ForwardSum> forward_sums = {};  ///< in the order of the forward pass
};

/// The times for `batch` samples on the device; 0 is the file's own batch. The time is proportional
/// to the batch. `tensor` tensor-parallel ranks compute one `tensor`-th of it each, and sum
/// activations if they are more than one; `model` is then the share of one of them. Throws
/// InputError when the model has no figure for the device, or the sums are too long.
[[nodiscard]] ComputeTimes compute_times(const Model& model, const std::string& device,
                                         std::int64_t batch = 0, int tensor = 1);
/// The file's figure for the device. Throws InputError if there is none.
[[nodiscard]] const ModelCompute& compute_on(const Model& model, const std::string& device);

}  // namespace thinwire::workloads
