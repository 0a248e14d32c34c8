#include "traces/hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "sim/core/base/errors.hpp"

namespace thinwire::traces::hdf5 {

namespace {

/// The largest accepted ratio of a dataset's size to its size on disk. It exceeds the ratio of
/// deflate (1032), and stops a few bytes from claiming to be an exabyte.
constexpr double kMostCompression = 4096;
/// HDF5 holds a whole chunk in memory to read one value of it.
constexpr hsize_t kLargestChunk = hsize_t{1} << 28U;
constexpr std::size_t kLongestText = std::size_t{1} << 20U;

hsize_t elements_of(const std::vector<hsize_t>& shape) {
  hsize_t elements = 1;
  for (const hsize_t length : shape) {
    if (length != 0 && elements > std::numeric_limits<hsize_t>::max() / length) {
      return std::numeric_limits<hsize_t>::max();
    }
    elements *= length;
  }
  return elements;
}

std::string shape_text(const std::vector<hsize_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool is_plain_integer(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  return H5Tget_class(type) == H5T_INTEGER && (size == 1 || size == 2 || size == 4 || size == 8) &&
         H5Tget_precision(type) == 8 * size && H5Tget_offset(type) == 0;
}

bool is_plain_real(hid_t type) {
  if (H5Tget_class(type) != H5T_FLOAT) return false;
  const Handle half = float16();
  const Handle big_half(H5Tcopy(half.id()), H5Tclose);
  H5Tset_order(big_half.id(), H5T_ORDER_BE);
  return std::ranges::any_of(std::vector<hid_t>{half.id(), big_half.id(), H5T_IEEE_F32LE,
                                                H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE},
                             [type](hid_t known) { return H5Tequal(type, known) > 0; });
}

const char* wanted(Kind kind) {
  switch (kind) {
    case Kind::integer:
      return "integers of 8 to 64 bits";
    case Kind::real:
      return "reals: float16, float32 or float64";
    case Kind::text:
      break;
  }
  return "strings of fixed length (numpy.bytes_)";
}

bool is_kind(hid_t type, Kind kind) {
  switch (kind) {
    case Kind::integer:
      return is_plain_integer(type);
    case Kind::real:
      return is_plain_real(type);
    case Kind::text:
      break;
  }
  // HDF5 reads texts of variable length through references that it does not check.
  return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
}

}  // namespace

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string reason() {
  std::string text;
  // The upward walk begins with the innermost error, which is the most specific.
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* target) -> herr_t {
        auto& found = *static_cast<std::string*>(target);
        if (found.empty() && error->desc != nullptr) found = error->desc;
        return 0;
      },
      &text);
  H5Eclear2(H5E_DEFAULT);
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "" : fmt::format(" (HDF5: {})", text);
}

void refuse(const std::string& file, const std::string& where, const std::string& what) {
  throw InputError("{}: {}: {}", file, where, what);
}

std::string place(const std::string& name, const std::vector<hsize_t>& at) {
  return name + shape_text(at);
}

Handle float16() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type.id(), 15, 10, 5, 0, 10);
  H5Tset_precision(type.id(), 16);
  H5Tset_size(type.id(), 2);
  H5Tset_ebias(type.id(), 15);
  return type;
}

Handle string_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(1, size));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

Dataset::Dataset(std::string path, hid_t file, std::string name, Kind kind, std::size_t dimensions)
    : path_(std::move(path)), name_(std::move(name)) {
  if (!exists(path_, file, name_)) refuse("is missing");
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  // The cache is large enough that ranks which share a chunk do not unpack it once each.
  H5Pset_chunk_cache(access.id(), 1009, std::size_t{1} << 25U, 1);
  dataset_ = Handle(H5Dopen2(file, name_.c_str(), access.id()), H5Dclose);
  if (!dataset_.valid()) refuse("is no dataset" + reason());
  type_ = Handle(H5Dget_type(dataset_.id()), H5Tclose);
  const Handle space(H5Dget_space(dataset_.id()), H5Sclose);
  if (!type_.valid() || !space.valid()) refuse("cannot be read" + reason());
  check_type(kind);
  const int found = H5Sget_simple_extent_ndims(space.id());
  if (found < 0 || static_cast<std::size_t>(found) != dimensions ||
      H5Sget_simple_extent_type(space.id()) == H5S_NULL) {
    refuse(fmt::format("has {} dimensions, expected {}", std::max(found, 0), dimensions));
  }
  shape_.resize(dimensions);
  if (H5Sget_simple_extent_dims(space.id(), shape_.data(), nullptr) < 0) {
    refuse("cannot be read" + reason());
  }
  check_storage();
}

void Dataset::check_type(Kind kind) const {
  if (is_kind(type_.id(), kind)) return;
  refuse(fmt::format("has another type; expected {}", wanted(kind)));
}

void Dataset::check_storage() const {
  const Handle creation(H5Dget_create_plist(dataset_.id()), H5Pclose);
  if (!creation.valid()) refuse("cannot be read" + reason());
  const H5D_layout_t layout = H5Pget_layout(creation.id());
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
    refuse("lies in other files; a trace holds its data itself");
  }
  if (layout != H5D_CHUNKED && H5Pget_external_count(creation.id()) != 0) {
    refuse("lies in other files; a trace holds its data itself");
  }
  const std::size_t size = H5Tget_size(type_.id());
  if (layout == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(shape_.size());
    if (H5Pget_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data()) < 0) {
      refuse("cannot be read" + reason());
    }
    const hsize_t elements = elements_of(chunk);
    if (elements > kLargestChunk / size) {
      refuse(fmt::format("has chunks of {} elements; they may have {} MiB", elements,
                         kLargestChunk >> 20U));
    }
  }
  const hsize_t elements = elements_of(shape_);
  if (elements == 0) return;
  std::error_code ignored;
  const auto file_size = static_cast<double>(std::filesystem::file_size(path_, ignored));
  const double stored =
      std::min(file_size, static_cast<double>(H5Dget_storage_size(dataset_.id())));
  if (static_cast<double>(elements) * static_cast<double>(size) > kMostCompression * stored) {
    refuse(fmt::format("has shape {}, but only {} bytes are stored; was it written?",
                       shape_text(shape_), stored));
  }
}

void Dataset::require_shape(const std::vector<hsize_t>& shape, const std::string& meaning) const {
  if (shape_ == shape) return;
  refuse(fmt::format("has shape {}, expected {} = {}", shape_text(shape_), meaning,
                     shape_text(shape)));
}

void Dataset::read_as(hid_t type, const std::vector<hsize_t>& at, std::size_t count,
                      void* values) const {
  if (count == 0) return;
  if (shape_.empty()) {
    if (H5Dread(dataset_.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
      refuse("cannot be read" + reason());
    }
    return;
  }
  std::vector<hsize_t> counts(shape_.size(), 1);
  counts.back() = count;
  const Handle file_space(H5Dget_space(dataset_.id()), H5Sclose);
  const Handle memory_space(H5Screate_simple(1, &counts.back(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, at.data(), nullptr, counts.data(),
                          nullptr) < 0 ||
      H5Dread(dataset_.id(), type, memory_space.id(), file_space.id(), H5P_DEFAULT, values) < 0) {
    refuse(at, "cannot be read" + reason());
  }
}

void Dataset::read(const std::vector<hsize_t>& at, std::size_t count, std::int64_t* values) const {
  read_as(H5T_NATIVE_INT64, at, count, values);
}

void Dataset::read(const std::vector<hsize_t>& at, std::size_t count, float* values) const {
  read_as(H5T_NATIVE_FLOAT, at, count, values);
}

std::string Dataset::read_text(const std::vector<hsize_t>& at) const {
  const std::size_t size = H5Tget_size(type_.id());
  if (size > kLongestText) {
    refuse(fmt::format("is of {} bytes, at most {} are read", size, kLongestText));
  }
  std::string text(size, '\0');
  read_as(type_.id(), at, 1, text.data());
  text.resize(std::strlen(text.c_str()));
  if (H5Tget_strpad(type_.id()) == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

double Dataset::read_double() const {
  double value = 0;
  read_as(H5T_NATIVE_DOUBLE, {}, 1, &value);
  return value;
}

std::uint64_t Dataset::read_unsigned() const {
  std::uint64_t value = 0;
  read_as(H5T_NATIVE_UINT64, {}, 1, &value);
  return value;
}

void Dataset::refuse(const std::vector<hsize_t>& at, const std::string& what) const {
  hdf5::refuse(path_, place(name_, at), what);
}

void Dataset::refuse(const std::string& what) const { hdf5::refuse(path_, name_, what); }

bool exists(const std::string& path, hid_t file, const std::string& name) {
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string prefix = name.substr(0, end);
    if (H5Lexists(file, prefix.c_str(), H5P_DEFAULT) <= 0) return false;
    H5L_info_t info{};
    if (H5Lget_info(file, prefix.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD) {
      refuse(path, prefix, "is a link to elsewhere; a trace holds its data itself");
    }
    if (end == std::string::npos) return true;
  }
}

}  // namespace thinwire::traces::hdf5
