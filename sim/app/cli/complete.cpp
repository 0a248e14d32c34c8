// `thinwire complete -- WORDS`: what may stand in place of the last of the words. Bash's completion
// (tools/completion/thinwire.bash) asks it, so subcommands, options and names are never out of
// date.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/report/charts/figure_svg.hpp"
#include "sim/app/report/tables/groups.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/claims/claims.hpp"
#include "sim/app/studies/validate/machine_description.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/split.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/shipped.hpp"
#include "traces/shipped.hpp"

namespace thinwire::cli {

namespace {

using Names = std::vector<std::string>;

template <class Infos>
Names names_of(const Infos& infos) {
  Names names;
  for (const auto& info : infos) names.push_back(info.name);
  return names;
}

/// Schemes, and once there is a '+' those sparsifiers that the scheme can carry.
Names scheme_names(const std::string& begun) {
  const std::size_t plus = begun.find('+');
  if (plus == std::string::npos) return names_of(algorithms::all_schemes());
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    if (scheme.name == begun.substr(0, plus)) return algorithms::composed_names(scheme);
  }
  return {};
}

/// After the last comma of a list; each name with what stands before it.
Names in_list(const std::string& begun, const std::function<Names(const std::string&)>& names) {
  const std::size_t comma = begun.rfind(',');
  const std::size_t start = comma == std::string::npos ? 0 : comma + 1;
  Names listed;
  for (const std::string& name : names(begun.substr(start))) {
    listed.push_back(begun.substr(0, start) + name);
  }
  return listed;
}

Names shipped_inputs() {
  Names names = traces::kTraces.names();
  for (std::string& profile : traces::kProfiles.names()) names.push_back(std::move(profile));
  return names;
}

/// The words after an option, in all its occurrences: {"topka", "oktopk"} of --scheme topka,oktopk.
Names given_to(const std::string& option, const Names& words) {
  Names given;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != option) continue;
    const std::size_t at = words[i + 1] == "=" ? i + 2 : i + 1;
    if (at + 1 >= words.size()) continue;  // the word that is being completed
    std::ranges::move(split(words[at]), std::back_inserter(given));
  }
  return given;
}

/// The options of the schemes that the words name; without a name the default scheme's, and
/// of all where a config may name another.
std::vector<algorithms::OptionInfo> scheme_options(const Names& words) {
  Names schemes = given_to("--scheme", words);
  if (schemes.empty() && !given_to("--config", words).empty()) return algorithms::all_options();
  if (schemes.empty()) schemes.push_back(plan::Point().scheme->name);
  std::vector<algorithms::OptionInfo> options;
  for (const std::string& scheme : schemes) {
    try {
      std::ranges::copy(algorithms::find_scheme(scheme).options, std::back_inserter(options));
    } catch (const InputError&) {  // the run will say so
    }
  }
  return options;
}

/// "KEY=" of every setting of a point, and of the options of its schemes.
Names setting_keys(const Names& words) {
  Names keys;
  for (const plan::Setting& setting : plan::point_settings()) {
    if (setting.kind != plan::SettingKind::options) keys.push_back(setting.path + "=");
  }
  for (const std::string& option : names_of(scheme_options(words))) {
    const std::string key = "options." + option + "=";
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

/// The columns of the first results file among the words, else the columns of a default point.
Names columns(const Names& words) {
  results::Row row;
  row.point = plan::point_from(Json::object(), "complete");
  for (const std::string& word : words) {
    if (!word.ends_with(".jsonl")) continue;
    try {
      const std::string line = read_first_line(word);
      if (line.empty()) continue;
      const results::RowsFile first = results::rows_from(line + "\n", word);
      if (!first.rows.empty()) row = first.rows.front();
      break;
    } catch (const InputError&) {  // no results
    }
  }
  const Json record = report::record_of(row, compare(row, kExactTolerance));
  const Names by = given_to("--group-by", words);
  return report::columns_of(by.empty() ? std::vector{record} : report::group_records({record}, by));
}

/// What an option or a positional argument takes, by its name.
Names values_of(const OptionInfo& option, const std::string& begun, const Names& words) {
  using Maker = std::function<Names(const std::string& begun, const Names& words)>;
  const auto any = [](Names (*names)()) {
    return [names](const std::string&, const Names&) { return names(); };
  };
  const auto schemes = [](const std::string& text, const Names&) {
    return in_list(text, scheme_names);
  };
  const auto traces = any([] { return traces::kTraces.names(); });
  static const std::map<std::string, Maker> makers{
      {"scheme", schemes},
      {"schemes", schemes},
      {"sparsifier", any([] { return names_of(algorithms::all_sparsifiers()); })},
      {"network", any([] { return names_of(plan::all_networks()); })},
      {"figure", any([] { return report::figure_names(); })},
      {"placement", any([] {
         return Names{"block", "round_robin", "per_node:4", "random:1"};
       })},
      {"set", [](const std::string&, const Names& all) { return setting_keys(all); }},
      {"sort-by", [](const std::string&, const Names& all) { return columns(all); }},
      {"group-by",
       [](const std::string& text, const Names& all) {
         return in_list(text, [&](const std::string&) { return columns(all); });
       }},
      {"where",
       [](const std::string&, const Names& all) {
         Names keys = columns(all);
         for (std::string& key : keys) key += "=";
         return keys;
       }},
      {"platform", any([] { return topologies::kPlatforms.names(); })},
      {"trace", traces},
      {"traces", traces},
      {"profile", any([] { return traces::kProfiles.names(); })},
      {"input", any(shipped_inputs)},
      {"model", any([] { return workloads::kModels.names(); })},
      {"device", any([] { return workloads::kDevices.names(); })},
      {"machine", any([] { return studies::kMachines.names(); })},
      {"id", any([] { return studies::claim_ids(); })},
      {"sweep", any([] { return run::kSweeps.names(); })},
  };
  if (!option.choices.empty()) return option.choices;
  if (option.value.starts_with("FOLDER")) return {};  // --placement of validate
  const std::string name =
      option.names.empty() ? option.argument
                           : option.names.back().substr(option.names.back().find_first_not_of('-'));
  const auto found = makers.find(name);
  return found == makers.end() ? Names() : found->second(begun, words);
}

/// The values of KEY after "--set KEY=", if they are a fixed set.
Names values_of_setting(const std::string& key) {
  for (const plan::Setting& setting : plan::point_settings()) {
    if (setting.path != key) continue;
    if (setting.kind == plan::SettingKind::boolean) return {"true", "false"};
    if (!setting.choices.empty()) return setting.choices;
    OptionInfo option;
    option.names.push_back("--" + setting.name());
    return values_of(option, "", {});
  }
  for (const algorithms::OptionInfo& option : algorithms::all_options()) {
    if ("options." + option.name != key) continue;
    if (std::holds_alternative<bool>(option.fallback)) return {"true", "false"};
    Names values;
    for (const auto value : option.choices) values.push_back(fmt::format("{}", value));
    return values;
  }
  return {};
}

Names subcommands_of(const Command& command) {
  Names names;
  for (const Command& sub : command.subcommands()) {
    if (!sub.hidden()) names.push_back(sub.name());
  }
  return names;
}

Names options_of(const Command& command) {
  Names names;
  for (const OptionInfo& option : command.options()) {
    for (const std::string& name : option.names) {
      if (name.starts_with("--")) names.push_back(name);
    }
  }
  return names;
}

std::optional<OptionInfo> option_named(const Command& command, const std::string& name) {
  for (OptionInfo& option : command.options()) {
    if (std::ranges::find(option.names, name) != option.names.end()) return std::move(option);
  }
  return std::nullopt;
}

/// The positional argument that comes after `before` others; the last one may be a list.
std::optional<OptionInfo> positional(const Command& command, std::size_t before) {
  std::vector<OptionInfo> all = command.options();
  std::erase_if(all, [](const OptionInfo& option) { return option.argument.empty(); });
  if (before < all.size()) return all[before];
  if (all.empty() || !all.back().takes_many) return std::nullopt;
  return all.back();
}

/// All that may stand in place of the last word. Bash makes a word of '=' and of what is around it.
Names candidates(const Command& program, const Names& all) {
  const bool help = all.size() > 1 && all.front() == "help";
  const Names words(all.begin() + (help ? 1 : 0), all.end());
  Command command = program;
  std::optional<OptionInfo> waiting;  // for its value
  std::size_t positionals = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    const std::vector<Command> subs = command.subcommands();
    const auto sub =
        std::ranges::find_if(subs, [&](const Command& one) { return one.name() == word; });
    if (waiting) {
      // "--set KEY = ": the value is not complete with its key.
      const bool key_follows =
          waiting->names.back() == "--set" && words[i + 1] == "=" && word != "=";
      if (key_follows && i + 3 >= words.size()) return values_of_setting(word);
      if (key_follows) i += 2;
      if (word != "=") waiting.reset();
    } else if (word.size() > 1 && word.front() == '-') {
      waiting = option_named(command, word);
      if (waiting && !waiting->takes_value) waiting.reset();
    } else if (sub != subs.end()) {
      command = *sub;
    } else {
      ++positionals;
    }
  }
  const std::string begun = words.empty() || words.back() == "=" ? "" : words.back();
  if (waiting) return values_of(*waiting, begun, words);
  if (help) return positionals == 0 ? subcommands_of(command) : Names();
  if (begun.starts_with("-")) return options_of(command);
  Names names = positionals == 0 ? subcommands_of(command) : Names();
  if (all.size() <= 1) names.emplace_back("help");
  const std::optional<OptionInfo> argument = positional(command, positionals);
  if (!argument) return names;
  for (std::string& value : values_of(*argument, begun, words)) names.push_back(std::move(value));
  return names;
}

}  // namespace

void add_complete(Command& app) {
  auto words = std::make_shared<Names>();
  Command command =
      app.add_subcommand("complete", "What may stand in place of the last word, a line each");
  command.hide();
  command.add_option("words", *words, "the command line so far, without the program's name");
  command.callback([words, app] {
    const std::string begun = words->empty() || words->back() == "=" ? "" : words->back();
    for (const std::string& name : candidates(app, *words)) {
      if (name.starts_with(begun)) fmt::print("{}\n", name);
    }
    return 0;
  });
}

}  // namespace thinwire::cli
