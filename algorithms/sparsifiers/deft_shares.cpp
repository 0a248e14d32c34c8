#include "algorithms/sparsifiers/deft_shares.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace thinwire::algorithms {

DeftShares::DeftShares(std::span<const std::int64_t> sizes, std::vector<double> norms,
                       std::int64_t k)
    : sizes_(sizes.begin(), sizes.end()),
      norms_(std::move(norms)),
      order_(sizes.size()),
      turn_of_(sizes.size()),
      shares_(sizes.size()),
      least_(k == 0 ? 0 : 1) {
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, std::ranges::greater(),
                           [&](std::size_t layer) { return norms_[layer]; });
  turns_.reserve(sizes_.size() + 1);
  Turn turn{.k = static_cast<double>(k),
            .norms = std::accumulate(norms_.begin(), norms_.end(), 0.0)};
  for (const std::size_t layer : order_) {
    turn_of_[layer] = turns_.size();
    turns_.push_back(turn);
    shares_[layer] = share(turn, norms_[layer], sizes_[layer]);
    turn.k -= static_cast<double>(shares_[layer]);
    turn.norms -= norms_[layer];
  }
  turns_.push_back(turn);
  std::int64_t left = k - std::accumulate(shares_.begin(), shares_.end(), std::int64_t{0});
  for (const std::size_t layer : order_) {
    if (left <= 0) break;
    const std::int64_t more = std::min(left, sizes_[layer] - shares_[layer]);
    shares_[layer] += more;
    left -= more;
  }
}

std::int64_t DeftShares::share(const Turn& turn, double norm, std::int64_t size) const {
  const double wanted = turn.norms > 0 ? std::max(turn.k, 0.0) * (norm / turn.norms) : 0;
  return std::min(
      size,
      std::max(least_, static_cast<std::int64_t>(std::min(static_cast<double>(size), wanted))));
}

std::int64_t DeftShares::in_turn(std::size_t layer) const {
  return share(turns_[turn_of_[layer]], norms_[layer], sizes_[layer]);
}

std::int64_t DeftShares::of(std::size_t layer, double norm) const {
  const auto found =
      std::ranges::partition_point(order_, [&](std::size_t other) { return norms_[other] > norm; });
  const auto at = static_cast<std::size_t>(found - order_.begin());
  const std::size_t usual = turn_of_[layer];
  const double change = norm - norms_[layer];
  const Turn& first = turns_.front();
  Turn turn = turns_[at];
  double before = first.k - turn.k;  // of k, to other layers
  if (usual < at) {
    before -= static_cast<double>(in_turn(layer));
    turn.norms += norm;
  } else {
    turn.norms += change;
  }
  const double all = first.norms + change;
  turn.k = first.k - (all > 0 ? before * (first.norms / all) : 0);
  const std::size_t now = order_[usual < at ? at - 1 : at];  // whose turn the layer has
  const std::int64_t left_over = shares_[now] - in_turn(now);
  const std::int64_t size = sizes_[layer];
  return std::min(size, share(turn, norm, size) + left_over);
}

}  // namespace thinwire::algorithms
