#include "sim/machine/networks/common/exchanges.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace thinwire::networks {

void Exchanges::begin(Rank rank, int ranks, ExchangePart& part, Tag tag, int under_way,
                      bool ahead) {
  const auto steps = static_cast<std::size_t>(ranks) - 1;
  const std::size_t wanted = static_cast<std::size_t>(under_way) * (ahead ? 2 : 1);
  const std::size_t places = std::bit_ceil(std::min(wanted, std::max<std::size_t>(1, steps)));
  if (places > places_ || ranks_.empty()) make_places(static_cast<std::size_t>(ranks), places);
  OfRank& own = of(rank);
  own = {.part = &part,
         .read_next = nullptr,
         .odd = !own.odd,
         .steps = ranks - 1,
         .posted = 0,
         .done = 0,
         .under_way = under_way,
         .tag = tag,
         .has_received = false};
  if (early_.empty()) return;
  for (int step = 0; step < static_cast<int>(places_); ++step) take_early({rank, step, own.odd});
}

/// Gives a step the place that has become free for it.
void Exchanges::take_early(const Step& at) {
  const auto found = early_.find(at);
  if (found == early_.end()) return;
  receiving(at.rank, at.step) = std::move(found->second);
  early_.erase(found);
}

/// Gives each rank so many places, and moves what is under way there.
void Exchanges::make_places(std::size_t ranks, std::size_t places) {
  Exchanges wider;
  wider.early_ = std::move(early_);
  wider.places_ = places;
  wider.ranks_ = std::move(ranks_);
  wider.ranks_.resize(ranks);
  wider.sending_.resize(ranks * places);
  wider.receiving_.resize(ranks * places);
  if (!sending_.empty()) {
    for (int rank = 0; rank < static_cast<int>(ranks); ++rank) {
      const OfRank& own = wider.of(Rank(rank));
      for (int step = own.done; step < own.done + static_cast<int>(places_); ++step) {
        wider.sending(Rank(rank), step) = std::move(sending(Rank(rank), step));
        wider.receiving(Rank(rank), step) = std::move(receiving(Rank(rank), step));
      }
    }
  }
  *this = std::move(wider);
  for (auto at = early_.begin(); at != early_.end();) {
    const auto next = std::next(at);
    if (has_place(at->first)) take_early(at->first);
    at = next;
  }
}

}  // namespace thinwire::networks
