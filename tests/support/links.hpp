// Simulations on network links, each in a child process that returns its results as numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "sim/machine/networks/links/links.hpp"
#include "tests/support/smpi.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/loading/placement.hpp"

namespace thinwire::test {

/// A platform and the placement of the ranks on its hosts (block if empty).
struct LinksPlace {
  std::string platform;  ///< path
  int ranks = 2;
  std::vector<topologies::HostIndex> hosts = {};
  networks::LinksSettings settings = {};
};

/// Creates the network in a child process, calls `work` there and returns its text.
[[nodiscard]] inline std::string text_on_links(
    const LinksPlace& place, const std::function<std::string(networks::LinksNetwork&)>& work) {
  std::optional<networks::LinksNetwork> network;
  return in_child_process({.subject = place.platform,
                           .prepare =
                               [&] {
                                 network.emplace(place.platform, place.settings);
                                 network->connect(
                                     place.hosts.empty()
                                         ? thinwire::topologies::place(network->platform().hosts(),
                                                                       place.ranks, "block")
                                         : place.hosts);
                               },
                           .run = [&] { return work(*network); }})
      .text;
}

/// Creates the network in a child process, calls `work` there and returns its numbers.
[[nodiscard]] inline Doubles on_links(const LinksPlace& place,
                                      const std::function<Doubles(networks::LinksNetwork&)>& work) {
  return unpacked(
      text_on_links(place, [&](networks::LinksNetwork& network) { return packed(work(network)); }));
}

/// The times at which the ranks' programs ended.
[[nodiscard]] inline Doubles times_on_links(const LinksPlace& place, const RankProgram& program) {
  return on_links(place, [&](networks::LinksNetwork& network) {
    return finished_of(network.run(place.ranks, program));
  });
}

/// A run whose links were recorded.
struct RecordedRun {
  struct Link {
    double bytes = 0;
    double mean = 0;
    double peak = 0;
  };

  Doubles times;  ///< by rank
  std::map<std::string, Link> links;

  [[nodiscard]] double makespan() const { return *std::ranges::max_element(times); }
  /// The sum over all links.
  [[nodiscard]] double bytes() const {
    double sum = 0;
    for (const auto& [name, link] : links) sum += link.bytes;
    return sum;
  }
  [[nodiscard]] double most_bytes() const {
    double most = 0;
    for (const auto& [name, link] : links) most = std::max(most, link.bytes);
    return most;
  }
  [[nodiscard]] double highest_peak() const {
    double highest = 0;
    for (const auto& [name, link] : links) highest = std::max(highest, link.peak);
    return highest;
  }
  [[nodiscard]] std::map<std::string, double> bytes_by_link() const {
    std::map<std::string, double> bytes;
    for (const auto& [name, link] : links) bytes[name] = link.bytes;
    return bytes;
  }
};

[[nodiscard]] inline std::string packed(const RunReport& report) {
  std::string names;
  Doubles numbers{static_cast<double>(report.ranks.size())};
  for (const RankReport& rank : report.ranks) numbers.push_back(rank.finished.value());
  for (const LinkReport& link : report.links) {
    names += link.name + "\n";
    numbers.push_back(static_cast<double>(link.carried.value()));
    numbers.push_back(link.mean_utilisation);
    numbers.push_back(link.peak_utilisation);
  }
  return names + "\n" + packed(numbers);
}

[[nodiscard]] inline RecordedRun unpacked_run(std::string text) {
  std::vector<std::string> names;
  for (std::size_t end = text.find('\n'); end > 0; end = text.find('\n')) {
    names.push_back(text.substr(0, end));
    text.erase(0, end + 1);
  }
  const Doubles numbers = unpacked(text.substr(1));
  const auto ranks = static_cast<std::size_t>(numbers.front());
  RecordedRun run;
  run.times.assign(numbers.begin() + 1, numbers.begin() + 1 + static_cast<std::ptrdiff_t>(ranks));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t at = 1 + ranks + 3 * i;
    run.links[names[i]] = {numbers[at], numbers[at + 1], numbers[at + 2]};
  }
  return run;
}

[[nodiscard]] inline RecordedRun recorded_on_links(LinksPlace place, const RankProgram& program) {
  place.settings.record_links = true;
  return unpacked_run(text_on_links(place, [&](networks::LinksNetwork& network) {
    return packed(network.run(place.ranks, program));
  }));
}

[[nodiscard]] inline RecordedRun recorded_on_smpi(SmpiPlace place, const RankProgram& program) {
  place.settings.record_links = true;
  return unpacked_run(text_on_smpi(place, [&](networks::SmpiNetwork& network) {
                        return packed(network.run(place.ranks, program));
                      }).text);
}

/// Writes a platform of a family to a file.
[[nodiscard]] inline PlatformFile made_platform(
    const std::string& name, const std::map<std::string, std::string>& parameters) {
  return PlatformFile(topologies::make_platform(topologies::family(name), parameters));
}

}  // namespace thinwire::test
