#include "sim/core/gradient/quantiser.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace thinwire::inline gradient {

DenseBlock Quantiser::quantised(const DenseBlock& block, const GradientSpace& space,
                                std::uint64_t key) const {
  if (block.is_valueless()) return block;
  const auto span = block.values();
  std::vector<float> values(span.begin(), span.end());
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(1, bucket / space.granule));
  const auto levels = static_cast<float>((1 << (bits - 1)) - 1);
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const std::size_t end = std::min(values.size(), begin + width);
    float scale = 0;
    for (std::size_t i = begin; i < end; ++i) scale = std::max(scale, std::abs(values[i]));
    if (scale == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      const float exact = std::abs(values[i]) / scale * levels;
      const float below = std::floor(exact);
      const auto chance = static_cast<float>(to_unit(mix(key ^ mix(block.first() + i))));
      const float level = chance < exact - below ? below + 1 : below;
      values[i] = std::copysign(scale * std::min(level, levels) / levels, values[i]);
    }
  }
  return {block.first(), std::move(values)};
}

}  // namespace thinwire::inline gradient
