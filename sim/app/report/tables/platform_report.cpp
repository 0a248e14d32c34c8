#include "sim/app/report/tables/platform_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "topologies/analysis/metrics.hpp"

namespace thinwire::report {

namespace {

/// Renders a single record; a table has one field per line.
std::string render_record(const View& view, const Json& record) {
  if (!for_people(view.format)) return render(view, {record}, {});
  std::vector<Json> lines;
  std::vector<std::string> keys = columns_of({record});
  if (!view.columns.empty()) {
    std::vector<std::string> named;
    for (const std::string& name : view.columns) {
      named.push_back(key_of_name("--columns", name, keys));
    }
    keys = std::move(named);
  }
  for (const std::string& key : keys) {
    lines.push_back({{"key", name_of_key(key)}, {"value", text_of_value(key, record.at(key))}});
  }
  const View plain{.format = view.format, .wide = view.wide, .width = view.width};
  const std::string table = to_table(lines, {column("key"), column("value")}, plain);
  return view.format == Format::table ? table.substr(table.find('\n') + 1) : table;
}

std::size_t nodes_of(std::span<const topologies::PlatformHost> hosts) {
  std::set<std::string_view> nodes;
  for (const topologies::PlatformHost& host : hosts) nodes.insert(host.node);
  return nodes.size();
}

/// The figures of the switches that sum.
void add_reducing(Json& record, const std::string& level, const ReducingSwitch& figures) {
  record["reducing_" + level + "_Bps"] = figures.bandwidth;
  record["reducing_" + level + "_latency_s"] = figures.latency.value();
}

}  // namespace

std::string platform_text(const View& view, const topologies::Platform& platform,
                          const topologies::PlatformGraph& graph) {
  const topologies::Distances distances = topologies::distances_of(graph);
  const topologies::Bisection bisection = topologies::bisection_of(graph, platform.hosts());
  const double half = std::floor(static_cast<double>(platform.hosts().size()) / 2);
  const Json per_host = bisection.in_order ? Json(*bisection.in_order / half) : Json(nullptr);
  Json record = {{"platform", platform.path()},
                 {"hosts", platform.hosts().size()},
                 {"nodes", nodes_of(platform.hosts())},
                 {"switches", graph.junctions()},
                 {"links", platform.links().size()},
                 {"message_gap_s", platform.message_gap().value()},
                 {"diameter_hops", distances.diameter_hops},
                 {"diameter_latency_s", distances.diameter_latency.value()},
                 {"route_hops_mean", distances.route_hops_mean},
                 {"route_hops_max", distances.route_hops_max},
                 {"route_latency_s_min", distances.route_latency_min.value()},
                 {"route_latency_s_mean", distances.route_latency_mean.value()},
                 {"route_latency_s_max", distances.route_latency_max.value()},
                 {"routes", distances.routes},
                 {"routes_all", graph.survey.all_pairs},
                 {"routes_longer", distances.longer_routes},
                 {"extra_hops_max", distances.extra_hops_max},
                 {"routes_slower", distances.slower_routes},
                 {"extra_latency_s_max", distances.extra_latency_max.value()},
                 {"latencies_all", distances.all_latency_sources},
                 {"bisection_Bps", optional_json(bisection.in_order)},
                 {"bisection_per_host_Bps", per_host},
                 {"bisection_random_least_Bps", optional_json(bisection.random_least)},
                 {"unreachable_pairs", graph.survey.unreachable.size()},
                 {"unused_links", graph.never_used.size()}};
  const ReducingSwitches& switches = platform.switches();
  if (switches.node) add_reducing(record, "node", *switches.node);
  if (switches.network) add_reducing(record, "network", *switches.network);
  return render_record(view, record);
}

std::string route_text(const View& view, const topologies::Platform& platform,
                       const topologies::Route& route) {
  std::vector<Json> records;
  double latency = 0;
  for (const topologies::LinkIndex index : route.links) {
    const topologies::PlatformLink& link = platform.links()[index];
    latency += link.latency.value();
    records.push_back({{"link", link.name},
                       {"bandwidth_Bps", link.bandwidth},
                       {"latency_s", link.latency.value()},
                       {"latency_s_sum", latency}});
  }
  const double distance = route.latency.value() - latency;
  if (platform.xml().distances && distance > topologies::kSameLatency) {
    records.push_back({{"link", "(distance)"},
                       {"bandwidth_Bps", nullptr},
                       {"latency_s", distance},
                       {"latency_s_sum", route.latency.value()}});
  }
  return render(
      view, records,
      {column("link"), column("bandwidth_Bps"), column("latency_s"), column("latency_s_sum")});
}

std::string loads_text(const View& view, const topologies::Platform& platform,
                       const topologies::Loads& loads, std::size_t top) {
  std::vector<Json> records;
  for (const topologies::LinkLoad& load : loads.links) {
    if (for_people(view.format) && records.size() == top) break;
    const topologies::PlatformLink& link = platform.links()[load.link];
    records.push_back({{"link", link.name},
                       {"messages", load.messages},
                       {"bytes", load.bytes},
                       {"bandwidth_Bps", link.bandwidth},
                       {"time_s", load.time.value()}});
  }
  std::string text = render(view, records,
                            {column("link"), column("messages"), column("bytes"),
                             column("bandwidth_Bps"), column("time_s")});
  if (view.format == Format::table) {
    text += fmt::format("\n{} messages of {:g} bytes in all; {} of {} links carry some\n",
                        loads.messages, loads.bytes, loads.links.size(), platform.links().size());
  }
  return text;
}

}  // namespace thinwire::report
