#include "traces/fitting/selections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace thinwire::traces {

namespace {

constexpr unsigned kRankBits = 24;  ///< bits of the rank in a key; the coordinate is above them
constexpr std::size_t kMostMagnitudes = 1U << 20U;

}  // namespace

Selections::Selections(const TraceHeader& header, const std::vector<ProfileRegion>& regions,
                       std::int64_t block)
    : components_(header.components),
      ranks_(static_cast<std::size_t>(header.ranks)),
      block_(block),
      selected_(regions.size(), 0.0),
      by_ranks_(ranks_ + 1, 0.0) {
  std::int64_t begin = 0;
  for (const ProfileRegion& region : regions) {
    begin += region.size;
    ends_.push_back(begin);
  }
}

void Selections::add(const TraceWindow& window) {
  ++windows_;
  keys_.clear();
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    add_imbalance(window.selected[rank]);
    for (const Entry& entry : window.selected[rank].entries()) {
      keys_.push_back((std::uint64_t{entry.coordinate} << kRankBits) | rank);
      add_magnitude(entry.value, window.thresholds[rank]);
    }
  }
  std::ranges::sort(keys_);
  add_keys();
}

double Selections::entries() const {
  return std::accumulate(selected_.begin(), selected_.end(), 0.0);
}

double Selections::density() const {
  return entries() / (static_cast<double>(components_) * draws());
}

double Selections::region_density(std::size_t region) const {
  const std::int64_t begin = region > 0 ? ends_[region - 1] : 0;
  return selected_[region] / (static_cast<double>(ends_[region] - begin) * draws());
}

double Selections::union_density(int ranks) const {
  const auto all = static_cast<double>(ranks_);
  double sum = 0;
  for (std::size_t c = 1; c <= ranks_; ++c) {
    // The probability that no rank of a subset is among the c that selected the coordinate.
    double none = 1;
    for (int i = 0; i < ranks && none > 0; ++i) {
      none *= std::max(0.0, all - static_cast<double>(c) - i) / (all - i);
    }
    sum += by_ranks_[c] * (1 - none);
  }
  return sum / (static_cast<double>(components_) * windows_);
}

double Selections::block_pairs() const {
  const auto all = static_cast<double>(ranks_);
  return pairs_ / (all * (all - 1) * windows_);
}

std::vector<double> Selections::coordinate_pairs() const {
  std::vector<double> pairs;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends_) {
    double sum = 0;
    while (begin < end) {
      const std::int64_t next = std::min(end, (begin / block_ + 1) * block_);
      const auto size = static_cast<double>(next - begin);
      sum += size * (size - 1);
      begin = next;
    }
    pairs.push_back(sum);
  }
  return pairs;
}

void Selections::add_imbalance(const SparseVector& selected) {
  std::array<double, kImbalanceParts> counts{};
  for (const Entry& entry : selected.entries()) {
    counts.at(static_cast<std::size_t>(std::int64_t{entry.coordinate} * kImbalanceParts /
                                       components_)) += 1;
  }
  const auto sum = static_cast<double>(selected.size());
  imbalance_ += sum > 0 ? *std::ranges::max_element(counts) * kImbalanceParts / sum : 1;
}

void Selections::add_magnitude(float value, float threshold) {
  if (seen_++ % stride_ != 0) return;
  const double over = std::log(std::abs(static_cast<double>(value)) / threshold);
  // The entry that defines the threshold is not a sample of the distribution.
  if (!std::isfinite(over) || over <= 0) return;
  magnitudes_.push_back(over);
  if (magnitudes_.size() < kMostMagnitudes) return;
  for (std::size_t i = 0; i < kMostMagnitudes / 2; ++i) magnitudes_[i] = magnitudes_[2 * i];
  magnitudes_.resize(kMostMagnitudes / 2);
  stride_ *= 2;
}

void Selections::add_keys() {
  std::vector<double> of_rank(ranks_, 0.0);  // in the current block
  double in_block = 0;
  double alike = 0;  // pairs of ranks with the same coordinate
  std::size_t region = 0;
  std::int64_t end = 0;
  const auto close_block = [&] {
    double squares = 0;
    for (double& count : of_rank) {
      squares += count * count;
      count = 0;
    }
    pairs_ += in_block * in_block - squares - alike;
    in_block = alike = 0;
  };
  for (std::size_t at = 0; at < keys_.size();) {
    const auto coordinate = static_cast<std::int64_t>(keys_[at] >> kRankBits);
    if (coordinate >= end) {
      close_block();
      while (coordinate >= ends_[region]) ++region;
      end = std::min(ends_[region], (coordinate / block_ + 1) * block_);
    }
    double count = 0;
    for (; at < keys_.size() && static_cast<std::int64_t>(keys_[at] >> kRankBits) == coordinate;
         ++at) {
      of_rank[keys_[at] & ((1U << kRankBits) - 1)] += 1;
      count += 1;
    }
    selected_[region] += count;
    in_block += count;
    alike += count * (count - 1);
    by_ranks_[static_cast<std::size_t>(count)] += 1;
  }
  close_block();
}

}  // namespace thinwire::traces
