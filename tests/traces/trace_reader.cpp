#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/traces.hpp"
#include "traces/hdf5.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

using hdf5::Handle;
using test::contains;
using test::error_of;
using test::TemporaryFolder;

namespace {

/// A whole trace of 2 ranks in 2 iterations, to be broken and then read.
class Patient {
 public:
  Patient() {
    const TraceHeader header = test::small_header(2);
    TraceWriter writer(path_, header);
    writer.sample_gradients(test::small_sample());
    for (int i = 0; i < 2; ++i) {
      TraceWindow window{.iteration = 5 + i,
                         .selected = {SparseVector::checked({{1, 2}, {3, -4}, {999, 5}}),
                                      SparseVector::checked({{0, 2}, {3, 4}})},
                         .thresholds = {2, 1.5F},
                         .global_threshold = 4};
      writer.append(window);
      writer.append_gradients(5 + i, {{1, -2, 0.5F}, {100, 0, 1}});
    }
    writer.finish();
    open();
  }

  [[nodiscard]] hid_t id() const { return file_.id(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  void remove(const char* name) const { REQUIRE(H5Ldelete(id(), name, H5P_DEFAULT) >= 0); }
  template <class T>
  void put(const char* name, hid_t disk, hid_t memory, const std::vector<T>& values,
           std::vector<hsize_t> shape = {}) const {
    if (H5Lexists(id(), name, H5P_DEFAULT) > 0) remove(name);
    if (shape.empty()) shape = {values.size()};
    const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                       H5Sclose);
    const Handle dataset(
        H5Dcreate2(id(), name, disk, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    REQUIRE(dataset.valid());
    if (values.empty()) return;
    REQUIRE(H5Dwrite(dataset.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  }
  void integers(const char* name, const std::vector<std::int64_t>& values,
                const std::vector<hsize_t>& shape = {}) const {
    put(name, H5T_STD_I64LE, H5T_NATIVE_INT64, values, shape);
  }
  void reals(const char* name, const std::vector<float>& values,
             const std::vector<hsize_t>& shape = {}) const {
    put(name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values, shape);
  }
  void header(const std::string& name, hid_t disk, hid_t memory, const void* value) const {
    const std::string path = "/header/" + name;
    remove(path.c_str());
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle made(
        H5Dcreate2(id(), path.c_str(), disk, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    REQUIRE(H5Dwrite(made.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
  }
  void header(const std::string& name, std::int64_t value) const {
    header(name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
  }
  void header(const std::string& name, double value) const {
    header(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
  }
  void header(const std::string& name, const std::string& value) const {
    const Handle type = hdf5::string_type(value.size());
    header(name, type.id(), type.id(), value.c_str());
  }

  /// What reading all of it says.
  [[nodiscard]] std::string diagnosis() {
    REQUIRE(file_.close());
    return error_of<InputError>([&] { static_cast<void>(read_all(TraceReader(path_))); });
  }

 private:
  void open() {
    file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    REQUIRE(file_.valid());
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("t.h5");
  Handle file_;
};

}  // namespace

TEST_CASE(
    "what is wrong with a trace is said with file, dataset, position and what would be right") {
  struct Case {
    std::string said;
    std::function<void(const Patient&)> harm;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<Case> cases{
      {"(nothing was thrown)", [](const Patient&) {}},
      // The header.
      {"/header/format: is missing, so this is no trace",
       [](const Patient& p) { p.remove("/header/format"); }},
      {"/header/format: is 'other'",
       [](const Patient& p) { p.header("format", std::string("other")); }},
      {"/header/format: has another type; expected strings of fixed length",
       [](const Patient& p) { p.header("format", std::int64_t{1}); }},
      {"/header/version: is 2, readable is 1",
       [](const Patient& p) { p.header("version", std::int64_t{2}); }},
      {"/header/ranks: is missing", [](const Patient& p) { p.remove("/header/ranks"); }},
      {"/header/ranks: is 0, it must lie in 1 ..",
       [](const Patient& p) { p.header("ranks", std::int64_t{0}); }},
      {"/header/components: is 4294967296, it must lie in 1 .. 4294967295",
       [](const Patient& p) { p.header("components", std::int64_t{1} << 32); }},
      {"/header/density: is 0, it must lie in (0, 1]",
       [](const Patient& p) { p.header("density", 0.0); }},
      {"/header/density: is nan", [](const Patient& p) { p.header("density", NAN); }},
      {"/header/density: is 1.5", [](const Patient& p) { p.header("density", 1.5); }},
      {"/header/density: has another type; expected reals",
       [](const Patient& p) { p.header("density", std::int64_t{1}); }},
      {"/header/residual_rule: is 'none', it must be 'all' or 'oktopk'",
       [](const Patient& p) { p.header("residual_rule", std::string("none")); }},
      {"/header/source: has another type; expected strings of fixed length",
       [](const Patient& p) {
         const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
         H5Tset_size(type.id(), H5T_VARIABLE);
         const char* const text = "of variable length";
         p.header("source", type.id(), type.id(), static_cast<const void*>(&text));
       }},
      {"/header/ranks: has 1 dimensions, expected 0",
       [](const Patient& p) { p.integers("/header/ranks", {2}); }},
      {"/layers/size: adds up to 999, but there are 1000",
       [](const Patient& p) {
         p.integers("/layers/size", {990, 9});
       }},
      {"/layers/size[1]: is 11, but layers have 1 component at least, and 1000 together",
       [](const Patient& p) {
         p.integers("/layers/size", {990, 11});
       }},
      {"/layers/size[0]: is -1",
       [](const Patient& p) {
         p.integers("/layers/size", {-1, 1001});
       }},
      {"/layers/name: has shape [2], expected [L] = [3]",
       [](const Patient& p) {
         p.integers("/layers/size", {1, 1, 998});
       }},
      {"/layers/size: tells of 0 layers",
       [](const Patient& p) { p.integers("/layers/size", {}, {0}); }},
      // Whole datasets.
      {"/iteration: is missing", [](const Patient& p) { p.remove("/iteration"); }},
      {"/selected/begin: is missing", [](const Patient& p) { p.remove("/selected"); }},
      {"/iteration: has another type; expected integers",
       [](const Patient& p) {
         p.reals("/iteration", {5, 6});
       }},
      {"/iteration: has 2 dimensions, expected 1",
       [](const Patient& p) {
         p.integers("/iteration", {5, 6}, {1, 2});
       }},
      {"/iteration: holds no iteration",
       [](const Patient& p) { p.integers("/iteration", {}, {0}); }},
      {"/threshold: has shape [3, 2], expected [iterations, ranks] = [2, 2]",
       [](const Patient& p) {
         p.reals("/threshold", {1, 1, 1, 1, 1, 1}, {3, 2});
       }},
      {"/global_threshold: has shape [1], expected [iterations] = [2]",
       [](const Patient& p) { p.reals("/global_threshold", {1}); }},
      {"/selected/begin: has shape [4], expected [iterations * ranks + 1] = [5]",
       [](const Patient& p) {
         p.integers("/selected/begin", {0, 3, 5, 10});
       }},
      {"/selected/value: has shape [9], expected the shape of /selected/index = [10]",
       [](const Patient& p) { p.reals("/selected/value", std::vector<float>(9, 1)); }},
      {"/selected/index: has shape [1000000000000], but only",
       [](const Patient& p) { p.integers("/selected/index", {}, {1'000'000'000'000}); }},
      {"/selected/value: is a link to elsewhere",
       [](const Patient& p) {
         p.remove("/selected/value");
         H5Lcreate_external("other.h5", "/x", p.id(), "/selected/value", H5P_DEFAULT, H5P_DEFAULT);
       }},
      {"/selected/value: is a link to elsewhere",
       [](const Patient& p) {
         p.remove("/selected/value");
         H5Lcreate_soft("/threshold", p.id(), "/selected/value", H5P_DEFAULT, H5P_DEFAULT);
       }},
      {"/selected: is a link to elsewhere",
       [](const Patient& p) {
         p.remove("/selected");
         H5Lcreate_soft("/layers", p.id(), "/selected", H5P_DEFAULT, H5P_DEFAULT);
       }},
      {"/selected/value: lies in other files",
       [](const Patient& p) {
         p.remove("/selected/value");
         const hsize_t count = 10;
         const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
         const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
         H5Pset_external(creation.id(), "/etc/hostname", 0, 40);
         const Handle dataset(H5Dcreate2(p.id(), "/selected/value", H5T_IEEE_F32LE, space.id(),
                                         H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                              H5Dclose);
         REQUIRE(dataset.valid());
       }},
      {"/selected/value: has chunks of 134217728 elements; they may have 256 MiB",
       [](const Patient& p) {
         p.remove("/selected/value");
         const hsize_t count = 10;
         const hsize_t most = H5S_UNLIMITED;
         const hsize_t chunk = hsize_t{1} << 27U;
         const Handle space(H5Screate_simple(1, &count, &most), H5Sclose);
         const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
         H5Pset_chunk(creation.id(), 1, &chunk);
         const Handle dataset(H5Dcreate2(p.id(), "/selected/value", H5T_IEEE_F32LE, space.id(),
                                         H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                              H5Dclose);
         REQUIRE(dataset.valid());
       }},
      // What is in them.
      {"/iteration[1]: is 5 after 5, but iterations count from 1 and increase",
       [](const Patient& p) {
         p.integers("/iteration", {5, 5});
       }},
      {"/iteration[0]: is 0 after 0",
       [](const Patient& p) {
         p.integers("/iteration", {0, 1});
       }},
      {"/iteration[1]: is 4294967296 after 5",
       [](const Patient& p) {
         p.integers("/iteration", {5, std::int64_t{1} << 32});
       }},
      {"/threshold[1, 0]: is -1, it must be finite and at least 0",
       [](const Patient& p) {
         p.reals("/threshold", {1, 1, -1, 1}, {2, 2});
       }},
      {"/threshold[0, 1]: is nan",
       [&](const Patient& p) {
         p.reals("/threshold", {1, nan, 1, 1}, {2, 2});
       }},
      {"/global_threshold[1]: is inf",
       [&](const Patient& p) {
         p.reals("/global_threshold", {1, inf});
       }},
      {"/selected/begin[0]: is 1, the first begin is 0",
       [](const Patient& p) {
         p.integers("/selected/begin", {1, 3, 5, 8, 10});
       }},
      {"/selected/begin[4]: is 11, but /selected/index has 10 entries",
       [](const Patient& p) {
         p.integers("/selected/begin", {0, 3, 5, 8, 11});
       }},
      {"/selected/begin[2]: is 2 after 3, but begins do not decrease",
       [](const Patient& p) {
         p.integers("/selected/begin", {0, 3, 2, 8, 10});
       }},
      {"/selected/begin[3]: is 12 after 5, but begins do not decrease and are at most 10",
       [](const Patient& p) {
         p.integers("/selected/begin", {0, 3, 5, 12, 10});
       }},
      {"/selected/begin[1]: is -3 after 0",
       [](const Patient& p) {
         p.integers("/selected/begin", {0, -3, 5, 8, 10});
       }},
      {"/selected/index[7]: is 1000, but components are 0 .. 999",
       [](const Patient& p) {
         p.integers("/selected/index", {1, 3, 9, 0, 3, 1, 3, 1000, 0, 3});
       }},
      {"/selected/index[4]: is -1, but components are 0 .. 999",
       [](const Patient& p) {
         p.integers("/selected/index", {1, 3, 9, 0, -1, 1, 3, 9, 0, 3});
       }},
      {"/selected/index[6]: is 1 after 1, but components increase",
       [](const Patient& p) {
         p.integers("/selected/index", {1, 3, 9, 0, 3, 1, 1, 9, 0, 3});
       }},
      {"/selected/value[9]: is nan, it must be finite",
       [&](const Patient& p) {
         p.reals("/selected/value", {1, 1, 1, 1, 1, 1, 1, 1, 1, nan});
       }},
      {"/selected/value[0]: is inf",  // beyond float
       [](const Patient& p) {
         p.put("/selected/value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
               std::vector<double>{1e300, 1, 1, 1, 1, 1, 1, 1, 1, 1});
       }},
      // The gradients.
      {"/gradients/scale: is missing", [](const Patient& p) { p.remove("/gradients/scale"); }},
      {"/gradients/coordinate[2]: is 10 after 10",
       [](const Patient& p) {
         p.integers("/gradients/coordinate", {0, 10, 10});
       }},
      {"/gradients/coordinate[2]: is 1000, but",
       [](const Patient& p) {
         p.integers("/gradients/coordinate", {0, 10, 1000});
       }},
      {"/gradients/iteration[1]: is 7 after 5, but iterations with gradients are consecutive",
       [](const Patient& p) {
         p.integers("/gradients/iteration", {5, 7});
       }},
      {"/gradients/residual: is of 3 ranks, there must be 1 .. 2",
       [](const Patient& p) {
         p.reals("/gradients/residual", std::vector<float>(9, 0), {3, 3});
       }},
      {"/gradients/residual: has shape [2, 2], expected [ranks, coordinates] = [2, 3]",
       [](const Patient& p) {
         p.reals("/gradients/residual", std::vector<float>(4, 0), {2, 2});
       }},
      {"/gradients/residual[1, 2]: is nan",
       [&](const Patient& p) {
         p.reals("/gradients/residual", {0, 0, 0, 0, 0, nan}, {2, 3});
       }},
      {"/gradients/scale[1, 0]: is -1",
       [](const Patient& p) {
         p.reals("/gradients/scale", {1, 1, -1, 1}, {2, 2});
       }},
      {"/gradients/value: has shape [2, 2, 2], expected [iterations, ranks, coordinates]",
       [](const Patient& p) {
         p.reals("/gradients/value", std::vector<float>(8, 1), {2, 2, 2});
       }},
      {"/gradients/value[1, 0, 2]: is inf",
       [&](const Patient& p) {
         std::vector<float> values(12, 1);
         values[8] = inf;
         p.reals("/gradients/value", values, {2, 2, 3});
       }},
  };
  for (const Case& one : cases) {
    Patient patient;
    one.harm(patient);
    const std::string said = patient.diagnosis();
    CAPTURE(said);
    CAPTURE(one.said);
    CHECK(contains(said, one.said));
    if (one.said.front() == '/') CHECK(said.starts_with(patient.path() + ": "));
  }
}

TEST_CASE("other widths and byte orders are converted") {
  Patient patient;
  const std::vector<std::int64_t> components{1, 3, 9, 0, 3, 1, 3, 9, 0, 3};
  patient.put("/selected/index", H5T_STD_I16BE, H5T_NATIVE_INT64, components);
  patient.put("/selected/value", hdf5::float16().id(), H5T_NATIVE_INT64, components);
  patient.put("/iteration", H5T_STD_U8LE, H5T_NATIVE_INT64, std::vector<std::int64_t>{250, 255});
  CHECK(patient.diagnosis() == "(nothing was thrown)");
  const TraceReader reader(patient.path());
  CHECK(reader.iterations() == std::vector<int>{250, 255});
  const SparseVector selected = reader.selected(1, Rank(0));
  CHECK(std::ranges::equal(selected.entries(), std::vector<Entry>{{1, 1}, {3, 3}, {9, 9}}));
}

TEST_CASE("what is not an HDF5 file, or is cut off, is refused with the reason") {
  const TemporaryFolder folder;
  const auto said = [&](const std::string& path) {
    return error_of<InputError>([&] { const TraceReader reader(path); });
  };
  CHECK(contains(said(folder.path("none.h5")), "none.h5: cannot be read: there is no such file"));
  CHECK(contains(said(folder.path("")), "cannot be read: it is a folder"));
  CHECK(contains(said(folder.write("text.h5", "a,b\n1,2\n")), "text.h5: is not an HDF5 file"));
  CHECK(contains(said(folder.write("empty.h5", "")), "empty.h5: is not an HDF5 file"));

  const std::string path = folder.path("t.h5");
  test::write_small_trace(path);
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 1);
  CHECK(contains(said(path), "t.h5: cannot be opened (HDF5: truncated file"));

  const std::string other = folder.path("other.h5");
  {
    const Handle file(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  }
  CHECK(contains(said(other), "other.h5: /header/format: is missing"));
}

TEST_CASE("selections longer than the pieces in which they are read come back") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  TraceHeader header = test::small_header(2, 300'000);
  header.density = 0.7;
  test::write_small_trace(path, 2, false, header);
  const TraceReader reader(path);
  for (std::size_t at = 0; at < 2; ++at) {
    const TraceWindow wanted = test::small_window(header, 10 + static_cast<int>(at));
    const TraceWindow window = reader.window(at);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      CHECK(window.selected[rank].size() > 200'000);
      CHECK(std::ranges::equal(window.selected[rank].entries(), wanted.selected[rank].entries()));
    }
  }
}

TEST_CASE("whatever the fuzzer found is read or refused") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(THINWIRE_SOURCE_DIR "/tests/fuzz/corpus/trace")) {
    CAPTURE(entry.path().string());
    ++files;
    CHECK_NOTHROW(static_cast<void>(error_of<InputError>(
        [&] { static_cast<void>(read_all(TraceReader(entry.path().string()))); })));
  }
  CHECK(files > 5);
}

}  // namespace thinwire::traces
