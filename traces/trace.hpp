// A recorded trace: the selections of each rank of a real training, in one HDF5 file that h5py can
// open. docs/reference/traces.md describes the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::traces {

/// A tensor of the model; layers are consecutive and cover all components.
struct Layer {
  std::string name;
  std::int64_t first = 0;
  std::int64_t size = 0;

  friend bool operator==(const Layer&, const Layer&) = default;
};

/// The part of its accumulator that a rank clears after sending.
enum class ResidualRule : std::uint8_t {
  all,    ///< everything that the rank selected
  oktopk  ///< the selected entries that are in the global top-k (Ok-Topk, Algorithm 2)
};

struct TraceHeader {
  std::int64_t components = 0;  ///< n
  int ranks = 0;                ///< P
  double density = 0;           ///< k/n of the exact local top-k
  std::uint64_t seed = 0;
  std::string source;  ///< model, data and training, in words
  ResidualRule residual_rule = ResidualRule::all;
  std::vector<Layer> layers;

  /// k: density · n, rounded, and at least 1.
  [[nodiscard]] std::int64_t k() const;
};

/// The selections of all ranks in one iteration.
struct TraceWindow {
  int iteration = 0;  ///< of the training, from 1
  /// One per rank: the entries of the accumulator that it selected.
  std::vector<SparseVector> selected;
  std::vector<float> thresholds;  ///< one per rank: the magnitude from which on it selected
  std::optional<float> global_threshold;
};

/// Gradients before error feedback, for some or all coordinates and the first ranks, for
/// sparsifiers that select in another way than the recorded training.
struct GradientSample {
  std::vector<std::uint32_t> coordinates;     ///< increasing
  std::vector<int> iterations;                ///< consecutive
  int ranks = 0;                              ///< the first ranks, up to this number
  std::vector<std::vector<float>> residuals;  ///< [rank][sampled], before the first iteration
};

/// Reads a trace window by window, so that it may be larger than memory. Data are checked as they
/// are read: order, ranges, finiteness, lengths. Throws InputError with the file, dataset, position
/// and what would be right, and SimulationError where the module `hdf5` is missing.
class TraceReader {
 public:
  explicit TraceReader(const std::string& path);
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  [[nodiscard]] const TraceHeader& header() const;
  /// The recorded iterations, increasing.
  [[nodiscard]] const std::vector<int>& iterations() const;
  /// The recorded iteration at index `at` of iterations().
  [[nodiscard]] TraceWindow window(std::size_t at) const;
  /// The entries of one rank in it.
  [[nodiscard]] SparseVector selected(std::size_t at, Rank rank) const;

  [[nodiscard]] const std::optional<GradientSample>& gradients() const;
  /// One value per coordinate of gradients(), in its iteration `at`.
  [[nodiscard]] std::vector<float> gradient(std::size_t at, Rank rank) const;

  struct File;  ///< of the module `hdf5`: hdf5_module.hpp

 private:
  std::unique_ptr<File> file_;
};

struct TraceTotals {
  std::int64_t entries = 0;    ///< selected entries
  std::int64_t gradients = 0;  ///< gradient values
};

/// Reads, and so checks, the whole trace.
[[nodiscard]] TraceTotals read_all(const TraceReader& reader);

/// Writes a trace iteration by iteration. Throws InputError when its input is not a valid trace.
class TraceWriter {
 public:
  TraceWriter(const std::string& path, const TraceHeader& header);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter();

  void append(const TraceWindow& window);
  /// To be called before the first gradient; sample.iterations may be empty and grows.
  void sample_gradients(const GradientSample& sample);
  /// [rank][sampled] of the next iteration; stored in 16 bits each, scaled by rank and iteration.
  void append_gradients(int iteration, const std::vector<std::vector<float>>& gradients);
  /// Writes the remaining data and closes the file, which is not a valid trace without it.
  void finish();

  struct File;  ///< of the module `hdf5`

 private:
  std::unique_ptr<File> file_;
};

}  // namespace thinwire::traces
