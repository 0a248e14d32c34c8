#include "algorithms/sparsifiers/deft.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "algorithms/sparsifiers/exdyna.hpp"
#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

/// The entries of a statistical gradient that stand for its squares, as a multiple of k: as many as
/// an exact accumulator of a profile holds by default (input.reach).
constexpr std::int64_t kReach = 8;

/// Where the layers of a gradient begin and end, and how many coordinates each has.
struct Layers {
  std::vector<std::int64_t> cuts;
  std::vector<std::int64_t> sizes;
};

/// Those of a scheme; all ranks have the same ones, so they are kept while a rank has them.
std::shared_ptr<const Layers> layers_of(const SchemeSetup& setup) {
  thread_local std::weak_ptr<const Layers> kept;
  thread_local std::vector<std::int64_t> kept_for;
  std::vector<std::int64_t> what{setup.space.components, setup.space.granule, setup.ranks};
  what.insert(what.end(), setup.tensors.begin(), setup.tensors.end());
  if (auto known = kept.lock(); known && what == kept_for) return known;
  Layers layers;
  for (const std::int64_t first : deft_layers(setup.space.components, setup.tensors, setup.ranks)) {
    layers.cuts.push_back(setup.space.coordinate(first));
  }
  for (std::size_t i = 0; i + 1 < layers.cuts.size(); ++i) {
    layers.sizes.push_back(layers.cuts[i + 1] - layers.cuts[i]);
  }
  auto made = std::make_shared<const Layers>(std::move(layers));
  kept = made;
  kept_for = std::move(what);
  return made;
}

class Deft final : public Sparsifier {
 public:
  explicit Deft(const SchemeSetup& setup) : setup_(setup), layers_(layers_of(setup)) {}

  [[nodiscard]] bool decides() const override { return true; }

  Numbers decide(const SparseVector& accumulated, int /*iteration*/) override {
    return Numbers(deft_allocation(layers_->sizes, shares_of(accumulated), setup_.ranks));
  }

  void follow(const Numbers& decision) override { allocation_ = decision; }

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    // Nobody has told what was decided: a sparsifier by itself.
    if (!allocation_) follow(decide(accumulated, iteration));
    const std::vector<std::int64_t> shares = shares_of(accumulated);
    SelectionWork work{.scanned = setup_.space.components,
                       .more_scans = static_cast<std::int64_t>(layers_->sizes.size()) - 1,
                       .more_topks = -1};
    const std::vector<std::size_t> own = own_layers(rank, iteration);
    for (const std::size_t layer : own) {
      work.sorted += setup_.space.component(cut(layer + 1)) - setup_.space.component(cut(layer));
      ++work.more_topks;
    }
    work.more_topks = std::max(std::int64_t{0}, work.more_topks);
    return {.selected = accumulated.is_statistical()
                            ? counted_in(accumulated, shares, own, bin_of(rank, iteration))
                            : selected_in(accumulated, shares, own),
            .work = work,
            .own_part = true};
  }

 private:
  [[nodiscard]] std::uint32_t cut(std::size_t layer) const {
    return static_cast<std::uint32_t>(layers_->cuts[layer]);
  }

  /// The largest entries of each of the layers.
  [[nodiscard]] SparseVector selected_in(const SparseVector& accumulated,
                                         std::span<const std::int64_t> shares,
                                         std::span<const std::size_t> own) const {
    std::vector<SparseVector> parts;
    for (const std::size_t layer : own) {
      const std::size_t first = accumulated.position_of(cut(layer));
      const std::size_t last = accumulated.position_of(cut(layer + 1), first);
      parts.push_back(select_largest(accumulated.slice(first, last), shares[layer]));
    }
    return concatenate(parts);
  }

  /// Of a statistical gradient as many entries, in a region of as many coordinates: those of the
  /// bins follow one another, since such a vector lies in one range.
  [[nodiscard]] SparseVector counted_in(const SparseVector& accumulated,
                                        std::span<const std::int64_t> shares,
                                        std::span<const std::size_t> own, std::size_t bin) const {
    std::int64_t begin = 0;
    const auto allocation = allocation_->all();
    auto layer = allocation.begin() + setup_.ranks;  // after the numbers of layers
    for (std::size_t before = 0; before < bin; ++before) {
      for (std::int64_t i = 0; i < allocation[before]; ++i) {
        begin += layers_->sizes[static_cast<std::size_t>(*layer++)];
      }
    }
    std::int64_t end = begin;
    std::int64_t count = 0;
    for (const std::size_t mine : own) {
      end += layers_->sizes[mine];
      count += shares[mine];
    }
    const std::size_t first = accumulated.position_of(static_cast<std::uint32_t>(begin));
    const std::size_t last = accumulated.position_of(static_cast<std::uint32_t>(end), first);
    return select_largest(accumulated.slice(first, last), count);
  }

  [[nodiscard]] std::vector<std::int64_t> shares_of(const SparseVector& accumulated) const {
    const std::vector<double> norms =
        accumulated.is_statistical() ? expected_norms(accumulated) : norms_of(accumulated);
    return deft_shares(layers_->sizes, norms, setup_.carried_k());
  }

  /// The L2 norms of the layers.
  [[nodiscard]] std::vector<double> norms_of(const SparseVector& accumulated) const {
    std::vector<double> norms;
    std::size_t first = 0;
    for (std::size_t layer = 0; layer < layers_->sizes.size(); ++layer) {
      const std::size_t last = accumulated.position_of(cut(layer + 1), first);
      const Moments moments = moments_of(accumulated.slice(first, last), setup_.space);
      norms.push_back(std::hypot(moments.mean, moments.deviation));
      first = last;
    }
    return norms;
  }

  /// Those of a statistical gradient, up to a factor that all layers share. The squares are as its
  /// entries above the threshold of the whole: where tails are alike, both are in proportion.
  [[nodiscard]] std::vector<double> expected_norms(const SparseVector& accumulated) const {
    const SparseVector large =
        select_at_least(accumulated, kth_magnitude(accumulated, kReach * setup_.carried_k()));
    const std::vector<std::uint32_t> positions = large.positions_of(layers_->cuts);
    std::vector<double> norms;
    for (std::size_t layer = 0; layer < layers_->sizes.size(); ++layer) {
      norms.push_back(std::sqrt(static_cast<double>(positions[layer + 1] - positions[layer])));
    }
    return norms;
  }

  [[nodiscard]] std::size_t bin_of(Rank rank, int iteration) const {
    return exdyna_allocation(setup_.ranks, rank.value(), iteration - 1);
  }
  /// In the order of the gradient.
  [[nodiscard]] std::vector<std::size_t> own_layers(Rank rank, int iteration) const {
    const std::size_t bin = bin_of(rank, iteration);
    const auto allocation = allocation_->all();
    const auto counts = allocation.begin();
    const auto begin =
        counts + setup_.ranks +
        std::accumulate(counts, counts + static_cast<std::ptrdiff_t>(bin), std::int64_t{0});
    std::vector<std::size_t> own(begin, begin + allocation[bin]);
    std::ranges::sort(own);
    return own;
  }

  const SchemeSetup& setup_;
  std::shared_ptr<const Layers> layers_;
  std::optional<Numbers> allocation_;  // what all ranks follow
};

std::int64_t decided_by_deft(int ranks, std::int64_t n, std::span<const std::int64_t> tensors) {
  return ranks + static_cast<std::int64_t>(deft_layers(n, tensors, ranks).size()) - 1;
}

}  // namespace

std::vector<std::int64_t> deft_layers(std::int64_t n, std::span<const std::int64_t> tensors,
                                      int ranks) {
  const std::span<const std::int64_t> sizes = tensors.empty() ? std::span(&n, 1) : tensors;
  std::vector<std::int64_t> first;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    const std::int64_t parts = size * ranks > n ? std::min<std::int64_t>(ranks, size) : 1;
    for (std::int64_t i = 0; i < parts; ++i) first.push_back(begin + part_begin(size, parts, i));
    begin += size;
  }
  first.push_back(n);
  return first;
}

std::vector<std::int64_t> deft_shares(std::span<const std::int64_t> sizes,
                                      std::span<const double> norms, std::int64_t k) {
  std::vector<std::int64_t> shares(sizes.size());
  if (k == 0) return shares;
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return norms[i]; });
  std::int64_t left = k;
  double norm_left = std::accumulate(norms.begin(), norms.end(), 0.0);
  for (const std::size_t i : order) {
    const double wanted = norm_left > 0 ? static_cast<double>(std::max<std::int64_t>(left, 0)) *
                                              (norms[i] / norm_left)
                                        : 0;
    const auto most = static_cast<double>(sizes[i]);
    shares[i] = std::min(
        sizes[i], std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(most, wanted))));
    left -= shares[i];
    norm_left -= norms[i];
  }
  for (const std::size_t i : order) {
    if (left <= 0) break;
    const std::int64_t more = std::min(left, sizes[i] - shares[i]);
    shares[i] += more;
    left -= more;
  }
  return shares;
}

std::vector<std::int64_t> deft_allocation(std::span<const std::int64_t> sizes,
                                          std::span<const std::int64_t> shares, int ranks) {
  std::vector<double> costs(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double log = shares[i] > 1 ? std::log2(static_cast<double>(shares[i])) : 1;
    costs[i] = static_cast<double>(sizes[i]) * log;
  }
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return costs[i]; });
  std::vector<double> full(static_cast<std::size_t>(ranks));
  std::vector<std::vector<std::int64_t>> bins(full.size());
  for (const std::size_t i : order) {
    const auto emptiest = static_cast<std::size_t>(std::ranges::min_element(full) - full.begin());
    bins[emptiest].push_back(static_cast<std::int64_t>(i));
    full[emptiest] += costs[i];
  }
  std::vector<std::int64_t> numbers;
  for (const auto& bin : bins) numbers.push_back(static_cast<std::int64_t>(bin.size()));
  for (const auto& bin : bins) numbers.insert(numbers.end(), bin.begin(), bin.end());
  return numbers;
}

SparsifierInfo deft_sparsifier() {
  return {.name = "deft",
          .summary = "each rank selects in layers of its own, more where norms are larger",
          .source = "DEFT (ICPP 2023)",
          .needs = Needs::values_of_all,
          .takes_tensors = true,
          .options = {},
          .decided = decided_by_deft,
          .make = [](const SchemeSetup& setup) -> std::unique_ptr<Sparsifier> {
            return std::make_unique<Deft>(setup);
          }};
}

}  // namespace thinwire::algorithms
