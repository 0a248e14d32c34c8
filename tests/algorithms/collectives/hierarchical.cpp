#include "algorithms/collectives/hierarchical.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/double_tree.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/stream.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::entries_of;

namespace {

Task<void> take_part(Communicator& comm, int node, Message mine, const Reduction& reduction,
                     const AmongLeaders& among_leaders, Message& result) {
  result = co_await allreduce_hierarchical(comm, node, std::move(mine), reduction, among_leaders);
}

template <class MessageOf>
std::vector<Message> run(Network& network, int ranks, int node, const Reduction& reduction,
                         const AmongLeaders& among_leaders, MessageOf message_of_rank) {
  std::vector<Message> results(static_cast<std::size_t>(ranks));
  network.run(ranks, [&](Communicator& comm) {
    const int rank = comm.rank().value();
    return take_part(comm, node, message_of_rank(rank), reduction, among_leaders,
                     results[static_cast<std::size_t>(rank)]);
  });
  return results;
}

}  // namespace

TEST_CASE("Any allreduce may run among the leaders of nodes") {
  for (const int ranks : test::kRankCounts) {
    for (const int node : {1, 3, 4, 8, 70}) {
      CAPTURE(ranks);
      CAPTURE(node);
      test::Networks networks;
      SharedWork shared(100);
      const NumbersReduction reduction(shared);
      std::multiset<int> leaders;
      const AmongLeaders double_tree = [&](Communicator& comm, Message sum) {
        leaders.insert(comm.rank().value());
        CHECK(comm.size() == (ranks + node - 1) / node);
        return allreduce_double_tree(comm, std::move(sum), reduction, 2);
      };
      const auto results = run(networks.alphabeta, ranks, node, reduction, double_tree, [](int r) {
        return Numbers({r, 2 * r, 3 * r, 1, 5, 7, -r}).message();
      });
      const std::int64_t all = ranks * (ranks - 1) / 2;
      const std::vector<std::int64_t> expected{all,       2 * all,   3 * all, ranks,
                                               5 * ranks, 7 * ranks, -all};
      CHECK(std::ranges::all_of(results, [&](const Message& message) {
        return std::ranges::equal(Numbers::from(message.payload).all(), expected);
      }));
      CHECK(leaders.size() == static_cast<std::size_t>((ranks + node - 1) / node));
      CHECK(std::set<int>(leaders.begin(), leaders.end()).size() == leaders.size());
    }
  }
}

TEST_CASE("Sparse gradients are summed inside nodes and among leaders, sparse or dense") {
  const GradientSpace space{.components = 200, .granule = 1};
  for (const int ranks : test::kRankCounts) {
    for (const int wanted : {0, 3, 60}) {
      CAPTURE(ranks);
      CAPTURE(wanted);
      test::Generator generator(static_cast<std::uint64_t>(ranks));
      std::vector<SparseVector> vectors;
      test::Oracle oracle;
      for (int rank = 0; rank < ranks; ++rank) {
        vectors.push_back(test::random_vector(generator, 0, 200, wanted));
        test::add_to(oracle, vectors.back());
      }
      std::vector<float> dense(200);
      for (const auto& [coordinate, value] : oracle) dense[coordinate] = static_cast<float>(value);
      test::Networks networks;
      SharedWork shared(100);
      const GradientReduction reduction(shared, Seconds(0), space);
      const AmongLeaders doubling = [&](Communicator& comm, Message sum) {
        return allreduce_recursive_doubling(comm, std::move(sum), reduction);
      };
      const auto results = run(networks.alphabeta, ranks, 4, reduction, doubling, [&](int rank) {
        return vectors[static_cast<std::size_t>(rank)].message(space);
      });
      CHECK(std::ranges::all_of(results, [&](const Message& message) {
        const Stream stream = stream_from(message.payload);
        const auto* sparse = std::get_if<SparseVector>(&stream);
        return sparse != nullptr ? entries_of(*sparse) == entries_of(oracle)
                                 : std::ranges::equal(std::get<DenseBlock>(stream).values(), dense);
      }));
    }
  }
}

}  // namespace thinwire::algorithms
