// What local work costs on a machine's GPU and its host, read from JSON. docs/workloads.md has the
// format; every figure of a file carries its source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::workloads {

/// A price and where it comes from.
struct SourcedPrice {
  Price price;
  std::string source;
};

struct Device {
  std::string name;
  std::string summary;
  /// By the kind of work, as WorkPrices names it. On the GPU all of them; on the host those of
  /// summing.
  std::map<std::string, SourcedPrice> gpu;
  std::map<std::string, SourcedPrice> host;

  /// `staging`: messages are sent from the host's memory, so that what is sent and received is
  /// copied, and sums are made there as far as the file prices them for the host. Else the network
  /// reads and writes the GPU's memory, and all is done on the GPU.
  [[nodiscard]] WorkPrices prices(bool staging) const;
};

/// Reads and checks. Throws InputError naming file, JSON pointer, value and what would be right.
[[nodiscard]] Device read_device(const std::string& path);

/// Names of the shipped devices, sorted.
[[nodiscard]] std::vector<std::string> shipped_devices();
/// The path of a device: a shipped one's name, or a path that ends in ".json" or has a '/'. Throws
/// InputError with the nearest name.
[[nodiscard]] std::string device_file(const std::string& name_or_path);

}  // namespace thinwire::workloads
