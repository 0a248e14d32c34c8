#include "traces/trace_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/traces.hpp"

namespace thinwire::traces {

using test::TemporaryFolder;

TEST_CASE("a rank gets what it selected, iteration by iteration, and starts over at the end") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  const TraceHeader header = test::small_header();
  test::write_small_trace(path, 3);
  const TraceSource source{TraceReader(path)};
  CHECK(source.space() == GradientSpace{.components = 1000, .granule = 1});
  for (int iteration = 1; iteration <= 7; ++iteration) {
    const TraceWindow window = test::small_window(header, 10 + (iteration - 1) % 3);
    for (int rank = 0; rank < header.ranks; ++rank) {
      const SparseVector& wanted = window.selected[static_cast<std::size_t>(rank)];
      const SparseVector sparse = source.sparse(Rank(rank), iteration);
      CHECK(std::ranges::equal(sparse.entries(), wanted.entries()));
    }
  }
}

TEST_CASE("the dense gradient of a trace is its selection with zeros elsewhere") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  test::write_small_trace(path);
  const TraceSource source{TraceReader(path)};
  const DenseBlock dense = source.dense(Rank(1), 2);
  const SparseVector sparse = source.sparse(Rank(1), 2);
  CHECK(dense.size() == 1000);
  CHECK(static_cast<std::size_t>(std::ranges::count_if(
            dense.values(), [](float x) { return x != 0; })) == sparse.size());
  for (const Entry& entry : sparse.entries()) {
    CHECK(dense.values()[entry.coordinate] == entry.value);
  }
}

}  // namespace thinwire::traces
