// The prices of local work on a machine's GPU and its host, read from JSON.
// docs/explanation/iterations.md describes the format; every figure of a file has its source.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/shipped_files.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::workloads {

/// A price with its source.
struct SourcedPrice {
  Price price;
  std::string source;
};

/// The memory for a training's state.
struct DeviceMemory {
  Bytes bytes;
  std::string source;
};

struct Device {
  std::string name;
  std::string summary;
  std::optional<DeviceMemory> memory = {};
  /// Indexed by kind of work as in WorkPrices: all kinds on the GPU, and on the host the kinds that
  /// sum.
  std::map<std::string, SourcedPrice> gpu;
  std::map<std::string, SourcedPrice> host;

  /// With `staging`, messages are sent from the host's memory: sent and received data are copied,
  /// and sums are computed on the host as far as the file prices them there. Otherwise the network
  /// accesses the GPU's memory, and all work is done on the GPU.
  [[nodiscard]] WorkPrices prices(bool staging) const;
};

/// Reads and checks. Throws InputError with the file, JSON pointer, value and what would be right.
[[nodiscard]] Device read_device(const std::string& path);

inline constexpr ShippedFiles kDevices{.what = "device",
                                       .extension = ".json",
                                       .in_source = "sim/machine/workloads/devices",
                                       .in_share = "devices"};

}  // namespace thinwire::workloads
