#include <fmt/format.h>

#include <memory>
#include <optional>

#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/trace_commands.hpp"
#include "traces/drawn_trace.hpp"
#include "traces/profile.hpp"
#include "traces/shipped.hpp"

namespace thinwire::cli {

namespace {

struct SynthFlags {
  std::string profile;
  std::string output;
  std::optional<std::int64_t> components;
  std::optional<double> density;
  traces::DrawnTraceSettings settings;
};

int synth(const SynthFlags& flags) {
  const std::string path = traces::kProfiles.file(flags.profile);
  check_output(flags.output, {path});
  const traces::Profile profile = traces::read_profile(path);
  traces::DrawnTraceSettings settings = flags.settings;
  settings.components = flags.components.value_or(profile.components);
  settings.density = flags.density.value_or(profile.density);
  write_drawn_trace(profile, settings, flags.output);
  say("{} written", flags.output);
  return 0;
}

}  // namespace

void add_trace_synth(Command& trace) {
  auto flags = std::make_shared<SynthFlags>();
  traces::DrawnTraceSettings& settings = flags->settings;
  Command command = trace.add_subcommand("synth", "Draw a trace from a profile");
  command.add_option("profile", flags->profile, "JSON file, or the name of a shipped profile")
      .required()
      .value_text("PROFILE");
  command.add_option("-o,--output", flags->output, "where the trace goes")
      .required()
      .value_text("TRACE.h5");
  command.add_option("-n,--components", flags->components, "of the gradient")
      .value_text("N [the profile's]");
  command.add_option("-P,--ranks", settings.ranks, "data-parallel workers").value_text("P [16]");
  command.add_option("-d,--density", flags->density, "that each rank selects")
      .value_text("D [the profile's]");
  command.add_option("--iterations", settings.iterations, "to record").value_text("T [32]");
  command
      .add_choice<traces::PopularityFamily>(
          "--family", settings.family,
          {{"copula", traces::PopularityFamily::copula}, {"beta", traces::PopularityFamily::beta}},
          "copula or beta")
      .value_text("FAMILY [copula]");
  command.add_option("--seed", settings.seed, "of all draws").value_text("SEED [1]");
  command.add_flag("--start-up", settings.start_up,
                   "from iteration 1 on, while residuals are filling");
  command.footer(
      "Layers and regions are stretched or shrunk to N components.\n"
      "Examples:\n"
      "  thinwire trace synth vgg16 --components 1000000 --ranks 64 -o vgg.h5\n"
      "  thinwire trace synth fitted.json --family beta -o again.h5");
  command.callback([flags] { return synth(*flags); });
}

}  // namespace thinwire::cli
