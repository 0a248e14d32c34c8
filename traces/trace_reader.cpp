#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "traces/hdf5.hpp"
#include "traces/hdf5_module.hpp"

namespace thinwire::traces {

namespace {

using hdf5::Dataset;
using hdf5::Kind;
using Position = std::vector<hsize_t>;

constexpr std::int64_t kTraceVersion = 1;
constexpr std::int64_t kMostRanks = 1 << 20;
constexpr hsize_t kMostLayers = 1 << 20;
/// The number of elements that are read and checked before memory is allocated for more.
constexpr hsize_t kPiece = 1 << 16;

/// Calls `visit(position, value)` for [first, last) of the row with index prefix `row`, in order.
template <class T, class Visit>
void for_each(const Dataset& dataset, Position row, hsize_t first, hsize_t last, Visit visit) {
  std::vector<T> piece(static_cast<std::size_t>(std::min(kPiece, last - first)));
  row.push_back(first);
  while (row.back() < last) {
    const hsize_t begin = row.back();
    const auto count = static_cast<std::size_t>(std::min(kPiece, last - begin));
    dataset.read(row, count, piece.data());
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, piece[i]);
    row.back() += count;
  }
}

hdf5::Handle open(const std::string& path) {
  hdf5::silence();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) refuse_unreadable(path);
  hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) {
    const std::string why = hdf5::reason();
    if (H5Fis_hdf5(path.c_str()) == 0) {
      throw InputError("{}: is not an HDF5 file, which a trace is", path);
    }
    throw InputError("{}: cannot be opened{}", path, why);
  }
  return file;
}

/// A number or text of the header.
Dataset in_header(const std::string& path, hid_t file, const char* name, Kind kind) {
  return {path, file, fmt::format("/header/{}", name), kind, 0};
}

std::int64_t whole_number(const Dataset& dataset) {
  std::int64_t value = 0;
  dataset.read({}, 1, &value);
  return value;
}

void check_format(const std::string& path, hid_t file) {
  if (!hdf5::exists(path, file, "/header/format")) {
    hdf5::refuse(path, "/header/format",
                 "is missing, so this is no trace, or its recording did not end");
  }
  const Dataset format = in_header(path, file, "format", Kind::text);
  const std::string text = format.read_text({});
  if (text != "thinwire-trace") {
    format.refuse(fmt::format("is '{:.40}', a trace has 'thinwire-trace'", text));
  }
  const Dataset version = in_header(path, file, "version", Kind::integer);
  if (whole_number(version) != kTraceVersion) {
    version.refuse(fmt::format("is {}, readable is {}", whole_number(version), kTraceVersion));
  }
}

std::int64_t number_within(const std::string& path, hid_t file, const char* name,
                           std::int64_t most) {
  const Dataset dataset = in_header(path, file, name, Kind::integer);
  const std::int64_t value = whole_number(dataset);
  if (value < 1 || value > most) {
    dataset.refuse(fmt::format("is {}, it must lie in 1 .. {}", value, most));
  }
  return value;
}

std::vector<Layer> read_layers(const std::string& path, hid_t file, std::int64_t components) {
  const Dataset names(path, file, "/layers/name", Kind::text, 1);
  const Dataset sizes(path, file, "/layers/size", Kind::integer, 1);
  const hsize_t count = sizes.shape()[0];
  if (count == 0 || count > kMostLayers) {
    sizes.refuse(fmt::format("tells of {} layers, there must be 1 .. {}", count, kMostLayers));
  }
  names.require_shape({count}, "[L]");
  std::vector<Layer> layers;
  std::int64_t first = 0;
  for_each<std::int64_t>(sizes, {}, 0, count, [&](hsize_t at, std::int64_t size) {
    if (size < 1 || size > components - first) {
      sizes.refuse({at}, fmt::format("is {}, but layers have 1 component at least, and {} together",
                                     size, components));
    }
    layers.push_back({names.read_text({at}), first, size});
    first += size;
  });
  if (first != components) {
    sizes.refuse(fmt::format("adds up to {}, but there are {} components", first, components));
  }
  return layers;
}

TraceHeader read_header(const std::string& path, hid_t file) {
  TraceHeader header;
  header.components =
      number_within(path, file, "components", std::numeric_limits<std::uint32_t>::max());
  header.ranks = static_cast<int>(number_within(path, file, "ranks", kMostRanks));
  const Dataset density = in_header(path, file, "density", Kind::real);
  header.density = density.read_double();
  if (!(header.density > 0 && header.density <= 1)) {
    density.refuse(fmt::format("is {}, it must lie in (0, 1]", header.density));
  }
  header.seed = in_header(path, file, "seed", Kind::integer).read_unsigned();
  header.source = in_header(path, file, "source", Kind::text).read_text({});
  const Dataset residual_rule = in_header(path, file, "residual_rule", Kind::text);
  const std::string rule = residual_rule.read_text({});
  if (rule == "oktopk") {
    header.residual_rule = ResidualRule::oktopk;
  } else if (rule != "all") {
    residual_rule.refuse(fmt::format("is '{:.40}', it must be 'all' or 'oktopk'", rule));
  }
  header.layers = read_layers(path, file, header.components);
  return header;
}

/// Reads training iterations: from 1, increasing, and consecutive if `consecutive`.
std::vector<int> read_iterations(const Dataset& dataset, bool consecutive) {
  std::vector<int> iterations;
  for_each<std::int64_t>(
      dataset, {}, 0, dataset.shape()[0], [&](hsize_t at, std::int64_t iteration) {
        const int before = iterations.empty() ? 0 : iterations.back();
        if (iteration <= before || iteration > std::numeric_limits<int>::max()) {
          dataset.refuse({at}, fmt::format("is {} after {}, but iterations count from 1 and "
                                           "increase",
                                           iteration, before));
        }
        if (consecutive && before != 0 && iteration != before + 1) {
          dataset.refuse({at}, fmt::format("is {} after {}, but iterations with gradients are "
                                           "consecutive",
                                           iteration, before));
        }
        iterations.push_back(static_cast<int>(iteration));
      });
  if (iterations.empty()) dataset.refuse("holds no iteration; there must be one at least");
  return iterations;
}

std::uint32_t checked_component(const Dataset& dataset, hsize_t at, std::int64_t index,
                                std::int64_t before, std::int64_t components) {
  if (index < 0 || index >= components) {
    dataset.refuse({at}, fmt::format("is {}, but components are 0 .. {}", index, components - 1));
  }
  if (index <= before) {
    dataset.refuse({at}, fmt::format("is {} after {}, but components increase", index, before));
  }
  return static_cast<std::uint32_t>(index);
}

void require_finite(const Dataset& dataset, const Position& at, float value) {
  if (!std::isfinite(value)) dataset.refuse(at, fmt::format("is {}, it must be finite", value));
}

void require_magnitude(const Dataset& dataset, const Position& at, float value) {
  if (!(value >= 0) || !std::isfinite(value)) {
    dataset.refuse(at, fmt::format("is {}, it must be finite and at least 0", value));
  }
}

struct OpenTrace {
  explicit OpenTrace(std::string file_path)
      : path(std::move(file_path)),
        file(open(path)),
        header((check_format(path, file.id()), read_header(path, file.id()))),
        threshold(path, file.id(), "/threshold", Kind::real, 2),
        begin(path, file.id(), "/selected/begin", Kind::integer, 1),
        index(path, file.id(), "/selected/index", Kind::integer, 1),
        value(path, file.id(), "/selected/value", Kind::real, 1) {
    iterations = read_iterations({path, file.id(), "/iteration", Kind::integer, 1}, false);
    const auto windows = static_cast<hsize_t>(iterations.size());
    const auto ranks = static_cast<hsize_t>(header.ranks);
    threshold.require_shape({windows, ranks}, "[iterations, ranks]");
    begin.require_shape({windows * ranks + 1}, "[iterations * ranks + 1]");
    value.require_shape(index.shape(), "the shape of /selected/index");
    if (hdf5::exists(path, file.id(), "/global_threshold")) {
      global_threshold.emplace(path, file.id(), "/global_threshold", Kind::real, 1);
      global_threshold->require_shape({windows}, "[iterations]");
    }
    check_ends();
    if (hdf5::exists(path, file.id(), "/gradients")) read_sample();
  }

  /// The first list begins at 0, and the last ends at the number of entries.
  void check_ends() const {
    const auto entries = static_cast<std::int64_t>(index.shape()[0]);
    const hsize_t last = begin.shape()[0] - 1;
    std::int64_t found = 0;
    begin.read({0}, 1, &found);
    if (found != 0) begin.refuse({0}, fmt::format("is {}, the first begin is 0", found));
    begin.read({last}, 1, &found);
    if (found != entries) {
      begin.refuse({last},
                   fmt::format("is {}, but /selected/index has {} entries", found, entries));
    }
  }

  void read_sample() {
    GradientSample found;
    const Dataset coordinates(path, file.id(), "/gradients/coordinate", Kind::integer, 1);
    const Dataset residual(path, file.id(), "/gradients/residual", Kind::real, 2);
    const auto ranks = static_cast<std::int64_t>(residual.shape()[0]);
    if (ranks < 1 || ranks > header.ranks) {
      residual.refuse(fmt::format("is of {} ranks, there must be 1 .. {}", ranks, header.ranks));
    }
    found.ranks = static_cast<int>(ranks);
    std::int64_t before = -1;
    for_each<std::int64_t>(
        coordinates, {}, 0, coordinates.shape()[0], [&](hsize_t at, std::int64_t coordinate) {
          found.coordinates.push_back(
              checked_component(coordinates, at, coordinate, before, header.components));
          before = coordinate;
        });
    if (found.coordinates.empty()) coordinates.refuse("is empty; there must be one at least");
    found.iterations =
        read_iterations({path, file.id(), "/gradients/iteration", Kind::integer, 1}, true);
    const Position of_rank{residual.shape()[0], coordinates.shape()[0]};
    residual.require_shape(of_rank, "[ranks, coordinates]");
    const auto iteration_count = static_cast<hsize_t>(found.iterations.size());
    scale.emplace(path, file.id(), "/gradients/scale", Kind::real, 2);
    scale->require_shape({iteration_count, of_rank[0]}, "[iterations, ranks]");
    gradient.emplace(path, file.id(), "/gradients/value", Kind::real, 3);
    gradient->require_shape({iteration_count, of_rank[0], of_rank[1]},
                            "[iterations, ranks, coordinates]");
    for (hsize_t rank = 0; rank < of_rank[0]; ++rank) {
      std::vector<float>& values = found.residuals.emplace_back();
      for_each<float>(residual, {rank}, 0, of_rank[1], [&](hsize_t at, float residue) {
        require_finite(residual, {rank, at}, residue);
        values.push_back(residue);
      });
    }
    sample = std::move(found);
  }

  /// The begins of `count` lists from list `first` on, and the end of the last.
  [[nodiscard]] std::vector<std::int64_t> begins(hsize_t first, std::size_t count) const {
    std::vector<std::int64_t> found(count + 1);
    begin.read({first}, found.size(), found.data());
    const auto entries = static_cast<std::int64_t>(index.shape()[0]);
    for (std::size_t i = 0; i <= count; ++i) {
      const std::int64_t least = i == 0 ? 0 : found[i - 1];
      if (found[i] < least || found[i] > entries) {
        begin.refuse({first + i}, fmt::format("is {} after {}, but begins do not decrease and are "
                                              "at most {}",
                                              found[i], least, entries));
      }
      if (i > 0 && found[i] - least > header.components) {
        begin.refuse({first + i}, fmt::format("leaves a rank {} entries of {} components",
                                              found[i] - least, header.components));
      }
    }
    return found;
  }

  [[nodiscard]] SparseVector entries(std::int64_t first, std::int64_t last) const {
    const auto from = static_cast<hsize_t>(first);
    const auto to = static_cast<hsize_t>(last);
    std::vector<Entry> list;
    std::int64_t before = -1;
    for_each<std::int64_t>(index, {}, from, to, [&](hsize_t at, std::int64_t component) {
      list.push_back({checked_component(index, at, component, before, header.components), 0});
      before = component;
    });
    for_each<float>(value, {}, from, to, [&](hsize_t at, float of_entry) {
      require_finite(value, {at}, of_entry);
      list[static_cast<std::size_t>(at - from)].value = of_entry;
    });
    return SparseVector::trusted(std::move(list));
  }

  std::string path;
  hdf5::Handle file;
  TraceHeader header;
  Dataset threshold;
  Dataset begin;
  Dataset index;
  Dataset value;
  std::optional<Dataset> global_threshold;
  std::vector<int> iterations;
  std::optional<GradientSample> sample;
  std::optional<Dataset> scale;
  std::optional<Dataset> gradient;
};

class Hdf5Reader final : public TraceReader::File {
 public:
  explicit Hdf5Reader(const std::string& path) : file_(path) {}

  [[nodiscard]] const TraceHeader& header() const override { return file_.header; }
  [[nodiscard]] const std::vector<int>& iterations() const override { return file_.iterations; }
  [[nodiscard]] TraceWindow window(std::size_t at) const override;
  [[nodiscard]] SparseVector selected(std::size_t at, Rank rank) const override;
  [[nodiscard]] const std::optional<GradientSample>& gradients() const override {
    return file_.sample;
  }
  [[nodiscard]] std::vector<float> gradient(std::size_t at, Rank rank) const override;

 private:
  OpenTrace file_;
};

TraceWindow Hdf5Reader::window(std::size_t at) const {
  const OpenTrace& file = file_;
  const auto row = static_cast<hsize_t>(at);
  const auto ranks = static_cast<std::size_t>(file.header.ranks);
  TraceWindow window;
  window.iteration = file.iterations.at(at);
  window.thresholds.resize(ranks);
  file.threshold.read({row, 0}, ranks, window.thresholds.data());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    require_magnitude(file.threshold, {row, rank}, window.thresholds[rank]);
  }
  if (file.global_threshold) {
    file.global_threshold->read({row}, 1, &window.global_threshold.emplace());
    require_magnitude(*file.global_threshold, {row}, *window.global_threshold);
  }
  const std::vector<std::int64_t> begins = file.begins(row * ranks, ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    window.selected.push_back(file.entries(begins[rank], begins[rank + 1]));
  }
  return window;
}

SparseVector Hdf5Reader::selected(std::size_t at, Rank rank) const {
  static_cast<void>(file_.iterations.at(at));
  const auto ranks = static_cast<hsize_t>(file_.header.ranks);
  const std::vector<std::int64_t> begins =
      file_.begins(static_cast<hsize_t>(at) * ranks + static_cast<hsize_t>(rank.value()), 1);
  return file_.entries(begins[0], begins[1]);
}

std::vector<float> Hdf5Reader::gradient(std::size_t at, Rank rank) const {
  const GradientSample& sample = file_.sample.value();
  static_cast<void>(sample.iterations.at(at));
  const Position row{static_cast<hsize_t>(at), static_cast<hsize_t>(rank.value())};
  float scale = 0;
  file_.scale->read(row, 1, &scale);
  require_magnitude(*file_.scale, row, scale);
  std::vector<float> values;
  values.reserve(sample.coordinates.size());
  for_each<float>(*file_.gradient, row, 0, sample.coordinates.size(),
                  [&](hsize_t component, float value) {
                    values.push_back(scale * value);
                    require_finite(*file_.gradient, {row[0], row[1], component}, values.back());
                  });
  return values;
}

}  // namespace

std::unique_ptr<TraceReader::File> open_trace(const std::string& path) {
  return std::make_unique<Hdf5Reader>(path);
}

}  // namespace thinwire::traces

extern "C" const thinwire::traces::TraceFunctions thinwire_traces{
    .open = thinwire::traces::open_trace, .create = thinwire::traces::create_trace};
