#include <fmt/format.h>

#include <memory>

#include "algorithms/registry.hpp"
#include "sim/cli/command.hpp"
#include "sim/experiment/networks.hpp"

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

std::vector<Json> scheme_records() {
  std::vector<Json> records;
  for (const SchemeInfo& scheme : all_schemes()) {
    std::vector<std::string> options;
    for (const OptionInfo& option : scheme.options) options.push_back(option_text(option));
    records.push_back({{"kind", "scheme"},
                       {"name", scheme.name},
                       {"input", scheme.dense ? "dense" : "sparse"},
                       {"latency", scheme.latency},
                       {"bandwidth", scheme.bandwidth},
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

std::vector<Column> columns_of(const std::vector<std::pair<std::string, std::string>>& headings) {
  std::vector<Column> columns;
  for (const auto& [key, heading] : headings) {
    columns.push_back(
        {heading, [key = key](const Json& r) { return r.at(key).get<std::string>(); }, true});
  }
  return columns;
}

int run(const ListFlags& flags) {
  const bool schemes = flags.what != "networks";
  const bool networks = flags.what != "schemes";
  if (flags.format != Format::table) {
    std::vector<Json> records;
    if (schemes) records = scheme_records();
    if (networks) {
      for (Json& record : network_records()) records.push_back(std::move(record));
    }
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
  if (networks) {
    if (schemes) fmt::print("\n");
    fmt::print("{}", to_table(network_records(), columns_of({{"name", "network"},
                                                             {"summary", "what it is"},
                                                             {"parameters", "parameters"}})));
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ListFlags>();
  CLI::App& command = *app.add_subcommand("list", "List schemes with their costs, and networks");
  command.add_option("what", flags->what, "schemes, networks or all")
      ->check(CLI::IsMember({"schemes", "networks", "all"}))
      ->option_text("[all]");
  add_format(command, flags->format);
  command.callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace thinwire
