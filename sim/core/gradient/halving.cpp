#include "sim/core/gradient/halving.hpp"

namespace thinwire::inline gradient {

std::pair<Halving::Node, Halving::Node> Halving::halves(const Node& node) const {
  const std::uint32_t middle = node.first + (node.last - node.first) / 2;
  const double there = before(middle);
  const auto left = static_cast<std::uint32_t>(
      draw_.left(mix(node.number), node.size, left_share(node.before, there, node.until),
                 middle - node.first, node.last - middle));
  return {{node.first, middle, node.begin, left, node.before, there, 2 * node.number},
          {middle, node.last, node.begin + left, node.size - left, there, node.until,
           2 * node.number + 1}};
}

std::uint32_t Halving::position_in(const Node& node, std::int64_t coordinate) {
  if (coordinate <= node.first) return node.begin;
  if (coordinate >= node.last) return node.begin + node.size;
  const auto offset = static_cast<std::uint64_t>(coordinate - node.first);
  return node.begin + static_cast<std::uint32_t>(offset * node.size / (node.last - node.first));
}

std::uint32_t Halving::coordinate_in(const Node& node, std::uint32_t position) {
  if (position <= node.begin || node.size == 0) return node.first;
  const std::uint64_t offset = position - node.begin;
  const std::uint64_t width = node.last - node.first;
  return node.first + static_cast<std::uint32_t>((offset * width + node.size - 1) / node.size);
}

std::uint32_t position_of(const Statistics& body, std::int64_t coordinate) {
  const Halving halving(body);
  Halving::Node node = halving.root();
  while (coordinate > node.first && coordinate < node.last && !halving.whole(node)) {
    const auto [left, right] = halving.halves(node);
    node = coordinate < left.last ? left : right;
  }
  return Halving::position_in(node, coordinate);
}

std::uint32_t coordinate_of(const Statistics& body, std::uint32_t position) {
  const Halving halving(body);
  Halving::Node node = halving.root();
  if (position >= body.size) return body.last;
  while (!halving.whole(node)) {
    const auto [left, right] = halving.halves(node);
    node = position < right.begin || right.size == 0 ? left : right;
  }
  return Halving::coordinate_in(node, position);
}

}  // namespace thinwire::inline gradient
