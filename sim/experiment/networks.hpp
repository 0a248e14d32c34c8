// The networks that a point can name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/network.hpp"

namespace thinwire {

struct Point;

struct NetworkInfo {
  std::string name;
  std::string summary;
  std::string parameters;  ///< the keys of a point that it reads
  bool has_clock = true;
  std::unique_ptr<Network> (*make)(const Point& point) = nullptr;
};

[[nodiscard]] std::vector<NetworkInfo> all_networks();
/// Throws InputError with the nearest name where there is no such network.
[[nodiscard]] NetworkInfo find_network(std::string_view name);

}  // namespace thinwire
