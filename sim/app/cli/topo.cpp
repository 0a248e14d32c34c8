#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/platform_report.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/quantity.hpp"
#include "topologies/analysis/check.hpp"
#include "topologies/analysis/export.hpp"
#include "topologies/analysis/graph.hpp"
#include "topologies/analysis/traffic.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/platform_xml.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::cli {

namespace {

struct MakeFlags {
  std::map<std::string, std::string> given;
  std::vector<std::string> settings;
  std::string notes;
  std::string output;
};

/// "groups=14", as the comment of a made platform has it.
void apply_parameter(const topologies::Family& family, MakeFlags& flags,
                     const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    std::vector<std::string> keys;
    for (const topologies::ParameterInfo& known : family.parameters) keys.push_back(known.name);
    throw InputError(
        "topo make {}: '{}' is not valid; expected KEY=VALUE or --KEY VALUE, where KEY is one of "
        "{}",
        family.name, excerpt(setting), fmt::join(keys, ", "));
  }
  const std::string name = setting.substr(0, equals);
  const std::string value = setting.substr(equals + 1);
  std::string& given = name == "notes" ? flags.notes : flags.given[name];
  if (!given.empty()) {
    throw InputError("topo make {}: {} is given twice", family.name, name);
  }
  given = value;
}

int make(const topologies::Family& family, MakeFlags& flags) {
  for (const std::string& setting : flags.settings) apply_parameter(family, flags, setting);
  if (!flags.notes.empty()) check_output(flags.output, {flags.notes});
  const std::string xml = topologies::make_platform(family, flags.given, flags.notes);
  if (flags.output.empty()) {
    fmt::print("{}", xml);
  } else {
    write_text(flags.output, xml);
  }
  const auto asked = flags.given.find("hosts");
  if (asked == flags.given.end()) return 0;
  const std::int64_t hosts = topologies::platform_xml_from(xml, family.name).hosts;
  if (parse_whole(asked->second) != hosts) {
    say("note: {}: {} hosts instead of {}, because all its parts are complete", family.name, hosts,
        asked->second);
  }
  return 0;
}

void add_make(Command& topo) {
  Command command = topo.add_subcommand("make", "Write the XML of a platform of a family");
  // An unknown family is refused here, with the nearest known one.
  command.require_subcommand(0, 1);
  command.allow_extras();
  command.callback([command] {
    if (command.any_subcommand_given()) return 0;
    const std::vector<std::string> given = command.remaining();
    static_cast<void>(topologies::family(given.empty() ? "" : given.front()));
    return kBadInput;
  });
  for (const topologies::Family& family : topologies::all_families()) {
    auto flags = std::make_shared<MakeFlags>();
    Command made = command.add_subcommand(
        family.name,
        fmt::format("{}; also called {}", family.summary, fmt::join(family.also, ", ")));
    made.also(family.also);
    for (const topologies::ParameterInfo& parameter : family.parameters) {
      made.add_taker(
              "--" + parameter.name,
              [flags, name = parameter.name](const std::string& value) {
                flags->given[name] = value;
              },
              parameter.help)
          .value_text(parameter.fallback.empty() ? "VALUE"
                                                 : fmt::format("[{}]", parameter.fallback));
    }
    made.add_option("--notes", flags->notes,
                    "file with the sources of the figures, for the comment of the XML")
        .value_text("FILE");
    made.add_option("-o,--output", flags->output, "the XML file").value_text("FILE [stdout]");
    made.add_option("settings", flags->settings,
                    "the same as KEY=VALUE, as the comment of a platform has them")
        .value_text("KEY=VALUE ...");
    made.footer(
        fmt::format("Bandwidths are per direction: GBps are bytes, Gbps bits.\n"
                    "Example: thinwire topo make {} --racks 2 --hosts-per-rack 32 "
                    "--bandwidth 25Gbps -o my.xml\n"
                    "         thinwire topo show my.xml",
                    family.name));
    made.callback([&family, flags] { return make(family, *flags); });
  }
  command.footer(
      "Examples:\n"
      "  thinwire topo make leaf_spine --racks 2 --hosts-per-rack 32 --bandwidth 25Gbps \\\n"
      "      --oversubscription 4 -o racks.xml\n"
      "  thinwire topo make fat_tree --hosts 1024 --oversubscription 4 -o tree.xml\n"
      "  thinwire topo make nvlink_ib --nodes 16 --nics 1 | less\n"
      "  thinwire topo make dragonfly --help");
}

// --- show

struct TopoShowFlags {
  std::string platform;
  std::vector<std::string> route;  // two hosts
  std::string traffic;
  double bytes = 1e6;
  std::optional<int> ranks;
  std::string placement = "block";
  std::size_t top = 10;
  std::string graph_format;
  std::string dot;
  std::string graphml;
  report::View view;
  bool verbose = false;
};

topologies::HostIndex host_named(const topologies::Platform& platform, const std::string& name) {
  const std::span<const topologies::PlatformHost> hosts = platform.hosts();
  const auto found = std::ranges::find(hosts, name, &topologies::PlatformHost::name);
  if (found != hosts.end()) return static_cast<topologies::HostIndex>(found - hosts.begin());
  if (hosts.empty()) throw InputError("{}: has no hosts", platform.path());
  throw InputError("{}: unknown host '{}'; its {} hosts run from '{}' to '{}'", platform.path(),
                   excerpt(name), hosts.size(), hosts.front().name, hosts.back().name);
}

std::string shown_route(const topologies::Platform& platform, const TopoShowFlags& flags) {
  const std::optional<topologies::Route> route = topologies::routes_of(platform).route(
      host_named(platform, flags.route[0]), host_named(platform, flags.route[1]));
  if (!route) {
    throw InputError("{}: there is no route from {} to {}", platform.path(), flags.route[0],
                     flags.route[1]);
  }
  return report::route_text(flags.view, platform, *route);
}

std::string shown_traffic(const topologies::Platform& platform, const TopoShowFlags& flags) {
  const int ranks = flags.ranks.value_or(static_cast<int>(platform.hosts().size()));
  const std::vector<topologies::HostIndex> hosts = place(platform.hosts(), ranks, flags.placement);
  return report::loads_text(
      flags.view, platform,
      topologies::link_loads(topologies::routes_of(platform), flags.traffic, hosts, flags.bytes),
      flags.top);
}

/// The work of the child: returns the text for stdout and writes the output files.
std::string show_text(const topologies::Platform& platform, const TopoShowFlags& flags) {
  if (!flags.route.empty()) return shown_route(platform, flags);
  if (!flags.traffic.empty()) return shown_traffic(platform, flags);
  const topologies::PlatformGraph graph = topologies::graph_of(topologies::routes_of(platform));
  if (!flags.dot.empty()) write_text(flags.dot, topologies::to_dot(graph));
  if (!flags.graphml.empty()) write_text(flags.graphml, topologies::to_graphml(graph));
  if (flags.graph_format == "dot") return topologies::to_dot(graph);
  if (flags.graph_format == "graphml") return topologies::to_graphml(graph);
  if (!flags.dot.empty() || !flags.graphml.empty()) return {};
  return report::platform_text(flags.view, platform, graph);
}

int show_platform(const TopoShowFlags& flags) {
  const bool draws = !flags.graph_format.empty() || !flags.dot.empty() || !flags.graphml.empty();
  if (draws && flags.view.format != report::Format::table) {
    throw InputError("--format: a graph has a form of its own; leave one of them out");
  }
  const std::string path = topologies::kPlatforms.file(flags.platform);
  check_output(flags.dot, {path});
  check_output(flags.graphml, {path});
  if (!flags.dot.empty() && flags.dot == flags.graphml) {
    throw InputError("--graphml: --dot writes that file; give another place");
  }
  std::string text;
  const ChildOutcome outcome =
      in_child_process({.subject = path,
                        .prepare =
                            [&] {
                              const topologies::Platform platform(path, {.verbose = flags.verbose});
                              text = show_text(platform, flags);
                            },
                        .run = [&] { return text; }},
                       flags.verbose);
  fmt::print("{}", outcome.text);
  return 0;
}

void add_show(Command& topo) {
  auto flags = std::make_shared<TopoShowFlags>();
  Command command = topo.add_subcommand(
      "show", "Hosts, links, distances, bisection bandwidth and link loads of a platform");
  command.add_option("platform", flags->platform, "XML file, or the name of a shipped platform")
      .required()
      .value_text("PLATFORM");
  Option route =
      command.add_option("--route", flags->route, "show the links from one host to another instead")
          .words(2)
          .value_text("HOST HOST");
  Option traffic =
      command
          .add_option("--traffic", flags->traffic,
                      "show the load of the links instead: all_to_all, ring, rotation:S, or a CSV "
                      "file of from,to,bytes")
          .excludes(route)
          .value_text("MATRIX");
  command.add_option("--bytes", flags->bytes, "bytes per message of the traffic")
      .range(0.0, 1e18)
      .unit("bytes")
      .needs(traffic)
      .value_text("BYTES [1e6]");
  command.add_option("-P,--ranks", flags->ranks, "ranks that send")
      .positive()
      .needs(traffic)
      .value_text("RANKS [all hosts]");
  command
      .add_option(
          "--placement", flags->placement,
          "placement of the ranks: block, round_robin, per_node:RANKS, random:SEED or a file")
      .needs(traffic)
      .value_text("PLACEMENT [block]");
  command.add_option("--top", flags->top, "number of busiest links to show with --traffic")
      .positive()
      .needs(traffic)
      .value_text("LINKS [10]");
  const auto instead_of_tables = [&](Option option) {
    return option.excludes(route).excludes(traffic);
  };
  instead_of_tables(command.add_option("--export", flags->graph_format,
                                       "print the graph instead: dot or graphml"))
      .choices({"dot", "graphml"})
      .value_text("FORMAT");
  instead_of_tables(command.add_option("--dot", flags->dot, "write the graph for Graphviz"))
      .value_text("FILE");
  instead_of_tables(command.add_option("--graphml", flags->graphml, "write the graph as GraphML"))
      .value_text("FILE");
  command.add_flag("--verbose", flags->verbose, "print SimGrid's log on stderr");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.footer(
      "bisection_Bps is the maximum flow from the first half of the hosts to the second, per\n"
      "direction; bisection_random_least_Bps is the minimum for three random halves.\n"
      "routes_longer and routes_slower count routes with more hops or latency than the best path.\n"
      "Examples:\n"
      "  thinwire topo show fat_tree\n"
      "  thinwire topo show nvlink_ib --route gpu-0 gpu-9\n"
      "  thinwire topo show aries_daint --traffic rotation:384 -P 1024\n"
      "  thinwire topo show exdyna_v100 --export dot | dot -Tsvg -o nodes.svg");
  command.callback([flags] { return show_platform(*flags); });
}

// --- check

struct TopoCheckFlags {
  std::string platform;
  topologies::PlatformCheckWishes wishes;
  report::View view;
};

void print_compact_routes(const topologies::CompactRoutesCheck& routes) {
  fmt::print(
      "compact routes: {} pairs compared in {:.3g} s, all equal to SimGrid's; {} x {} "
      "classes of hosts, {:.3g} MB, built in {:.3g} s\n",
      routes.pairs, routes.comparison_s, routes.rows, routes.columns,
      static_cast<double>(routes.bytes) / 1e6, routes.making_s);
}

int check_platform(const TopoCheckFlags& flags) {
  const topologies::PlatformCheck result =
      topologies::check_platform(topologies::kPlatforms.file(flags.platform), flags.wishes);
  std::vector<Json> records;
  std::size_t problems = 0;
  for (const topologies::Finding& finding : result.findings) {
    const bool problem = finding.severity == topologies::Finding::Severity::problem;
    if (problem) ++problems;
    records.push_back({{"severity", problem ? "problem" : "warning"},
                       {"kind", finding.kind},
                       {"text", finding.text}});
  }
  if (problems > 0) {
    say("{}: problems: {}, warnings: {}", flags.platform, problems, records.size() - problems);
  }
  if (!report::for_people(flags.view.format)) {
    fmt::print("{}", render(flags.view, records, {}));
    return problems > 0 ? kFailed : 0;
  }
  for (const Json& record : records) {
    fmt::print("{}: {}\n", record.at("severity").get<std::string>(),
               record.at("text").get<std::string>());
  }
  if (problems == 0) {
    fmt::print("{} hosts, {} routes{}: no problems\n", result.hosts, result.pairs,
               result.all_pairs ? " (all)" : "");
    if (result.compact_routes) print_compact_routes(*result.compact_routes);
  }
  return problems > 0 ? kFailed : 0;
}

void add_check(Command& topo) {
  auto flags = std::make_shared<TopoCheckFlags>();
  Command command = topo.add_subcommand(
      "check", "Find unreachable hosts, implausible bandwidths and similar errors in a platform");
  command.add_option("platform", flags->platform, "XML file, or the name of a shipped platform")
      .required()
      .value_text("PLATFORM");
  command.add_option("--hosts", flags->wishes.hosts, "minimum number of hosts")
      .positive()
      .value_text("HOSTS");
  command.add_flag("--routes", flags->wishes.compact_routes,
                   "compare the compact routes that network links uses with SimGrid's, on every "
                   "pair of hosts: takes a minute for thousands of hosts");
  command.add_flag("--verbose", flags->wishes.verbose, "print SimGrid's log on stderr");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.footer(
      "Exit codes: 0 no problems (there may be warnings), 1 problems, 2 cannot be loaded.\n"
      "A platform is SimGrid's XML. Its outermost zone should give the message gap (the fixed\n"
      "time of each message on a host's port, beside the time of its bytes), and each host or\n"
      "cluster the node that it is part of:\n"
      "  <prop id=\"thinwire.message_gap\" value=\"300ns\"/>\n"
      "  <prop id=\"thinwire.node\" value=\"node0\"/>\n"
      "Examples:\n"
      "  thinwire topo check my.xml --hosts 64\n"
      "  thinwire topo check gige_star --routes");
  command.callback([flags] { return check_platform(*flags); });
}

}  // namespace

void add_topo(Command& app) {
  Command command = app.add_subcommand("topo", "Generate, inspect and check platforms");
  command.require_subcommand(1, 1);
  add_show(command);
  add_make(command);
  add_check(command);
  command.footer(
      "Examples:\n"
      "  thinwire topo show aries_daint\n"
      "  thinwire topo make dragonfly --hosts 1024 -o small_daint.xml\n"
      "  thinwire topo check small_daint.xml --hosts 1024");
}

}  // namespace thinwire::cli
