#include "traces/trace.hpp"

#include <algorithm>
#include <cmath>

#include "traces/hdf5_module.hpp"

namespace thinwire::traces {

namespace {

const TraceFunctions& trace_functions() {
  static const auto& kFunctions = kHdf5.table<TraceFunctions>("thinwire_traces");
  return kFunctions;
}

}  // namespace

std::int64_t TraceHeader::k() const {
  return std::max<std::int64_t>(1, std::llround(density * static_cast<double>(components)));
}

TraceReader::TraceReader(const std::string& path) : file_(trace_functions().open(path)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

const TraceHeader& TraceReader::header() const { return file_->header(); }
const std::vector<int>& TraceReader::iterations() const { return file_->iterations(); }
TraceWindow TraceReader::window(std::size_t at) const { return file_->window(at); }
SparseVector TraceReader::selected(std::size_t at, Rank rank) const {
  return file_->selected(at, rank);
}
const std::optional<GradientSample>& TraceReader::gradients() const { return file_->gradients(); }
std::vector<float> TraceReader::gradient(std::size_t at, Rank rank) const {
  return file_->gradient(at, rank);
}

TraceTotals read_all(const TraceReader& reader) {
  TraceTotals totals;
  for (std::size_t at = 0; at < reader.iterations().size(); ++at) {
    for (const SparseVector& selected : reader.window(at).selected) {
      totals.entries += static_cast<std::int64_t>(selected.size());
    }
  }
  if (!reader.gradients()) return totals;
  for (std::size_t at = 0; at < reader.gradients()->iterations.size(); ++at) {
    for (int rank = 0; rank < reader.gradients()->ranks; ++rank) {
      totals.gradients += static_cast<std::int64_t>(reader.gradient(at, Rank(rank)).size());
    }
  }
  return totals;
}

TraceWriter::TraceWriter(const std::string& path, const TraceHeader& header)
    : file_(trace_functions().create(path, header)) {}
TraceWriter::~TraceWriter() = default;

void TraceWriter::append(const TraceWindow& window) { file_->append(window); }
void TraceWriter::sample_gradients(const GradientSample& sample) {
  file_->sample_gradients(sample);
}
void TraceWriter::append_gradients(int iteration,
                                   const std::vector<std::vector<float>>& gradients) {
  file_->append_gradients(iteration, gradients);
}
void TraceWriter::finish() { file_->finish(); }

}  // namespace thinwire::traces
