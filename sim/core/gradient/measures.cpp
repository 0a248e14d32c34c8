#include "sim/core/gradient/measures.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/core/base/random.hpp"

namespace thinwire::inline gradient {

std::int64_t count_at_least(const SparseVector& vector, float threshold) {
  if (vector.is_statistical()) {
    return static_cast<std::int64_t>(select_at_least(vector, threshold).size());
  }
  return std::ranges::count_if(
      vector.entries(), [&](const Entry& entry) { return std::abs(entry.value) >= threshold; });
}

Moments moments_of(const SparseVector& vector, const GradientSpace& space) {
  const auto n = static_cast<double>(space.components);
  if (vector.is_statistical()) {  // signs are symmetric
    const double squares = statistical_squares(vector.payload());
    return {.mean = 0, .deviation = std::sqrt(squares / static_cast<double>(vector.size()))};
  }
  double held = 0;
  double sum = 0;
  for (const Entry& entry : vector.entries()) {
    const auto components = static_cast<double>(space.width(entry.coordinate));
    held += components;
    sum += components * entry.value;
  }
  // A second pass is needed: the sum of squares alone would lose a small deviation to rounding.
  const double mean = sum / n;
  double squares = (n - held) * mean * mean;
  for (const Entry& entry : vector.entries()) {
    const double apart = entry.value - mean;
    squares += static_cast<double>(space.width(entry.coordinate)) * apart * apart;
  }
  return {.mean = mean, .deviation = std::sqrt(squares / n)};
}

Exceedances exceedances_of(const SparseVector& vector, double threshold,
                           const GradientSpace& space) {
  Exceedances result;
  if (vector.is_statistical()) {
    const auto granule = static_cast<double>(space.granule);
    const auto count = static_cast<double>(count_at_least(vector, static_cast<float>(threshold)));
    result.components = granule * count;
    result.excess = granule * count * statistical_mean_excess(vector.payload(), threshold);
    return result;
  }
  for (const Entry& entry : vector.entries()) {
    const double excess = std::abs(static_cast<double>(entry.value)) - threshold;
    if (excess <= 0) continue;
    const auto components = static_cast<double>(space.width(entry.coordinate));
    result.components += components;
    result.excess += components * excess;
  }
  return result;
}

float sampled_kth_magnitude(const SparseVector& vector, double probability, std::int64_t k,
                            std::uint64_t key) {
  if (vector.is_statistical()) {
    // The number of all entries above the sampled k-th has a gamma distribution of shape k.
    const auto drawn = static_cast<double>(k);
    const double wanted = statistical_scatter(drawn, key) / probability;
    return kth_magnitude(vector, std::max<std::int64_t>(1, std::llround(wanted)));
  }
  std::vector<Entry> sample;
  std::ranges::copy_if(vector.entries(), std::back_inserter(sample), [&](const Entry& entry) {
    return to_unit(random_bits(key, entry.coordinate)) < probability;
  });
  return kth_magnitude(SparseVector::trusted(std::move(sample)), k);
}

float least_magnitude(const SparseVector& vector) {
  if (vector.is_statistical()) {
    return kth_magnitude(vector, static_cast<std::int64_t>(vector.size()));
  }
  float least = 0;
  for (const Entry& entry : vector.entries()) {
    const float magnitude = std::abs(entry.value);
    if (magnitude > 0 && (least == 0 || magnitude < least)) least = magnitude;
  }
  return least;
}

}  // namespace thinwire::inline gradient
