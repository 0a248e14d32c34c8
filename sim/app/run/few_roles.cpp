#include "sim/app/run/few_roles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/fingerprint.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/statistical.hpp"

namespace thinwire::run {

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

algorithms::PartsOfRanks FewRoles::parts(const Communicator& comm, const SparseVector& selected,
                                         const Numbers& boundaries, SharedWork& shared) const {
  const Members members = comm.members();
  const std::vector<std::int32_t> running = few_.running_among(members);
  if (members.count / std::ssize(running) == 1) return {};
  // The selections of two ranks differ a little, and so do the numbers that are expected of them. All
  // ranks have to choose the same parts.
  const Fingerprint what = contents_of(boundaries, running.size());
  const Message message = shared.once("represented parts", what, {}, [&] {
    return Numbers(representative_parts(loads_of(selected, boundaries), running.size())).message();
  });
  const Numbers chosen = Numbers::from(message.payload);
  std::vector<std::int32_t> parts(static_cast<std::size_t>(members.count));
  for (int number = 0; number < members.count; ++number) {
    const std::int32_t runs = few_.representative_among(members, number);
    const auto place =
        static_cast<std::uint32_t>(std::ranges::lower_bound(running, runs) - running.begin());
    parts[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(
        chosen[networks::group_of(place, static_cast<std::uint32_t>(running.size()))]);
  }
  return algorithms::PartsOfRanks(std::move(parts));
}

Numbers FewRoles::summand(const SparseVector& selected, std::int64_t /*count*/,
                          algorithms::NumbersOf numbers_of) const {
  constexpr int kMost = 32;
  const int ranks = std::min(kMost, few_.stands_for());
  std::vector<std::int64_t> sums = numbers_of(selected);
  for (int other = 1; other < ranks; ++other) {
    const std::vector<std::int64_t> numbers =
        numbers_of(SparseVector::from(statistical_of_another_rank(selected.payload(), other)));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += numbers[i];
  }
  for (std::int64_t& sum : sums) sum /= ranks;
  return Numbers(std::move(sums));
}

algorithms::Repeats FewRoles::repeats(int /*ranks*/, int along) const {
  return {.along = along, .after = along / few_.stands_for()};
}

std::vector<std::uint32_t> FewRoles::blocks_like(const Communicator& comm,
                                                 const algorithms::BlockOwners& owners) const {
  const Members members = comm.members();
  std::vector<std::uint32_t> like;
  like.reserve(owners.blocks);
  for (std::uint32_t block = 0; block < owners.blocks; ++block) {
    const int runs = few_.representative_among(members, owners.owner(block).value());
    like.push_back(owners.like(Rank(runs), block));
  }
  return like;
}

}  // namespace thinwire::run
