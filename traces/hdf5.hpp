// The part of HDF5's C interface that traces need: handles that close themselves, error texts, and
// datasets that are checked before they are read.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace thinwire::traces::hdf5 {

/// Owns an HDF5 identifier and closes it.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close how) : id_(id), close_(how) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { static_cast<void>(close()); }

  /// Returns whether closing succeeded: only then is a file completely written.
  bool close() {
    if (!valid()) return true;
    return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  [[nodiscard]] hid_t id() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Stops HDF5 from printing errors itself.
void silence();
/// The reason why the last call failed, as " (in HDF5's words)", or empty.
[[nodiscard]] std::string reason();

/// Throws "FILE: WHERE: what" as an InputError.
[[noreturn]] void refuse(const std::string& file, const std::string& where,
                         const std::string& what);
/// Formats a position as "/name[3]" or "/name[3, 5]".
[[nodiscard]] std::string place(const std::string& name, const std::vector<hsize_t>& at);

/// The two-byte type of numpy's float16.
[[nodiscard]] Handle float16();
/// The type of a UTF-8 text of `size` bytes.
[[nodiscard]] Handle string_type(std::size_t size);

enum class Kind : std::uint8_t { integer, real, text };

/// A dataset of a trace that is read. Its type, number of dimensions and storage are checked, so
/// its length is backed by data.
class Dataset {
 public:
  Dataset(std::string path, hid_t file, std::string name, Kind kind, std::size_t dimensions);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<hsize_t>& shape() const { return shape_; }
  /// Refuses another shape; `meaning` explains it, as in "[T, P]".
  void require_shape(const std::vector<hsize_t>& shape, const std::string& meaning) const;

  /// Reads `count` elements (one without dimensions) from `at` on, along the last dimension.
  /// Integers beyond std::int64_t and reals beyond float are read as the largest value or infinity.
  void read(const std::vector<hsize_t>& at, std::size_t count, std::int64_t* values) const;
  void read(const std::vector<hsize_t>& at, std::size_t count, float* values) const;
  [[nodiscard]] std::string read_text(const std::vector<hsize_t>& at) const;
  // For datasets without dimensions.
  [[nodiscard]] double read_double() const;
  [[nodiscard]] std::uint64_t read_unsigned() const;

  [[noreturn]] void refuse(const std::vector<hsize_t>& at, const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  void check_type(Kind kind) const;
  void check_storage() const;
  void read_as(hid_t type, const std::vector<hsize_t>& at, std::size_t count, void* values) const;

  std::string path_;
  std::string name_;
  Handle dataset_;
  Handle type_;
  std::vector<hsize_t> shape_;
};

/// Whether there is such a dataset or group. Refuses links to other places.
[[nodiscard]] bool exists(const std::string& path, hid_t file, const std::string& name);

}  // namespace thinwire::traces::hdf5
