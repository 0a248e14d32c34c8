// `thinwire complete -- WORDS`: what may stand in place of the last of the words. Bash's completion
// (tools/completion/thinwire.bash) asks it, so subcommands, options and names are never out of
// date.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/cli/command.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/sweep.hpp"
#include "sim/app/studies/claims/claims.hpp"
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
  Names names;
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    if (scheme.dense || scheme.name != begun.substr(0, plus)) continue;
    for (const algorithms::SparsifierInfo& sparsifier : algorithms::all_sparsifiers()) {
      if (algorithms::can_compose(scheme, sparsifier))
        names.push_back(scheme.name + "+" + sparsifier.name);
    }
  }
  return names;
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

/// The choices of an option that has a fixed set of them: its validator describes it as {a,b,c}.
Names choices_of(CLI::Option& option) {
  Names choices;
  try {
    for (int i = 0;; ++i) {
      const std::string text = option.get_validator(i)->get_description();
      const std::size_t open = text.find('{');
      const std::size_t close = text.find('}');
      if (open == std::string::npos || close == std::string::npos) continue;
      const std::string inside = text.substr(open + 1, close - open - 1);
      for (std::string& choice : CLI::detail::split(inside, ',')) choices.push_back(choice);
    }
  } catch (const CLI::OptionNotFound&) {  // there are no more
  }
  return choices;
}

/// What an option or a positional argument takes, by its name.
Names values_of(CLI::Option& option, const std::string& begun) {
  using Maker = std::function<Names(const std::string&)>;
  static const std::map<std::string, Maker> makers{
      {"scheme", scheme_names},
      {"schemes", [](const std::string& text) { return in_list(text, scheme_names); }},
      {"sparsifier", [](const std::string&) { return names_of(algorithms::all_sparsifiers()); }},
      {"network", [](const std::string&) { return names_of(experiment::all_networks()); }},
      {"platform", [](const std::string&) { return topologies::shipped_platforms(); }},
      {"trace", [](const std::string&) { return traces::shipped_traces(); }},
      {"traces", [](const std::string&) { return traces::shipped_traces(); }},
      {"profile", [](const std::string&) { return traces::shipped_profiles(); }},
      {"input", [](const std::string&) { return shipped_inputs(); }},
      {"model", [](const std::string&) { return workloads::shipped_models(); }},
      {"device", [](const std::string&) { return workloads::shipped_devices(); }},
      {"id", [](const std::string&) { return studies::claim_ids(); }},
      {"sweep", [](const std::string&) { return experiment::shipped_sweeps(); }},
  };
  Names choices = choices_of(option);
  if (!choices.empty()) return choices;
  const std::string name =
      option.get_lnames().empty() ? option.get_name(true) : option.get_lnames().front();
  const auto found = makers.find(name);
  return found == makers.end() ? Names() : found->second(begun);
}

Names subcommands_of(CLI::App& app) {
  Names names;
  for (const CLI::App* sub : app.get_subcommands([](CLI::App* /*sub*/) { return true; })) {
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  }
  return names;
}

Names options_of(CLI::App& app) {
  Names names;
  for (const CLI::Option* option : app.get_options([](CLI::Option* /*option*/) { return true; })) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

CLI::App* subcommand(CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](CLI::App* sub) { return sub->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// The positional argument that comes after `before` others; the last one may be a list.
CLI::Option* positional(CLI::App& app, std::size_t before) {
  const auto all = app.get_options([](CLI::Option* option) { return option->get_positional(); });
  if (all.empty()) return nullptr;
  if (before < all.size()) return all[before];
  return all.back()->get_items_expected_max() > 1 ? all.back() : nullptr;
}

/// All that may stand in place of the last word. Bash makes a word of '=' and of what is around it.
Names candidates(CLI::App& program, const Names& words) {
  CLI::App* app = &program;
  CLI::Option* waiting = nullptr;  // for its value
  std::size_t positionals = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (waiting != nullptr) {
      if (word != "=") waiting = nullptr;
    } else if (word.size() > 1 && word.front() == '-') {
      waiting = app->get_option_no_throw(word);
      if (waiting != nullptr && waiting->get_items_expected_max() == 0) waiting = nullptr;
    } else if (CLI::App* sub = subcommand(*app, word); sub != nullptr) {
      app = sub;
    } else {
      ++positionals;
    }
  }
  const std::string begun = words.empty() || words.back() == "=" ? "" : words.back();
  if (waiting != nullptr) return values_of(*waiting, begun);
  if (begun.starts_with("-")) return options_of(*app);
  Names names = positionals == 0 ? subcommands_of(*app) : Names();
  CLI::Option* argument = positional(*app, positionals);
  if (argument == nullptr) return names;
  for (std::string& value : values_of(*argument, begun)) names.push_back(std::move(value));
  return names;
}

}  // namespace

void add_complete(CLI::App& app, int& /*exit_code*/) {
  auto words = std::make_shared<Names>();
  CLI::App& command =
      *app.add_subcommand("complete", "What may stand in place of the last word, a line each");
  command.group("");
  command.add_option("words", *words, "the command line so far, without the program's name");
  command.callback([words, &app] {
    const std::string begun = words->empty() || words->back() == "=" ? "" : words->back();
    for (const std::string& name : candidates(app, *words)) {
      if (name.starts_with(begun)) fmt::print("{}\n", name);
    }
  });
}

}  // namespace thinwire::cli
