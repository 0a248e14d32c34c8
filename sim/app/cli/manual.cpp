// Implements `thinwire manual`: the man page, from the same texts as --help.
#include <fmt/format.h>

#include <cctype>
#include <string>
#include <string_view>

#include "sim/app/cli/shared.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::cli {

namespace {

/// Escapes a text for roff: no macro at the beginning of a line, and literal '-'.
std::string roff(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    line_begins = c == '\n';
  }
  return escaped;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string as_typed(const std::string& text) {
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(trimmed(text)));
}

std::string option_entry(const OptionInfo& option) {
  const std::string name =
      option.names.empty() ? option.argument : fmt::format("{}", fmt::join(option.names, ","));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name),
                     option.value.empty() ? "" : " " + roff(option.value), roff(option.help));
}

std::string options_text(const Command& command) {
  std::string text;
  for (const OptionInfo& option : command.options()) text += option_entry(option);
  return text;
}

/// The subcommands of `command`; `path` is the text before each name.
std::string commands_of(const Command& command, const std::string& path) {
  std::string text;
  for (const Command& sub : command.subcommands()) {
    if (sub.hidden()) continue;
    const std::string name = path + sub.name();
    text += fmt::format(".SS {}\n{}\n", roff(name), roff(sub.description()));
    text += options_text(sub) + as_typed(sub.footer());
    text += commands_of(sub, name + " ");
  }
  return text;
}

}  // namespace

void add_manual(Command& app) {
  Command command = app.add_subcommand("manual", "The man page, for man(1)");
  command.hide();
  command.callback([app] {
    const std::string name = app.name();
    fmt::print(
        ".TH {} 1 \"\" \"{}\" \"User Commands\"\n"
        ".SH NAME\n{} \\- simulate sparse and dense allreduce collectives\n"
        ".SH SYNOPSIS\n\\fB{}\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
        ".SH DESCRIPTION\n{}\n"
        ".SH OPTIONS\n{}"
        ".SH COMMANDS\n{}",
        upper(name), roff(version()), name, name, roff(app.description()), options_text(app),
        commands_of(app, ""));
    fmt::print(
        ".SH ENVIRONMENT\n.TP\n\\fBTHINWIRE_SHARE\\fR\n"
        "The folder of the platforms, traces, profiles, models, devices, claims and sweeps that "
        "come with Thinwire,\nwhere it is not beside the program in ../share/thinwire.\n"
        ".SH EXAMPLES AND EXIT STATUS\n.nf\n{}\n.fi\n",
        roff(trimmed(app.footer())));
    return 0;
  });
}

}  // namespace thinwire::cli
