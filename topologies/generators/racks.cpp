#include "topologies/generators/racks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "sim/core/base/errors.hpp"

namespace thinwire::topologies {

namespace {

void add_behind_hosts(std::vector<ParameterInfo>& parameters,
                      std::initializer_list<ParameterInfo> added) {
  parameters.insert(std::ranges::find(parameters, "hosts", &ParameterInfo::name) + 1, added);
}

}  // namespace

void add_racks(std::vector<ParameterInfo>& parameters, const std::string& rack) {
  add_behind_hosts(parameters, {{"racks", "", "racks: " + rack},
                                {"hosts-per-rack", "", "hosts of a rack, with racks"}});
}

void add_cable_words(std::vector<ParameterInfo>& parameters, const std::string& kind) {
  const char* const all = "of all cables, instead of those below";
  add_behind_hosts(parameters, {{"bandwidth", "", all},
                                {"latency", "", all},
                                {"oversubscription", "",
                                 "bandwidth of a rack's hosts over the bandwidth of its cables to "
                                 "all other racks, with racks "
                                 "[1]: sets " +
                                     kind + "-cables"}});
}

std::optional<Racks> CommonWords::take_racks() {
  if (!has("racks") && !has("hosts-per-rack")) return std::nullopt;
  const Settings asked = settings();
  const auto number = [&](const char* word) { return has(word) ? asked.whole(word) : 0; };
  const int racks = number("racks");
  const int each = number("hosts-per-rack");
  const int hosts = number("hosts");
  if (hosts == 0 && (racks == 0 || each == 0)) {
    throw InputError("{}: {} alone does not tell the hosts; give {} too, or hosts for all racks",
                     family_, racks > 0 ? "racks" : "hosts-per-rack",
                     racks > 0 ? "hosts-per-rack" : "racks");
  }
  const std::int64_t all = std::int64_t{racks} * each;
  if (hosts > 0 && all > 0 && all != hosts) {
    throw InputError("{}: {} racks of {} hosts are {} hosts, not {}; leave one of the three out",
                     family_, racks, each, all, hosts);
  }
  for (const char* word : {"racks", "hosts-per-rack", "hosts"}) given_.erase(word);
  const int of_rack = each > 0 ? each : (hosts + racks - 1) / racks;
  return Racks{.racks = racks > 0 ? racks : (hosts + of_rack - 1) / of_rack, .hosts = of_rack};
}

void CommonWords::set(const std::string& name, const std::string& value) {
  if (has(name)) {
    throw InputError("{}: racks of hosts set {}; leave it out, or the racks", family_, name);
  }
  given_[name] = value;
}

void CommonWords::spread(const std::string& word, const std::vector<std::string>& parameters) {
  const auto given = given_.extract(word);
  if (given.empty()) return;
  for (const std::string& parameter : parameters) given_.try_emplace(parameter, given.mapped());
}

void CommonWords::set_switches(const Racks& racks, const std::string& switches) {
  const int most = settings().whole("nodes");
  given_.erase("nodes");
  const int nodes = largest_divisor(racks.hosts, most);
  set("nodes", nodes);
  set(switches, racks.hosts / nodes);
}

void CommonWords::spread_figures(const std::vector<std::string>& cables) {
  for (const char* const figure : {"bandwidth", "latency"}) {
    std::vector<std::string> all;
    for (const std::string& cable : cables) all.push_back(fmt::format("{}-{}", cable, figure));
    spread(figure, all);
  }
}

void CommonWords::set_cables_between(const std::optional<Racks>& racks, const std::string& kind) {
  const Settings asked = settings();
  const bool given = has("oversubscription");
  if (!racks) {
    if (!given) return;
    throw InputError("{}: oversubscription: it is of racks; give racks, or {}-cables", family_,
                     kind);
  }
  const double oversubscription = given ? asked.above_0("oversubscription") : 1;
  given_.erase("oversubscription");
  if (racks->racks == 1) return;
  const double ports = racks->hosts * asked.bandwidth("host-bandwidth") / oversubscription /
                       asked.bandwidth(kind + "-bandwidth");
  const auto cables = static_cast<int>(std::lround(ports / (racks->racks - 1)));
  set(kind + "-cables", std::max(1, cables));
}

int nodes_of(const Racks& racks, int gpus, const std::string& family) {
  if (racks.hosts % gpus == 0) return racks.hosts / gpus;
  throw InputError("{}: a rack of {} GPUs has no whole number of nodes of {} GPUs; see gpus",
                   family, racks.hosts, gpus);
}

int largest_divisor(int number, int most) {
  int divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

}  // namespace thinwire::topologies
