#include "algorithms/sparsifiers/dragonn_hash.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/sparsifiers/dgc.hpp"
#include "sim/core/base/random.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::uint64_t kHashDraws = 0x64726167;  // separates these draws from all others of a seed
constexpr std::uint64_t kPrime = 4'294'967'311U;  // the smallest prime above 2^32

Selection select_by_hash(const SchemeSetup& setup, const SparseVector& accumulated, Rank rank,
                         int iteration) {
  const SampledThreshold threshold = sampled_threshold(accumulated, setup, rank, iteration);
  Selection selection{.selected = {}, .work = threshold.work};
  selection.work.compared = setup.space.components;
  if (setup.carried_k() == 0) return selection;
  const SparseVector above = select_at_least(accumulated, threshold.value);
  selection.work.hashed = std::min(setup.components_in(above), setup.space.components);
  selection.slots = hash_slots(setup.options.number("slots"), setup.k, setup.space);
  selection.selected = hash_survivors(
      above, UniversalHash(random_bits(setup.seed, kHashDraws, iteration), selection.slots));
  return selection;
}

}  // namespace

std::int64_t hash_slots(double slots, std::int64_t k, const GradientSpace& space) {
  if (k == 0) return 0;
  const std::int64_t carried = k / space.granule;
  // More slots than coordinates would stay empty.
  const auto most = static_cast<double>(space.coordinates());
  return std::llround(std::clamp(slots * static_cast<double>(carried), 1.0, most));
}

UniversalHash::UniversalHash(std::uint64_t key, std::int64_t slots)
    : slots_(static_cast<std::uint64_t>(slots)),
      factor_(1 + random_bits(key, 0) % (kPrime - 1)),
      shift_(random_bits(key, 1) % kPrime) {}

std::uint64_t UniversalHash::operator()(std::uint32_t index) const {
  // factor · index may exceed 64 bits, so its upper half is reduced first.
  const std::uint64_t upper = (factor_ >> 16U) * index % kPrime;
  const std::uint64_t lower = (factor_ & 0xffffU) * index;
  return ((upper << 16U) + lower + shift_) % kPrime % slots_;
}

SparseVector hash_survivors(const SparseVector& selected, const UniversalHash& hash) {
  if (selected.is_statistical()) {
    const auto slots = static_cast<double>(hash.slots());
    const auto size = static_cast<double>(selected.size());
    const double filled = -slots * std::expm1(size * std::log1p(-1 / slots));
    const auto survivors = static_cast<std::uint32_t>(slots == 1 ? 1 : std::llround(filled));
    return SparseVector::from(statistical_part(selected.payload(), survivors));
  }
  const auto entries = selected.entries();
  std::vector<std::uint32_t> last(hash.slots());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    last[hash(entries[i].coordinate)] = static_cast<std::uint32_t>(i);
  }
  std::vector<Entry> survivors;
  survivors.reserve(std::min(entries.size(), last.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (last[hash(entries[i].coordinate)] == i) survivors.push_back(entries[i]);
  }
  return SparseVector::trusted(std::move(survivors));
}

SparsifierInfo dragonn_hash_sparsifier() {
  return {.name = "dragonn_hash",
          .summary = "what reaches dgc's threshold, in the slots of a hash table",
          .source = "DRAGONN (ICML 2022), Algorithm 1",
          .independent_iterations = true,
          .draws = true,
          .needs = Needs::slots,
          .options = {sample_option(),
                      {.name = "slots",
                       .fallback = 1.0,
                       .minimum = 0,
                       .help = "slots of the hash table, times k",
                       .maximum = 1e6}},
          .expected_work =
              [](std::int64_t n, std::int64_t k, const Options& options) {
                SelectionWork work = sampling_work(n, options);
                work.compared = n;
                work.hashed = k;
                return work;
              },
          .make = without_state(select_by_hash)};
}

}  // namespace thinwire::algorithms
