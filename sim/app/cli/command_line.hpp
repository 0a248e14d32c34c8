// Commands, options and arguments of the program. Only command_line.cpp knows the parser library (CLI11),
// which takes longer to compile than the rest of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace thinwire::cli {

/// The destination of an option's value. A vector takes several values, or the
/// values of a repeated option.
using Target =
    std::variant<std::string*, int*, std::int64_t*, std::uint64_t*, double*, std::optional<int>*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::vector<std::string>*,
                 std::vector<int>*, std::vector<double>*, std::function<void(const std::string&)>>;

/// The description of an option or a positional argument for --help, completion and the man page.
struct OptionInfo {
  std::vector<std::string> names;    ///< "-P", "--ranks"; empty for a positional argument
  std::string argument;              ///< the name of a positional argument, else empty
  std::string value;                 ///< the placeholder of its value in --help; empty for a switch
  std::string help;                  ///< its purpose
  std::vector<std::string> choices;  ///< all valid values, if they are a fixed set
  bool takes_value = false;
  bool takes_many = false;
  bool is_first = false;  ///< among those that --help shows: see Command::first
};

/// A handle to configure an option of a command.
class Option {
 public:
  Option& required();
  /// The text that --help shows in place of the value, "FILE [stdout]".
  Option& value_text(const std::string& text);
  /// The unit of a number, which decides about its suffixes: see parse_quantity.
  Option& unit(const std::string& unit);
  Option& choices(const std::vector<std::string>& all);
  Option& range(std::int64_t least, std::int64_t most);
  Option& range(int least, int most) { return range(std::int64_t{least}, std::int64_t{most}); }
  Option& range(double least, double most);
  Option& positive();
  /// One word may hold several values, separated by commas.
  Option& commas();
  /// The option takes exactly `count` words.
  Option& words(int count);
  Option& needs(const Option& other);
  Option& excludes(const Option& other);
  /// --help shows the current value of the target.
  Option& show_default();

 private:
  friend class Command;
  explicit Option(CLI::Option* option, std::shared_ptr<std::string> unit = nullptr)
      : option_(option), unit_(std::move(unit)) {}
  CLI::Option* option_;
  std::shared_ptr<std::string> unit_;  ///< none for other values than numbers
};

/// A command with its options and subcommands.
class Command {
 public:
  Command add_subcommand(const std::string& name, const std::string& description);

  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help) {
    return bind(names, &value, help);
  }
  /// `take` receives the value as it was typed.
  Option add_taker(const std::string& names, std::function<void(const std::string&)> take,
                   const std::string& help) {
    return bind(names, std::move(take), help);
  }
  /// Adds an option that takes one of several names, each of which stands for a value.
  template <class T>
  Option add_choice(const std::string& names, T& value,
                    const std::vector<std::pair<std::string, T>>& choices,
                    const std::string& help) {
    std::vector<std::string> all;
    for (const auto& choice : choices) all.push_back(choice.first);
    Option option = add_taker(
        names,
        [&value, choices](const std::string& given) {
          for (const auto& [name, meant] : choices) {
            if (name == given) value = meant;
          }
        },
        help);
    return option.choices(all);
  }
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  Option add_flag(const std::string& names, std::function<void()> take, const std::string& help);

  /// Other names of the command. A '_' in them, and in its own, may be a '-'.
  void also(const std::vector<std::string>& names);
  /// Whether it is the command of this name.
  [[nodiscard]] bool is_called(const std::string& name) const;
  /// Names the options that people use first: --help shows these alone, and --help-all the rest.
  void first(const std::vector<std::string>& names);
  /// What --help says beside the options; from the line that begins with "Example" on, before them.
  void footer(const std::string& text);
  /// `run` executes the command and returns the exit code.
  void callback(std::function<int()> run);
  void require_subcommand(int least, int most);
  /// Hides the command from --help and completion.
  void hide();
  /// Keeps words that no option and no argument took, see remaining().
  void allow_extras();

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::string footer() const;
  [[nodiscard]] bool hidden() const;
  [[nodiscard]] std::vector<OptionInfo> options() const;
  [[nodiscard]] std::vector<Command> subcommands() const;
  [[nodiscard]] bool any_subcommand_given() const;
  [[nodiscard]] std::vector<std::string> remaining() const;

 private:
  friend class CommandLine;
  Command(CLI::App* app, int* exit_code) : app_(app), exit_code_(exit_code) {}
  Option bind(const std::string& names, Target target, const std::string& help);

  CLI::App* app_;
  int* exit_code_;
};

/// The whole command line.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  [[nodiscard]] Command& root() { return root_; }
  /// Runs the given command and returns its exit code; 2, with a message on stderr, if the
  /// arguments are wrong.
  [[nodiscard]] int run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  int exit_code_ = 0;
  Command root_;
};

}  // namespace thinwire::cli
