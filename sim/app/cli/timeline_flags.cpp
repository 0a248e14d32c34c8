#include "sim/app/cli/timeline_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/app/report/tables/timeline.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/split.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::cli {

namespace {

std::optional<int> whole_number(std::string_view text) {
  const auto value = parse_number<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// Parses "0-7,100,last". Only the default ranks may exceed those that exist.
run::TimelineSettings settings_of(const TimelineFlags& flags, int ranks) {
  run::TimelineSettings settings{.last = false, .most_events = flags.most_events};
  for (const std::string& part : split(flags.ranks)) {
    if (part == "last") {
      settings.last = true;
      continue;
    }
    const std::size_t dash = part.find('-');
    const auto first = whole_number(std::string_view(part).substr(0, dash));
    auto last =
        dash == std::string::npos ? first : whole_number(std::string_view(part).substr(dash + 1));
    if (!first || !last || *last < *first) {
      throw InputError("--timeline-ranks: '{}' is not valid; expected ranks as in 0-7,100,last",
                       excerpt(part));
    }
    if (!flags.ranks_given) last = std::min(*last, ranks - 1);
    if (*last >= ranks) {
      throw InputError("--timeline-ranks: there is no rank {}; ranks are 0 to {}", *last,
                       ranks - 1);
    }
    for (int rank = *first; rank <= *last; ++rank) settings.ranks.emplace_back(rank);
  }
  return settings;
}

Json about(const plan::Point& point) {
  return {{"made_by", "thinwire"},
          {"version", version()},
          {"schema", "timeline/1"},
          {"point", to_json(point)}};
}

/// Makes the request that run_points takes.
run::TimelineWish timeline_wish(const TimelineFlags& flags, const plan::Point& point) {
  run::TimelineWish wish{.settings = settings_of(flags, point.ranks)};
  check_timeline(point, wish.settings);
  check_output(flags.file, inputs_of(point));
  require_writable(flags.file);
  wish.write = [&flags, &point](const Timeline& timeline) {
    const report::TimelineText trace = report::to_trace_events(timeline, about(point));
    const std::string why = try_write_text(flags.file, trace.text);
    if (!why.empty()) {
      throw SimulationError("{}: cannot be written to: {}", flags.file, why);
    }
    std::string told = fmt::format("{} ranks, {} messages, {} events", timeline.shown().size(),
                                   timeline.messages().size(), trace.events);
    const Timeline::LeftOut& left_out = timeline.left_out();
    if (left_out.messages + left_out.slices > 0) {
      told += fmt::format(
          "; left out, from {:.6g} s on: {} messages and {} slices (fewer --timeline-ranks, or "
          "more "
          "--timeline-events)",
          left_out.since.value(), left_out.messages, left_out.slices);
    }
    return told;
  };
  return wish;
}

}  // namespace

void add_timeline_flags(Command& command, TimelineFlags& flags) {
  Option file = command.add_option(
      "--timeline", flags.file,
      "write what each rank did, and every message, as a trace that Perfetto and "
      "chrome://tracing open");
  file.value_text("FILE.json");
  command
      .add_taker(
          "--timeline-ranks",
          [&flags](const std::string& ranks) {
            flags.ranks = ranks;
            flags.ranks_given = true;
          },
          "ranks to show; 'last' is the one that ends last, for which the point may run twice")
      .needs(file)
      .value_text("RANKS [0-15,last]");
  command
      .add_option("--timeline-events", flags.most_events,
                  "leave out what comes after this many events")
      .needs(file)
      .value_text(fmt::format("N [{}]", run::TimelineSettings{}.most_events));
}

results::Row row_with_timeline(const TimelineFlags& flags, const plan::Point& point,
                               const run::ProcessSettings& settings) {
  const run::TimelineWish wish = timeline_wish(flags, point);
  const run::EndedPoint ended =
      run::run_points("run", {point}, {.processes = settings, .timeline = &wish}).front();
  if (ended.refused) std::rethrow_exception(ended.refused);
  if (ended.row.status == results::Status::ok) {
    say("{}: {}; https://ui.perfetto.dev opens it", flags.file, ended.told);
  } else if (!ended.told.empty()) {
    say("{}: what happened before the run failed", flags.file);
  }
  return ended.row;
}

}  // namespace thinwire::cli
