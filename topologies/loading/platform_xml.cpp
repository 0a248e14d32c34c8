#include "topologies/loading/platform_xml.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::size_t kDeepest = 100;       ///< elements in elements
constexpr double kMostOfPlatform = 2e6;     ///< hosts
constexpr double kMostCables = 2e7;         ///< of one cluster
constexpr std::size_t kMostOfFloyd = 5000;  ///< whose routes take the cube of that in steps
constexpr double kMostCoordinate = 1e9;     ///< milliseconds
constexpr double kFloydEntry = 24;          ///< bytes for each pair of a zone's points
constexpr double kFullEntry = 8;

/// No other element of SimGrid's is needed: they start actors, or read files.
constexpr std::array<std::string_view, 21> kElements{
    "platform",     "config",  "prop",     "zone",        "AS",
    "cluster",      "cabinet", "peer",     "host",        "disk",
    "router",       "link",    "backbone", "host_link",   "route",
    "zoneRoute",    "ASroute", "link_ctn", "bypassRoute", "bypassZoneRoute",
    "bypassASroute"};

/// Both networks take the loopback from the routes. Crosstraffic may be turned off, as it is.
constexpr std::array<std::string_view, 3> kConfiguration{
    "network/loopback-bw", "network/loopback-lat", "network/crosstraffic"};
constexpr std::array<std::string_view, 4> kOff{"0", "no", "off", "false"};

/// The routings of zones, apart from WIFI. SimGrid aborts on others.
constexpr std::array<std::string_view, 7> kRoutings{
    "Full", "Floyd", "Dijkstra", "DijkstraCache", "Vivaldi", "Cluster", "None"};

bool among(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Bytes; infinity where the system does not tell.
double available_memory() {
  std::ifstream file("/proc/meminfo");
  double kilobytes = 0;
  for (std::string word; file >> word;) {
    if (word == "MemAvailable:" && file >> kilobytes) return 1024 * kilobytes;
  }
  return HUGE_VAL;
}

/// -1 where the text is no number of 31 bits, as SimGrid wants it.
std::int64_t number_in(std::string text) {
  boost::trim(text);
  return parse_number<std::int32_t>(text).value_or(-1);
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  boost::split(parts, text, [separator](char c) { return c == separator; });
  return parts;
}

/// Of a cluster's radical; -1 where it is not valid.
std::int64_t hosts_in(const std::string& radical) {
  std::int64_t hosts = 0;
  for (const std::string& part : parts_of(radical, ',')) {
    const std::vector<std::string> ends = parts_of(part, '-');
    const std::int64_t first = number_in(ends.front());
    const std::int64_t last = number_in(ends.back());
    if (first < 0 || last < 0 || ends.size() > 2) return -1;
    hosts += std::max<std::int64_t>(0, last - first + 1);
  }
  return hosts;
}

/// Hosts and cables that SimGrid makes of a cluster's topo_parameters; none where they are not valid,
/// which SimGrid says.
struct ClusterSize {
  double hosts = 0;
  double cables = 0;
};

double pairs_of(double n) { return n * (n - 1) / 2; }

ClusterSize torus_size(const std::vector<std::vector<double>>& parameters) {
  ClusterSize size{.hosts = 1};
  for (const double length : parameters[0]) size.hosts *= length;
  size.cables = size.hosts * static_cast<double>(parameters[0].size());
  return size;
}

ClusterSize fat_tree_size(const std::vector<std::vector<double>>& parameters) {
  if (parameters.size() != 4) return {};
  const std::vector<double>& children = parameters[1];
  const std::vector<double>& parents = parameters[2];
  const std::vector<double>& cables = parameters[3];
  if (parents.size() != children.size() || cables.size() != children.size()) return {};
  ClusterSize size{.hosts = 1};
  for (const double count : children) size.hosts *= count;
  double nodes = size.hosts;  // of a level, and of the next
  for (std::size_t level = 0; level < children.size(); ++level) {
    size.cables += nodes * parents[level] * cables[level];
    nodes *= parents[level] / std::max(1.0, children[level]);
  }
  return size;
}

ClusterSize dragonfly_size(const std::vector<std::vector<double>>& parameters) {
  if (parameters.size() != 4) return {};
  const double groups = parameters[0][0];
  const double chassis = parameters[1][0];
  const double routers = parameters[2][0];
  const double hosts = groups * chassis * routers * parameters[3][0];
  return {.hosts = hosts,
          .cables = hosts + groups * chassis * pairs_of(routers) +
                    groups * routers * pairs_of(chassis) + pairs_of(groups)};
}

/// The topologies of clusters whose sizes SimGrid takes from topo_parameters, each with an example.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTopologies{
    {{"TORUS", "4,4,2"}, {"FAT_TREE", "2;4,4;1,2;1,1"}, {"DRAGONFLY", "3,4;4,3;5,1;2"}}};

/// Empty where one is no whole number from 1: SimGrid takes products of them as sizes.
std::vector<std::vector<double>> topology_parameters(const std::string& text) {
  std::vector<std::vector<double>> numbers;
  for (const std::string& part : parts_of(text, ';')) {
    numbers.emplace_back();
    for (const std::string& word : parts_of(part, ',')) {
      const std::int64_t number = number_in(word);
      if (number < 1) return {};
      numbers.back().push_back(static_cast<double>(number));
    }
  }
  return numbers;
}

ClusterSize topology_size(std::string_view topology,
                          const std::vector<std::vector<double>>& parameters) {
  if (topology == "TORUS") return torus_size(parameters);
  if (topology == "FAT_TREE") return fat_tree_size(parameters);
  return dragonfly_size(parameters);
}

/// The attributes of an element.
class Attributes {
 public:
  explicit Attributes(const XML_Char** pairs) {
    for (; *pairs != nullptr; pairs += 2) all_.emplace_back(pairs[0], pairs[1]);
  }
  [[nodiscard]] std::string operator[](std::string_view name) const {
    const auto found = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
    return found == all_.end() ? std::string() : found->second;
  }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

class Reader {
 public:
  explicit Reader(std::string path)
      : path_(std::move(path)), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<Reader*>(self)->guarded(
              [&](Reader& reader) { reader.begin(name, Attributes(attributes)); });
        },
        [](void* self, const XML_Char* /*name*/) {
          static_cast<Reader*>(self)->guarded([](Reader& reader) { reader.end(); });
        });
    XML_SetStartDoctypeDeclHandler(
        parser_.get(), [](void* self, const XML_Char* /*name*/, const XML_Char* /*system*/,
                          const XML_Char* /*publicly*/, int has_subset) {
          static_cast<Reader*>(self)->guarded([&](Reader& reader) {
            if (has_subset != 0) reader.refuse("a DTD of its own is refused");
          });
        });
  }

  PlatformXml read() {
    std::ifstream file(path_, std::ios::binary);
    std::array<char, 65536> part{};
    bool more = true;
    while (more) {
      file.read(part.data(), part.size());
      more = file.good();
      const auto size = static_cast<int>(file.gcount());
      const bool well = XML_Parse(parser_.get(), part.data(), size, more ? 0 : 1) == XML_STATUS_OK;
      if (failed_) std::rethrow_exception(failed_);
      if (!well) {
        refuse(fmt::format("this is not well-formed XML: {}; 'xmllint --noout' shows the place",
                           XML_ErrorString(XML_GetErrorCode(parser_.get()))));
      }
    }
    return found_;
  }

 private:
  struct Element {
    std::string name;
    std::string id;
    std::string routing = {};  ///< of a zone
    std::size_t points = 0;    ///< of a zone: what its routes connect
    std::set<std::pair<std::string, std::string>> routes = {};  ///< of a Dijkstra zone
  };

  /// No exception crosses Expat, which is C.
  void guarded(const auto& work) {
    if (failed_) return;
    try {
      work(*this);
    } catch (...) {
      failed_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(fmt::format("{}:{}: {}", path_, XML_GetCurrentLineNumber(parser_.get()), why));
  }

  void begin(const std::string& name, const Attributes& attributes) {
    if (open_.size() == kDeepest) {
      refuse(fmt::format("elements are nested more than {} deep", kDeepest));
    }
    if (!among(kElements, name)) {
      const std::vector<std::string> known(kElements.begin(), kElements.end());
      refuse(fmt::format("<{}> is refused: no platform here has such an element{}", name,
                         did_you_mean(name, known)));
    }
    const std::string subject = fmt::format("{} {}", name, attributes["id"]);
    for (const auto& [attribute, value] : attributes) {
      if (attribute.ends_with("_file") && !value.empty()) {
        refuse(
            fmt::format("{}: {} is refused: a platform may read no file, and no network here "
                        "follows figures that change",
                        subject, attribute));
      }
    }
    if (attributes["sharing_policy"] == "WIFI" || boost::iequals(attributes["routing"], "Wifi")) {
      refuse(fmt::format("{}: WIFI is refused: no network here knows it", subject));
    }
    if (const std::string& routing = attributes["routing"]; !routing.empty()) {
      const bool known = std::ranges::any_of(
          kRoutings, [&](std::string_view one) { return boost::iequals(routing, one); });
      if (!known) {
        refuse(fmt::format("{}: unknown routing '{}'; a zone may have {}", subject, routing,
                           fmt::join(kRoutings, ", ")));
      }
    }
    if (name == "prop" && !open_.empty() && open_.back().name == "config") {
      check_configuration(attributes["id"], attributes["value"]);
    }
    if (name == "prop" && open_.size() == 2 && attributes["id"] == kTopologyProperty) {
      found_.topology = attributes["value"];
      found_.dragonflies = found_.dragonflies || found_.topology.starts_with("dragonfly");
    }
    if ((name == "zoneRoute" || name == "ASroute") && attributes["src"] == attributes["dst"]) {
      refuse(fmt::format("{} from {} to itself: SimGrid knows no such route", name,
                         attributes["src"]));
    }
    check_coordinates(subject, attributes["coordinates"]);
    if (name == "route" || name == "zoneRoute" || name == "ASroute") check_route(attributes);
    found_.bypasses = found_.bypasses || name.starts_with("bypass");
    const std::size_t added = points_of(name, subject, attributes);
    if (!open_.empty()) open_.back().points += added;
    found_.distances = found_.distances || boost::iequals(attributes["routing"], "Vivaldi");
    open_.push_back({.name = name,
                     .id = attributes["id"],
                     .routing = boost::to_lower_copy(attributes["routing"])});
  }

  void end() {
    const Element zone = std::move(open_.back());
    open_.pop_back();
    const bool floyd = zone.routing == "floyd";
    if (!floyd && zone.routing != "full") return;
    const auto points = static_cast<double>(zone.points);
    if (floyd && zone.points > kMostOfFloyd) {
      refuse(
          fmt::format("zone {}: there are {} hosts, routers and zones; a Floyd zone may have {}, "
                      "a Dijkstra zone any number",
                      zone.id, zone.points, kMostOfFloyd));
    }
    const double bytes = points * points * (floyd ? kFloydEntry : kFullEntry);
    const double memory = bytes > 1e9 ? available_memory() : HUGE_VAL;
    if (bytes > memory) {
      refuse(
          fmt::format("zone {}: the routes between {} hosts, routers and zones take {:.3g} GB, "
                      "and there are {:.3g} GB of memory; Dijkstra takes less",
                      zone.id, zone.points, bytes / 1e9, memory / 1e9));
    }
  }

  void check_configuration(const std::string& key, const std::string& value) const {
    if (!among(kConfiguration, key)) {
      refuse(fmt::format("the configuration {} is refused: a platform may set {}", key,
                         fmt::join(kConfiguration, ", ")));
    }
    if (key == "network/crosstraffic" && !among(kOff, value)) {
      refuse(fmt::format("the configuration {} is refused but for {}", key, kOff[1]));
    }
  }

  void check_coordinates(const std::string& subject, const std::string& text) const {
    if (text.empty()) return;
    std::istringstream words(text);
    int right = 0;
    for (double number = 0; words >> number && std::abs(number) <= kMostCoordinate;) ++right;
    if (right == 3) return;
    refuse(
        fmt::format("{}: coordinates: '{}' is not valid; expected three numbers of "
                    "milliseconds, of at most {:g}",
                    subject, text, kMostCoordinate));
  }

  /// What a cluster's topology makes; nothing of other clusters.
  [[nodiscard]] ClusterSize size_of(const std::string& topology, const std::string& text,
                                    const std::string& subject) const {
    const auto* const known = std::ranges::find(
        kTopologies, topology, &std::pair<std::string_view, std::string_view>::first);
    if (known == kTopologies.end()) return {};
    const std::vector<std::vector<double>> parameters = topology_parameters(text);
    if (parameters.empty()) {
      refuse(fmt::format(
          "{}: topo_parameters: '{}' is not valid; expected whole numbers from 1, as in {}",
          subject, text, known->second));
    }
    // SimGrid reads beyond its routers otherwise.
    if (topology == "DRAGONFLY" && parameters.size() == 4 && parameters[0][0] > parameters[2][0]) {
      refuse(
          fmt::format("{}: topo_parameters: there are {} groups, and {} routers in a chassis; "
                      "SimGrid has the cable to group j end on router j of the first chassis, so "
                      "take more routers, or 'thinwire topo make dragonfly'",
                      subject, parameters[0][0], parameters[2][0]));
    }
    return topology_size(topology, parameters);
  }

  /// Refuses a route that a Dijkstra zone has already, on which SimGrid ends.
  void check_route(const Attributes& attributes) {
    if (open_.empty() || !open_.back().routing.starts_with("dijkstra")) return;
    const std::string symmetrical = boost::to_lower_copy(attributes["symmetrical"]);
    const std::pair<std::string, std::string> there{attributes["src"], attributes["dst"]};
    bool fresh = open_.back().routes.insert(there).second;
    if (symmetrical.empty() || symmetrical == "yes") {
      const std::pair<std::string, std::string> back{there.second, there.first};
      fresh = open_.back().routes.insert(back).second && fresh;
    }
    if (fresh) return;
    refuse(
        fmt::format("zone {}: there is a route between {} and {} already, in this direction or "
                    "both: a route is for both unless it has symmetrical=\"no\"",
                    open_.back().id, there.first, there.second));
  }

  /// How many points an element adds to the routes of the zone that it is in.
  std::size_t points_of(const std::string& name, const std::string& subject,
                        const Attributes& attributes) {
    const bool cluster = name == "cluster";
    std::int64_t hosts = name == "host" || name == "peer" ? 1 : 0;
    ClusterSize made;
    if (cluster || name == "cabinet") {
      hosts = hosts_in(attributes["radical"]);
      if (hosts < 0) {
        refuse(
            fmt::format("{}: radical: '{}' is not valid; expected numbers and ranges, as in "
                        "0-7,9",
                        subject, attributes["radical"]));
      }
      const std::string topology = attributes["topology"];
      made = size_of(topology, attributes["topo_parameters"], subject);
      found_.dragonflies = found_.dragonflies || topology == "DRAGONFLY";
      if (topology == "FAT_TREE") ++found_.fat_trees;
    }
    hosts_ += std::max(static_cast<double>(hosts), made.hosts);
    if (hosts_ > kMostOfPlatform) {
      refuse(fmt::format("{}: up to here there are {:.0f} hosts; a platform may have {:.0f}",
                         subject, hosts_, kMostOfPlatform));
    }
    if (made.cables > kMostCables) {
      refuse(fmt::format("{}: topo_parameters make {:.0f} cables; a cluster may have {:.0f}",
                         subject, made.cables, kMostCables));
    }
    const bool point = cluster || name == "router" || name == "zone" || name == "AS";
    return point ? 1 : static_cast<std::size_t>(hosts);
  }

  std::string path_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::exception_ptr failed_;
  std::vector<Element> open_;
  double hosts_ = 0;
  PlatformXml found_;
};

}  // namespace

PlatformXml read_platform_xml(const std::string& path) { return Reader(path).read(); }

}  // namespace thinwire::topologies
