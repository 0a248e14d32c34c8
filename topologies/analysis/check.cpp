#include "topologies/analysis/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "topologies/loading/compact_routes.hpp"

namespace thinwire::topologies {

namespace {

using Severity = Finding::Severity;

constexpr double kLeastBandwidth = 1e3;    ///< a modem of 1990
constexpr double kMostBandwidth = 100e12;  ///< more than a whole switch
constexpr double kMostLatency = 1;         ///< light travels farther than the moon
constexpr std::size_t kNamed = 5;          ///< names listed per kind; the rest are counted

/// "a, b, c and 12 more".
std::string names_of(const std::vector<std::string>& names) {
  const std::span<const std::string> first(names.data(), std::min(names.size(), kNamed));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  return text;
}

/// A link that is too slow is a problem, since a unit may be wrong. One that is too fast may be meant
/// to take no time; loopbacks may be as fast as they like.
void check_links(const RouteTable& table, const PlatformGraph& graph,
                 std::vector<Finding>& findings) {
  for (LinkIndex at = 0; at < table.links.size(); ++at) {
    const PlatformLink& link = table.links[at];
    if (link.is_weight()) continue;
    const bool loopback = graph.survey.loopback[at];
    const bool slow = !(link.bandwidth >= kLeastBandwidth);
    if (slow || (!loopback && link.bandwidth > kMostBandwidth)) {
      findings.push_back(
          {slow ? Severity::problem : Severity::warning, "bandwidth",
           fmt::format("link {}: a bandwidth of {:g} bytes/s; likely are {:g} to {:g}", link.name,
                       link.bandwidth, kLeastBandwidth, kMostBandwidth)});
    }
    if (!(link.latency.value() >= 0 && link.latency.value() <= kMostLatency)) {
      findings.push_back({Severity::problem, "latency",
                          fmt::format("link {}: a latency of {:g} s; likely are 0 to {:g} s",
                                      link.name, link.latency.value(), kMostLatency)});
    }
  }
}

/// Reports hosts that are isolated once, and other unreachable pairs individually.
void check_reachable(const RouteTable& table, const PlatformGraph& graph,
                     std::vector<Finding>& findings) {
  if (graph.survey.unreachable.empty()) return;
  std::set<HostIndex> connected;
  for (const SurveyedPair& pair : graph.survey.pairs) {
    connected.insert(pair.from);
    connected.insert(pair.to);
  }
  std::set<HostIndex> isolated;
  std::vector<std::string> pairs;
  for (const auto& [from, to] : graph.survey.unreachable) {
    const bool from_isolated = !connected.contains(from);
    const bool to_isolated = !connected.contains(to);
    if (from_isolated) isolated.insert(from);
    if (to_isolated) isolated.insert(to);
    if (!from_isolated && !to_isolated) {
      pairs.push_back(fmt::format("{} to {}", table.hosts[from].name, table.hosts[to].name));
    }
  }
  if (!isolated.empty()) {
    std::vector<std::string> names;
    for (const HostIndex host : isolated) names.push_back(table.hosts[host].name);
    findings.push_back(
        {Severity::problem, "no_route", fmt::format("no route to or from {}", names_of(names))});
  }
  if (!pairs.empty()) {
    findings.push_back(
        {Severity::problem, "no_route", fmt::format("no route from {}", names_of(pairs))});
  }
}

void check_symmetry(const RouteTable& table, const PlatformGraph& graph,
                    std::vector<Finding>& findings) {
  const std::vector<SurveyedPair>& pairs = graph.survey.pairs;
  const auto key = [](const SurveyedPair& pair) { return std::pair(pair.from, pair.to); };
  std::vector<std::string> differing;
  for (const SurveyedPair& pair : pairs) {
    if (pair.from > pair.to) continue;
    const auto back = std::ranges::lower_bound(pairs, std::pair(pair.to, pair.from), {}, key);
    if (back == pairs.end() || key(*back) != std::pair(pair.to, pair.from)) continue;
    if (back->hops == pair.hops && std::abs(back->latency_s - pair.latency_s) <= kSameLatency) {
      continue;
    }
    differing.push_back(fmt::format("{} and {} ({} links, {:g} s; back {} links, {:g} s)",
                                    table.hosts[pair.from].name, table.hosts[pair.to].name,
                                    pair.hops, pair.latency_s, back->hops, back->latency_s));
  }
  if (differing.empty()) return;
  findings.push_back(
      {Severity::warning, "asymmetric",
       fmt::format("the ways there and back differ between {}", names_of(differing))});
}

void check_use(const RouteTable& table, const PlatformGraph& graph,
               std::vector<Finding>& findings) {
  if (!graph.never_used.empty() && table.hosts.size() > 1) {
    std::vector<std::string> names;
    for (const LinkIndex link : graph.never_used) names.push_back(table.links[link].name);
    findings.push_back(
        {Severity::warning, "never_used",
         fmt::format("{} of {} links are on no route{}: {}", names.size(), table.links.size(),
                     graph.survey.all_pairs ? "" : " that was looked at", names_of(names))});
  }
  if (graph.guesses > 0) {
    findings.push_back(
        {Severity::warning, "unclear",
         fmt::format("routes do not tell the ends of some links; {} were guessed, so "
                     "figures of the graph may be off",
                     graph.guesses)});
  }
}

/// The route that the child requested last, in memory that both processes share.
class LastRoute {
 public:
  LastRoute()
      : memory_(boost::interprocess::anonymous_shared_memory(sizeof(Names))),
        names_(new (memory_.get_address()) Names{}) {}

  void begin(const std::string& from, const std::string& to) {
    copy(names_->from, from);
    copy(names_->to, to);
  }
  void end() { names_->from[0] = '\0'; }

  [[nodiscard]] bool open() const { return names_->from[0] != '\0'; }
  [[nodiscard]] std::string text() const {
    return fmt::format("from {} to {}", names_->from.data(), names_->to.data());
  }

 private:
  using Name = std::array<char, 256>;
  struct Names {
    Name from{};
    Name to{};
  };
  static void copy(Name& into, const std::string& name) {
    into[name.copy(into.data(), into.size() - 1)] = '\0';
  }
  boost::interprocess::mapped_region memory_;
  Names* names_;
};

// The child sends its parent a line of figures, then one line per finding.

std::string serialised(const PlatformCheck& check) {
  std::string text = fmt::format("{} {} {} {}", check.hosts, check.pairs, check.all_pairs ? 1 : 0,
                                 check.compact_routes ? 1 : 0);
  if (check.compact_routes) {
    const CompactRoutesCheck& routes = *check.compact_routes;
    text += fmt::format(" {} {} {} {} {} {}", routes.pairs, routes.rows, routes.columns,
                        routes.bytes, routes.making_s, routes.comparison_s);
  }
  text += '\n';
  for (const Finding& finding : check.findings) {
    text += fmt::format("{}\t{}\t{}\n", finding.severity == Severity::problem ? 'p' : 'w',
                        finding.kind, finding.text);
  }
  return text;
}

PlatformCheck parsed(const std::string& text) {
  PlatformCheck check;
  std::istringstream lines(text);
  std::string line;
  bool compact_routes = false;
  lines >> check.hosts >> check.pairs >> check.all_pairs >> compact_routes;
  if (compact_routes) {
    CompactRoutesCheck& routes = check.compact_routes.emplace();
    lines >> routes.pairs >> routes.rows >> routes.columns >> routes.bytes >> routes.making_s >>
        routes.comparison_s;
  }
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const std::size_t tab = line.find('\t', 2);
    check.findings.push_back({line.front() == 'p' ? Severity::problem : Severity::warning,
                              line.substr(2, tab - 2), line.substr(tab + 1)});
  }
  return check;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void add_routes_problem(PlatformCheck& check, std::string text) {
  check.findings.insert(check.findings.begin(), {Severity::problem, "routes", std::move(text)});
}

/// Compares pairs up to the first that differs.
void check_compact_routes(const Platform& platform, PlatformCheck& check) {
  std::vector<HostIndex> hosts(platform.hosts().size());
  std::iota(hosts.begin(), hosts.end(), HostIndex{0});
  auto begin = std::chrono::steady_clock::now();
  const CompactRoutes compact(platform, hosts);
  CompactRoutesCheck& routes = check.compact_routes.emplace();
  routes.making_s = seconds_since(begin);
  routes.rows = compact.rows();
  routes.columns = compact.columns();
  routes.bytes = compact.bytes();
  begin = std::chrono::steady_clock::now();
  std::vector<LinkIndex> wanted;
  const auto latency_of = [&](LinkIndex link) { return platform.links()[link].latency.value(); };
  for (SiteIndex from = 0; from < compact.sites(); ++from) {
    for (SiteIndex to = 0; to < compact.sites(); ++to) {
      Seconds latency;
      platform.route_into(from, to, wanted, &latency);
      std::erase_if(wanted, [&](LinkIndex link) { return platform.links()[link].is_weight(); });
      ++routes.pairs;
      double slowest = HUGE_VAL;
      for (const LinkIndex link : wanted) {
        slowest = std::min(slowest, platform.links()[link].bandwidth);
      }
      const CompactRoute route = compact.route(from, to);
      double off = compact.kind(route).latency - latency.value();
      if (route.up != CompactRoute::kNoPort) off += latency_of(compact.up_ports(from)[route.up]);
      if (route.down != CompactRoute::kNoPort) {
        off += latency_of(compact.down_ports(to)[route.down]);
      }
      if (compact.links(from, to) == wanted && compact.kind(route).bandwidth == slowest &&
          std::abs(off) <= kSameLatency * std::max(1.0, latency.value())) {
        continue;
      }
      add_routes_problem(
          check, fmt::format("the compact route from {} to {} is not SimGrid's; please report this",
                             platform.hosts()[from].name, platform.hosts()[to].name));
      return;
    }
  }
  routes.comparison_s = seconds_since(begin);
}

PlatformCheck check_loaded(const Platform& platform, const PlatformCheckWishes& wishes,
                           LastRoute& last) {
  RouteTable table = routes_of(platform);
  table.route = [&, route = table.route](HostIndex from, HostIndex to) {
    last.begin(table.hosts[from].name, table.hosts[to].name);
    std::optional<Route> found = route(from, to);
    last.end();
    return found;
  };
  const PlatformGraph graph = graph_of(table);
  PlatformCheck check{.findings = findings_of(table, graph, wishes.hosts),
                      .hosts = table.hosts.size(),
                      .pairs = graph.survey.pairs.size(),
                      .all_pairs = graph.survey.all_pairs};
  if (std::string note = platform.xml().note(); !note.empty()) {
    check.findings.push_back({Severity::warning, "passed_over", std::move(note)});
  }
  if (std::string note = platform.xml().gap_note(); !note.empty()) {
    check.findings.push_back({Severity::warning, "no_message_gap", std::move(note)});
  }
  // Compact routes need all routes; a missing one has been reported as a problem.
  if (wishes.compact_routes && graph.survey.unreachable.empty()) {
    try {
      check_compact_routes(platform, check);
    } catch (const InputError& error) {
      add_routes_problem(check, fmt::format("network links cannot use them: {}", error.what()));
    }
  }
  return check;
}

}  // namespace

std::vector<Finding> findings_of(const RouteTable& table, const PlatformGraph& graph,
                                 std::optional<int> hosts_wanted) {
  std::vector<Finding> findings;
  if (table.hosts.empty()) {
    findings.push_back({Severity::problem, "too_few_hosts", "the platform has no hosts"});
  }
  if (hosts_wanted && table.hosts.size() < static_cast<std::size_t>(*hosts_wanted)) {
    findings.push_back({Severity::problem, "too_few_hosts",
                        fmt::format("the platform has {} hosts, fewer than the {} asked for",
                                    table.hosts.size(), *hosts_wanted)});
  }
  check_links(table, graph, findings);
  check_reachable(table, graph, findings);
  check_symmetry(table, graph, findings);
  check_use(table, graph, findings);
  return findings;
}

PlatformCheck check_platform(const std::string& path, const PlatformCheckWishes& wishes) {
  LastRoute last;
  std::optional<Platform> platform;
  try {
    return parsed(
        in_child_process(
            {.subject = path,
             .prepare =
                 [&] { platform.emplace(path, Platform::Loading{.verbose = wishes.verbose}); },
             .run = [&] { return serialised(check_loaded(*platform, wishes, last)); }},
            wishes.verbose)
            .text);
  } catch (const std::runtime_error& error) {
    if (!last.open()) throw;
    PlatformCheck check;
    check.findings.push_back(
        {Severity::problem, "crash",
         fmt::format("SimGrid crashes on the route {} (a route that is missing in a Dijkstra zone "
                     "does that; nothing else was checked): {}",
                     last.text(), error.what())});
    return check;
  }
}

}  // namespace thinwire::topologies
