// Traces as a user meets them: the subcommands, the recipe for h5py, and simulations of a trace.
#include "tests/app/cli/program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/errors.hpp"
#include "tests/support/traces.hpp"

namespace thinwire::traces {

using nlohmann::json;
using test::contains;
using testing::Ended;
using testing::run_program;
using testing::TemporaryFolder;
using testing::text_of;

namespace {

/// Python that has h5py.
constexpr const char* kPython = "/usr/bin/python3";

bool h5py_is_there() {
  return std::system((std::string(kPython) + " -c 'import h5py' 2> /dev/null").c_str()) == 0;
}

}  // namespace

TEST_CASE("trace show tells of header, unions, thresholds and layers, in every format") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  test::write_small_trace(path, 3, true);
  const Ended table = run_program("trace show " + path);
  CHECK(table.exit_code == 0);
  CHECK(table.err.empty());
  for (const char* part : {"drawn at random, by a test", "components  1000, density 0.01, k = 10",
                           "3 recorded, 10 .. 12", "union density", "independent", "lag",
                           "first.weight", "3 coordinates of 2 ranks in 3 iterations", "█"}) {
    CAPTURE(part);
    CHECK(contains(table.out, part));
  }
  const json records = json::parse(run_program("trace show " + path + " --format json").out);
  CHECK(records[0]["kind"] == "trace");
  CHECK(records[0]["k"] == 10);
  CHECK(std::ranges::count_if(records, [](const json& r) { return r["kind"] == "union"; }) == 3);
  CHECK(records.back()["name"] == "first.bias");
  CHECK(contains(run_program("trace show " + path + " --format csv").out, "first.bias,990,10,"));
}

TEST_CASE("trace show draws unions and thresholds") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  TraceHeader header = test::small_header();
  header.source = "<b> & \"c\"";
  test::write_small_trace(path, 3, false, header);
  CHECK(run_program("trace show " + path + " --svg " + folder.path("t.svg")).exit_code == 0);
  const std::string svg = text_of(folder.path("t.svg"));
  CHECK(svg.starts_with("<svg "));
  CHECK(contains(svg, "&lt;b&gt; &amp; &quot;c&quot;"));
  CHECK(contains(svg, "ranks P"));
  CHECK(contains(svg, "training iteration"));
  CHECK(run_program("trace show " + path + " --svg " + folder.path("t.pdf")).exit_code == 0);
  CHECK(text_of(folder.path("t.pdf")).starts_with("%PDF"));
  check_refused(run_program("trace show " + path + " --svg " + folder.path("t.jpg") + " > " +
                            folder.path("ignored")),
                "t.jpg");
  check_refused(run_program("trace show " + path + " --svg " + folder.path("t.svg/t.svg") + " > " +
                            folder.path("ignored")),
                "cannot be written");
}

TEST_CASE("trace check reports every file, and fails where one is wrong") {
  const TemporaryFolder folder;
  const std::string good = folder.path("good.h5");
  const std::string cut = folder.path("cut.h5");
  test::write_small_trace(good, 3, true);
  test::write_small_trace(cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  const Ended all_good = run_program("trace check " + good);
  CHECK(all_good.exit_code == 0);
  CHECK(contains(all_good.out, good + ": ok, 4 ranks, 1000 components, 3 iterations, "));
  CHECK(contains(all_good.out, ", 18 gradients\n"));
  const Ended some = run_program("trace check " + cut + " " + good);
  CHECK(some.exit_code == 2);
  CHECK(contains(some.out, cut + ": cannot be opened (HDF5: truncated file"));
  CHECK(contains(some.out, good + ": ok"));
  const json records =
      json::parse(run_program("trace check " + cut + " " + good + " --format json").out);
  CHECK(records[0]["ok"] == false);
  CHECK(records[1]["ok"] == true);
}

TEST_CASE("a damaged or unknown trace is refused in one line") {
  const TemporaryFolder folder;
  check_refused(run_program("trace show nonesuch"), "unknown trace 'nonesuch'");
  check_refused(run_program("trace show ./nonesuch"), "./nonesuch: cannot be read");
  check_refused(run_program("trace show " + folder.write("t.h5", "text")), "is not an HDF5 file");
  check_refused(run_program("trace"), "which command? show");
}

TEST_CASE("a file that kills HDF5 is named") {
  // A chunk of length 0, by which HDF5 1.10 divides; a later one may say so.
  const std::string path = THINWIRE_SOURCE_DIR "/tests/traces/chunk_of_length_0.h5";
  for (const char* command : {"trace check ", "trace show "}) {
    const Ended ended = run_program(command + path);
    CAPTURE(ended.out);
    CHECK(ended.exit_code == 2);
    CHECK(contains(ended.out + ended.err, path + ": "));
  }
}

TEST_CASE("a simulation takes ranks, n and k from its trace") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  test::write_small_trace(path, 3);
  const Ended ended = run_program("run --scheme topka --trace " + path + " --format jsonl");
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  const json row = json::parse(ended.out);
  CHECK(row["point"]["ranks"] == 4);
  CHECK(row["point"]["components"] == 1000);
  CHECK(row["point"]["k"] == 10);
  CHECK(row["point"]["granule"] == 1);
  CHECK(row["point"]["input"] == json{{"trace", path}});
  // What a row holds gives the same point again, also where the trace is not.
  const std::string rows = folder.write("rows.jsonl", ended.out);
  std::filesystem::rename(path, folder.path("elsewhere.h5"));
  CHECK(run_program("compare " + rows).exit_code == 0);
}

TEST_CASE("all kinds of schemes and networks run on a trace, and ranks agree") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  test::write_small_trace(path, 3);
  for (const char* scheme : {"oktopk", "topka", "gtopk", "topka+dgc", "exdyna", "dense_ring"}) {
    CAPTURE(scheme);
    const Ended ended = run_program(std::string("run --set iterations=5 --scheme ") + scheme +
                                    " --trace " + path + " --format jsonl");
    CAPTURE(ended.err);
    REQUIRE(ended.exit_code == 0);
    CHECK(json::parse(ended.out)["result"]["ranks_agree"] == true);
  }
  CHECK(run_program("run --network smpi -P 3 --trace " + path).exit_code == 0);
}

TEST_CASE("what a trace contradicts is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  test::write_small_trace(path, 1);
  const auto refused = [&](const std::string& flags, const std::string& what) {
    check_refused(run_program("run --trace " + path + " " + flags), what);
  };
  refused("-P 5", "/ranks: 5 are more than the 4 of the trace");
  refused("-n 999", "/components: 999, but the trace " + path + " has 1000");
  refused("-k 1001", "/k: 1001 is more than the 1000 components");
  refused("--set granule=2", "/granule: a trace's coordinates are components");
  refused("--set error_feedback=true", "/error_feedback: a trace or a profile is of accumulators");
  refused("--strict --overlap 0.5", "/input/overlap: is of synthetic gradients");
  refused("--profile vgg16", "/input/profile: a trace has gradients of its own");
  check_refused(run_program("run --trace nonesuch"), "/input/trace: unknown trace 'nonesuch'");
}

TEST_CASE("the key of a result follows what the trace holds") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  const auto key = [&] {
    const Ended ended =
        run_program("run --scheme topka -d 0.01 --trace " + path + " --format jsonl");
    return json::parse(ended.out)["key"].get<std::string>();
  };
  test::write_small_trace(path, 2);
  const std::string first = key();
  CHECK(key() == first);
  test::write_small_trace(path, 3);
  CHECK(key() != first);
}

TEST_CASE("the recipe for h5py writes traces, and h5py reads ours") {
  if (!h5py_is_there()) {
    MESSAGE("there is no h5py for /usr/bin/python3: not tested");
    return;
  }
  const TemporaryFolder folder;
  const std::string python(kPython);
  const std::string written = folder.path("by_python.h5");
  const std::string recipe = THINWIRE_SOURCE_DIR "/tools/trace/write_trace.py";
  REQUIRE(std::system((python + " " + recipe + " " + written).c_str()) == 0);
  const Ended checked = run_program("trace check " + written);
  CAPTURE(checked.out);
  CHECK(checked.exit_code == 0);
  CHECK(contains(checked.out, ": ok, 4 ranks, 10000 components, 20 iterations, "));
  CHECK(contains(checked.out, " gradients\n"));
  CHECK(run_program("run --trace " + written).exit_code == 0);

  const std::string ours = folder.path("ours.h5");
  test::write_small_trace(ours, 3, true);
  const std::string script = folder.write("read.py", R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    assert f["header/format"][()] == b"thinwire-trace", f["header/format"][()]
    assert f["header/residual_rule"].asstr()[()] == "oktopk"
    assert [f["header"][n][()] for n in ("components", "ranks", "seed")] == [1000, 4, 7]
    assert [n.decode() for n in f["layers/name"]] == ["first.weight", "first.bias"]
    assert list(f["iteration"]) == [10, 11, 12]
    assert f["threshold"].shape == (3, 4)
    begin, index = f["selected/begin"][:], f["selected/index"][:]
    assert len(begin) == 13 and begin[-1] == len(index)
    assert all((np.diff(index[a:b].astype(int)) > 0).all() for a, b in zip(begin, begin[1:]))
    assert f["gradients/value"].dtype == np.dtype("<f2")
    gradients = f["gradients/value"][:] * f["gradients/scale"][:][:, :, None]
    assert np.allclose(gradients[1, 0], [2, -4, 0.5], rtol=1e-3)
)");
  CHECK(std::system((python + " " + script + " " + ours).c_str()) == 0);
}

}  // namespace thinwire::traces
