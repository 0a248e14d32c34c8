#include "tests/support/conformance.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "algorithms/registry.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::test {

namespace {

GivenOptions with(GivenOptions options, const std::string& name, OptionValue value) {
  options[name] = value;
  return options;
}

}  // namespace

Expected serial_topka(const std::vector<SparseVector>& gradients, std::int64_t k) {
  Expected expected;
  Oracle sum;
  for (const SparseVector& gradient : gradients) {
    expected.contributed.push_back(top(entries_of(gradient), k));
    for (const Entry& entry : expected.contributed.back()) sum[entry.coordinate] += entry.value;
  }
  expected.sum = entries_of(sum);
  return expected;
}

Expected SerialOkTopk::iterate(const std::vector<SparseVector>& gradients, int iteration) {
  const bool exact = (iteration - 1) % tau_prime_ == 0;
  Oracle sum;
  std::vector<Entries> selected;
  for (std::size_t rank = 0; rank < gradients.size(); ++rank) {
    const Entries entries = entries_of(gradients[rank]);
    if (exact) local_[rank] = kth(entries, k_);
    selected.push_back(at_least(entries, local_[rank]));
    for (const Entry& entry : selected.back()) sum[entry.coordinate] += entry.value;
  }
  if (exact) global_ = kth(entries_of(sum), k_);
  Expected expected{.sum = at_least(entries_of(sum), global_), .contributed = {}};
  for (const Entries& entries : selected) {
    Entries kept;
    std::set_intersection(entries.begin(), entries.end(), expected.sum.begin(), expected.sum.end(),
                          std::back_inserter(kept), [](const Entry& a, const Entry& b) {
                            return a.coordinate < b.coordinate;
                          });
    expected.contributed.push_back(std::move(kept));
  }
  return expected;
}

bool conforms(const std::vector<Reduced>& results, const Expected& expected) {
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const auto* sum = std::get_if<SparseVector>(&results[rank].sum);
    if (sum == nullptr || entries_of(*sum) != expected.sum) return false;
    if (entries_of(results[rank].contributed) != expected.contributed[rank]) return false;
  }
  return true;
}

SparseVector Case::gradient(int rank, int iteration) const {
  const auto coordinates = static_cast<std::uint32_t>(space.coordinates());
  if (full) return full_gradient(coordinates, rank, iteration);
  return shaped_gradient(shape, coordinates, ranks, rank, iteration, wanted);
}

std::vector<SparseVector> Case::gradients(int iteration) const {
  std::vector<SparseVector> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(gradient(rank, iteration));
  return all;
}

std::string Case::text() const {
  return "P = " + std::to_string(ranks) + ", n = " + std::to_string(space.components) +
         ", granule " + std::to_string(space.granule) + ", k = " + std::to_string(k) + ", " +
         (full ? "full" : name_of(shape));
}

bool dense_conforms(Network& network, const SchemeInfo& info, int ranks, GradientSpace space,
                    const GivenOptions& options) {
  const auto size = static_cast<std::size_t>(space.coordinates());
  const auto gradient = [&](int rank) {
    return dense_gradient(static_cast<std::uint32_t>(size), rank);
  };
  std::vector<double> expected(size);
  std::vector<double> bound(size);
  for (int rank = 0; rank < ranks; ++rank) {
    const DenseBlock block = gradient(rank);
    for (std::size_t i = 0; i < size; ++i) {
      expected[i] += block.values()[i];
      bound[i] += std::abs(block.values()[i]) * 0x1p-24 * ranks;
    }
  }
  SchemeRanks scheme(info, ranks, space, 0, options);
  const Iteration outcome = scheme.run(network, 1, gradient);
  const auto first = std::get<DenseBlock>(outcome.results[0].sum).values();
  if (first.size() != size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (std::abs(first[i] - expected[i]) > bound[i]) return false;
  }
  return std::ranges::all_of(outcome.results, [&](const Reduced& result) {
    const auto& block = std::get<DenseBlock>(result.sum);
    return block.first() == 0 && block.values().size() == size &&
           std::memcmp(block.values().data(), first.data(), size * sizeof(float)) == 0 &&
           result.contributed.size() == 0;
  });
}

bool topka_conforms(Network& network, const Case& c) {
  SchemeRanks ranks(find_scheme("topka"), c.ranks, c.space, c.k);
  const Iteration outcome = ranks.run(network, 1, [&](int rank) { return c.gradient(rank, 1); });
  return conforms(outcome.results, serial_topka(c.gradients(1), c.carried_k()));
}

bool oktopk_conforms(Network& network, const Case& c, const GivenOptions& options, int iterations) {
  SchemeRanks ranks(find_scheme("oktopk"), c.ranks, c.space, c.k, options);
  SerialOkTopk serial(c.ranks, c.carried_k(),
                      static_cast<int>(ranks.setup().options.integer("tau_prime")));
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    const Iteration outcome =
        ranks.run(network, iteration, [&](int rank) { return c.gradient(rank, iteration); });
    if (!conforms(outcome.results, serial.iterate(c.gradients(iteration), iteration))) return false;
  }
  return true;
}

const GivenOptions& short_periods() {
  static const GivenOptions periods{{"tau", std::int64_t{3}}, {"tau_prime", std::int64_t{2}}};
  return periods;
}

std::vector<GivenOptions> oktopk_variants() {
  std::vector<GivenOptions> variants{with(short_periods(), "balanced_split", false),
                                     with(short_periods(), "rotation", false),
                                     with(short_periods(), "bucket", std::int64_t{1}),
                                     with(short_periods(), "bucket", std::int64_t{3}),
                                     with(short_periods(), "sliding", false),
                                     with(short_periods(), "balancing", false),
                                     with(short_periods(), "trigger", 0.0),
                                     with(short_periods(), "trigger", 1.5),
                                     with(short_periods(), "trigger", 1e9)};
  GivenOptions naive = with(short_periods(), "balanced_split", false);
  naive = with(naive, "rotation", false);
  naive = with(naive, "bucket", std::int64_t{1});
  naive = with(naive, "sliding", false);
  variants.push_back(with(naive, "balancing", false));
  variants.push_back(with(naive, "trigger", 0.0));
  return variants;
}

}  // namespace thinwire::test
