#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/trace_commands.hpp"
#include "sim/app/report/tables/profile_report.hpp"
#include "sim/core/base/errors.hpp"
#include "traces/profile.hpp"
#include "traces/shipped.hpp"

namespace thinwire::cli {

namespace {

struct ProfileFlags {
  std::string profile;
  std::optional<double> density;
  std::optional<double> never;
  std::vector<double> ranks;
  report::View view;
};

void print(const report::View& view, const std::vector<Json>& records, const std::string& text) {
  fmt::print("{}", report::for_people(view.format) ? text : report::render(view, records, {}));
}

int show(const ProfileFlags& flags) {
  const std::vector<Json> records =
      report::profile_records(traces::read_profile(traces::kProfiles.file(flags.profile)));
  print(flags.view, records, report::profile_text(records));
  return 0;
}

int fill_in(ProfileFlags flags) {
  traces::Profile profile = traces::read_profile(traces::kProfiles.file(flags.profile));
  const double density = flags.density.value_or(profile.density);
  if (!(density > 0 && density <= 1)) {
    throw InputError("--density: {} is not valid; expected a number above 0, at most 1", density);
  }
  if (flags.never) {
    if (!(*flags.never >= 0 && *flags.never <= 1 - density)) {
      throw InputError(
          "--never: {} is not valid; expected a number from 0 to {}: the share of the other "
          "components is at least the density",
          *flags.never, 1 - density);
    }
    profile.popularity.never = *flags.never;
  }
  if (flags.ranks.empty()) {
    for (double ranks = 1; ranks <= 8192; ranks *= 2) flags.ranks.push_back(ranks);
  }
  for (const double ranks : flags.ranks) {
    if (!(ranks >= 1 && ranks <= 1e9) || ranks != std::floor(ranks)) {
      throw InputError("--ranks: {} is not valid; expected a whole number, at least 1, at most 1e9",
                       ranks);
    }
  }
  const std::vector<Json> records = report::fill_in_records(profile, density, flags.ranks);
  if (flags.view.format == report::Format::table) {
    say("{} at density {}: {}", profile.name, density,
        profile.provenance.at("popularity.rho").from);
  }
  print(flags.view, records, report::fill_in_text(records));
  return 0;
}

void add_profile_argument(Command& command, ProfileFlags& flags) {
  command.add_option("profile", flags.profile, "JSON file, or the name of a shipped profile")
      .required()
      .value_text("PROFILE");
}

}  // namespace

void add_trace_profile(Command& trace) {
  auto flags = std::make_shared<ProfileFlags>();
  Command command = trace.add_subcommand("profile", "Show a profile and the source of each entry");
  add_profile_argument(command, *flags);
  add_format(command, flags->view);
  command.footer(
      "An entry is fitted to a trace, calibrated to a paper's figure, or assumed.\n"
      "Examples:\n"
      "  thinwire trace profile vgg16\n"
      "  thinwire trace profile fitted.json --format json");
  command.callback([flags] { return show(*flags); });
}

void add_trace_fill_in(Command& trace) {
  auto flags = std::make_shared<ProfileFlags>();
  Command command = trace.add_subcommand(
      "fill-in", "Density of the union of P ranks' selections according to a profile");
  add_profile_argument(command, *flags);
  command.add_option("-d,--density", flags->density, "density of each rank's selection")
      .value_text("D [the profile's]");
  command.add_option("-P,--ranks", flags->ranks, "numbers of ranks")
      .commas()
      .value_text("P,P,.. [1,2,4,..,8192]");
  command.add_option("--never", flags->never, "share of the components that is never selected")
      .value_text("SHARE [the profile's]");
  add_format(command, flags->view);
  command.footer(
      "The two families agree where they are fitted or calibrated and diverge beyond: their range\n"
      "bounds the uncertainty for many ranks, at best. --never shows the effect of a share that\n"
      "is never selected; the families are not recalibrated.\n"
      "Examples:\n"
      "  thinwire trace fill-in vgg16\n"
      "  thinwire trace fill-in lstm --density 0.001 --ranks 64,1024 --format csv");
  command.callback([flags] { return fill_in(*flags); });
}

}  // namespace thinwire::cli
