#include "sim/core/base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>

#include "sim/core/base/checked.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/numbers.hpp"

namespace thinwire::inline base {

namespace {

/// The number that a file of a control group has; empty where there is no file, and for "max".
std::optional<std::int64_t> number_in_file(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  return parse_number<std::int64_t>(word);
}

/// What a group may still take. Pages of files that it has read are given back when it wants more.
std::optional<std::int64_t> left_in_group(const std::string& folder) {
  for (const auto& [limit, usage] : {std::pair("memory.max", "memory.current"),
                                     std::pair("memory.limit_in_bytes", "memory.usage_in_bytes")}) {
    const std::optional<std::int64_t> most = number_in_file(folder + "/" + limit);
    const std::optional<std::int64_t> used = number_in_file(folder + "/" + usage);
    if (!most || !used) continue;
    std::int64_t pages_of_files = 0;
    std::ifstream statistics(folder + "/memory.stat");
    std::string name;
    std::int64_t value = 0;
    while (statistics >> name >> value) {
      if (name == "inactive_file" || name == "active_file") pages_of_files += value;
    }
    return std::max<std::int64_t>(0, *most - std::max<std::int64_t>(0, *used - pages_of_files));
  }
  return std::nullopt;
}

std::int64_t available_in_groups() {
  std::int64_t least = INT64_MAX;
  std::ifstream groups("/proc/self/cgroup");  // "0::/a/b", "4:memory:/a/b"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("memory") == std::string::npos) continue;
    const char* const hierarchy = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    least = std::min(least, available_in_group(hierarchy, line.substr(second + 1)));
  }
  return least;
}

/// What the limit of the address space leaves.
std::int64_t available_of_addresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  file >> pages;
  const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
  return std::max<std::int64_t>(0, most - pages * sysconf(_SC_PAGESIZE));
}

}  // namespace

std::int64_t available_in_machine(const std::string& meminfo) {
  std::ifstream file(meminfo);
  for (std::string word; file >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) {
      return checked_product<std::int64_t>(kilobytes, 1024).value_or(INT64_MAX);
    }
  }
  return INT64_MAX;
}

std::int64_t available_in_group(const std::string& hierarchy, std::string group) {
  std::int64_t least = INT64_MAX;
  while (true) {
    if (const auto left = left_in_group(hierarchy + group)) least = std::min(least, *left);
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.erase(slash);
  }
}

std::int64_t available_memory() {
  return std::min(
      {available_in_machine("/proc/meminfo"), available_in_groups(), available_of_addresses()});
}

std::string memory_text(double bytes) {
  const double mebibytes = bytes / (1 << 20);
  return mebibytes < 1000 ? fmt::format("{:.3g} MiB", mebibytes)
                          : fmt::format("{:.3g} GiB", mebibytes / 1024);
}

void require_memory(double bytes, const std::string& what, const std::string& remedy) {
  const std::int64_t available = available_memory();
  if (bytes <= static_cast<double>(available)) return;
  throw InputError("{}: takes about {} of memory, and {} are available; {}", what,
                   memory_text(bytes), memory_text(static_cast<double>(available)), remedy);
}

}  // namespace thinwire::inline base
