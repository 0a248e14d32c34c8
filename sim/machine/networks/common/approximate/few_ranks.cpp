#include "sim/machine/networks/common/approximate/few_ranks.hpp"

#include <bit>

namespace thinwire::networks {

Rank FewRanks::name(int image) const {
  if (which == Which::first || !std::has_single_bit(static_cast<unsigned>(ranks))) {
    return Rank(image);
  }
  const std::int64_t turn = image * std::int64_t{stands_for()} / running;
  return Rank(static_cast<std::int32_t>(image + turn * running));
}

int FewRanks::representative_among(const Members& members, int number) const {
  const int runs = members.number_of(representative(members.at(number)));
  return runs < 0 ? number : runs;
}

std::vector<std::int32_t> FewRanks::running_among(const Members& members) const {
  std::vector<std::int32_t> numbers;
  for (int number = 0; number < members.count; ++number) {
    if (representative_among(members, number) == number) numbers.push_back(number);
  }
  return numbers;
}

std::uint32_t group_of(std::uint32_t number, std::uint32_t count) {
  if (!std::has_single_bit(count)) return number;
  std::uint32_t group = 0;
  for (std::uint32_t bit = 1; bit < count; bit *= 2) {
    group = 2 * group + ((number & bit) != 0 ? 1 : 0);
  }
  return group;
}

}  // namespace thinwire::networks
