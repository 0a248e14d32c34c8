// `thinwire complete -- WORDS`: what may stand in place of the last of the words. Bash's completion
// (tools/completion/thinwire.bash) asks it, so subcommands, options and names are never out of
// date.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/cli/command.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/settings.hpp"
#include "sim/app/experiment/sweep.hpp"
#include "sim/app/report/charts/figure_svg.hpp"
#include "sim/app/studies/claims/claims.hpp"
#include "sim/app/studies/validate/machine_description.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/shipped.hpp"
#include "traces/shipped.hpp"

namespace thinwire::cli {

namespace {

using Names = std::vector<std::string>;

template <class Info>
Names names_of(const std::vector<Info>& infos) {
  Names names;
  for (const Info& info : infos) names.push_back(info.name);
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
  Names names = traces::shipped_traces();
  for (std::string& profile : traces::shipped_profiles()) names.push_back(std::move(profile));
  return names;
}

/// "KEY=" of every setting of a point, and of every option of a scheme.
Names setting_keys() {
  Names keys;
  for (const experiment::Setting& setting : experiment::point_settings()) {
    if (setting.kind != experiment::SettingKind::options) keys.push_back(setting.path + "=");
  }
  for (const std::string& option : names_of(algorithms::all_options())) {
    keys.push_back("options." + option + "=");
  }
  return keys;
}

/// What an option or a positional argument takes, by its name.
Names values_of(const OptionInfo& option, const std::string& begun) {
  using Maker = std::function<Names(const std::string&)>;
  static const std::map<std::string, Maker> makers{
      {"scheme", scheme_names},
      {"schemes", [](const std::string& text) { return in_list(text, scheme_names); }},
      {"sparsifier", [](const std::string&) { return names_of(algorithms::all_sparsifiers()); }},
      {"network", [](const std::string&) { return names_of(experiment::all_networks()); }},
      {"figure", [](const std::string&) { return report::figure_names(); }},
      {"placement",
       [](const std::string&) {
         return Names{"block", "round_robin", "random:1"};
       }},
      {"set", [](const std::string&) { return setting_keys(); }},
      {"platform", [](const std::string&) { return topologies::shipped_platforms(); }},
      {"trace", [](const std::string&) { return traces::shipped_traces(); }},
      {"traces", [](const std::string&) { return traces::shipped_traces(); }},
      {"profile", [](const std::string&) { return traces::shipped_profiles(); }},
      {"input", [](const std::string&) { return shipped_inputs(); }},
      {"model", [](const std::string&) { return workloads::shipped_models(); }},
      {"device", [](const std::string&) { return workloads::shipped_devices(); }},
      {"machine", [](const std::string&) { return studies::shipped_machines(); }},
      {"id", [](const std::string&) { return studies::claim_ids(); }},
      {"sweep", [](const std::string&) { return experiment::shipped_sweeps(); }},
  };
  if (!option.choices.empty()) return option.choices;
  if (option.value.starts_with("FOLDER")) return {};  // --placement of validate
  const std::string name =
      option.names.empty() ? option.argument
                           : option.names.back().substr(option.names.back().find_first_not_of('-'));
  const auto found = makers.find(name);
  return found == makers.end() ? Names() : found->second(begun);
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
Names candidates(const Command& program, const Names& words) {
  Command command = program;
  std::optional<OptionInfo> waiting;  // for its value
  std::size_t positionals = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    const std::vector<Command> subs = command.subcommands();
    const auto sub =
        std::ranges::find_if(subs, [&](const Command& one) { return one.name() == word; });
    if (waiting) {
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
  if (waiting) return values_of(*waiting, begun);
  if (begun.starts_with("-")) return options_of(command);
  Names names = positionals == 0 ? subcommands_of(command) : Names();
  const std::optional<OptionInfo> argument = positional(command, positionals);
  if (!argument) return names;
  for (std::string& value : values_of(*argument, begun)) names.push_back(std::move(value));
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
