#include "algorithms/collectives/represented_parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/fingerprint.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/statistical.hpp"

namespace thinwire::algorithms {

namespace {

/// The expected numbers of entries of the parts, up to a common factor.
std::vector<double> loads_of(const SparseVector& selected, const Numbers& boundaries) {
  std::vector<double> loads(boundaries.all().size() - 1);
  if (selected.size() == 0) return loads;
  const std::vector<double> before =
      statistical_expected_before(selected.payload(), boundaries.all());
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i] = before[i + 1] - before[i];
  return loads;
}

/// Boundaries of the same numbers are different objects on different ranks.
Fingerprint contents_of(const Numbers& boundaries, std::size_t running) {
  Fingerprint contents{running, running};
  for (const std::int64_t number : boundaries.all()) {
    contents = {random_bits(contents.low, number), random_bits(contents.high, number, 1)};
  }
  return contents;
}

}  // namespace

std::vector<std::int32_t> running_ranks(const Communicator& comm) {
  std::vector<std::int32_t> running;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (comm.representative(Rank(rank)) == Rank(rank)) running.push_back(rank);
  }
  return running;
}

std::uint32_t group_of(std::uint32_t number, std::uint32_t count) {
  if (!std::has_single_bit(count)) return number;
  std::uint32_t group = 0;
  for (std::uint32_t bit = 1; bit < count; bit *= 2) {
    group = 2 * group + ((number & bit) != 0 ? 1 : 0);
  }
  return group;
}

std::vector<std::int64_t> representative_parts(const std::vector<double>& loads,
                                               std::size_t count) {
  const auto fullest = static_cast<std::size_t>(std::ranges::max_element(loads) - loads.begin());
  const auto cut = [&](std::size_t group) {
    return static_cast<std::size_t>(part_begin(std::ssize(loads), static_cast<std::int64_t>(count),
                                               static_cast<std::int64_t>(group)));
  };
  std::vector<std::int64_t> chosen;
  chosen.reserve(count);
  for (std::size_t group = 0; group < count; ++group) {
    const std::size_t first = cut(group);
    const std::size_t last = cut(group + 1);
    if (first <= fullest && fullest < last) {
      chosen.push_back(static_cast<std::int64_t>(fullest));
      continue;
    }
    const auto in_group = std::span(loads).subspan(first, last - first);
    const double mean =
        std::accumulate(in_group.begin(), in_group.end(), 0.0) / static_cast<double>(last - first);
    const auto nearest = std::ranges::min_element(
        in_group, {}, [mean](double load) { return std::abs(load - mean); });
    chosen.push_back(static_cast<std::int64_t>(first) + (nearest - in_group.begin()));
  }
  return chosen;
}

RepresentedParts::RepresentedParts(const Communicator& comm, const SparseVector& selected,
                                   const Numbers& boundaries, const SchemeSetup& setup) {
  if (comm.stands_for() == 1) return;
  const std::vector<std::int32_t> running = running_ranks(comm);
  // The selections of two ranks differ a little, and so do the numbers that are expected of them. All
  // ranks have to choose the same parts.
  const Fingerprint what = contents_of(boundaries, running.size());
  const Message shared = setup.shared->once("represented parts", what, {}, [&] {
    return Numbers(representative_parts(loads_of(selected, boundaries), running.size())).message();
  });
  const Numbers chosen = Numbers::from(shared.payload);
  parts_.resize(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int32_t runs = comm.representative(Rank(rank)).value();
    const auto place =
        static_cast<std::uint32_t>(std::ranges::lower_bound(running, runs) - running.begin());
    parts_[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(
        chosen[group_of(place, static_cast<std::uint32_t>(running.size()))]);
  }
}

}  // namespace thinwire::algorithms
