#include "topologies/loading/link_indexes.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

namespace thinwire::topologies {

TEST_CASE("Links have the indexes of their order, and unknown ones have none") {
  const std::vector<int> objects(1001);
  std::vector<const void*> links;
  for (const int& object : objects) links.push_back(&object);
  const void* const unknown = links.back();
  links.pop_back();
  const LinkIndexes indexes(links);
  bool right = true;
  for (LinkIndex i = 0; i < links.size(); ++i) right = right && indexes.at(links[i]) == i;
  CHECK(right);
  CHECK_THROWS_AS((void)indexes.at(unknown), std::out_of_range);
  CHECK_THROWS_AS((void)LinkIndexes().at(unknown), std::out_of_range);
}

}  // namespace thinwire::topologies
