#include "algorithms/sparsifiers/deft.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/sparsifiers/deft_shares.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

namespace {

using List = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("DEFT's worked example is right") {
  const List tensors{6, 4};
  CHECK(deft_layers(10, tensors, 2) == List{0, 3, 6, 10});
  const List sizes{3, 3, 4};
  const std::vector<double> norms{3, 2, 1};
  const List shares = DeftShares(sizes, norms, 4).all();
  CHECK(shares == List{2, 1, 1});
  CHECK(deft_allocation(sizes, shares, 2) == List{1, 2, 2, 0, 1});
}

TEST_CASE("A tensor of at most n/P stays whole") {
  CHECK(deft_layers(8, List{1, 7}, 8) == List{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(deft_layers(16, List{2, 2, 12}, 8) == List{0, 2, 4, 6, 8, 10, 12, 13, 14, 15, 16});
}

TEST_CASE("DEFT deals out layers, the costliest first, to the rank with the least cost so far") {
  for (int draw = 0; draw < 50; ++draw) {
    CAPTURE(draw);
    List sizes;
    List shares;
    for (std::uint64_t i = 0; i < 2 + random_bits(12, draw) % 12; ++i) {
      sizes.push_back(1 + static_cast<std::int64_t>(random_bits(13, draw, i) % 1000));
      shares.push_back(1 + static_cast<std::int64_t>(random_bits(14, draw, i) % 1000));
    }
    const int ranks = 1 + static_cast<int>(random_bits(15, draw) % 5);
    // Equation 6: n log2 k, and n where a layer has one entry.
    std::vector<std::pair<double, std::int64_t>> costs;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double log = shares[i] == 1 ? 1 : std::log2(static_cast<double>(shares[i]));
      costs.emplace_back(-static_cast<double>(sizes[i]) * log, i);
    }
    std::ranges::sort(costs);
    std::vector<double> full(static_cast<std::size_t>(ranks));
    std::vector<List> bins(full.size());
    for (const auto& [cost, layer] : costs) {
      const auto emptiest = std::ranges::min_element(full) - full.begin();
      full[static_cast<std::size_t>(emptiest)] -= cost;
      bins[static_cast<std::size_t>(emptiest)].push_back(layer);
    }
    List expected;
    for (const List& bin : bins) expected.push_back(static_cast<std::int64_t>(bin.size()));
    for (const List& bin : bins) expected.insert(expected.end(), bin.begin(), bin.end());
    CHECK(deft_allocation(sizes, shares, ranks) == expected);
  }
}

TEST_CASE("DEFT's shares sum to k where that is possible, and are at most the layers' sizes") {
  for (int draw = 0; draw < 200; ++draw) {
    List sizes;
    std::vector<double> norms;
    for (std::uint64_t i = 0; i < 1 + random_bits(7, draw) % 20; ++i) {
      sizes.push_back(1 + static_cast<std::int64_t>(random_bits(8, draw, i) % 100));
      norms.push_back(to_unit(random_bits(9, draw, i)));
    }
    const std::int64_t n = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    const auto count = static_cast<std::int64_t>(sizes.size());
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 10, n / 2, n}) {
      const List shares = DeftShares(sizes, norms, k).all();
      const std::int64_t total = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
      CHECK(total >= k);
      // A layer with next to nothing of k left takes one all the same.
      CHECK(total <= (k == 0 ? 0 : k + count));
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        CHECK(shares[i] <= sizes[i]);
        CHECK(shares[i] >= (k == 0 ? 0 : 1));
      }
    }
  }
}

TEST_CASE("DEFT's share of a layer with another norm is as if all were dealt out anew") {
  for (int draw = 0; draw < 200; ++draw) {
    const std::uint64_t count = 1 + random_bits(11, draw) % 30;
    List sizes;
    std::vector<double> norms;
    for (std::uint64_t i = 0; i < count; ++i) {
      sizes.push_back(1 + static_cast<std::int64_t>(random_bits(12, draw, i) % 1000));
      norms.push_back(to_unit(random_bits(13, draw, i)));
    }
    const std::int64_t n = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    const std::size_t layer = random_bits(14, draw) % count;
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 100, n / 10, n}) {
      const DeftShares shares(sizes, norms, k);
      CHECK(shares.of(layer, norms[layer]) == shares.all()[layer]);
      for (const double norm : {0.3 * norms[layer], 2 * norms[layer], 1e9}) {
        std::vector<double> others = norms;
        others[layer] = norm;
        const List anew = DeftShares(sizes, others, k).all();
        CAPTURE(draw);
        CAPTURE(k);
        CAPTURE(norm);
        const std::int64_t share = shares.of(layer, norm);
        CHECK(share <= sizes[layer]);
        CHECK(share >= (k == 0 ? 0 : 1));
        // Not where many layers have one entry or all of them.
        if (k == n / 100) CHECK(std::abs(share - anew[layer]) <= 3);
      }
    }
  }
}

TEST_CASE("DEFT's share with another norm has what is left over") {
  // Small layers are selected as a whole; what they cannot take goes to the large one.
  List sizes(51, 1);
  std::vector<double> norms(51, 1);
  sizes[7] = 1000;
  norms[7] = 10;
  const DeftShares shares(sizes, norms, 200);
  CHECK(shares.all()[7] == 150);
  for (const double norm : {9.99, 9.5, 10.01, 11.0}) {
    CAPTURE(norm);
    std::vector<double> others = norms;
    others[7] = norm;
    CHECK(std::abs(shares.of(7, norm) - DeftShares(sizes, others, 200).all()[7]) <= 4);
  }
}

TEST_CASE("DEFT deals out each layer once, and no bin is fuller than need be") {
  for (const int ranks : {1, 3, 8, 23}) {
    List sizes;
    for (int i = 0; i < 40; ++i) {
      sizes.push_back(1 + static_cast<std::int64_t>(random_bits(10, ranks, i) % 1000));
    }
    const List ones(sizes.size(), 1);  // a layer costs its size
    const List numbers = deft_allocation(sizes, ones, ranks);
    const auto begin = numbers.begin() + ranks;
    const std::set<std::int64_t> dealt(begin, numbers.end());
    CHECK(dealt.size() == sizes.size());
    CHECK(numbers.size() == sizes.size() + static_cast<std::size_t>(ranks));
    List full;
    auto layer = begin;
    for (int bin = 0; bin < ranks; ++bin) {
      full.push_back(0);
      for (std::int64_t i = 0; i < numbers[static_cast<std::size_t>(bin)]; ++i, ++layer) {
        full.back() += sizes[static_cast<std::size_t>(*layer)];
      }
    }
    // Greedy: the fullest bin was the least full before its last layer (Graham, 1969).
    CHECK(std::ranges::max(full) - std::ranges::min(full) <= std::ranges::max(sizes));
  }
}

TEST_CASE("DEFT's ranks cover the gradient without overlap, by one rank's allocation") {
  test::SparsifierRanks ranks(deft_sparsifier(),
                              {.space = {.components = 1000, .granule = 1}, .k = 100, .ranks = 4});
  const SparseVector full = test::full_gradient(1000, 0, 1);
  std::set<std::uint32_t> chosen;
  std::int64_t sorted = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const Selection selection = ranks.select(full, 1, rank);
    CHECK(selection.work.scanned == 1000);
    sorted += selection.work.sorted;
    for (const Entry& entry : selection.selected.entries()) {
      CHECK(chosen.insert(entry.coordinate).second);
    }
  }
  CHECK(sorted == 1000);
  CHECK(chosen.size() == 100);
}

}  // namespace thinwire::algorithms
