// The prices of local work on a machine's GPU and its host, read from JSON. docs/workloads.md
// describes the format; every figure of a file has its source.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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
  /// Indexed by kind of work as in WorkPrices: all kinds on the GPU, those of summation on the
  /// host.
  std::map<std::string, SourcedPrice> gpu;
  std::map<std::string, SourcedPrice> host;

  /// With `staging`, messages are sent from the host's memory: sent and received data are copied,
  /// and sums are computed on the host as far as the file prices them there. Otherwise the network
  /// accesses the GPU's memory, and all work is done on the GPU.
  [[nodiscard]] WorkPrices prices(bool staging) const;
};

/// Reads and checks. Throws InputError with the file, JSON pointer, value and what would be right.
[[nodiscard]] Device read_device(const std::string& path);

/// The names of the shipped devices, sorted.
[[nodiscard]] std::vector<std::string> shipped_devices();
/// The path of a device: `name_or_path` is a shipped name, or a path that ends in ".json" or has a
/// '/'. Throws InputError with the nearest name.
[[nodiscard]] std::string device_file(const std::string& name_or_path);

}  // namespace thinwire::workloads
