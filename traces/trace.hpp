// A recorded trace: what each rank of a real training selected, in one HDF5 file that h5py opens.
// The layout is described in docs/traces.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::traces {

/// A tensor of the model; layers follow one another and cover all components.
struct Layer {
  std::string name;
  std::int64_t first = 0;
  std::int64_t size = 0;

  friend bool operator==(const Layer&, const Layer&) = default;
};

/// What of its accumulator a rank forgets once it has been sent.
enum class ResidualRule : std::uint8_t {
  all,    ///< everything that the rank selected
  oktopk  ///< what the rank selected and the global top-k holds (Ok-Topk, Algorithm 2)
};

struct TraceHeader {
  std::int64_t components = 0;  ///< n
  int ranks = 0;                ///< P
  double density = 0;           ///< k/n that the exact local top-k aims at
  std::uint64_t seed = 0;
  std::string source;  ///< which model, data and training, in words
  ResidualRule residual_rule = ResidualRule::all;
  std::vector<Layer> layers;

  /// k: the nearest whole number to density · n, 1 at least.
  [[nodiscard]] std::int64_t k() const;
};

/// All ranks in one iteration.
struct TraceWindow {
  int iteration = 0;  ///< of the training, from 1
  /// One a rank: the entries of the accumulator that it selected.
  std::vector<SparseVector> selected;
  std::vector<float> thresholds;  ///< one a rank: the magnitude from which on it selected
  std::optional<float> global_threshold;
};

/// Gradients, before error feedback, of some or all coordinates and of the first few ranks: what a
/// sparsifier needs that selects in another way than the recording did.
struct GradientSample {
  std::vector<std::uint32_t> coordinates;     ///< increasing
  std::vector<int> iterations;                ///< consecutive
  int ranks = 0;                              ///< the first so many
  std::vector<std::vector<float>> residuals;  ///< [rank][sampled], before the first iteration
};

/// Reads a trace window by window, so that it may be larger than memory. What it finds is checked
/// as it is read: order, ranges, finiteness, lengths. Throws InputError that names file, dataset,
/// position and what would be right.
class TraceReader {
 public:
  explicit TraceReader(const std::string& path);
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  [[nodiscard]] const TraceHeader& header() const;
  /// Recorded iterations, increasing.
  [[nodiscard]] const std::vector<int>& iterations() const;
  /// The recorded iteration at position `at` of iterations().
  [[nodiscard]] TraceWindow window(std::size_t at) const;
  /// Entries of one rank in it.
  [[nodiscard]] SparseVector selected(std::size_t at, Rank rank) const;

  [[nodiscard]] const std::optional<GradientSample>& gradients() const;
  /// One value for each coordinate of gradients(), in its iteration `at`.
  [[nodiscard]] std::vector<float> gradient(std::size_t at, Rank rank) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

struct TraceTotals {
  std::int64_t entries = 0;    ///< selected
  std::int64_t gradients = 0;  ///< values
};

/// Reads all of it once, and so checks all of it.
[[nodiscard]] TraceTotals read_all(const TraceReader& reader);

/// Writes a trace iteration by iteration. Throws InputError where what it is given is no trace.
class TraceWriter {
 public:
  TraceWriter(const std::string& path, const TraceHeader& header);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  TraceWriter(TraceWriter&&) = delete;
  TraceWriter& operator=(TraceWriter&&) = delete;
  ~TraceWriter();

  void append(const TraceWindow& window);
  /// Before the first gradient; sample.iterations may be empty, it grows.
  void sample_gradients(const GradientSample& sample);
  /// [rank][sampled] of the next iteration; kept in 16 bits each, scaled by rank and iteration.
  void append_gradients(int iteration, const std::vector<std::vector<float>>& gradients);
  /// Writes what is left and closes the file; without it the file is no trace.
  void finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace thinwire::traces
