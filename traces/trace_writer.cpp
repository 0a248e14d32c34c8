#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "traces/hdf5.hpp"
#include "traces/hdf5_module.hpp"

namespace thinwire::traces {

namespace {

using hdf5::Handle;
using Shape = std::vector<hsize_t>;

/// The size of a chunk, which is packed and unpacked as a whole.
constexpr hsize_t kChunkBytes = 1 << 18;
constexpr std::size_t kLongestName = 1000;
constexpr std::size_t kLongestSource = 60'000;

/// Properties of datasets without a creation time: equal traces are equal files.
Handle dataset_creation() {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);
  return creation;
}

/// A dataset that grows by rows.
class Growing {
 public:
  /// `row` is the shape without the first dimension, which grows.
  Growing(std::string path, hid_t file, const char* name, hid_t disk, hid_t memory, Shape row = {})
      : path_(std::move(path)), name_(name), memory_(memory), row_(std::move(row)) {
    Shape chunk = row_;
    hsize_t left = kChunkBytes / H5Tget_size(disk);  // elements; the last dimensions first
    for (std::size_t i = chunk.size(); i-- > 0;) {
      chunk[i] = std::clamp<hsize_t>(chunk[i], 1, left);
      left = std::max<hsize_t>(1, left / chunk[i]);
    }
    chunk.insert(chunk.begin(), left);
    Shape most = row_;
    most.insert(most.begin(), H5S_UNLIMITED);
    const Handle space(
        H5Screate_simple(static_cast<int>(chunk.size()), shape().data(), most.data()), H5Sclose);
    const Handle creation = dataset_creation();
    H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_shuffle(creation.id());
    H5Pset_deflate(creation.id(), 4);
    dataset_ =
        Handle(H5Dcreate2(file, name, disk, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
               H5Dclose);
    if (!dataset_.valid()) fail();
  }

  /// Appends whole rows.
  template <class T>
  void append(const std::vector<T>& values) {
    hsize_t row_length = 1;
    for (const hsize_t length : row_) row_length *= length;
    append_raw(values.size() / row_length, values.data());
  }

  void append_raw(hsize_t rows, const void* values) {
    if (rows == 0) return;
    Shape counts = row_;
    counts.insert(counts.begin(), rows);
    Shape begin(counts.size(), 0);
    begin.front() = rows_;
    rows_ += counts.front();
    if (H5Dset_extent(dataset_.id(), shape().data()) < 0) fail();
    const Handle file_space(H5Dget_space(dataset_.id()), H5Sclose);
    const Handle memory_space(
        H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr), H5Sclose);
    if (H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, begin.data(), nullptr, counts.data(),
                            nullptr) < 0 ||
        H5Dwrite(dataset_.id(), memory_, memory_space.id(), file_space.id(), H5P_DEFAULT, values) <
            0) {
      fail();
    }
  }

  bool close() { return dataset_.close(); }

 private:
  [[nodiscard]] Shape shape() const {
    Shape all = row_;
    all.insert(all.begin(), rows_);
    return all;
  }
  [[noreturn]] void fail() const {
    hdf5::refuse(path_, name_, "cannot be written" + hdf5::reason());
  }

  std::string path_;
  std::string name_;
  hid_t memory_;
  Shape row_;
  hsize_t rows_ = 0;
  Handle dataset_;
};

/// The nearest 16-bit real to a value of magnitude up to about 1. HDF5 1.10.8 halves some values
/// that it would have to round up to a power of two.
float rounded_to_half(float value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int last_bit = std::max(exponent - 11, -24);
  return std::ldexp(std::nearbyint(std::ldexp(value, -last_bit)), last_bit);
}

void write_scalar(const std::string& path, hid_t file, const std::string& name, hid_t disk,
                  hid_t memory, const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle creation = dataset_creation();
  const Handle dataset(
      H5Dcreate2(file, name.c_str(), disk, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!dataset.valid() ||
      H5Dwrite(dataset.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) {
    hdf5::refuse(path, name, "cannot be written" + hdf5::reason());
  }
}

void write_text(const std::string& path, hid_t file, const std::string& name,
                const std::string& value) {
  const Handle type = hdf5::string_type(value.size());
  write_scalar(path, file, name, type.id(), type.id(), value.c_str());
}

Handle create(const std::string& path) {
  hdf5::silence();
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) throw InputError("{}: cannot be written{}", path, hdf5::reason());
  return file;
}

Handle make_group(const std::string& path, hid_t file, const char* name) {
  Handle group(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (!group.valid()) hdf5::refuse(path, name, "cannot be written" + hdf5::reason());
  return group;
}

void check_header(const std::string& path, const TraceHeader& header) {
  const auto require = [&](bool holds, const char* what, const std::string& wanted) {
    if (!holds) hdf5::refuse(path, what, wanted);
  };
  require(header.components >= 1 && header.components <= std::numeric_limits<std::uint32_t>::max(),
          "components", fmt::format("{} do not fit 32 bits", header.components));
  require(header.ranks >= 1 && header.ranks <= 1 << 20, "ranks",
          fmt::format("{} is not in 1 .. {}", header.ranks, 1 << 20));
  require(header.density > 0 && header.density <= 1, "density",
          fmt::format("{} is not in (0, 1]", header.density));
  require(header.source.size() <= kLongestSource, "source",
          fmt::format("has {} bytes, at most {} are kept", header.source.size(), kLongestSource));
  std::int64_t first = 0;
  for (const Layer& layer : header.layers) {
    require(layer.first == first && layer.size >= 1, "layers",
            fmt::format("'{}' has components {} and {} more, but layers follow one another",
                        layer.name, layer.first, layer.size));
    require(layer.name.size() <= kLongestName, "layers",
            fmt::format("'{:.40}...' has {} bytes, at most {} are kept", layer.name,
                        layer.name.size(), kLongestName));
    first += layer.size;
  }
  require(first == header.components, "layers",
          fmt::format("have {} components of {}", first, header.components));
}

struct NewTrace {
  struct Gradients {
    Growing iteration;
    Growing scale;
    Growing value;
    int ranks;
    std::size_t coordinates;
    int last = 0;
  };

  NewTrace(const std::string& file_path, const TraceHeader& of)
      : path((check_header(file_path, of), file_path)),
        header(of),
        file(create(path)),
        selected(make_group(path, file.id(), "/selected")),
        iteration(path, file.id(), "/iteration", H5T_STD_I64LE, H5T_NATIVE_INT),
        threshold(path, file.id(), "/threshold", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
                  {static_cast<hsize_t>(header.ranks)}),
        begin(path, file.id(), "/selected/begin", H5T_STD_I64LE, H5T_NATIVE_INT64),
        index(path, file.id(), "/selected/index", H5T_STD_U32LE, H5T_NATIVE_UINT32),
        value(path, file.id(), "/selected/value", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT) {
    begin.append(std::vector<std::int64_t>{0});
    const std::int64_t ranks = header.ranks;
    const std::int64_t version = 1;
    const Handle group = make_group(path, file.id(), "/header");
    const auto write = [&](const char* name, hid_t disk, hid_t memory, const void* number) {
      write_scalar(path, file.id(), name, disk, memory, number);
    };
    write("/header/version", H5T_STD_I64LE, H5T_NATIVE_INT64, &version);
    write("/header/components", H5T_STD_I64LE, H5T_NATIVE_INT64, &header.components);
    write("/header/ranks", H5T_STD_I64LE, H5T_NATIVE_INT64, &ranks);
    write("/header/density", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &header.density);
    write("/header/seed", H5T_STD_U64LE, H5T_NATIVE_UINT64, &header.seed);
    write_text(path, file.id(), "/header/source", header.source);
    write_text(path, file.id(), "/header/residual_rule",
               header.residual_rule == ResidualRule::all ? "all" : "oktopk");
    write_layers();
  }

  void write_layers() {
    const Handle group = make_group(path, file.id(), "/layers");
    std::size_t longest = 1;
    for (const Layer& layer : header.layers) longest = std::max(longest, layer.name.size());
    std::string names;
    std::vector<std::int64_t> lengths;
    for (const Layer& layer : header.layers) {
      names += layer.name + std::string(longest - layer.name.size(), '\0');
      lengths.push_back(layer.size);
    }
    const Handle type = hdf5::string_type(longest);
    Growing sizes(path, file.id(), "/layers/size", H5T_STD_I64LE, H5T_NATIVE_INT64);
    Growing(path, file.id(), "/layers/name", type.id(), type.id())
        .append_raw(lengths.size(), names.data());
    sizes.append(lengths);
  }

  [[noreturn]] void refuse(int of_iteration, const std::string& what) const {
    hdf5::refuse(path, fmt::format("iteration {}", of_iteration), what);
  }

  void check(const TraceWindow& window) const {
    const auto refuse_if = [&](bool wrong, const std::string& what) {
      if (wrong) refuse(window.iteration, what);
    };
    refuse_if(window.iteration <= last, fmt::format("comes after {}", last));
    const auto ranks = static_cast<std::size_t>(header.ranks);
    refuse_if(window.selected.size() != ranks || window.thresholds.size() != ranks,
              fmt::format("has selections of {} and thresholds of {} ranks; there are {}",
                          window.selected.size(), window.thresholds.size(), ranks));
    const auto is_magnitude = [](float x) { return x >= 0 && std::isfinite(x); };
    refuse_if(!std::ranges::all_of(window.thresholds, is_magnitude) ||
                  (window.global_threshold && !is_magnitude(*window.global_threshold)),
              "has a threshold that is negative or not finite");
    refuse_if(last != 0 && window.global_threshold.has_value() != global_threshold.has_value(),
              "has a global threshold where others have none, or none where others have one");
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::int64_t before = -1;
      for (const Entry& entry : window.selected[rank].entries()) {
        if (entry.coordinate >= header.components || entry.coordinate <= before) {
          refuse(window.iteration,
                 fmt::format("rank {}: component {} after {}; they increase, and there are {}",
                             rank, entry.coordinate, before, header.components));
        }
        if (!std::isfinite(entry.value)) {
          refuse(window.iteration,
                 fmt::format("rank {}: component {} is not finite", rank, entry.coordinate));
        }
        before = entry.coordinate;
      }
    }
  }

  std::string path;
  TraceHeader header;
  Handle file;
  Handle selected;
  Growing iteration;
  Growing threshold;
  Growing begin;
  Growing index;
  Growing value;
  std::optional<Growing> global_threshold;
  std::optional<Gradients> gradients;
  std::int64_t entries = 0;
  int last = 0;
};

class Hdf5Writer final : public TraceWriter::File {
 public:
  Hdf5Writer(const std::string& path, const TraceHeader& header) : file_(path, header) {}

  void append(const TraceWindow& window) override;
  void sample_gradients(const GradientSample& sample) override;
  void append_gradients(int iteration, const std::vector<std::vector<float>>& gradients) override;
  void finish() override;

 private:
  NewTrace file_;
};

void Hdf5Writer::append(const TraceWindow& window) {
  NewTrace& file = file_;
  file.check(window);
  if (file.last == 0 && window.global_threshold) {
    file.global_threshold.emplace(file.path, file.file.id(), "/global_threshold", H5T_IEEE_F32LE,
                                  H5T_NATIVE_FLOAT);
  }
  file.last = window.iteration;
  std::vector<std::int64_t> ends;
  std::vector<std::uint32_t> indexes;
  std::vector<float> values;
  for (const SparseVector& selection : window.selected) {
    for (const Entry& entry : selection.entries()) {
      indexes.push_back(entry.coordinate);
      values.push_back(entry.value);
    }
    file.entries += static_cast<std::int64_t>(selection.size());
    ends.push_back(file.entries);
  }
  file.iteration.append(std::vector<int>{window.iteration});
  file.threshold.append(window.thresholds);
  if (window.global_threshold) {
    file.global_threshold->append(std::vector<float>{*window.global_threshold});
  }
  file.begin.append(ends);
  file.index.append(indexes);
  file.value.append(values);
}

void Hdf5Writer::sample_gradients(const GradientSample& sample) {
  NewTrace& file = file_;
  const auto refuse_if = [&](bool wrong, const std::string& what) {
    if (wrong) hdf5::refuse(file.path, "gradients", what);
  };
  refuse_if(file.gradients.has_value(), "are begun already");
  refuse_if(sample.ranks < 1 || sample.ranks > file.header.ranks,
            fmt::format("of {} ranks; there are {}", sample.ranks, file.header.ranks));
  std::int64_t before = -1;
  for (const std::uint32_t coordinate : sample.coordinates) {
    refuse_if(coordinate >= file.header.components || coordinate <= before,
              fmt::format("component {} after {}; they increase, and there are {}", coordinate,
                          before, file.header.components));
    before = coordinate;
  }
  refuse_if(sample.coordinates.empty(), "of no coordinates");
  refuse_if(
      sample.residuals.size() != static_cast<std::size_t>(sample.ranks),
      fmt::format("residuals of {} ranks, gradients of {}", sample.residuals.size(), sample.ranks));
  for (const std::vector<float>& residual : sample.residuals) {
    refuse_if(residual.size() != sample.coordinates.size(),
              fmt::format("residuals of {} components, gradients of {}", residual.size(),
                          sample.coordinates.size()));
    refuse_if(!std::ranges::all_of(residual, [](float x) { return std::isfinite(x); }),
              "residuals that are not finite");
  }
  const hid_t id = file.file.id();
  const Handle group = make_group(file.path, id, "/gradients");
  const auto ranks = static_cast<hsize_t>(sample.ranks);
  const auto coordinates = static_cast<hsize_t>(sample.coordinates.size());
  Growing(file.path, id, "/gradients/coordinate", H5T_STD_U32LE, H5T_NATIVE_UINT32)
      .append(sample.coordinates);
  Growing residuals(file.path, id, "/gradients/residual", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
                    {coordinates});
  for (const std::vector<float>& residual : sample.residuals) residuals.append(residual);
  const Handle half = hdf5::float16();
  file.gradients.emplace(NewTrace::Gradients{
      {file.path, id, "/gradients/iteration", H5T_STD_I64LE, H5T_NATIVE_INT},
      {file.path, id, "/gradients/scale", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {ranks}},
      {file.path, id, "/gradients/value", half.id(), H5T_NATIVE_FLOAT, {ranks, coordinates}},
      sample.ranks,
      sample.coordinates.size()});
}

void Hdf5Writer::append_gradients(int iteration, const std::vector<std::vector<float>>& gradients) {
  NewTrace& file = file_;
  if (!file.gradients) hdf5::refuse(file.path, "gradients", "sample_gradients() comes first");
  NewTrace::Gradients& target = *file.gradients;
  if (iteration < 1 || (target.last != 0 && iteration != target.last + 1)) {
    file.refuse(iteration, fmt::format("gradients have to follow iteration {}", target.last));
  }
  if (gradients.size() != static_cast<std::size_t>(target.ranks)) {
    file.refuse(iteration,
                fmt::format("gradients of {} ranks, wanted {}", gradients.size(), target.ranks));
  }
  std::vector<float> scales;
  std::vector<float> values;
  for (const std::vector<float>& gradient : gradients) {
    if (gradient.size() != target.coordinates) {
      file.refuse(iteration, fmt::format("gradients of {} components, wanted {}", gradient.size(),
                                         target.coordinates));
    }
    float largest = 0;
    for (const float value : gradient) {
      if (!std::isfinite(value)) file.refuse(iteration, "a gradient is not finite");
      largest = std::max(largest, std::abs(value));
    }
    // A value divided by a normal number is at most about 1.
    scales.push_back(largest < std::numeric_limits<float>::min() ? 1 : largest);
    for (const float value : gradient) values.push_back(rounded_to_half(value / scales.back()));
  }
  target.last = iteration;
  target.iteration.append(std::vector<int>{iteration});
  target.scale.append(scales);
  target.value.append(values);
}

void Hdf5Writer::finish() {
  NewTrace& file = file_;
  if (file.last == 0) throw InputError("{}: no iteration was recorded", file.path);
  if (file.gradients && file.gradients->last == 0) {
    hdf5::refuse(file.path, "gradients", "of no iteration were recorded");
  }
  // The entry that marks the file as a trace is written last.
  write_text(file.path, file.file.id(), "/header/format", "thinwire-trace");
  bool closed = true;
  const auto close = [&closed](auto& part) { closed = part.close() && closed; };
  for (Growing* part : {&file.iteration, &file.threshold, &file.begin, &file.index, &file.value}) {
    close(*part);
  }
  if (file.global_threshold) close(*file.global_threshold);
  if (file.gradients) {
    for (Growing* part :
         {&file.gradients->iteration, &file.gradients->scale, &file.gradients->value}) {
      close(*part);
    }
  }
  close(file.selected);
  close(file.file);
  if (!closed) throw InputError("{}: cannot be written{}", file.path, hdf5::reason());
}

}  // namespace

std::unique_ptr<TraceWriter::File> create_trace(const std::string& path,
                                                const TraceHeader& header) {
  return std::make_unique<Hdf5Writer>(path, header);
}

}  // namespace thinwire::traces
