#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "algorithms/registry.hpp"
#include "sim/app/cli/command.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/report/tables/costs.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/shipped.hpp"
#include "traces/shipped.hpp"

namespace thinwire::cli {

namespace {

struct ListFlags {
  std::string what = "all";
  bool costs = false;
  bool markdown = false;
  report::CostPoint point;
  double density = 0.01;
  report::Format format = report::Format::table;
};

std::string option_text(const algorithms::OptionInfo& option) {
  return fmt::format(
      "{}={}", option.name,
      std::visit([](auto v) { return report::number_text(Json(v)); }, option.fallback));
}

std::vector<Json> scheme_records() {
  std::vector<Json> records;
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    std::vector<std::string> options;
    for (const algorithms::OptionInfo& option : scheme.options)
      options.push_back(option_text(option));
    records.push_back({{"kind", "scheme"},
                       {"name", scheme.name},
                       {"input", scheme.dense ? "dense" : "sparse"},
                       {"latency", scheme.paper.latency},
                       {"bandwidth", report::bandwidth_text(scheme.paper)},
                       {"summary", scheme.summary},
                       {"source", scheme.source},
                       {"sparsifier", scheme.sparsifier},
                       {"options", fmt::format("{}", fmt::join(options, " "))}});
  }
  return records;
}

std::vector<Json> sparsifier_records() {
  std::vector<Json> records;
  for (const algorithms::SparsifierInfo& sparsifier : algorithms::all_sparsifiers()) {
    std::vector<std::string> options;
    for (const algorithms::OptionInfo& option : sparsifier.options)
      options.push_back(option_text(option));
    records.push_back({{"kind", "sparsifier"},
                       {"name", sparsifier.name},
                       {"summary", sparsifier.summary},
                       {"source", sparsifier.source},
                       {"options", fmt::format("{}", fmt::join(options, " "))}});
  }
  return records;
}

/// The papers' tables, evaluated at a point that the user chooses.
int run_costs(ListFlags flags) {
  if (flags.what != "schemes" && flags.what != "all") {
    throw InputError(fmt::format("--costs is about schemes, not {}", flags.what));
  }
  if (flags.markdown) {
    fmt::print("{}", report::cost_models_markdown());
    return 0;
  }
  flags.point.k = std::llround(flags.density * static_cast<double>(flags.point.n));
  const std::vector<Json> records = report::cost_records(flags.point);
  const auto text = [](const char* heading, const char* key) {
    return report::Column{heading, [key](const Json& r) { return r.at(key).get<std::string>(); },
                          true};
  };
  const auto range = [](const char* heading, const char* low, const char* high) {
    return report::Column{heading, [low, high](const Json& r) {
                            return report::interval_text(r.at(low), r.at(high), 10);
                          }};
  };
  if (flags.format == report::Format::table) {
    fmt::print(stderr, "P = {}, n = {}, k = {}\n", flags.point.ranks, flags.point.n, flags.point.k);
  }
  fmt::print("{}",
             render(flags.format, records,
                    {text("scheme", "scheme"), text("latency (alpha)", "latency"),
                     text("bandwidth (beta)", "bandwidth"), text("reduction (gamma)", "reduction"),
                     range("messages", "run_messages_low", "run_messages_high"),
                     range("words, paper", "paper_words_low", "paper_words_high"),
                     range("words, run", "run_words_low", "run_words_high"),
                     text("exact when", "exact_when")}));
  return 0;
}

std::vector<Json> network_records() {
  std::vector<Json> records;
  for (const experiment::NetworkInfo& network : experiment::all_networks()) {
    records.push_back({{"kind", "network"},
                       {"name", network.name},
                       {"summary", network.summary},
                       {"parameters", network.parameters}});
  }
  return records;
}

std::vector<Json> platform_records() {
  std::vector<Json> records;
  for (const std::string& name : topologies::shipped_platforms()) {
    records.push_back(
        {{"kind", "platform"}, {"name", name}, {"file", topologies::platform_file(name)}});
  }
  return records;
}

std::vector<Json> trace_records() {
  std::vector<Json> records;
  for (const std::string& name : traces::shipped_traces()) {
    records.push_back({{"kind", "trace"}, {"name", name}, {"file", traces::trace_file(name)}});
  }
  return records;
}

std::vector<Json> model_records() {
  std::vector<Json> records;
  for (const std::string& name : workloads::shipped_models()) {
    const workloads::Model model = workloads::read_model(workloads::model_file(name));
    std::string devices;
    for (const workloads::ModelCompute& compute : model.compute) {
      devices += fmt::format("{}{}", devices.empty() ? "" : ", ", compute.device);
    }
    records.push_back({{"kind", "model"},
                       {"name", name},
                       {"summary", model.summary},
                       {"components", std::to_string(model.components)},
                       {"density", fmt::format("{:g}", model.density)},
                       {"devices", devices},
                       {"source", model.source}});
  }
  return records;
}

std::vector<Json> device_records() {
  std::vector<Json> records;
  for (const std::string& name : workloads::shipped_devices()) {
    records.push_back({{"kind", "device"},
                       {"name", name},
                       {"summary", workloads::read_device(workloads::device_file(name)).summary}});
  }
  return records;
}

std::vector<report::Column> columns_of(
    const std::vector<std::pair<std::string, std::string>>& headings) {
  std::vector<report::Column> columns;
  for (const auto& [key, heading] : headings) {
    columns.push_back(
        {heading, [key = key](const Json& r) { return r.at(key).get<std::string>(); }, true});
  }
  return columns;
}

void print_options(const std::vector<algorithms::OptionInfo>& options) {
  for (const algorithms::OptionInfo& option : options) {
    fmt::print("  {:<22}{}\n", option_text(option), option.help);
  }
}

int run(const ListFlags& flags) {
  const auto wants = [&](const char* what) { return flags.what == "all" || flags.what == what; };
  if (flags.costs || flags.markdown) return run_costs(flags);
  const bool schemes = wants("schemes");
  if (flags.format != report::Format::table) {
    std::vector<Json> records;
    const auto add = [&](std::vector<Json> more) {
      std::ranges::move(more, std::back_inserter(records));
    };
    if (schemes) add(scheme_records());
    if (wants("sparsifiers")) add(sparsifier_records());
    if (wants("networks")) add(network_records());
    if (wants("platforms")) add(platform_records());
    if (wants("traces")) add(trace_records());
    if (wants("models")) add(model_records());
    if (wants("devices")) add(device_records());
    fmt::print("{}", render(flags.format, records, {}));
    return 0;
  }
  if (schemes) {
    fmt::print("{}", to_table(scheme_records(), columns_of({{"name", "scheme"},
                                                            {"input", "input"},
                                                            {"latency", "latency (alpha)"},
                                                            {"bandwidth", "bandwidth (beta)"},
                                                            {"source", "source"}})));
    for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
      const std::vector<algorithms::OptionInfo>& options =
          scheme.sparsifier.empty() ? scheme.options : scheme.collective_options;
      if (options.empty() && scheme.sparsifier.empty()) continue;
      fmt::print(
          "\noptions of {}{}:\n", scheme.name,
          scheme.sparsifier.empty() ? "" : fmt::format(", and those of {}", scheme.sparsifier));
      print_options(options);
    }
  }
  if (wants("sparsifiers")) {
    if (schemes) fmt::print("\n");
    fmt::print("{}", to_table(sparsifier_records(), columns_of({{"name", "sparsifier"},
                                                                {"summary", "selects"},
                                                                {"source", "source"}})));
    for (const algorithms::SparsifierInfo& sparsifier : algorithms::all_sparsifiers()) {
      if (sparsifier.options.empty()) continue;
      fmt::print("\noptions of {}:\n", sparsifier.name);
      print_options(sparsifier.options);
    }
    fmt::print("\nSCHEME+SPARSIFIER is a sparse scheme with another sparsifier: topka+dgc\n");
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
  if (wants("traces")) {
    if (schemes) fmt::print("\n");
    fmt::print("{}", to_table(trace_records(), columns_of({{"name", "trace"}, {"file", "file"}})));
  }
  if (wants("models")) {
    if (schemes) fmt::print("\n");
    fmt::print("{}", to_table(model_records(), columns_of({{"name", "model"},
                                                           {"summary", "what it is"},
                                                           {"components", "components"},
                                                           {"density", "density"},
                                                           {"devices", "times on"},
                                                           {"source", "source"}})));
  }
  if (wants("devices")) {
    if (schemes) fmt::print("\n");
    fmt::print("{}", to_table(device_records(),
                              columns_of({{"name", "device"}, {"summary", "what it is"}})));
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ListFlags>();
  CLI::App& command = *app.add_subcommand(
      "list",
      "List schemes with their costs, sparsifiers, networks, platforms, traces, models, devices");
  command
      .add_option("what", flags->what,
                  "schemes, sparsifiers, networks, platforms, traces, models, devices or all")
      ->check(CLI::IsMember({"schemes", "sparsifiers", "networks", "platforms", "traces", "models",
                             "devices", "all"}))
      ->option_text("[all]");
  command.add_flag("--costs", flags->costs,
                   "the schemes' cost models: formulas, and what they come to at -P, -n, -d");
  command.add_option("-P,--ranks", flags->point.ranks, "for --costs: ranks [64]")
      ->check(CLI::Range(1, 1 << 20))
      ->option_text("P");
  command.add_option("-n,--components", flags->point.n, "for --costs: components [133547324]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->option_text("N");
  command.add_option("-d,--density", flags->density, "for --costs: k/n [0.01]")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("D");
  command.add_flag("--markdown", flags->markdown, "for --costs: docs/cost-models.md");
  add_format(command, flags->format);
  command.callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace thinwire::cli
