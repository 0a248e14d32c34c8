// A model that is trained: its layers, and how long a device computes for an iteration. Read from
// JSON; docs/workloads.md has the format, and every figure of a file carries its source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/training_step.hpp"
#include "sim/core/base/units.hpp"

namespace thinwire::workloads {

struct ModelLayer {
  std::string name;
  std::vector<std::int64_t> tensors;  ///< components of each, in the order of the gradient
  double forward_flops = 0;           ///< of one sample

  [[nodiscard]] std::int64_t components() const;
};

/// What an iteration takes on a device without any communication: input, forward and backward
/// pass, and update.
struct ModelCompute {
  std::string device;
  std::int64_t batch = 1;  ///< samples a rank
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
  std::string sample;  ///< "image"
  std::string layers_source;
  std::vector<ModelLayer> layers;  ///< in the order of the forward pass
  std::vector<ModelCompute> compute;

  [[nodiscard]] std::vector<std::int64_t> tensors() const;
};

/// Reads and checks. Throws InputError naming file, JSON pointer, value and what would be right.
[[nodiscard]] Model read_model(const std::string& path);

/// Names of the shipped models, sorted.
[[nodiscard]] std::vector<std::string> shipped_models();
/// The path of a model: a shipped one's name, or a path that ends in ".json" or has a '/'. Throws
/// InputError with the nearest name.
[[nodiscard]] std::string model_file(const std::string& name_or_path);

/// The computation of an iteration in its parts. The forward pass has a third of it, the backward
/// pass two thirds, spread over the layers as their operations are (evenly over components where
/// the file counts none).
struct ComputeTimes {
  Seconds forward;
  Seconds backward;
  std::vector<algorithms::ReadyAt> ready;  ///< from the last layer to the first
};

/// Of `batch` samples on the device; 0 is the file's own batch. Other batches take time in
/// proportion. Throws InputError where the model has no figure for the device.
[[nodiscard]] ComputeTimes compute_times(const Model& model, const std::string& device,
                                         std::int64_t batch = 0);
/// The file's figure for the device. Throws InputError likewise.
[[nodiscard]] const ModelCompute& compute_on(const Model& model, const std::string& device);

}  // namespace thinwire::workloads
