#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "algorithms/registry.hpp"
#include "sim/cli/command.hpp"
#include "sim/experiment/networks.hpp"
#include "topologies/shipped.hpp"

namespace thinwire {

namespace {

struct ListFlags {
  std::string what = "all";
  Format format = Format::table;
};

std::string option_text(const OptionInfo& option) {
  return fmt::format("{}={}", option.name,
                     std::visit([](auto v) { return fmt::format("{}", v); }, option.fallback));
}

std::string bandwidth_text(const PaperCost& paper) {
  if (paper.words_high.empty()) return paper.words;
  return fmt::format("[{}, {}]", paper.words, paper.words_high);
}

std::vector<Json> scheme_records() {
  std::vector<Json> records;
  for (const SchemeInfo& scheme : all_schemes()) {
    std::vector<std::string> options;
    for (const OptionInfo& option : scheme.options) options.push_back(option_text(option));
    records.push_back({{"kind", "scheme"},
                       {"name", scheme.name},
                       {"input", scheme.dense ? "dense" : "sparse"},
                       {"latency", scheme.paper.latency},
                       {"bandwidth", bandwidth_text(scheme.paper)},
                       {"summary", scheme.summary},
                       {"source", scheme.source},
                       {"options", fmt::format("{}", fmt::join(options, " "))}});
  }
  return records;
}

std::vector<Json> network_records() {
  std::vector<Json> records;
  for (const NetworkInfo& network : all_networks()) {
    records.push_back({{"kind", "network"},
                       {"name", network.name},
                       {"summary", network.summary},
                       {"parameters", network.parameters}});
  }
  return records;
}

std::vector<Json> platform_records() {
  std::vector<Json> records;
  for (const std::string& name : shipped_platforms()) {
    records.push_back({{"kind", "platform"}, {"name", name}, {"file", platform_file(name)}});
  }
  return records;
}

std::vector<Column> columns_of(const std::vector<std::pair<std::string, std::string>>& headings) {
  std::vector<Column> columns;
  for (const auto& [key, heading] : headings) {
    columns.push_back(
        {heading, [key = key](const Json& r) { return r.at(key).get<std::string>(); }, true});
  }
  return columns;
}

int run(const ListFlags& flags) {
  const auto wants = [&](const char* what) { return flags.what == "all" || flags.what == what; };
  const bool schemes = wants("schemes");
  if (flags.format != Format::table) {
    std::vector<Json> records;
    const auto add = [&](std::vector<Json> more) {
      std::ranges::move(more, std::back_inserter(records));
    };
    if (schemes) add(scheme_records());
    if (wants("networks")) add(network_records());
    if (wants("platforms")) add(platform_records());
    fmt::print("{}", render(flags.format, records, {}));
    return 0;
  }
  if (schemes) {
    fmt::print("{}", to_table(scheme_records(), columns_of({{"name", "scheme"},
                                                            {"input", "input"},
                                                            {"latency", "latency (alpha)"},
                                                            {"bandwidth", "bandwidth (beta)"},
                                                            {"source", "source"}})));
    for (const SchemeInfo& scheme : all_schemes()) {
      if (!scheme.options.empty()) fmt::print("\noptions of {}:\n", scheme.name);
      for (const OptionInfo& option : scheme.options) {
        fmt::print("  {:<22}{}\n", option_text(option), option.help);
      }
    }
  }
  if (wants("networks")) {
    if (schemes) fmt::print("\n");
    fmt::print("{}", to_table(network_records(), columns_of({{"name", "network"},
                                                             {"summary", "what it is"},
                                                             {"parameters", "parameters"}})));
  }
  if (wants("platforms")) {
    if (schemes) fmt::print("\n");
    fmt::print("{}",
               to_table(platform_records(), columns_of({{"name", "platform"}, {"file", "file"}})));
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ListFlags>();
  CLI::App& command =
      *app.add_subcommand("list", "List schemes with their costs, networks and platforms");
  command.add_option("what", flags->what, "schemes, networks, platforms or all")
      ->check(CLI::IsMember({"schemes", "networks", "platforms", "all"}))
      ->option_text("[all]");
  add_format(command, flags->format);
  command.callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace thinwire
