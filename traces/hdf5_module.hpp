// The module with all code that calls HDF5: the files of traces.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/module.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

inline constexpr Module kHdf5{.name = "hdf5", .brings = "HDF5, which reads and writes traces"};

/// Does the work of TraceReader's functions of the same names.
struct TraceReader::File {
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  [[nodiscard]] virtual const TraceHeader& header() const = 0;
  [[nodiscard]] virtual const std::vector<int>& iterations() const = 0;
  [[nodiscard]] virtual TraceWindow window(std::size_t at) const = 0;
  [[nodiscard]] virtual SparseVector selected(std::size_t at, Rank rank) const = 0;
  [[nodiscard]] virtual const std::optional<GradientSample>& gradients() const = 0;
  [[nodiscard]] virtual std::vector<float> gradient(std::size_t at, Rank rank) const = 0;
};

/// Does the work of TraceWriter's functions of the same names.
struct TraceWriter::File {
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  virtual void append(const TraceWindow& window) = 0;
  virtual void sample_gradients(const GradientSample& sample) = 0;
  virtual void append_gradients(int iteration,
                                const std::vector<std::vector<float>>& gradients) = 0;
  virtual void finish() = 0;
};

struct TraceFunctions {
  std::unique_ptr<TraceReader::File> (*open)(const std::string& path);
  std::unique_ptr<TraceWriter::File> (*create)(const std::string& path, const TraceHeader& header);
};

/// Defined in trace_reader.cpp and trace_writer.cpp, which are in the module.
[[nodiscard]] std::unique_ptr<TraceReader::File> open_trace(const std::string& path);
[[nodiscard]] std::unique_ptr<TraceWriter::File> create_trace(const std::string& path,
                                                              const TraceHeader& header);

}  // namespace thinwire::traces
