// The words by which a cluster of any family can be described: racks of hosts, one bandwidth and one
// latency of the cables, an oversubscription.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topologies/generators/settings.hpp"

namespace thinwire::topologies {

struct Racks {
  int racks = 1;
  int hosts = 1;  ///< of a rack
};

/// Adds "racks" and "hosts-per-rack" behind "hosts"; `rack` says what the family calls a rack.
void add_racks(std::vector<ParameterInfo>& parameters, const std::string& rack);
/// Adds "bandwidth", "latency" and "oversubscription" behind "hosts", for families whose racks are
/// joined by cables of this kind, as set_cables_between() does.
void add_cable_words(std::vector<ParameterInfo>& parameters, const std::string& kind);

/// What was given, while words of all families are replaced by the family's own parameters.
class CommonWords {
 public:
  using Parameters = std::map<std::string, std::string>;

  /// `known` outlives it.
  CommonWords(std::string family, const std::vector<ParameterInfo>& known, Parameters given)
      : family_(std::move(family)), known_(known), given_(std::move(given)) {}

  [[nodiscard]] const Parameters& given() const { return given_; }
  [[nodiscard]] bool has(const std::string& name) const { return given_.contains(name); }
  /// As they are now. Throws as Settings does.
  [[nodiscard]] Settings settings() const { return {family_, known_, given_}; }

  /// Takes racks, hosts-per-rack and hosts, if there are racks: two of the three tell the third.
  /// Throws InputError if one of them says too little, or if they contradict one another.
  [[nodiscard]] std::optional<Racks> take_racks();
  /// Sets a parameter that racks determine. Throws InputError if it was given too.
  void set(const std::string& name, const std::string& value);
  void set(const std::string& name, int value) { set(name, std::to_string(value)); }
  /// Sets "nodes", the hosts of a switch of a rack, to a divisor of its hosts up to what was given or
  /// is usual, and `switches` to the number of these switches.
  void set_switches(const Racks& racks, const std::string& switches);
  /// Takes a word, and gives its value to each of the parameters that was not given.
  void spread(const std::string& word, const std::vector<std::string>& parameters);
  /// Takes "bandwidth" and "latency", for all cables of these kinds.
  void spread_figures(const std::vector<std::string>& cables);
  /// Takes "oversubscription", and sets "KIND-cables", the cables between two racks, so that the
  /// bandwidth of a rack's hosts is as many times the bandwidth of its cables to all other racks. Throws
  /// InputError if it is given without racks.
  void set_cables_between(const std::optional<Racks>& racks, const std::string& kind);

 private:
  std::string family_;
  const std::vector<ParameterInfo>& known_;
  Parameters given_;
};

/// The nodes of a rack, of `gpus` hosts each. Throws InputError for parts of a node.
[[nodiscard]] int nodes_of(const Racks& racks, int gpus, const std::string& family);
/// The largest divisor of `number` up to `most`.
[[nodiscard]] int largest_divisor(int number, int most);

}  // namespace thinwire::topologies
