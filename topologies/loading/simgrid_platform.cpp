#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xbt/log.h>
#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <cmath>
#include <exception>
#include <fstream>
#include <map>
#include <new>
#include <optional>
#include <regex>
#include <simgrid/Exception.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <string_view>
#include <typeinfo>
#include <xbt/config.hpp>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "topologies/loading/dragonfly_routes.hpp"
#include "topologies/loading/fat_tree_cables.hpp"
#include "topologies/loading/link_indexes.hpp"
#include "topologies/loading/shortest_paths.hpp"
#include "topologies/loading/simgrid_module.hpp"
#include "topologies/loading/wiring.hpp"

// SimGrid's headers for these are internal, or bring all of MPI along.
extern "C" void smpi_init_options();
double xbt_parse_get_time(const std::string&, int, const std::string&, const std::string&);
double xbt_parse_get_size(const std::string&, int, const std::string&, const std::string&);
double xbt_parse_get_bandwidth(const std::string&, int, const std::string&, const std::string&);

namespace thinwire::topologies {

namespace {

namespace sg4 = simgrid::s4u;
using LinkImpl = simgrid::kernel::resource::StandardLinkImpl;
using AllLinks = std::vector<sg4::Link*>;
constexpr std::string_view kOurs = "thinwire.";
constexpr std::string_view kLinkProperty = "thinwire.link.";
constexpr std::string_view kReducingProperty = "thinwire.reducing.";
constexpr double kMostFigure = 1e24;                    // of a link: bytes a second, or seconds
constexpr const char* kNodeProperty = "thinwire.node";  // of hosts

/// "gpu-9" before "gpu-10": runs of digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto number_end = [&](std::string_view text, std::size_t i) {
    while (i < text.size() && digit(text[i])) ++i;
    return i;
  };
  // Most names of a platform begin alike. What is alike up to within a run of digits is no order.
  auto i = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  while (i > 0 && digit(a[i - 1])) --i;
  std::size_t j = i;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto significant = [](std::string_view text, std::size_t from, std::size_t end) {
      while (from + 1 < end && text[from] == '0') ++from;
      return text.substr(from, end - from);
    };
    const std::size_t i_end = number_end(a, i);
    const std::size_t j_end = number_end(b, j);
    const std::string_view x = significant(a, i, i_end);
    const std::string_view y = significant(b, j, j_end);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    i = i_end;
    j = j_end;
  }
  return a.size() - i == b.size() - j ? a < b : a.size() - i < b.size() - j;
}

/// What a platform may overrule in its <config>, and what nobody may.
void configure(const Platform::Loading& loading) {
  using simgrid::config::set_default;
  set_default<std::string>("host/model", "compound");  // the default one ignores network/model
  set_default<std::string>("network/model", loading.packets ? "ns-3" : "CM02");
  set_default<double>("network/TCP-gamma", 1e30);  // no TCP window caps a flow
  set_default<bool>("network/crosstraffic", false);
  set_default<double>("surf/precision", 1e-12);  // 1e-9 s would lump events together
  // In bytes a second. What hundreds of flows on a link of 1e11 round to is more than the 1e-5 that
  // SimGrid takes for 0, and it aborts then; at 0.1 it does too.
  set_default<double>("maxmin/precision", 1e-3);
}

/// What SimGrid says goes on for pages where it lists all that would be right.
std::string one_line(std::string text) {
  constexpr std::size_t kMost = 400;
  std::ranges::replace(text, '\n', ' ');
  const std::size_t end = text.find_last_not_of(' ') + 1;
  return end > kMost ? text.substr(0, kMost) + " ..." : text.substr(0, end);
}

/// A figure of a property as SimGrid reads it; no number where it cannot be.
double figure(double (*read)(const std::string&, int, const std::string&, const std::string&),
              const std::string& path, std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  try {
    const double value = text.empty() ? NAN : read(path, 0, text, "");
    return std::isfinite(value) ? value : NAN;
  } catch (const simgrid::ParseError&) {
    return NAN;
  }
}

/// A platform without the configuration that is passed over, which SimGrid would obey. Its line
/// numbers are the same as in the file.
class SimGridsFile {
 public:
  SimGridsFile(std::string path, const PlatformXml& xml) : path_(std::move(path)) {
    if (xml.passed_over.empty()) return;
    std::string text = read_text(path_);
    for (const PassedOver& one : xml.passed_over) {
      for (std::size_t at = one.begin; at < std::min(one.end, text.size()); ++at) {
        if (text[at] != '\n') text[at] = ' ';
      }
    }
    memory_ = memfd_create("platform", MFD_CLOEXEC);
    if (memory_ < 0 || !write_all(memory_, text)) {
      throw SimulationError("{}: there is not enough memory for it", path_);
    }
  }
  SimGridsFile(const SimGridsFile&) = delete;
  SimGridsFile& operator=(const SimGridsFile&) = delete;
  ~SimGridsFile() {
    if (memory_ >= 0) close(memory_);
  }

  [[nodiscard]] std::string path() const {
    return memory_ < 0 ? path_ : fmt::format("/proc/self/fd/{}", memory_);
  }
  /// A complaint of SimGrid's with the name of the user's file.
  [[nodiscard]] std::string named(std::string complaint) const {
    boost::replace_all(complaint, path(), path_);
    return complaint;
  }

 private:
  std::string path_;
  int memory_ = -1;
};

/// SimGrid's complaint, "Parse error at FILE:LINE: why", as this program says such things.
std::string plain_complaint(const std::string& complaint) {
  static const std::regex kBegin("^Parse error at |Invalid XML \\(XML input line [0-9, a-z]*\\): ");
  static const std::regex kNoNode("' does name a node\\.");  // SimGrid lost a "not"
  return std::regex_replace(std::regex_replace(one_line(complaint), kBegin, ""), kNoNode,
                            "' names no host, router or zone.");
}

/// A link of SimGrid's, or one that only Thinwire has.
struct ListedLink {
  sg4::Link* link = nullptr;
  WiredLink* own = nullptr;
};

class SimGridPlatform final : public Platform::Loaded {
 public:
  SimGridPlatform(const std::string& file, PlatformXml read, const Platform::Loading& loading);
  SimGridPlatform(const SimGridPlatform&) = delete;
  SimGridPlatform& operator=(const SimGridPlatform&) = delete;
  // The engine ends with the process: SimGrid's own end of an engine is not safe under SMPI.
  ~SimGridPlatform() override { (void)engine_.release(); }

  [[nodiscard]] std::vector<std::string> routers() const override;
  void route(HostIndex from, HostIndex to, std::vector<LinkIndex>& into, Seconds* latency) override;

 private:
  void load(const Platform::Loading& loading);
  [[nodiscard]] ReducingSwitch figures_of(const std::string& key, const std::string& figures) const;
  void tune(const std::string& key, const std::string& figures, const AllLinks& all_links);
  void read_reducing(const std::string& key, const std::string& figures);
  void read_packet(const std::string& key, const std::string& figures, const AllLinks& all_links);
  void scale(const PlatformFactors& factors, const AllLinks& all_links);
  void read_zone_properties(const AllLinks& all_links);
  void refuse_zone_properties(const sg4::NetZone& zone) const;
  void list_hosts();
  void list_links();
  void store_packets();
  [[nodiscard]] std::map<LinkIndex, double> stored_on_ports();

  std::array<char, 9> program_{'t', 'h', 'i', 'n', 'w', 'i', 'r', 'e', '\0'};
  std::array<char*, 2> arguments_{program_.data(), nullptr};
  int count_ = 1;
  char** values_ = arguments_.data();
  std::unique_ptr<sg4::Engine> engine_;
  Wired wired_;
  std::vector<sg4::Host*> simgrid_hosts_;
  std::vector<bool> unrouted_;  ///< by host: its zone is Empty
  LinkIndexes index_of_;
  std::vector<ListedLink> listed_;  ///< by index
  double stored_bytes_ = 0;         ///< of a packet that a switch has before it sends it on
  std::vector<LinkImpl*> passed_;   ///< of the route that was asked last
};

void SimGridPlatform::load(const Platform::Loading& loading) {
  const SimGridsFile file(path, xml);
  try {
    ShortestPaths paths;
    std::optional<FatTreeCables> cables;
    if (loading.own_paths && xml.fat_trees == 1) cables.emplace();
    engine_->load_platform(file.path());
    if (engine_->get_netzone_root() == nullptr) {
      throw InputError("{}: holds no zone and no cluster", path);
    }
    if (cables) cables->make_rest();
    if (!xml.topology.empty()) {
      wired_ = wire(*engine_, path, xml.topology,
                    loading.simulated ? WiredLinks::simgrid : WiredLinks::ours);
    }
    const AllLinks all_links = engine_->get_all_links();
    read_zone_properties(all_links);
    mend_dragonfly(*engine_);
    scale(loading.factors, all_links);
    if (loading.own_paths && !loading.packets) paths.quicken(*engine_, xml.bypasses);
    engine_->seal_platform();
  } catch (const simgrid::ParseError& error) {
    throw InputError(file.named(plain_complaint(error.what())));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError("{}: {}", path, file.named(one_line(error.what())));
  }
  list_hosts();
  list_links();
  if (stored_bytes_ > 0) store_packets();
}

/// "BANDWIDTH LATENCY".
ReducingSwitch SimGridPlatform::figures_of(const std::string& key,
                                           const std::string& figures) const {
  const std::size_t space = std::min(figures.find(' '), figures.size());
  const double bandwidth = figure(xbt_parse_get_bandwidth, path, figures.substr(0, space));
  const double latency = figure(xbt_parse_get_time, path, figures.substr(space));
  if (!(bandwidth > 0) || !(latency >= 0)) {
    throw InputError(
        "{}: property {}: '{}' is not valid; expected 'BANDWIDTH LATENCY', as in '5.25GBps 100ns'",
        path, key, figures);
  }
  return {.bandwidth = bandwidth, .latency = Seconds(latency)};
}

void SimGridPlatform::read_reducing(const std::string& key, const std::string& figures) {
  const std::string level = key.substr(kReducingProperty.size());
  if (level != "node" && level != "network") {
    throw InputError("{}: unknown property '{}'; known are {}node and {}network", path, key,
                     kReducingProperty, kReducingProperty);
  }
  (level == "node" ? switches.node : switches.network) = figures_of(key, figures);
}

void SimGridPlatform::tune(const std::string& key, const std::string& figures,
                           const AllLinks& all_links) {
  const std::string prefix = key.substr(kLinkProperty.size());
  const auto [bandwidth, latency] = figures_of(key, figures);
  bool found = false;
  for (sg4::Link* link : all_links) {
    if (!link->get_name().starts_with(prefix)) continue;
    link->set_bandwidth(bandwidth);
    link->set_latency(latency.value());
    found = true;
  }
  for (WiredLink& link : wired_.links) {
    if (!link.name.starts_with(prefix)) continue;
    link.bandwidth = bandwidth;
    link.latency = latency.value();
    found = true;
  }
  if (!found) {
    throw InputError("{}: property {}: no link has a name that starts so", path, key);
  }
}

void SimGridPlatform::scale(const PlatformFactors& factors, const AllLinks& all_links) {
  if (factors == PlatformFactors{}) return;
  for (sg4::Link* link : all_links) {
    link->set_bandwidth(link->get_bandwidth() * factors.bandwidth);
    link->set_latency(link->get_latency() * factors.latency);
  }
  for (WiredLink& link : wired_.links) {
    link.bandwidth *= factors.bandwidth;
    link.latency *= factors.latency;
  }
  message_gap = message_gap * factors.latency;
  for (std::optional<ReducingSwitch>* const one : {&switches.node, &switches.network}) {
    if (!*one) continue;
    (*one)->bandwidth *= factors.bandwidth;
    (*one)->latency = (*one)->latency * factors.latency;
  }
}

void SimGridPlatform::read_zone_properties(const AllLinks& all_links) {
  const sg4::NetZone* root = engine_->get_netzone_root();
  const auto* properties = root->get_properties();
  // In order: the longer of two prefixes has the last word.
  for (const auto& [key, value] : std::map(properties->begin(), properties->end())) {
    if (key.starts_with(kLinkProperty)) {
      tune(key, value, all_links);
    } else if (key.starts_with(kReducingProperty)) {
      read_reducing(key, value);
    } else if (key == kPacketProperty) {
      read_packet(key, value, all_links);
    } else if (key == kStoredProperty) {
      stored_bytes_ = figure(xbt_parse_get_size, path, value);
      if (!(stored_bytes_ >= 0)) {
        throw InputError("{}: property {}: '{}' is not valid; expected bytes, as in '4160B'", path,
                         key, value);
      }
    } else if (key == kGapProperty) {
      message_gap = Seconds(figure(xbt_parse_get_time, path, value));
      if (!(message_gap >= Seconds(0))) {
        throw InputError("{}: property {}: '{}' is not valid; expected a time, as in '2us'", path,
                         key, value);
      }
    } else if (key.starts_with(kOurs) && key != kNodeProperty && key != kTopologyProperty) {
      throw InputError("{}: unknown property '{}'; known are {}, {}, {}, {}, {}LEVEL and {}PREFIX",
                       path, key, kGapProperty, kPacketProperty, kStoredProperty, kTopologyProperty,
                       kReducingProperty, kLinkProperty);
    }
  }
  for (const sg4::NetZone* child : root->get_children()) refuse_zone_properties(*child);
}

/// "PAYLOAD HEADERS": links carry payload at its share of their bandwidth.
void SimGridPlatform::read_packet(const std::string& key, const std::string& figures,
                                  const AllLinks& all_links) {
  const std::size_t space = std::min(figures.find(' '), figures.size());
  const double payload = figure(xbt_parse_get_size, path, figures.substr(0, space));
  const double headers = figure(xbt_parse_get_size, path, figures.substr(space));
  if (!(payload > 0) || !(headers >= 0)) {
    throw InputError(
        "{}: property {}: '{}' is not valid; expected 'PAYLOAD HEADERS', as in "
        "'4096B 128B'",
        path, key, figures);
  }
  const double share = payload / (payload + headers);
  for (sg4::Link* link : all_links) link->set_bandwidth(link->get_bandwidth() * share);
  for (WiredLink& link : wired_.links) link.bandwidth *= share;
}

/// The links of hosts, the first and the last ones of routes: each has half of a switch, and a cable
/// between two hosts has none.
std::map<LinkIndex, double> SimGridPlatform::stored_on_ports() {
  std::map<LinkIndex, double> found;
  std::vector<LinkIndex> passed;
  const auto count = static_cast<HostIndex>(hosts.size());
  for (HostIndex host = 0; host < count; ++host) {
    const HostIndex next = (host + 1) % count;
    if (next == host) break;
    route(host, next, passed, nullptr);
    if (passed.empty()) continue;
    const double share = passed.size() > 1 ? 0.5 : 0;
    found[passed.front()] = share;
    found[passed.back()] = share;
  }
  return found;
}

/// Adds the time that a packet is in each switch of a route: one less than the route has links, so
/// that half of it is on the two links of hosts.
void SimGridPlatform::store_packets() {
  const std::map<LinkIndex, double> of_hosts = stored_on_ports();
  for (std::size_t i = 0; i < links.size(); ++i) {
    PlatformLink& link = links[i];
    if (link.is_weight()) continue;
    const auto port = of_hosts.find(static_cast<LinkIndex>(i));
    const double share = port == of_hosts.end() ? 1 : port->second;
    link.latency = link.latency + Seconds(share * stored_bytes_ / link.bandwidth);
    if (listed_[i].own != nullptr) {
      listed_[i].own->latency = link.latency.value();
    } else {
      listed_[i].link->set_latency(link.latency.value());
    }
  }
}

/// Inside the outermost zone there are none but the node, which a cluster hands on to its hosts.
void SimGridPlatform::refuse_zone_properties(const sg4::NetZone& zone) const {
  for (const auto& [key, value] : *zone.get_properties()) {
    if (!key.starts_with(kOurs) || key == kNodeProperty) continue;
    throw InputError("{}: zone {}: property '{}' is read on the outermost zone alone", path,
                     zone.get_name(), key);
  }
  for (const sg4::NetZone* child : zone.get_children()) refuse_zone_properties(*child);
}

void SimGridPlatform::list_hosts() {
  simgrid_hosts_ = engine_->get_all_hosts();
  std::ranges::sort(simgrid_hosts_, [](const sg4::Host* a, const sg4::Host* b) {
    return natural_less(a->get_name(), b->get_name());
  });
  for (const sg4::Host* host : simgrid_hosts_) {
    const char* node = host->get_property(kNodeProperty);
    const std::string name(host->get_name());
    hosts.push_back({.name = name, .node = node == nullptr ? name : node});
    if (const auto place = wired_.hosts.find(host); place != wired_.hosts.end()) {
      if (!place->second.node.empty()) hosts.back().node = place->second.node;
      hosts.back().group = place->second.group;
      hosts.back().access = place->second.access;
    }
    const auto& zone = *host->get_netpoint()->get_englobing_zone();
    unrouted_.push_back(std::string_view(typeid(zone).name()).find("EmptyZone") !=
                        std::string_view::npos);  // SimGrid hides its type
  }
}

void SimGridPlatform::list_links() {
  struct Named {
    std::string_view name;  // here, since from a link of SimGrid's to its name it is two pointers
    ListedLink listed;
  };
  std::vector<Named> all;
  for (sg4::Link* link : engine_->get_all_links()) {
    all.push_back({.name = link->get_name(), .listed = {.link = link}});
  }
  for (WiredLink& link : wired_.links) all.push_back({.name = link.name, .listed = {.own = &link}});
  std::ranges::sort(all, natural_less, &Named::name);
  std::vector<const void*> in_order;
  in_order.reserve(all.size());
  links.reserve(all.size());
  for (const auto& [name, listed] : all) {
    const auto& [link, own] = listed;
    const double bandwidth = own != nullptr ? own->bandwidth : link->get_bandwidth();
    const double latency = own != nullptr ? own->latency : link->get_latency();
    if (!(bandwidth <= kMostFigure) || !(latency <= kMostFigure)) {
      throw InputError(
          "{}: link {}: {:g} bytes a second and a latency of {:g} s are not valid; the most is "
          "{:g}",
          path, name, bandwidth, latency, kMostFigure);
    }
    in_order.push_back(own != nullptr ? held_by_routes(*own) : link->get_impl());
    listed_.push_back(listed);
    links.push_back({.name = own != nullptr ? std::move(own->name) : std::string(name),
                     .bandwidth = bandwidth,
                     .latency = Seconds(latency),
                     .fat_pipe = own == nullptr && !link->is_shared()});
  }
  index_of_ = LinkIndexes(in_order);
}

void SimGridPlatform::route(HostIndex from, HostIndex to, std::vector<LinkIndex>& into,
                            Seconds* latency) {
  passed_.clear();
  double sum = 0;
  const sg4::Host* source = simgrid_hosts_.at(from);
  const sg4::Host* target = simgrid_hosts_.at(to);
  const auto zone_of = [](const sg4::Host* host) {
    return host->get_netpoint()->get_englobing_zone();
  };
  // SimGrid ends the process when it is asked for a route within an Empty zone.
  const bool none = unrouted_[from] && zone_of(source) == zone_of(target);
  try {
    const bool measured = latency != nullptr || xml.distances;
    if (!none) source->route_to(target, passed_, measured ? &sum : nullptr);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    passed_.clear();  // a Floyd zone throws where a Full zone has no links
    sum = 0;
  }
  if (passed_.empty() && from != to && !(sum > 0)) {
    throw InputError("{}: there is no route from {} to {}", path, hosts[from].name, hosts[to].name);
  }
  if (latency != nullptr) *latency = Seconds(sum);
  into.clear();
  for (const LinkImpl* link : passed_) into.push_back(index_of_.at(link));
}

SimGridPlatform::SimGridPlatform(const std::string& file, PlatformXml read,
                                 const Platform::Loading& loading) {
  if (sg4::Engine::has_instance()) {
    throw SimulationError("a process can load one platform; load the next in a child process");
  }
  path = file;
  xml = std::move(read);
  xbt_log_control_set(loading.verbose ? "root.thres:info" : "root.thres:critical");
  if (!loading.verbose) xbt_log_control_set("root.fmt:%m%n");
  smpi_init_options();
  engine_ = std::make_unique<sg4::Engine>(&count_, values_);
  configure(loading);
  if (loading.before) loading.before();
  load(loading);
}

std::vector<std::string> SimGridPlatform::routers() const {
  std::vector<std::string> names;
  for (const auto* point : engine_->get_all_netpoints()) {
    if (point->is_router()) names.push_back(point->get_name());
  }
  std::ranges::sort(names, natural_less);
  return names;
}

std::unique_ptr<Platform::Loaded> load_platform(const std::string& path, PlatformXml xml,
                                                const Platform::Loading& loading) {
  return std::make_unique<SimGridPlatform>(path, std::move(xml), loading);
}

}  // namespace

}  // namespace thinwire::topologies

extern "C" const thinwire::topologies::PlatformFunctions thinwire_platforms{
    .load = thinwire::topologies::load_platform};
