#include "algorithms/sparsifiers/deft.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

#include "algorithms/sparsifiers/deft_shares.hpp"
#include "algorithms/sparsifiers/exdyna.hpp"
#include "sim/core/gradient/measures.hpp"
#include "sim/core/gradient/statistical.hpp"

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

/// The layers of a scheme. All ranks have the same ones, so they are kept while a rank has them.
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

/// Where the layers of each bin are in an allocation, and where its region begins if the regions of
/// the bins follow one another. It is the same for all ranks that follow the allocation.
struct Bins final : Body {
  Bins(const Numbers& allocation, std::span<const std::int64_t> sizes, int ranks) {
    auto layer = static_cast<std::size_t>(ranks);  // after the numbers of layers
    std::int64_t begin = 0;
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(ranks); ++bin) {
      layers.push_back(layer);
      begins.push_back(begin);
      for (std::int64_t i = 0; i < allocation[bin]; ++i, ++layer) {
        begin += sizes[static_cast<std::size_t>(allocation[layer])];
      }
    }
    layers.push_back(layer);
    begins.push_back(begin);
  }

  std::vector<std::size_t> layers;   ///< [bins + 1]
  std::vector<std::int64_t> begins;  ///< [bins + 1]
};

/// The mean of the square root of a number from the Poisson distribution.
double mean_root(double mean) {
  constexpr double kLarge = 16;  // from here on, the expansion is right to 2e-5
  if (mean >= kLarge) return std::sqrt(mean) * (1 - (1 + 7 / (16 * mean)) / (8 * mean));
  constexpr int kMost = 64;
  double probability = std::exp(-mean);
  double sum = 0;
  for (int number = 1; number < kMost; ++number) {
    probability *= mean / number;
    sum += probability * std::sqrt(number);
  }
  return sum;
}

/// What is expected of the layers of a statistical gradient, by its largest entries. It is the same
/// for all ranks.
class ExpectedLayers {
 public:
  ExpectedLayers(const SparseVector& large, const Layers& layers)
      : entries_(layers.sizes.size()), roots_(layers.sizes.size()) {
    if (large.size() == 0) return;
    const std::vector<double> before = statistical_expected_before(large.payload(), layers.cuts);
    const std::vector<double> squares = statistical_squares_before(large.payload(), layers.cuts);
    const double factor = static_cast<double>(large.size()) / (before.back() - before.front());
    for (std::size_t layer = 0; layer < entries_.size(); ++layer) {
      entries_[layer] = factor * (before[layer + 1] - before[layer]);
      if (entries_[layer] <= 0) continue;
      roots_[layer] =
          std::sqrt(std::max(0.0, squares[layer + 1] - squares[layer]) / entries_[layer]);
    }
  }

  /// The norm of a layer that has so many of the largest entries, up to a factor that all layers
  /// share.
  [[nodiscard]] double norm(std::size_t layer, std::size_t entries) const {
    return roots_[layer] * std::sqrt(static_cast<double>(entries));
  }
  /// The mean norm of each layer.
  [[nodiscard]] std::vector<double> norms() const {
    std::vector<double> norms;
    for (std::size_t layer = 0; layer < entries_.size(); ++layer) {
      norms.push_back(roots_[layer] * mean_root(entries_[layer]));
    }
    return norms;
  }

 private:
  std::vector<double> entries_;  ///< by layer
  std::vector<double> roots_;    ///< of the mean square of an entry's magnitude
};

/// The shares if the layers have the norms that are expected.
struct ExpectedShares final : Body {
  ExpectedShares(ExpectedLayers of_ranks, DeftShares of_layers)
      : layers(std::move(of_ranks)), shares(std::move(of_layers)) {}

  ExpectedLayers layers;
  DeftShares shares;
};

class Deft final : public Sparsifier {
 public:
  explicit Deft(const SchemeSetup& setup) : setup_(setup), layers_(layers_of(setup)) {}

  [[nodiscard]] bool decides() const override { return true; }

  Numbers decide(const SparseVector& accumulated, int /*iteration*/) override {
    const bool drawn = accumulated.is_statistical();
    std::vector<double> norms = drawn ? drawn_norms(accumulated) : norms_of(accumulated);
    const DeftShares shares(layers_->sizes, std::move(norms), setup_.carried_k());
    return Numbers(deft_allocation(layers_->sizes, shares.all(), setup_.ranks));
  }

  void follow(const Numbers& decision) override {
    allocation_ = decision;
    const Message key = decision.message();
    const Message made = setup_.shared->once("deft bins", std::span(&key, 1), [&] {
      return Message{{make_ref<const Bins>(decision, layers_->sizes, setup_.ranks), 0, 0},
                     Words(0)};
    });
    bins_ = made.payload;
  }

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    // Nobody has told what was decided: a sparsifier by itself.
    if (!allocation_) follow(decide(accumulated, iteration));
    SelectionWork work{.scanned = setup_.space.components,
                       .more_scans = static_cast<std::int64_t>(layers_->sizes.size()) - 1,
                       .more_topks = -1};
    const std::size_t bin = exdyna_allocation(setup_.ranks, rank.value(), iteration - 1);
    const std::vector<std::size_t> own = layers_in(bin);
    for (const std::size_t layer : own) {
      work.sorted += setup_.space.component(cut(layer + 1)) - setup_.space.component(cut(layer));
      ++work.more_topks;
    }
    work.more_topks = std::max(std::int64_t{0}, work.more_topks);
    return {.selected = accumulated.is_statistical() ? counted_in(accumulated, own, bin)
                                                     : selected_in(accumulated, own),
            .work = work,
            .own_part = true};
  }

 private:
  [[nodiscard]] std::uint32_t cut(std::size_t layer) const {
    return static_cast<std::uint32_t>(layers_->cuts[layer]);
  }

  /// The largest entries of each of the layers.
  [[nodiscard]] SparseVector selected_in(const SparseVector& accumulated,
                                         std::span<const std::size_t> own) const {
    const DeftShares shares(layers_->sizes, norms_of(accumulated), setup_.carried_k());
    std::vector<SparseVector> parts;
    for (const std::size_t layer : own) {
      const std::size_t first = accumulated.position_of(cut(layer));
      const std::size_t last = accumulated.position_of(cut(layer + 1), first);
      parts.push_back(select_largest(accumulated.slice(first, last), shares.all()[layer]));
    }
    return concatenate(parts);
  }

  /// For a statistical gradient, as many entries in the bin's region: such a vector lies in one range.
  [[nodiscard]] SparseVector counted_in(const SparseVector& accumulated,
                                        std::span<const std::size_t> own, std::size_t bin) const {
    const SparseVector large = large_entries(accumulated);
    const Message shared = expected_shares(large);
    const auto& expected = static_cast<const ExpectedShares&>(*shared.payload.body);
    std::int64_t count = 0;
    for (const std::size_t layer : own) {
      const std::size_t first = large.position_of(cut(layer));
      const std::size_t last = large.position_of(cut(layer + 1), first);
      count += expected.shares.of(layer, expected.layers.norm(layer, last - first));
    }
    const std::vector<std::int64_t>& begins = bins().begins;
    const std::size_t first = accumulated.position_of(static_cast<std::uint32_t>(begins[bin]));
    const std::size_t last =
        accumulated.position_of(static_cast<std::uint32_t>(begins[bin + 1]), first);
    return select_largest(accumulated.slice(first, last), count);
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

  /// The entries of a statistical gradient that stand for its norms.
  [[nodiscard]] SparseVector large_entries(const SparseVector& accumulated) const {
    return select_largest(accumulated, kReach * setup_.carried_k());
  }

  /// The norms of the layers of a statistical gradient.
  [[nodiscard]] std::vector<double> drawn_norms(const SparseVector& accumulated) const {
    const SparseVector large = large_entries(accumulated);
    const ExpectedLayers expected(large, *layers_);
    const std::vector<std::uint32_t> positions = large.positions_of(layers_->cuts);
    std::vector<double> norms;
    for (std::size_t layer = 0; layer < layers_->sizes.size(); ++layer) {
      norms.push_back(expected.norm(layer, positions[layer + 1] - positions[layer]));
    }
    return norms;
  }

  /// Thousands of ranks cannot each draw thousands of layers, and of those that are not a rank's own
  /// only the sum counts.
  [[nodiscard]] Message expected_shares(const SparseVector& large) const {
    const Message key = allocation_->message();
    return setup_.shared->once("deft shares", std::span(&key, 1), [&] {
      ExpectedLayers layers(large, *layers_);
      DeftShares shares(layers_->sizes, layers.norms(), setup_.carried_k());
      return Message{{make_ref<const ExpectedShares>(std::move(layers), std::move(shares)), 0, 0},
                     Words(0)};
    });
  }

  [[nodiscard]] const Bins& bins() const { return static_cast<const Bins&>(*bins_.body); }
  /// In the order of the gradient.
  [[nodiscard]] std::vector<std::size_t> layers_in(std::size_t bin) const {
    const auto all =
        allocation_->all().subspan(bins().layers[bin], bins().layers[bin + 1] - bins().layers[bin]);
    std::vector<std::size_t> own(all.begin(), all.end());
    std::ranges::sort(own);
    return own;
  }

  const SchemeSetup& setup_;
  std::shared_ptr<const Layers> layers_;
  std::optional<Numbers> allocation_;  // what all ranks follow
  Payload bins_;                       // of the allocation
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
  std::vector<std::vector<std::int64_t>> bins(static_cast<std::size_t>(ranks));
  using Fill = std::pair<double, std::size_t>;  // the cost in a bin, and which one it is
  std::priority_queue<Fill, std::vector<Fill>, std::greater<>> fills;
  for (std::size_t bin = 0; bin < bins.size(); ++bin) fills.emplace(0, bin);
  for (const std::size_t i : order) {
    const auto [full, emptiest] = fills.top();
    fills.pop();
    bins[emptiest].push_back(static_cast<std::int64_t>(i));
    fills.emplace(full + costs[i], emptiest);
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
          .make = [](const SchemeSetup& setup) { return std::make_unique<Deft>(setup); }};
}

}  // namespace thinwire::algorithms
