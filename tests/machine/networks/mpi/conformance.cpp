// Every scheme on real MPI processes against the same scheme on the network counting, in this
// process: the result of each rank to the last bit, and messages and words of each rank and phase.
// The results on counting are held against serial sums by tests/algorithms/conformance.cpp. Run by
// mpirun; prints a line, and exits with 1 at the first difference.
#include <fmt/format.h>
#include <mpi.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/machine/networks/counting/counting.hpp"
#include "sim/machine/networks/mpi/mpi.hpp"
#include "tests/machine/networks/mpi/on_processes.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire {

namespace {

/// The coordinates of a stream, and the bits of its values. Of what a sparse scheme says that it
/// contributed, only the coordinates mean something.
std::vector<std::uint64_t> bits_of(const Stream& stream, bool values) {
  std::vector<std::uint64_t> bits;
  if (const auto* sparse = std::get_if<SparseVector>(&stream)) {
    bits.push_back(0);
    for (const Entry& entry : sparse->entries()) {
      bits.push_back(std::uint64_t{entry.coordinate} << 32U |
                     (values ? std::bit_cast<std::uint32_t>(entry.value) : 0));
    }
    return bits;
  }
  const auto& block = std::get<DenseBlock>(stream);
  bits.push_back(1);
  bits.push_back(block.first());
  for (const float value : block.values()) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

struct Conformance {
  networks::MpiNetwork& mpi;
  int points = 0;

  [[nodiscard]] std::optional<std::string> difference(const test::Iteration& real,
                                                      const test::Iteration& counted) const {
    const auto own = static_cast<std::size_t>(mpi.rank());
    const algorithms::Reduced& got = real.results[own];
    const algorithms::Reduced& wanted = counted.results[own];
    if (bits_of(got.sum, true) != bits_of(wanted.sum, true)) return "another sum";
    const bool dense = std::holds_alternative<DenseBlock>(wanted.contributed);
    if (bits_of(got.contributed, dense) != bits_of(wanted.contributed, dense)) {
      return "another contribution";
    }
    for (std::size_t rank = 0; rank < counted.report.ranks.size(); ++rank) {
      if (!same_traffic(real.report, counted.report, rank)) {
        return fmt::format("other messages or words of rank {}", rank);
      }
    }
    return std::nullopt;
  }

  void check(const algorithms::SchemeInfo& info, const test::Case& c,
             const test::GivenOptions& options, int iterations) {
    test::SchemeRanks real(info, c.ranks, c.space, c.k, options);
    test::SchemeRanks simulated(info, c.ranks, c.space, c.k, options);
    networks::CountingNetwork counting;
    for (int iteration = 1; iteration <= iterations; ++iteration) {
      const auto gradient = [&](int rank) -> algorithms::LocalGradient {
        if (info.dense) {
          const auto size = static_cast<std::uint32_t>(c.space.components);
          return test::dense_gradient(size, rank + 100 * iteration);
        }
        return c.gradient(rank, iteration);
      };
      std::string problem;
      try {
        const test::Iteration a = real.run(mpi, iteration, gradient);
        problem = difference(a, simulated.run(counting, iteration, gradient)).value_or("");
      } catch (const std::exception& error) {
        problem = error.what();
      }
      if (!problem.empty()) {
        fmt::print(stderr, "rank {}: {}, {}, iteration {}: {}\n", mpi.rank(), info.name, c.text(),
                   iteration, problem);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    ++points;
  }
};

/// Every scheme, and each sparsifier that is of none of them with one that can carry it.
std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
    if (info.in_switches) continue;
    names.push_back(info.name);
    known.insert(info.sparsifier);
  }
  for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
    for (const std::string& name : composed_names(info)) {
      const std::string sparsifier = name.substr(name.find('+') + 1);
      if (known.insert(sparsifier).second) names.push_back(name);
    }
  }
  return names;
}

void run(networks::MpiNetwork& mpi) {
  Conformance conformance{mpi};
  const int ranks = mpi.size();
  const GradientSpace space{.components = 400, .granule = 1};
  for (const std::string& name : scheme_names()) {
    const algorithms::SchemeInfo& info = algorithms::find_scheme(name);
    if (info.restriction(ranks, space.components)) continue;
    const test::GivenOptions options = test::short_periods_of(info);
    for (const std::int64_t k : {0, 1, 40, 400}) {
      if (info.dense && k > 0) continue;
      const test::Case c{.ranks = ranks, .space = space, .k = k, .wanted = 200, .full = k == 400};
      conformance.check(info, c, options, 4);
    }
  }
  // Messages that are longer than what fits beside a frame.
  const GradientSpace large{.components = 60'000, .granule = 1};
  for (const char* name : {"dense_ring",
                           "dense_rabenseifner",
                           "dense_ovlp",
                           "dense_double_tree",
                           "alltoall_bruck",
                           "qsgd",
                           "signsgd",
                           "quantised_alltoall",
                           "powersgd",
                           "sparseloco",
                           "nccl_ring",
                           "nccl_tree",
                           "hierarchical_ring",
                           "hierarchical_split_allgather",
                           "topka",
                           "oktopk",
                           "exdyna",
                           "ssar_recursive_double",
                           "dsar_split_allgather",
                           "gtopk",
                           "zen",
                           "spardl",
                           "omnireduce"}) {
    const algorithms::SchemeInfo& info = algorithms::find_scheme(name);
    if (info.restriction(ranks, large.components)) continue;
    const test::Case c{.ranks = ranks, .space = large, .k = 20'000, .full = true};
    conformance.check(info, c, test::short_periods_of(info), 2);
  }
  const algorithms::SchemeInfo& oktopk = algorithms::find_scheme("oktopk");
  for (const test::GivenOptions& options : test::oktopk_variants()) {
    if (ranks > 4) break;
    const test::Case c{.ranks = ranks, .space = space, .k = 40, .wanted = 200};
    conformance.check(oktopk, c, options, 4);
  }
  if (mpi.rank() == 0) {
    fmt::print("{} processes, {}: {} points conform\n", ranks, mpi.library(), conformance.points);
  }
}

}  // namespace

}  // namespace thinwire

int main(int argc, char** argv) { return thinwire::test::on_processes(argc, argv, thinwire::run); }
