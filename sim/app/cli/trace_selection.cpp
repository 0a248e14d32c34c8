#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/trace_commands.hpp"
#include "sim/app/studies/selection.hpp"
#include "sim/core/base/errors.hpp"
#include "traces/shipped.hpp"

namespace thinwire::cli {

namespace {

struct SelectionFlags {
  std::string input;
  std::vector<std::string> sparsifiers{"exact_topk",
                                       "threshold_reuse",
                                       "threshold_reuse:nudge=true",
                                       "gaussian",
                                       "gaussian:corrected=true",
                                       "hard_threshold",
                                       "sidco",
                                       "exdyna"};
  std::optional<int> ranks;       // 8
  std::optional<int> iterations;  // 256
  int from = 0;
  std::string rule;
  std::optional<std::int64_t> seed;  // 1
  bool series = false;
  report::View view;
};

/// A plot of the selected count over k: each character stands for some iterations, from a tenth of
/// k or less to ten times k or more.
std::string curve(const studies::SelectionSeries& series) {
  static constexpr std::array kSteps{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kWidth = 32;
  const std::size_t count = series.iterations.size();
  const std::size_t width = std::min(kWidth, count);
  std::string text;
  for (std::size_t i = 0; i < width; ++i) {
    double sum = 0;
    double values = 0;
    for (std::size_t t = i * count / width; t < (i + 1) * count / width; ++t) {
      for (const double share : series.selected[t]) sum += share;
      values += static_cast<double>(series.selected[t].size());
    }
    const double height = 4 + 3.5 * std::log10(std::max(sum / values, 1e-9));
    text += kSteps[static_cast<std::size_t>(std::clamp(height, 0.0, 7.0))];
  }
  return text;
}

/// The first iteration after the start-up, in which residuals fill: 1/density iterations after they
/// were empty. A recording that began with residuals began after it.
int end_of_start_up(const traces::TraceReader* trace, double density) {
  const int filling = static_cast<int>(std::lround(1 / density));
  if (trace == nullptr) return filling;
  if (!trace->gradients()) return 1;
  const traces::GradientSample& sample = *trace->gradients();
  const bool empty = std::ranges::all_of(sample.residuals, [](const std::vector<float>& residual) {
    return std::ranges::all_of(residual, [](float value) { return value == 0; });
  });
  const int first = sample.iterations.empty() ? 1 : sample.iterations.front();
  return empty ? first - 1 + filling : first;
}

/// Throws InputError if the summary would have no iteration.
void check_from(const studies::SelectionSeries& series, int from) {
  if (series.iterations.empty() || series.iterations.back() >= from) return;
  throw InputError(
      "--from: no iteration from {} on, which ends the start-up; there are {} to {}. Give a "
      "smaller number",
      from, series.iterations.front(), series.iterations.back());
}

std::string percent(const Json& value) { return fmt::format("{:.1f}%", 100 * value.get<double>()); }

/// What the entries are selected from: a profile or a trace.
struct SelectionInput {
  std::optional<traces::TraceReader> trace = {};
  std::optional<traces::Profile> profile = {};
  traces::ResidualRule rule = traces::ResidualRule::all;

  [[nodiscard]] double density() const {
    return profile ? profile->density : trace->header().density;
  }
  [[nodiscard]] studies::SelectionSeries series(const studies::SparsifierChoice& choice,
                                                const SelectionFlags& flags) const {
    if (!profile) return selection_over(*trace, choice, rule);
    return selection_over(*profile, choice, flags.ranks.value_or(8), flags.iterations.value_or(256),
                          static_cast<std::uint64_t>(flags.seed.value_or(1)));
  }
};

/// Opens what is named. Throws InputError for a flag that is for the other kind.
SelectionInput input_of(const SelectionFlags& flags) {
  SelectionInput input;
  const std::vector<std::string> names = traces::kProfiles.names();
  if (flags.input.ends_with(".json") || std::ranges::find(names, flags.input) != names.end()) {
    if (!flags.rule.empty()) {
      throw InputError("--residual-rule: a profile has one residual a rank; leave it out");
    }
    input.profile = traces::read_profile(traces::kProfiles.file(flags.input));
    return input;
  }
  for (const auto& [given, flag] : {std::pair{flags.ranks.has_value(), "--ranks"},
                                    std::pair{flags.iterations.has_value(), "--iterations"},
                                    std::pair{flags.seed.has_value(), "--seed"}}) {
    if (given) throw InputError("{}: a trace has its own; leave it out", flag);
  }
  input.trace.emplace(traces::kTraces.file(flags.input));
  input.rule = input.trace->header().residual_rule;
  if (!flags.rule.empty()) {
    input.rule = flags.rule == "all" ? traces::ResidualRule::all : traces::ResidualRule::oktopk;
  }
  return input;
}

void add_series(const studies::SelectionSeries& series, std::vector<Json>& records) {
  for (std::size_t i = 0; i < series.iterations.size(); ++i) {
    for (std::size_t rank = 0; rank < series.selected[i].size(); ++rank) {
      records.push_back({{"sparsifier", series.sparsifier},
                         {"iteration", series.iterations[i]},
                         {"rank", rank},
                         {"selected_over_k", series.selected[i][rank]}});
    }
  }
}

Json summary_of(const studies::SelectionSeries& series, int from) {
  check_from(series, from);
  const studies::SelectionDeviation late = studies::deviation_of(series, from);
  return {{"sparsifier", series.sparsifier},
          {"iterations", series.iterations.size()},
          {"from", from},
          {"most_of_all", studies::deviation_of(series, 0).most},
          {"selected_over_k", late.mean},
          {"deviation_of_means", late.of_means},
          {"deviation_of_ranks", late.of_ranks},
          {"most", late.most},
          {"curve", curve(series)}};
}

std::vector<report::Column> selection_columns(bool series) {
  const auto share = [](const char* heading, const char* key) {
    return report::Column{heading, [key](const Json& r) { return percent(r.at(key)); }};
  };
  const report::Column sparsifier = report::column("sparsifier");
  if (series) {
    return {sparsifier, report::column("iteration"), report::column("rank"),
            report::column("selected_over_k", "selected/k")};
  }
  return {sparsifier,
          report::column("selected_over_k", "selected/k late"),
          share("deviation", "deviation_of_means"),
          share("per rank", "deviation_of_ranks"),
          share("most", "most"),
          share("most ever", "most_of_all"),
          report::column("curve", "over iterations")};
}

int selection(const SelectionFlags& flags) {
  if (flags.series && flags.from > 0) {
    throw InputError("--from: a series has all iterations; leave --from or --series out");
  }
  const SelectionInput input = input_of(flags);
  const double density = input.density();
  const int from =
      flags.from > 0 ? flags.from : end_of_start_up(input.trace ? &*input.trace : nullptr, density);
  std::vector<Json> records;
  for (const std::string& text : flags.sparsifiers) {
    const studies::SelectionSeries series =
        input.series(studies::SparsifierChoice::parse(text), flags);
    if (flags.series) {
      add_series(series, records);
    } else {
      records.push_back(summary_of(series, from));
    }
  }
  if (!flags.series) {
    say("{}: the density is {:g}; 'late' means from iteration {} on", flags.input, density, from);
  }
  fmt::print("{}", report::render(flags.view, records, selection_columns(flags.series)));
  return 0;
}

}  // namespace

void add_trace_selection(Command& trace) {
  auto flags = std::make_shared<SelectionFlags>();
  Command command = trace.add_subcommand(
      "selection", "How many entries sparsifiers select over the iterations of a training");
  command
      .add_option("input", flags->input,
                  "trace with gradients, or profile: a file, or the name of a shipped one")
      .required()
      .value_text("TRACE|PROFILE");
  command
      .add_option("--sparsifier", flags->sparsifiers,
                  "NAME or NAME:OPTION=VALUE,...; several; default the papers' sparsifiers")
      .value_text("NAME ...");
  command
      .add_option(
          "--from", flags->from,
          "iteration that ends the start-up; by default 1/density iterations after residuals "
          "were empty")
      .positive();
  command
      .add_option("--residual-rule", flags->rule,
                  "for a trace: what a rank drops from its residual; default as recorded")
      .choices({"all", "oktopk"});
  command.add_option("--ranks", flags->ranks, "of a profile").range(1, 65536).value_text("N [8]");
  command.add_option("--iterations", flags->iterations, "of a profile")
      .range(1, 1000000)
      .value_text("N [256]");
  command.add_option("--seed", flags->seed, "of a profile")
      .range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max())
      .value_text("N [1]");
  command.add_flag("--series", flags->series, "every rank in every iteration instead of a summary");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.footer(
      "selected/k late  mean over ranks and iterations after the start-up; for exdyna, in which\n"
      "                 all ranks together select k, over k/P\n"
      "deviation        mean over iterations of |mean over ranks of selected/k - 1|\n"
      "per rank         mean over iterations and ranks of |selected/k - 1|\n"
      "most             greatest deviation after the start-up\n"
      "most ever        greatest deviation, with the start-up\n"
      "over iterations  selected/k from a tenth or less to ten times or more\n"
      "A trace's gradients come from its own training; residuals hold what the sparsifier here\n"
      "did not send. A profile has one residual number per rank (docs/reference/profiles.md).\n"
      "Examples:\n"
      "  thinwire trace selection cnn_oktopk\n"
      "  thinwire trace selection bert --sparsifier threshold_reuse:tau_prime=128,nudge=true\n"
      "  thinwire trace selection lstm_all --series --format csv > lstm.csv");
  command.callback([flags] { return selection(*flags); });
}

}  // namespace thinwire::cli
