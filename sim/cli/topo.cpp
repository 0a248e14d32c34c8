#include <fmt/format.h>

#include <fstream>
#include <map>
#include <memory>

#include "sim/cli/command.hpp"
#include "sim/core/errors.hpp"
#include "topologies/generators/family.hpp"

namespace thinwire {

namespace {

struct MakeFlags {
  std::map<std::string, std::string> given;
  std::vector<std::string> settings;
  std::string notes;
  std::string output;
};

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw InputError(fmt::format("{}: cannot be written", path));
}

/// "groups=14", as the comment of a made platform has it.
void apply_parameter(MakeFlags& flags, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(
        fmt::format("topo make: '{}' is not right; wanted is KEY=VALUE, as in "
                    "hosts=64, or --KEY VALUE",
                    setting));
  }
  const std::string name = setting.substr(0, equals);
  const std::string value = setting.substr(equals + 1);
  if (name == "notes") {
    flags.notes = value;
  } else {
    flags.given[name] = value;
  }
}

int make(const Family& family, MakeFlags& flags) {
  for (const std::string& setting : flags.settings) apply_parameter(flags, setting);
  const std::string xml = make_platform(family, flags.given, flags.notes);
  if (flags.output.empty()) {
    fmt::print("{}", xml);
  } else {
    write_text(flags.output, xml);
  }
  return 0;
}

void add_make(CLI::App& topo, int& exit_code) {
  CLI::App& command = *topo.add_subcommand("make", "Write the XML of a platform of a family");
  command.require_subcommand(1);
  for (const Family& family : all_families()) {
    auto flags = std::make_shared<MakeFlags>();
    CLI::App& made = *command.add_subcommand(family.name, family.summary);
    for (const ParameterInfo& parameter : family.parameters) {
      made.add_option_function<std::string>(
              "--" + parameter.name,
              [flags, name = parameter.name](const std::string& value) {
                flags->given[name] = value;
              },
              parameter.help)
          ->option_text(parameter.fallback.empty() ? "" : fmt::format("[{}]", parameter.fallback));
    }
    made.add_option("--notes", flags->notes,
                    "file with what the figures are from, for the comment of the XML")
        ->option_text("FILE");
    made.add_option("-o,--output", flags->output, "the XML file")->option_text("FILE [stdout]");
    made.add_option("settings", flags->settings,
                    "the same as KEY=VALUE, as the comment of a platform has them")
        ->option_text("KEY=VALUE ...");
    made.footer(
        fmt::format("Bandwidths are per direction: GBps are bytes, Gbps bits.\n"
                    "Example: thinwire topo make {} --hosts 64 -o my.xml\n"
                    "         thinwire topo show my.xml",
                    family.name));
    made.callback([&family, flags, &exit_code] { exit_code = make(family, *flags); });
  }
  command.footer(
      "Examples:\n"
      "  thinwire topo make fat_tree --hosts 1024 --oversubscription 4 -o tree.xml\n"
      "  thinwire topo make nvlink_ib --nodes 16 --nics 1 | less\n"
      "  thinwire topo make dragonfly --help");
}

}  // namespace

void add_topo(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("topo", "Make, look at and check platforms");
  command.require_subcommand(1);
  add_make(command, exit_code);
  command.footer(
      "Examples:\n"
      "  thinwire topo make dragonfly --hosts 1024 -o small_daint.xml");
}

}  // namespace thinwire
