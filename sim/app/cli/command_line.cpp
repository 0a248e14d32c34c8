#include "sim/app/cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/quantity.hpp"

namespace thinwire::cli {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::value_text(const std::string& text) {
  option_->option_text(text);
  return *this;
}

Option& Option::unit(const std::string& unit) {
  *unit_ = unit;
  return *this;
}

Option& Option::choices(const std::vector<std::string>& all) {
  option_->check(
      [all](const std::string& word) {
        if (std::ranges::find(all, word) != all.end()) return std::string();
        return fmt::format("'{}' is not known{}", excerpt(word), did_you_mean(word, all));
      },
      fmt::format("{{{}}}", fmt::join(all, ",")));  // choices_of() reads it
  if (option_->get_option_text().empty()) {
    option_->option_text(fmt::format("{}", fmt::join(all, "|")));
  }
  return *this;
}

namespace {

/// A check of numbers, which arrive as plain decimals.
std::function<std::string(const std::string&)> within(double least, double most,
                                                      const std::string& wanted) {
  return [least, most, wanted](const std::string& word) {
    const double value = std::strtod(word.c_str(), nullptr);
    if (value >= least && value <= most) return std::string();
    return fmt::format("{} is not valid; expected {}", excerpt(word), wanted);
  };
}

}  // namespace

Option& Option::range(std::int64_t least, std::int64_t most) {
  option_->check(within(static_cast<double>(least), static_cast<double>(most),
                        fmt::format("a whole number from {} to {}", least, most)));
  return *this;
}

Option& Option::range(double least, double most) {
  option_->check(within(least, most, fmt::format("a number from {} to {}", least, most)));
  return *this;
}

Option& Option::positive() {
  option_->check([](const std::string& word) {
    const bool right = std::strtod(word.c_str(), nullptr) > 0;
    return right ? std::string()
                 : fmt::format("{} is not valid; expected a number above 0", excerpt(word));
  });
  return *this;
}

Option& Option::commas() {
  option_->delimiter(',');
  return *this;
}

Option& Option::words(int count) {
  option_->expected(count);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return value_text(fmt::format("{} [{}]", option_->get_type_name(), option_->get_default_str()));
}

namespace {

/// Options of this group are those that people use first.
constexpr const char* kFirstGroup = "First";

/// The choices of an option that has a closed set of them.
std::vector<std::string> choices_of(CLI::Option& option) {
  try {
    for (int i = 0;; ++i) {
      const std::string text = option.get_validator(i)->get_description();
      if (!text.starts_with('{')) continue;
      return CLI::detail::split(text.substr(1, text.size() - 2), ',');
    }
  } catch (const CLI::OptionNotFound&) {  // there are no more validators
  }
  return {};
}

OptionInfo info_of(CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  if (option.get_positional()) info.argument = option.get_name(true);
  info.takes_value = option.get_items_expected_max() > 0;
  info.takes_many = option.get_items_expected_max() > 1;
  info.value = option.get_option_text();
  if (info.value.empty() && option.nonpositional() && info.takes_value) {
    info.value = option.get_type_name();
  }
  info.help = option.get_description();
  info.choices = choices_of(option);
  info.is_first = option.get_group() == kFirstGroup;
  return info;
}

/// Replaces a word by the plain decimal that it stands for. Returns what is wrong with it, or
/// nothing.
template <class Value>
std::string read_number(std::string& word, const std::string& unit) {
  constexpr bool kWhole = std::is_integral_v<Value>;
  const auto refused = [&word](const std::string& reason) {
    return fmt::format("'{}' is not valid; expected {}", excerpt(word), reason);
  };
  if (word.empty()) return "is empty; give a value or leave it out";
  if constexpr (kWhole) {
    if (parse_number<Value>(word)) return {};
    const std::optional<std::int64_t> value = parse_whole(word, unit);
    if (value && std::in_range<Value>(*value)) {
      word = fmt::format("{}", *value);
      return {};
    }
    if (value && *value < 0) return refused("a whole number from 0");
    if (value) return refused(fmt::format("at most {}", std::numeric_limits<Value>::max()));
  } else {
    const std::optional<double> value = parse_quantity(word, unit);
    if (value && std::isfinite(*value)) {
      word = fmt::format("{}", *value);
      return {};
    }
    if (value) return refused("a finite number");
  }
  return refused(fmt::format("{}, as in {}", kWhole ? "a whole number" : "a number",
                             quantity_example(unit, kWhole)));
}

template <class Value>
struct ValueOf {
  using Type = Value;
};
template <class Value>
struct ValueOf<std::optional<Value>> {
  using Type = Value;
};
template <class Value>
struct ValueOf<std::vector<Value>> {
  using Type = Value;
};

}  // namespace

Command Command::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* const command = app_->add_subcommand(name, description);
  command->allow_extras(false);  // else inherited from the command above
  command->footer("");           // else inherited from the program
  return {command, exit_code_};
}

void Command::also(const std::vector<std::string>& names) {
  for (const std::string& name : names) app_->alias(name);
  std::vector<std::string> all = names;
  all.push_back(name());
  for (std::string one : all) {
    std::ranges::replace(one, '_', '-');
    if (!app_->check_name(one)) app_->alias(one);
  }
}

bool Command::is_called(const std::string& name) const { return app_->check_name(name); }

Option Command::bind(const std::string& names, Target target, const std::string& help) {
  return std::visit(
      [&](auto&& to) {
        if constexpr (std::is_pointer_v<std::remove_reference_t<decltype(to)>>) {
          using Value = typename ValueOf<std::remove_reference_t<decltype(*to)>>::Type;
          CLI::Option* const option = app_->add_option(names, *to, help);
          if constexpr (std::is_arithmetic_v<Value>) {
            auto unit = std::make_shared<std::string>();
            option->type_name(std::is_integral_v<Value> ? "N" : "X");
            option->transform(CLI::Validator(
                [unit](std::string& word) { return read_number<Value>(word, *unit); }, ""));
            return Option(option, unit);
          } else {
            // The words of a list may be empty: completion asks what may stand in place of nothing.
            if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(to)>,
                                          std::vector<std::string>*>) {
              option->check([](const std::string& word) {
                return word.empty() ? "is empty; give a value or leave it out" : "";
              });
            }
            return Option(option);
          }
        } else {
          return Option(app_->add_option_function<std::string>(names, to, help));
        }
      },
      std::move(target));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

Option Command::add_flag(const std::string& names, std::function<void()> take,
                         const std::string& help) {
  return Option(app_->add_flag_callback(names, std::move(take), help));
}

void Command::first(const std::vector<std::string>& names) {
  for (const std::string& name : names) app_->get_option(name)->group(kFirstGroup);
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<int()> run) {
  app_->callback([exit_code = exit_code_, run = std::move(run)] { *exit_code = run(); });
}

void Command::require_subcommand(int least, int most) {
  app_->require_subcommand(static_cast<std::size_t>(least), static_cast<std::size_t>(most));
}

void Command::hide() { app_->group(""); }

void Command::allow_extras() { app_->allow_extras(); }

std::string Command::name() const { return app_->get_name(); }

std::string Command::description() const { return app_->get_description(); }

std::string Command::footer() const { return app_->get_footer(); }

bool Command::hidden() const { return app_->get_group().empty(); }

std::vector<OptionInfo> Command::options() const {
  std::vector<OptionInfo> infos;
  for (CLI::Option* option : app_->get_options([](CLI::Option* /*option*/) { return true; })) {
    if (!option->get_group().empty()) infos.push_back(info_of(*option));
  }
  return infos;
}

std::vector<Command> Command::subcommands() const {
  std::vector<Command> commands;
  for (CLI::App* sub : app_->get_subcommands([](CLI::App* /*sub*/) { return true; })) {
    commands.push_back({sub, exit_code_});
  }
  return commands;
}

bool Command::any_subcommand_given() const { return !app_->get_subcommands().empty(); }

std::vector<std::string> Command::remaining() const { return app_->remaining(); }

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)), root_(app_.get(), &exit_code_) {
  app_->set_version_flag("-V,--version", version);
  app_->require_subcommand(1);
  app_->set_help_all_flag("--help-all", "all options of a command");
}

CommandLine::~CommandLine() = default;

namespace {

/// The command that the words name, its full name, and how many words that took.
struct Named {
  Command command;
  std::string name;
  std::size_t words = 0;
};

Named named_by(const Command& program, const std::vector<std::string>& words) {
  Named found{.command = program, .name = program.name()};
  for (const std::string& word : words) {
    const std::vector<Command> subs = found.command.subcommands();
    const auto sub =
        std::ranges::find_if(subs, [&](const Command& one) { return one.is_called(word); });
    if (sub == subs.end()) break;
    found = {.command = *sub, .name = found.name + " " + word, .words = found.words + 1};
  }
  return found;
}

/// Whether a word is an option rather than a value: a negative number is none.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && (word[1] < '0' || word[1] > '9');
}

/// The part of a value's placeholder before its default: "HOST HOST" of "HOST HOST [all]".
std::string placeholder(const OptionInfo& option) {
  return option.value.substr(0, option.value.find(" ["));
}

/// A complaint of the parser itself, in words for users.
std::string in_words(const Command& command, const std::string& name,
                     const CLI::ParseError& error) {
  std::string text = error.what();
  const std::vector<OptionInfo> options = command.options();
  const bool requires_other = error.get_name() == "RequiresError";  // "--one requires --other"
  if (requires_other || error.get_name() == "ExcludesError") {
    const std::string one = text.substr(0, text.find(' '));
    const std::string other = text.substr(text.rfind(' ') + 1);
    if (requires_other) {
      return fmt::format("{} is for {}: give that too, or leave {} out", one, other, one);
    }
    return fmt::format("{} and {} do not go together: leave one of them out", one, other);
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const std::size_t begin = text.rfind(": ") + 2;
    const std::string extra = text.substr(begin, text.find(' ', begin) - begin);
    return fmt::format("'{}' is one argument too many for '{}'", extra, name);
  }
  for (const OptionInfo& option : options) {
    const bool positional = !option.argument.empty();
    const std::string known = positional ? option.argument : option.names.back();
    if (error.get_name() == "RequiredError" && text.starts_with(known + " ")) {
      return fmt::format("{} is missing: {}", positional ? placeholder(option) : known,
                         option.help);
    }
    if (text.starts_with(known + ": At Most ")) {
      return fmt::format("{} is given more than once", known);
    }
    if (error.get_name() == "ArgumentMismatch" && text.starts_with(known + ":")) {
      return fmt::format("{}: expected {} after it", known, placeholder(option));
    }
    // The argument's own name is nothing that a user types.
    if (positional && text.starts_with(known + ": ")) return text.substr(known.size() + 2);
  }
  return text;
}

/// "; did you mean --ranks?" for an option that a command does not have; of what is near none, the
/// help tells.
std::string hint_of(const std::string& option, const std::vector<std::string>& options) {
  for (const auto& [elsewhere, here] : {std::pair{"--np", "--ranks"},
                                        {"--nprocs", "--ranks"},
                                        {"--world-size", "--ranks"},
                                        {"--gpu", "--device"},
                                        {"--bandwidth", "--beta"},
                                        {"--latency", "--alpha"}}) {
    const bool has = std::ranges::find(options, here) != options.end();
    if (option == elsewhere && has) return fmt::format("; did you mean '{}'?", here);
  }
  const std::string hint = did_you_mean(option, options);
  return hint.starts_with("; did") ? hint : "";
}

/// What is wrong with the words, in terms of names that are near to them.
std::string complaint_of(const Named& named, const std::vector<std::string>& words,
                         const CLI::ParseError* error) {
  std::vector<std::string> commands;
  for (const Command& sub : named.command.subcommands()) {
    if (!sub.hidden()) commands.push_back(sub.name());
  }
  if (!commands.empty() && (words.size() == named.words || !is_option(words[named.words]))) {
    if (words.size() == named.words) {
      return fmt::format("which command? {}", fmt::join(commands, ", "));
    }
    return fmt::format("'{}' is no command{}", excerpt(words[named.words]),
                       did_you_mean(words[named.words], commands));
  }
  std::vector<std::string> options;
  for (const OptionInfo& option : named.command.options()) {
    std::ranges::copy(option.names, std::back_inserter(options));
  }
  for (std::size_t i = named.words; i < words.size() && words[i] != "--"; ++i) {
    if (!is_option(words[i])) continue;
    const bool is_long = words[i].starts_with("--");
    const std::string option =
        is_long ? words[i].substr(0, words[i].find('=')) : words[i].substr(0, 2);
    if (std::ranges::find(options, option) != options.end()) continue;
    const bool follows_option =
        i > named.words && std::ranges::find(options, words[i - 1]) != options.end();
    if (!is_long && follows_option) {
      return fmt::format("{}: '{}' is neither its value nor an option", words[i - 1],
                         excerpt(words[i]));
    }
    return fmt::format("'{}' is no option of '{}'{}", excerpt(option), named.name,
                       is_long ? hint_of(option, options) : "");
  }
  return error == nullptr ? "help of what?" : in_words(named.command, named.name, *error);
}

/// Takes a word "help" out of the words: before all others, or where a command or nothing else
/// could stand, as in "topo help show" and "run help".
bool take_help(const Command& root, std::vector<std::string>& words) {
  if (words.empty()) return false;
  const Named named = named_by(root, words);
  const std::size_t at = words.front() == "help" ? 0 : named.words;
  if (at >= words.size() || words[at] != "help") return false;
  const bool arguments = std::ranges::any_of(
      named.command.options(), [](const OptionInfo& option) { return !option.argument.empty(); });
  if (at > 0 && arguments) return false;
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

/// Words of a list beside their explanation, which is broken to the width of the terminal.
std::string entry_text(const std::string& words, const std::string& help) {
  constexpr std::size_t kColumn = 34;
  constexpr std::size_t kLeast = 30;
  const std::size_t width = std::max(kLeast, report::terminal_width() - kColumn);
  std::string text = "  " + words;
  bool begun = words.size() + 4 <= kColumn;
  for (const std::string& line : report::wrapped(help, width)) {
    if (!begun) text += '\n';
    const std::size_t at = begun ? text.size() - (text.rfind('\n') + 1) : 0;
    text += std::string(kColumn - std::min(kColumn, at), ' ') + line;
    begun = false;
  }
  return text + '\n';
}

std::string entry_of(const OptionInfo& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  const std::string value = option.value.empty() ? "" : " " + option.value;
  return entry_text(option.argument.empty() ? names + value : option.value, option.help);
}

std::string usage_of(const Named& named) {
  std::string usage = "Usage: " + named.name + " [OPTION]...";
  if (!named.command.subcommands().empty()) usage += " COMMAND";
  for (const OptionInfo& option : named.command.options()) {
    if (!option.argument.empty()) usage += " " + placeholder(option);
  }
  return usage + "\n";
}

/// The purpose, examples, the first options or `all`, subcommands, and what else there is to say.
std::string help_text(const Named& named, bool all) {
  const Command& command = named.command;
  const std::string footer = command.footer();
  const std::size_t examples = std::min(footer.find("Example"), footer.size());
  const std::size_t after = std::min(footer.find("\n\n", examples), footer.size());
  std::string text = fmt::format(
      "{}\n\n{}", fmt::join(report::wrapped(command.description(), report::terminal_width()), "\n"),
      usage_of(named));
  if (examples < footer.size()) {
    text += "\n" + footer.substr(examples, after - examples) + "\n";
  }
  const std::vector<OptionInfo> options = command.options();
  const bool chosen = std::ranges::any_of(options, &OptionInfo::is_first);
  std::size_t left_out = 0;
  text += "\nOptions:\n";
  for (const OptionInfo& option : options) {
    const bool help = std::ranges::find(option.names, "--help-all") != option.names.end();
    if (help || (chosen && !all && !option.is_first && option.argument.empty())) {
      left_out += help || option.names.back() == "--help" ? 0 : 1;
      continue;
    }
    text += entry_of(option);
  }
  if (left_out > 0) text += entry_text("--help-all", fmt::format("the other {} options", left_out));
  std::string subs;
  for (const Command& sub : command.subcommands()) {
    if (!sub.hidden()) subs += entry_text(sub.name(), sub.description());
  }
  if (!subs.empty()) text += "\nSubcommands:\n" + subs;
  const std::string rest = footer.substr(0, examples) + footer.substr(after);
  if (rest.find_first_not_of('\n') == std::string::npos) return text;
  const std::size_t begin = rest.find_first_not_of('\n');
  return fmt::format("{}\n{}\n", text, rest.substr(begin, rest.find_last_not_of('\n') + 1 - begin));
}

}  // namespace

int CommandLine::run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{"version"}) words = {"--version"};
  const bool asked = take_help(root_, words);
  const Named named = named_by(root_, words);
  if (asked && named.words < words.size()) {
    say("{}: {} (see '{} --help')", app_->get_name(), complaint_of(named, words, nullptr),
        named.name);
    return kBadInput;
  }
  if (asked) words.emplace_back("--help");
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(named, false));
    return 0;
  } catch (const CLI::CallForAllHelp&) {
    fmt::print("{}", help_text(named, true));
    return 0;
  } catch (const CLI::Success& help) {
    return app_->exit(help);
  } catch (const CLI::ParseError& error) {
    say("{}: {} (see '{} --help')", app_->get_name(), complaint_of(named, words, &error),
        named.name);
    return kBadInput;
  }
  return exit_code_;
}

}  // namespace thinwire::cli
