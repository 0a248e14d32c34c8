#include "sim/app/report/charts/link_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/core/base/child_process.hpp"
#include "topologies/analysis/layout.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::report {

namespace {

constexpr std::size_t kMostBundles = 3000;  // per map
constexpr std::size_t kHottest = 10;
constexpr std::size_t kAllPairsUpTo = 300;  // hosts

/// The part of a platform that a point's ranks use: {"vertices": [[name, host, x, y] ..],
/// "arcs": [[link, from, to] ..]}.
Json drawing_of(const topologies::Platform& platform, const plan::Point& point) {
  const topologies::RouteTable all = topologies::routes_of(platform);
  const std::vector<topologies::HostIndex> placed =
      place(platform.hosts(), point.ranks, point.placement);
  std::vector<topologies::HostIndex> used(placed);
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<topologies::PlatformHost> hosts;
  for (const topologies::HostIndex host : used) hosts.push_back(platform.hosts()[host]);
  const topologies::RouteTable table{
      .hosts = hosts,
      .links = all.links,
      .route = [&](topologies::HostIndex from, topologies::HostIndex to) {
        return all.route(used[from], used[to]);
      }};
  const topologies::PlatformGraph graph =
      topologies::graph_of(table, {.all_pairs_up_to = kAllPairsUpTo});
  const std::vector<topologies::Position> positions = topologies::layout_of(graph);
  Json vertices = Json::array();
  for (topologies::Vertex vertex = 0; vertex < positions.size(); ++vertex) {
    const topologies::GraphVertex& about = graph.graph[vertex];
    vertices.push_back(Json::array({about.name, about.kind == topologies::VertexKind::host,
                                    positions[vertex].x, positions[vertex].y}));
  }
  Json arcs = Json::array();
  for (const auto arc : boost::make_iterator_range(boost::edges(graph.graph))) {
    arcs.push_back(Json::array({graph.link_names[graph.graph[arc].link],
                                boost::source(arc, graph.graph), boost::target(arc, graph.graph)}));
  }
  return {{"vertices", vertices}, {"arcs", arcs}};
}

Json drawing_of(const plan::Point& point) {
  const std::string path = topologies::kPlatforms.file(point.platform);
  std::string text;
  return Json::parse(in_child_process({.subject = path,
                                       .prepare =
                                           [&] {
                                             const topologies::Platform platform(path);
                                             text = drawing_of(platform, point).dump();
                                           },
                                       .run = [&] { return text; }})
                         .text);
}

void bundle_links(LinkMap& map, const Json& drawing, const std::vector<LinkReport>& links) {
  std::map<std::string, const LinkReport*> carried;
  for (const LinkReport& link : links) carried[link.name] = &link;
  std::map<std::pair<std::size_t, std::size_t>, LinkBundle> bundles;
  for (const Json& arc : drawing.at("arcs")) {
    const auto found = carried.find(arc.at(0).get<std::string>());
    if (found == carried.end()) continue;
    const LinkReport& link = *found->second;
    const auto one = arc.at(1).get<std::size_t>();
    const auto other = arc.at(2).get<std::size_t>();
    const std::pair ends{std::min(one, other), std::max(one, other)};
    LinkBundle& bundle = bundles[ends];
    bundle.from = ends.first;
    bundle.to = ends.second;
    bundle.bytes += static_cast<double>(link.carried.value());
    bundle.links += 1;
    bundle.utilisation_peak = std::max(bundle.utilisation_peak, link.peak_utilisation);
    if (bundle.links == 1 || link.mean_utilisation > bundle.utilisation_mean) {
      bundle.utilisation_mean = link.mean_utilisation;
      bundle.busiest = link.name;
    }
  }
  for (const auto& [ends, bundle] : bundles) map.bundles.push_back(bundle);
  std::ranges::stable_sort(map.bundles, {}, &LinkBundle::utilisation_mean);
  for (const Json& vertex : drawing.at("vertices")) {
    LinkVertex& added = map.vertices.emplace_back();
    added.name = vertex.at(0).get<std::string>();
    added.host = vertex.at(1).get<bool>();
    added.x = vertex.at(2).get<double>();
    added.y = vertex.at(3).get<double>();
  }
}

void keep_busiest(LinkMap& map, std::size_t most) {
  if (map.bundles.size() <= most) return;
  const std::size_t out = map.bundles.size() - most;
  map.bundles.erase(map.bundles.begin(), map.bundles.begin() + static_cast<std::ptrdiff_t>(out));
  map.note = fmt::format("{} less busy ones of {} connections are not drawn", out, out + most);
}

/// Removes vertices without a link.
void drop_unused(LinkMap& map) {
  std::vector<bool> used(map.vertices.size());
  for (const LinkBundle& bundle : map.bundles) used[bundle.from] = used[bundle.to] = true;
  std::vector<std::size_t> index(map.vertices.size());
  std::vector<LinkVertex> kept;
  for (std::size_t i = 0; i < used.size(); ++i) {
    index[i] = kept.size();
    if (used[i]) kept.push_back(map.vertices[i]);
  }
  for (LinkBundle& bundle : map.bundles) {
    bundle.from = index[bundle.from];
    bundle.to = index[bundle.to];
  }
  map.vertices = std::move(kept);
}

std::string title_of(const plan::Point& point) {
  std::string title = fmt::format("{} on {}, {} ranks, n = {}", point.scheme->name, point.platform,
                                  point.ranks, point.space.components);
  if (!point.scheme->dense) {
    title += fmt::format(", density {}", given_density(point.k, point.space));
  }
  if (point.placement != "block") title += ", " + point.placement;
  return title;
}

double rounded(double value, double steps) { return std::round(value * steps) / steps; }

}  // namespace

std::vector<LinkMap> link_maps(const std::vector<results::Row>& rows, std::size_t most) {
  std::vector<const results::Row*> recorded;
  for (const results::Row& row : rows) {
    if (row.outcome && !row.outcome->links.empty()) recorded.push_back(&row);
  }
  std::vector<LinkMap> maps;
  std::map<std::string, Json> drawings;  // by platform, ranks and placement
  for (const results::Row* row : recorded) {
    const plan::Point& point = row->point;
    const std::vector<LinkReport>& links = row->outcome->links;
    LinkMap& map = maps.emplace_back();
    map.title = title_of(point);
    map.hottest.assign(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(
                                                          std::min(kHottest, links.size())));
    const std::string key = fmt::format("{} {} {}", point.platform, point.ranks, point.placement);
    try {
      if (!drawings.contains(key)) drawings[key] = drawing_of(point);
      bundle_links(map, drawings.at(key), links);
      if (map.bundles.empty()) {
        map.note = "no map: the platform has changed and has no links of these names";
      }
    } catch (const std::runtime_error& error) {  // the file is missing, or cannot be loaded
      map.note = fmt::format("no map: {}", error.what());
    }
    keep_busiest(map, std::min(kMostBundles, std::max<std::size_t>(50, most / recorded.size())));
    drop_unused(map);
  }
  return maps;
}

Json to_json(const LinkMap& map) {
  Json vertices = Json::array();
  for (const LinkVertex& vertex : map.vertices) {
    vertices.push_back(Json::array(
        {vertex.name, vertex.host ? 1 : 0, rounded(vertex.x, 1e4), rounded(vertex.y, 1e4)}));
  }
  Json bundles = Json::array();
  for (const LinkBundle& bundle : map.bundles) {
    bundles.push_back(
        Json::array({bundle.from, bundle.to, rounded(bundle.utilisation_mean, 1e4),
                     rounded(bundle.utilisation_peak, 1e3), bundle.bytes, bundle.links}));
  }
  Json hottest = Json::array();
  for (const LinkReport& link : map.hottest) {
    hottest.push_back(
        Json::array({link.name, link.bandwidth, link.carried.value(),
                     rounded(link.mean_utilisation, 1e4), rounded(link.peak_utilisation, 1e4)}));
  }
  return {{"title", map.title},
          {"note", map.note},
          {"vertices", vertices},
          {"bundles", bundles},
          {"hottest", hottest}};
}

}  // namespace thinwire::report
