#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "algorithms/registry.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/schema.hpp"
#include "sim/app/plan/sparsity.hpp"
#include "sim/app/report/tables/costs.hpp"
#include "sim/app/report/tables/scheme_pages.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/validate/machine_description.hpp"
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
  bool schema = false;
  std::optional<int> ranks;
  std::optional<std::int64_t> components;
  std::optional<double> density;
  report::View view;
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
                       {"collective", name_of(scheme.collective_kind)},
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

/// Prints the papers' tables, evaluated at a point that the user chooses.
int run_costs(const ListFlags& flags) {
  if (flags.what != "schemes" && flags.what != "all") {
    throw InputError("{} is not about {}; take schemes or leave it out",
                     flags.costs ? "--costs" : "--markdown", flags.what);
  }
  if (flags.markdown) {
    fmt::print("{}", flags.costs ? report::cost_models_markdown() : report::catalogue_markdown());
    return 0;
  }
  report::CostPoint point;
  point.ranks = flags.ranks.value_or(point.ranks);
  point.n = flags.components.value_or(point.n);
  point.k = std::llround(flags.density.value_or(plan::kDensity) * static_cast<double>(point.n));
  const std::vector<Json> records = report::cost_records(point);
  if (report::for_people(flags.view.format)) {
    say("P = {}, n = {}, k = {}", point.ranks, point.n, point.k);
  }
  fmt::print(
      "{}",
      render(flags.view, records,
             {report::column("scheme"), report::column("latency"), report::column("bandwidth"),
              report::column("reduction", {}, report::Shown::if_room),
              report::interval("run_messages", "run_messages_low", "run_messages_high"),
              report::interval("paper_words", "paper_words_low", "paper_words_high",
                               report::Shown::if_wide),
              report::interval("run_words", "run_words_low", "run_words_high"),
              report::column("exact_when", {}, report::Shown::if_wide)}));
  return 0;
}

std::vector<Json> network_records() {
  std::vector<Json> records;
  for (const plan::NetworkInfo& network : plan::all_networks()) {
    records.push_back({{"kind", "network"},
                       {"name", network.name},
                       {"summary", network.summary},
                       {"parameters", plan::settings_read_on(network)}});
  }
  return records;
}

template <const ShippedFiles& files>
std::vector<Json> file_records() {
  std::vector<Json> records;
  for (const std::string& name : files.names()) {
    records.push_back({{"kind", files.what}, {"name", name}, {"file", files.file(name)}});
  }
  return records;
}

std::vector<Json> machine_records() {
  std::vector<Json> records;
  for (const std::string& name : studies::kMachines.names()) {
    const std::string file = studies::kMachines.file(name);
    records.push_back({{"kind", "machine"},
                       {"name", name},
                       {"summary", studies::read_machine(file).summary},
                       {"file", file}});
  }
  return records;
}

std::vector<Json> setting_records() {
  std::vector<Json> records;
  for (const plan::Setting& setting : plan::point_settings()) {
    records.push_back({{"kind", "setting"},
                       {"name", setting.path},
                       {"flag", setting.flag},
                       {"value", setting.wanted()},
                       {"unit", setting.unit},
                       {"default", setting.default_text()},
                       {"readers", setting.readers().empty() ? "every run" : setting.readers()},
                       {"summary", setting.help}});
  }
  return records;
}

std::vector<Json> model_records() {
  std::vector<Json> records;
  for (const std::string& name : workloads::kModels.names()) {
    const workloads::Model model = workloads::read_model(workloads::kModels.file(name));
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
  for (const std::string& name : workloads::kDevices.names()) {
    records.push_back(
        {{"kind", "device"},
         {"name", name},
         {"summary", workloads::read_device(workloads::kDevices.file(name)).summary}});
  }
  return records;
}

void print_options(const std::vector<algorithms::OptionInfo>& options) {
  for (const algorithms::OptionInfo& option : options) {
    constexpr std::size_t kColumn = 28;
    std::string words = "  " + option_text(option);
    for (const std::string& line :
         report::wrapped(option.help, report::terminal_width() - kColumn)) {
      fmt::print("{:<{}} {}\n", words, kColumn - 1, line);
      words.clear();
    }
  }
}

void print_scheme_options() {
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    const std::vector<algorithms::OptionInfo>& options =
        scheme.sparsifier.empty() ? scheme.options : scheme.collective_options;
    if (options.empty() && scheme.sparsifier.empty()) continue;
    fmt::print("\noptions of {}{}:\n", scheme.name,
               scheme.sparsifier.empty() ? "" : fmt::format(", and of {}", scheme.sparsifier));
    print_options(options);
  }
}

void print_sparsifier_options() {
  for (const algorithms::SparsifierInfo& sparsifier : algorithms::all_sparsifiers()) {
    if (sparsifier.options.empty()) continue;
    fmt::print("\noptions of {}:\n", sparsifier.name);
    print_options(sparsifier.options);
  }
  fmt::print("\nSCHEME+SPARSIFIER is a sparse scheme with another sparsifier: topka+dgc\n");
}

/// A subject that can be listed.
struct Listing {
  std::string name;
  std::vector<Json> (*records)();
  std::vector<const char*> keys;     ///< of the table
  std::vector<const char*> if_wide;  ///< of the table with --wide
  void (*more)() = nullptr;          ///< prints text after the table

  [[nodiscard]] std::vector<report::Column> columns() const {
    std::vector<report::Column> all;
    for (const char* key : keys) all.push_back(report::column(key));
    for (const char* key : if_wide) {
      all.push_back(report::column(key, {}, report::Shown::if_wide));
    }
    return all;
  }
};

std::vector<Listing> all_listings() {
  return {{"schemes",
           scheme_records,
           {"name", "collective", "input", "latency", "bandwidth"},
           {"source", "summary", "options"},
           print_scheme_options},
          {"sparsifiers",
           sparsifier_records,
           {"name", "summary"},
           {"source", "options"},
           print_sparsifier_options},
          {"networks", network_records, {"name", "summary"}, {"parameters"}},
          {"platforms", file_records<topologies::kPlatforms>, {"name", "file"}, {}},
          {"traces", file_records<traces::kTraces>, {"name", "file"}, {}},
          {"profiles", file_records<traces::kProfiles>, {"name", "file"}, {}},
          {"models",
           model_records,
           {"name", "components", "density", "devices", "summary"},
           {"source"}},
          {"devices", device_records, {"name", "summary"}, {}},
          {"machines", machine_records, {"name", "summary"}, {"file"}},
          {"sweeps", file_records<run::kSweeps>, {"name", "file"}, {}},
          {"settings",
           setting_records,
           {"name", "flag", "summary"},
           {"default", "value", "unit", "readers"}}};
}

/// Refuses flags that the listing would not read.
void check_flags(const ListFlags& flags) {
  for (const auto& [given, flag] :
       {std::pair{flags.ranks.has_value(), "-P"}, std::pair{flags.components.has_value(), "-n"},
        std::pair{flags.density.has_value(), "-d"}}) {
    if (!given || (flags.costs && !flags.markdown && !flags.schema)) continue;
    throw InputError("{}: only --costs without --markdown reads it", flag);
  }
  if (!flags.view.columns.empty() && flags.what == "all" && !flags.costs) {
    throw InputError("--columns: each list has its own; name one, as in 'thinwire list schemes'");
  }
  if (flags.costs && (flags.schema || flags.what == "settings")) {
    throw InputError("--costs: is about schemes; leave it out");
  }
  if (flags.schema && flags.markdown) {
    throw InputError(
        "--schema: it prints JSON, but --markdown prints Markdown; leave one of them out");
  }
  if ((flags.schema || flags.markdown) && flags.view.format != report::Format::table) {
    throw InputError("--format: {} has a form of its own; leave one of them out",
                     flags.schema ? "--schema" : "--markdown");
  }
  if (flags.schema && flags.what != "settings" && flags.what != "all") {
    throw InputError("--schema is about settings, not {}", flags.what);
  }
}

int run(const ListFlags& flags) {
  check_flags(flags);
  if (flags.schema) {
    fmt::print("{}\n", plan::sweep_schema().dump(2));
    return 0;
  }
  if (flags.markdown && flags.what == "settings") {
    fmt::print("{}", plan::settings_page());
    return 0;
  }
  if (flags.costs || flags.markdown) return run_costs(flags);
  std::vector<Json> records;
  bool first = true;
  for (const Listing& listing : all_listings()) {
    if (flags.what != "all" && flags.what != listing.name) continue;
    std::vector<Json> own = listing.records();
    if (report::for_people(flags.view.format)) {
      fmt::print("{}{}", first ? "" : "\n", report::to_table(own, listing.columns(), flags.view));
      if (listing.more != nullptr && flags.what != "all") listing.more();
    }
    std::ranges::move(own, std::back_inserter(records));
    first = false;
  }
  if (!report::for_people(flags.view.format)) {
    fmt::print("{}", report::render(flags.view, records, {}));
  }
  return 0;
}

}  // namespace

void add_list(Command& app) {
  auto flags = std::make_shared<ListFlags>();
  Command command = app.add_subcommand(
      "list",
      "List schemes with their costs, settings of a point, networks, platforms, models, ...");
  std::vector<std::string> names{"all"};
  for (const Listing& listing : all_listings()) names.push_back(listing.name);
  command.add_option("what", flags->what, fmt::format("{}", fmt::join(names, ", ")))
      .choices(names)
      .value_text("[all]");
  command.add_flag("--costs", flags->costs,
                   "the schemes' cost models: formulas, and their values at -P, -n, -d");
  command.add_option("-P,--ranks", flags->ranks, "for --costs: ranks [64]")
      .range(1, 1 << 20)
      .value_text("P");
  command.add_option("-n,--components", flags->components, "for --costs: components [133547324]")
      .range(std::int64_t{1}, std::int64_t{1} << 40)
      .value_text("N");
  command
      .add_option("-d,--density", flags->density,
                  fmt::format("for --costs: k/n [{:g}]", plan::kDensity))
      .range(0.0, 1.0)
      .value_text("D");
  command.add_flag(
      "--markdown", flags->markdown,
      "of schemes: algorithms/catalogue.md, with --costs docs/reference/cost-models.md; of "
      "settings: docs/reference/settings.md");
  command.add_flag("--schema", flags->schema, "of settings: the JSON Schema of sweep configs");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.footer(
      "Examples:\n"
      "  thinwire list schemes\n"
      "  thinwire list schemes --costs -P 256\n"
      "  thinwire list settings --wide");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
