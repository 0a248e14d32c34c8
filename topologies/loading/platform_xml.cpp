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
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/memory.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::size_t kDeepest = 100;    ///< elements in elements
constexpr double kMostOfPlatform = 2e6;  ///< hosts
constexpr double kMostCables = 2e7;
constexpr double kCable = 2100;             ///< bytes that SimGrid takes for it, both ways
constexpr std::size_t kMostOfFloyd = 5000;  ///< whose routes take the cube of that in steps
constexpr double kMostCoordinate = 1e9;     ///< milliseconds
constexpr double kFloydEntry = 24;          ///< bytes for each pair of a zone's points
constexpr double kFullEntry = 8;

/// No other element of SimGrid's is needed: they start actors, or read files. SimGrid does nothing
/// for a <random>.
constexpr std::array<std::string_view, 22> kElements{
    "platform",     "config", "random",    "prop",    "zone",     "AS",          "cluster",
    "cabinet",      "peer",   "host",      "disk",    "router",   "link",        "backbone",
    "host_link",    "route",  "zoneRoute", "ASroute", "link_ctn", "bypassRoute", "bypassZoneRoute",
    "bypassASroute"};

/// The other elements of SimGrid's format, and why none is taken.
constexpr std::string_view kChanging = "no network here follows figures that change in time";
constexpr std::string_view kDeployment =
    "a platform has hosts and links, and what runs on them is said elsewhere; take it out";
constexpr std::string_view kRemoved = "SimGrid 3.32 does not read it either";
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kOtherElements{
    {{"trace", kChanging},
     {"trace_connect", kChanging},
     {"actor", kDeployment},
     {"process", kDeployment},
     {"argument", kDeployment},
     {"include", kRemoved},
     {"storage", kRemoved},
     {"storage_type", kRemoved},
     {"mount", kRemoved},
     {"model_prop", kRemoved}}};

/// Both networks take the loopback from the routes. Crosstraffic may be turned off, as it is.
constexpr std::array<std::string_view, 3> kConfiguration{
    "network/loopback-bw", "network/loopback-lat", "network/crosstraffic"};
constexpr std::array<std::string_view, 4> kOff{"0", "no", "off", "false"};

/// Configuration that changes no message's time here; a name that ends in '/' stands for all names that
/// begin so. It is about local work, traces, stacks, the precision of SimGrid's solver, in whose place
/// we have our own, or collectives, which the scheme brings.
constexpr auto kWithoutEffect = std::to_array<std::string_view>({"bmf/",
                                                                 "clean-atexit",
                                                                 "contexts/",
                                                                 "cpu/maxmin-selective-update",
                                                                 "cpu/optim",
                                                                 "cpu/solver",
                                                                 "debug/",
                                                                 "disk/solver",
                                                                 "exception/",
                                                                 "maxmin/precision",
                                                                 "model-check",
                                                                 "model-check/",
                                                                 "network/maxmin-selective-update",
                                                                 "network/optim",
                                                                 "precision/",
                                                                 "smpi/allgather",
                                                                 "smpi/allgatherv",
                                                                 "smpi/allreduce",
                                                                 "smpi/alltoall",
                                                                 "smpi/alltoallv",
                                                                 "smpi/auto-shared-malloc-",
                                                                 "smpi/barrier",
                                                                 "smpi/barrier-",
                                                                 "smpi/bcast",
                                                                 "smpi/buffering",
                                                                 "smpi/coll-selector",
                                                                 "smpi/comp-adjustment-file",
                                                                 "smpi/cpu-threshold",
                                                                 "smpi/display-",
                                                                 "smpi/errors-are-fatal",
                                                                 "smpi/finalization-barrier",
                                                                 "smpi/gather",
                                                                 "smpi/grow-injected-times",
                                                                 "smpi/host-speed",
                                                                 "smpi/keep-temps",
                                                                 "smpi/list-leaks",
                                                                 "smpi/papi-events",
                                                                 "smpi/pedantic",
                                                                 "smpi/privatization",
                                                                 "smpi/privatize-global-variables",
                                                                 "smpi/reduce",
                                                                 "smpi/reduce_scatter",
                                                                 "smpi/running-power",
                                                                 "smpi/scatter",
                                                                 "smpi/shared-malloc",
                                                                 "smpi/shared-malloc-",
                                                                 "smpi/simulate-computation",
                                                                 "surf/precision",
                                                                 "tracing",
                                                                 "tracing/",
                                                                 "verbose-exit"});

/// In UTF-8: figure dash, hyphens, dashes, minus signs. Word processors put them where a '-' was.
constexpr std::array<std::string_view, 9> kDashes{"\u2010", "\u2011", "\u2012", "\u2013", "\u2014",
                                                  "\u2015", "\u2212", "\ufe63", "\uff0d"};
/// The attributes that are figures or ranges of them.
constexpr std::array<std::string_view, 22> kFigures{
    "radical", "topo_parameters", "speed",        "core",        "bw",           "lat",
    "bb_bw",   "bb_lat",          "limiter_link", "loopback_bw", "loopback_lat", "bw_in",
    "bw_out",  "coordinates",     "bandwidth",    "latency",     "read_bw",      "write_bw",
    "pstate",  "version",         "min",          "max"};

/// The routings of zones, apart from WIFI. SimGrid aborts on others.
constexpr std::array<std::string_view, 7> kRoutings{
    "Full", "Floyd", "Dijkstra", "DijkstraCache", "Vivaldi", "Cluster", "None"};

bool among(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
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

/// The number of hosts in a cluster's radical; -1 where it is not valid.
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

/// The numbers of a topology. Empty if one of them is no positive whole number: SimGrid takes products
/// of them as sizes.
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
  Reader(std::string text, std::string path)
      : path_(std::move(path)),
        text_(std::move(text)),
        utf8_(is_utf8(text_)),
        parser_(XML_ParserCreate(utf8_ ? "UTF-8" : "ISO-8859-1"), &XML_ParserFree) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<Reader*>(self)->guarded(
              [&](Reader& reader) { reader.take(name, Attributes(attributes)); });
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
    refuse_encoding();
    blank_what_simgrid_skips();
    constexpr std::size_t kPart = std::size_t{1} << 20;
    for (std::size_t at = 0; at == 0 || at < text_.size(); at += kPart) {
      const std::size_t size = std::min(kPart, text_.size() - at);
      const bool last = at + size == text_.size();
      const bool well = XML_Parse(parser_.get(), text_.data() + at, static_cast<int>(size),
                                  last ? 1 : 0) == XML_STATUS_OK;
      if (failed_) std::rethrow_exception(failed_);
      if (!well) {
        complaints_.attempt([&] {
          refuse(fmt::format("this is not well-formed XML: {}; 'xmllint --noout' shows the place",
                             XML_ErrorString(XML_GetErrorCode(parser_.get()))));
        });
        break;
      }
    }
    complaints_.check();
    found_.hosts = static_cast<std::int64_t>(hosts_);
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

  /// SimGrid reads bytes, in any encoding that contains ASCII.
  void refuse_encoding() const {
    const std::string_view text = text_;
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
        text.find('\0') != std::string_view::npos) {
      throw InputError(
          "{0}: is no text of 8 bits, which SimGrid reads; convert it to UTF-8, as in 'iconv -f "
          "UTF-16 -t UTF-8 {0}'",
          path_);
    }
    if (without_byte_order_mark(text).size() != text.size()) {
      throw InputError(
          "{0}: begins with a byte order mark, which SimGrid does not read; remove the first three "
          "bytes, as in 'tail -c +4 {0}'",
          path_);
    }
  }

  /// Makes the XML what Expat takes: SimGrid reads a declaration that is not at the beginning, and
  /// comments that hold "--". Blanks are put there, so lines and places stay. The declaration names
  /// an encoding, which SimGrid does not heed.
  void blank_what_simgrid_skips() {
    bool declared = false;
    for (std::size_t at = 0; (at = text_.find('<', at)) != std::string::npos; ++at) {
      const std::string_view rest = std::string_view(text_).substr(at);
      if (rest.starts_with("<!--")) {
        blank(at, end_of_comment(at));
      } else if (rest.starts_with("<?")) {  // SimGrid skips it whole, whatever it holds
        const std::size_t end = text_.find("?>", at + 2);
        if (end == std::string::npos) return;
        if (!declared && rest.starts_with("<?xml")) {
          declared = true;
          blank(at, end + 2);
        }
        at = end + 1;
      } else if (rest.size() > 1 && rest[1] != '!') {
        declared = true;  // elements begin
      }
    }
  }

  /// SimGrid takes hyphens in pairs: "--->" ends no comment.
  [[nodiscard]] std::size_t end_of_comment(std::size_t begin) const {
    for (std::size_t at = begin + 4; (at = text_.find("--", at)) != std::string::npos; at += 2) {
      if (text_.compare(at, 3, "-->") == 0) return at + 3;
    }
    const std::string_view rest = std::string_view(text_).substr(begin);
    const bool odd = rest.find("--->") != std::string_view::npos;
    throw InputError(
        "{}:{}: the comment has no end{}", path_,
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n'),
        odd ? ": SimGrid takes hyphens in pairs, and does not see '-->' in '--->'" : "");
  }

  void blank(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      if (text_[at] != '\n') text_[at] = ' ';
    }
  }

  /// Where the present event begins, in bytes from the beginning of the file.
  [[nodiscard]] std::size_t place() const {
    return static_cast<std::size_t>(XML_GetCurrentByteIndex(parser_.get()));
  }

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
    throw InputError("{}:{}: {}", path_, XML_GetCurrentLineNumber(parser_.get()), why);
  }

  void check_element(const std::string& name) const {
    const auto* const other = std::ranges::find(
        kOtherElements, name, &std::pair<std::string_view, std::string_view>::first);
    if (other != kOtherElements.end()) {
      refuse(fmt::format("<{}> is refused: {}", name, other->second));
    }
    if (!among(kElements, name)) {
      const std::vector<std::string> known(kElements.begin(), kElements.end());
      refuse(fmt::format("<{}> is refused: no platform here has such an element{}", name,
                         did_you_mean(name, known)));
    }
  }

  /// Takes an element, and goes on behind one that is refused, up to a number of complaints.
  void take(const std::string& name, const Attributes& attributes) {
    if (open_.size() == kDeepest) {
      refuse(fmt::format("elements are nested more than {} deep", kDeepest));
    }
    if (complaints_.attempt([&] { begin(name, attributes); })) return;
    open_.push_back({.name = name, .id = attributes["id"]});
    constexpr std::size_t kMostComplaints = 10;
    if (complaints_.size() == kMostComplaints) complaints_.check();
  }

  /// Notes an element that nothing is wrong with.
  void begin(const std::string& name, const Attributes& attributes) {
    check_element(name);
    const std::string subject = fmt::format("{} {}", name, attributes["id"]);
    for (const auto& [attribute, value] : attributes) {
      check_signs(subject, attribute, value);
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
      if (is_without_effect(attributes["id"])) {
        found_.passed_over.push_back({.key = attributes["id"], .begin = place()});
        passing_over_ = open_.size();
      } else {
        check_configuration(attributes["id"], attributes["value"]);
      }
    }
    if (name == "prop" && open_.size() == 2 && attributes["id"] == kGapProperty) {
      found_.has_message_gap = true;
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
    if (std::exchange(passing_over_, 0) != 0) {
      found_.passed_over.back().end =
          place() + static_cast<std::size_t>(XML_GetCurrentByteCount(parser_.get()));
    }
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
    const double memory = bytes > 1e9 ? static_cast<double>(available_memory()) : HUGE_VAL;
    if (bytes > memory) {
      refuse(
          fmt::format("zone {}: the routes between {} hosts, routers and zones take {:.3g} GB, "
                      "and there are {:.3g} GB of memory; Dijkstra takes less",
                      zone.id, zone.points, bytes / 1e9, memory / 1e9));
    }
  }

  static bool is_without_effect(const std::string& key) {
    const auto names = [&](std::string_view name) {
      const bool many = name.ends_with('/') || name.ends_with('-');
      return many ? key.starts_with(name) : key == name;
    };
    return std::ranges::any_of(kWithoutEffect, names);
  }

  /// Refuses the signs that SimGrid does not read as what they look like.
  void check_signs(const std::string& subject, const std::string& attribute,
                   const std::string& value) const {
    const bool plain = std::ranges::all_of(value, [](char c) { return (c & 0x80) == 0; });
    if (plain) return;
    if (!among(kFigures, attribute)) {
      if (utf8_) return;
      refuse(
          fmt::format("{}: {}: '{}' is not ASCII, in a file that is not UTF-8; convert it, as in "
                      "'iconv -f ISO-8859-15 -t UTF-8 {}'",
                      subject, attribute, printable(value), path_));
    }
    for (const std::string_view dash : kDashes) {
      if (value.find(dash) == std::string::npos) continue;
      refuse(
          fmt::format("{}: {}: '{}' has a '{}', which SimGrid does not read as a '-'; type the "
                      "hyphen of the keyboard there",
                      subject, attribute, printable(value), dash));
    }
  }

  void check_configuration(const std::string& key, const std::string& value) const {
    if (!among(kConfiguration, key)) {
      refuse(fmt::format(
          "the configuration {} is refused: it may change the time of messages, or what "
          "is read; a platform may set {}, and what changes no message's time is passed "
          "over",
          key, fmt::join(kConfiguration, ", ")));
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
    cables_ += made.cables;
    if (cables_ > kMostCables) {
      refuse(
          fmt::format("{}: up to here topo_parameters make {:.0f} cables; a platform may have "
                      "{:.0f}",
                      subject, cables_, kMostCables));
    }
    if (made.cables > 0) {
      require_memory(kCable * cables_, fmt::format("{}: {}", path_, subject),
                     "take smaller topo_parameters");
    }
    const bool point = cluster || name == "router" || name == "zone" || name == "AS";
    return point ? 1 : static_cast<std::size_t>(hosts);
  }

  std::string path_;
  std::string text_;
  bool utf8_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::exception_ptr failed_;
  Complaints complaints_;
  std::vector<Element> open_;
  std::size_t passing_over_ = 0;  ///< the depth of a <prop> that is passed over, or 0
  double hosts_ = 0;
  double cables_ = 0;
  PlatformXml found_;
};

}  // namespace

std::string PlatformXml::gap_note() const {
  if (has_message_gap) return {};
  return fmt::format(
      "no message gap is given, so a message costs a port no time beside its bytes, and small "
      "messages cost too little; give one in the outermost zone, as in <prop id=\"{}\" "
      "value=\"300ns\"/>: 0.1us to 0.5us with InfiniBand, 1us to 5us with Ethernet and TCP; "
      "value=\"0s\" if it is meant",
      kGapProperty);
}

std::string PlatformXml::note() const {
  if (passed_over.empty()) return {};
  std::vector<std::string> keys;
  for (const PassedOver& one : passed_over) keys.push_back(printable(one.key));
  return fmt::format("the configuration {} is passed over: it changes no message's time",
                     fmt::join(keys, ", "));
}

PlatformXml read_platform_xml(const std::string& path) {
  return platform_xml_from(read_text(path), path);
}

PlatformXml platform_xml_from(std::string text, const std::string& path) {
  return Reader(std::move(text), path).read();
}

}  // namespace thinwire::topologies
