#include "sim/app/studies/validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "sim/app/plan/config.hpp"
#include "sim/app/studies/validate/known_algorithms.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/platform.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::studies {

namespace {

constexpr const char* kAllCollectives = "all";

/// The placement of a run.
struct RunPlacement {
  std::string path;
  std::string end;  ///< the path with the last line
  int ranks = 0;
  int nodes = 0;
  int least_on_node = 0;  ///< ranks
};

/// The placements of a folder, each read once.
class Placements {
 public:
  explicit Placements(std::string folder) : folder_(std::move(folder)) {
    std::error_code ignored;
    if (folder_.empty() || std::filesystem::is_directory(folder_, ignored)) return;
    throw InputError("--placement {}: is no folder", folder_);
  }

  /// Nothing where the folder has no file for the run.
  const std::optional<RunPlacement>& of(const MeasuredRow& row) {
    const std::string name = fmt::format("{}_{}.csv", row.machine, row.run);
    const auto [known, added] = read_.try_emplace(name);
    if (added && !folder_.empty()) {
      const std::string path = (std::filesystem::path(folder_) / name).string();
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored)) known->second = read(path);
    }
    return known->second;
  }

 private:
  static RunPlacement read(const std::string& path) {
    const CsvTable table(read_text(path), path);
    table.require({"rank", "node"});
    std::set<std::int64_t> ranks;
    std::map<std::string, int> nodes;
    const auto last = static_cast<std::int64_t>(table.rows()) - 1;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      if (!ranks.insert(table.whole(i, "rank", 0, last)).second) {
        table.wrong(i, "rank", "a rank that no line before has");
      }
      ++nodes[table.text(i, "node")];
    }
    if (ranks.empty()) throw InputError("{}: names no rank", path);
    const auto least =
        std::ranges::min_element(nodes, {}, [](const auto& node) { return node.second; });
    return {.path = path,
            .end = table.place(table.rows() - 1),
            .ranks = static_cast<int>(table.rows()),
            .nodes = static_cast<int>(nodes.size()),
            .least_on_node = least->second};
  }

  std::string folder_;
  std::map<std::string, std::optional<RunPlacement>> read_;
};

RowBasis basis_of(const MachineDescription& machine, const MeasuredRow& row) {
  if (machine.calibrated(row)) return RowBasis::calibrated;
  const auto run = machine.of_runs.find(row.run);
  const bool probed = run != machine.of_runs.end() && run->second.places.contains(row.place);
  return probed ? RowBasis::probed : RowBasis::predicted;
}

/// Makes the validation, row by row.
class Planner {
 public:
  Planner(std::vector<MachineDescription> machines, const std::string& placements)
      : placements_(placements) {
    result_.machines = std::move(machines);
    result_.sweep.name = "validate";
    for (const MachineDescription& machine : result_.machines) {
      for (const MachineDescription& other : result_.machines) {
        if (&machine == &other || machine.name != other.name || machine.gpu != other.gpu) continue;
        throw InputError("{} and {}: both describe {}{}; give one of them", machine.path,
                         other.path, machine.name, machine.gpu ? " with gpu" : "");
      }
    }
  }

  void add(const MeasuredRow& row) {
    const auto skip = [&](std::string why) { result_.skipped.push_back({row, std::move(why)}); };
    const auto machine =
        std::ranges::find_if(result_.machines, [&](const MachineDescription& described) {
          return described.name == row.machine && described.gpu == row.gpu;
        });
    if (machine == result_.machines.end()) {
      return skip(fmt::format("no description of the machine{}; give --machine FILE",
                              row.gpu ? " with GPU buffers" : ""));
    }
    if (!row.not_as_named.empty()) return skip(row.not_as_named);
    SchemeOfRow found = scheme_of(row);
    if (found.scheme.empty()) return skip(found.why_none);
    if (!row.point) add_options_of(machine->settings, found);
    const std::optional<RunPlacement>& placement = placements_.of(row);
    if (placement) {
      if (std::string why = why_elsewhere(row, *placement); !why.empty()) {
        return skip(std::move(why));
      }
    }
    if (ranks_of(row) > plan::setting_at("ranks").most) {
      return skip(
          fmt::format("{} nodes x {} tasks are too many ranks", row.nodes, row.tasks_per_node));
    }
    const auto ranks = static_cast<int>(ranks_of(row));
    if (ranks == 1) return skip("one rank exchanges nothing");
    if (row.elements == 0) return skip("the size is no whole number of words of 4 bytes");
    const bool in_blocks = row.collective != "allreduce" && row.collective != "ping_pong";
    if (in_blocks && !row.point && row.elements < ranks) {
      return skip("fewer elements than ranks: the blocks are empty");
    }
    result_.rows.push_back(
        {.measured = row,
         .machine = static_cast<std::size_t>(machine - result_.machines.begin()),
         .scheme = found.scheme,
         .ranks = ranks,
         .basis = basis_of(*machine, row),
         .point = point_of(*machine, row, found, ranks, placement),
         .terms = row.point ? terms_of(*row.point)
                            : terms_of(found.scheme, found.options, ranks, row.elements,
                                       row.tasks_per_node > 1 ? row.tasks_per_node : 0),
         .simulated = {},
         .plain = {}});
  }

  Validation finish() {
    for (const MachineDescription& machine : result_.machines) note(machine);
    result_.formulas.resize(result_.machines.size());
    return std::move(result_);
  }

 private:
  /// Notes what the description of a measured machine says of no row.
  void note(const MachineDescription& machine) {
    std::vector<const MeasuredRow*> own;
    for (const ValidatedRow& row : result_.rows) own.push_back(&row.measured);
    for (const SkippedRow& row : result_.skipped) own.push_back(&row.measured);
    std::erase_if(own, [&machine](const MeasuredRow* row) {
      return row->machine != machine.name || row->gpu != machine.gpu;
    });
    if (own.empty()) return;
    const auto check = [&](const RowFilter& filter, const char* key) {
      const auto matching = std::ranges::count_if(
          own, [&filter](const MeasuredRow* row) { return filter.matches(*row); });
      if (matching == 0) {
        result_.notes.push_back(fmt::format("{}: {}: no row is of run '{}' as described",
                                            machine.path, key, filter.run));
      }
      const bool unknown = std::ranges::any_of(own, [&filter](const MeasuredRow* row) {
        return filter.min_over_median && row->seconds_min == 0 && filter.matches(*row);
      });
      if (unknown) {
        result_.notes.push_back(
            fmt::format("{}: {}: rows of run '{}' have no seconds_min, so min_over_median takes "
                        "them as matching",
                        machine.path, key, filter.run));
      }
    };
    if (own.empty()) {
      result_.notes.push_back(fmt::format("{}: no row is of the machine {}{}", machine.path,
                                          machine.name, machine.gpu ? " with GPU buffers" : ""));
      return;
    }
    if (machine.calibrated_on.empty()) {
      result_.notes.push_back(fmt::format(
          "{}: calibrated_on: is empty, so all rows count as predicted{}; name the rows of the "
          "calibration",
          machine.path, machine.formula ? "" : ", and no plain formula is fitted to compare with"));
    }
    const bool predicted_alone =
        machine.formula && std::ranges::none_of(own, [&machine](const MeasuredRow* row) {
          return machine.calibrated(*row);
        });
    if (!predicted_alone) {
      for (const RowFilter& filter : machine.calibrated_on) check(filter, "calibrated_on");
    }
  }

  /// The ranks of a row on nodes.
  static std::int64_t ranks_of(const MeasuredRow& row) {
    return row.point ? row.point->ranks : std::int64_t{row.nodes} * row.tasks_per_node;
  }

  /// Why the row was not measured in the places of its run; empty if it may have been. A run may
  /// have tests with fewer ranks on each node than it has places.
  static std::string why_elsewhere(const MeasuredRow& row, const RunPlacement& placement) {
    const std::int64_t ranks = ranks_of(row);
    const bool fewer = row.of_first_ranks && placement.ranks > ranks;
    if (placement.ranks != ranks && !fewer && !is_thinner(row, placement)) {
      return fmt::format(
          "{}: ends a list of {} ranks, and {} was measured with {}; mend one of them, or give the "
          "row another run",
          placement.end, placement.ranks, row.place, ranks);
    }
    if (!row.point && !row.of_first_ranks && placement.nodes != row.nodes) {
      return fmt::format(
          "{}: ends a list of {} nodes, and {} was measured on {}; mend one of them, or give the "
          "row another run",
          placement.end, placement.nodes, row.place, row.nodes);
    }
    return {};
  }

  /// Whether the row has fewer ranks on each node than its run has places.
  static bool is_thinner(const MeasuredRow& row, const RunPlacement& placement) {
    return !row.point && placement.nodes == row.nodes &&
           placement.least_on_node >= row.tasks_per_node && placement.ranks > ranks_of(row);
  }

  /// The index of the row's point among the points of the sweep, which it joins if it is new.
  std::size_t point_of(const MachineDescription& machine, const MeasuredRow& row,
                       const SchemeOfRow& found, int ranks,
                       const std::optional<RunPlacement>& placement) {
    Json settings = machine.settings_of(row.run);
    settings.erase("options");  // those that the scheme has are in `found`
    Json given;
    if (row.point) {
      given = plan::computation_of(*row.point);
      given["granule"] = 1;
      given.update(settings);
    } else {
      given = std::move(settings);
      given["scheme"] = found.scheme;
      for (const auto& [name, value] : found.options) {
        std::visit([&, &key = name](auto v) { given["options"][key] = v; }, value);
      }
      given["ranks"] = ranks;
      given["components"] = row.elements;
    }
    // A dense collective does the same in every iteration.
    if (!given.contains("iterations")) given["iterations"] = 1;
    plan::Point point = plan::point_from(given, fmt::format("{}, for {}", machine.path, row.place));
    if (!point.network->has_clock) {
      throw InputError("{}: /settings/network: {} has no clock", machine.path, point.network->name);
    }
    if (!point.platform.empty()) {
      if (placement) {
        point.placement = is_thinner(row, *placement)
                              ? fmt::format("per_node:{}@{}", row.tasks_per_node, placement->path)
                              : placement->path;
      } else if (!given.contains("placement")) {
        point.placement = fmt::format("per_node:{}", row.tasks_per_node);
      }
    }
    const auto [known, added] =
        points_.try_emplace(plan::to_json(point).dump(), result_.sweep.points.size());
    if (added) result_.sweep.points.push_back(std::move(point));
    return known->second;
  }

  Placements placements_;
  Validation result_;
  std::map<std::string, std::size_t> points_;
};

/// The plain formula of a machine, fitted to its calibrated rows; without any, the description's.
std::optional<FittedFormula> formula_of(const std::vector<ValidatedRow>& rows, std::size_t machine,
                                        const MachineDescription& description) {
  std::vector<TimedTerms> timed;
  for (const ValidatedRow& row : rows) {
    if (row.machine != machine || row.basis != RowBasis::calibrated) continue;
    timed.push_back({row.terms, row.measured.seconds});
  }
  if (timed.empty()) {
    if (!description.formula) return std::nullopt;
    return FittedFormula{.machine = *description.formula, .rows = 0};
  }
  return FittedFormula{.machine = fit_plain(timed), .rows = timed.size()};
}

/// The rows of a summary, as one predictor sees them.
AccuracySummary summary_of(const Validation& validation, AccuracySummary summary) {
  std::vector<Prediction> predictions;
  std::vector<Contender> contenders;
  for (const ValidatedRow& row : validation.rows) {
    const MeasuredRow& measured = row.measured;
    if (row.machine != summary.machine || row.basis != summary.basis) continue;
    if (!row.simulated) continue;
    if (summary.collective != kAllCollectives && measured.collective != summary.collective) {
      continue;
    }
    const bool formula = summary.predictor == Predictor::formula;
    if (formula && !row.plain) continue;
    const Prediction prediction{.measured = measured.seconds,
                                .predicted = formula ? *row.plain : *row.simulated};
    predictions.push_back(prediction);
    contenders.push_back({.choice = fmt::format("{} {} {} {} {} {} {}", measured.run, measured.test,
                                                measured.collective, row.ranks, measured.elements,
                                                measured.gpu, measured.selected()),
                          .scheme = row.scheme,
                          .time = prediction});
  }
  summary.errors = error_figures(predictions);
  summary.choices = choice_figures(contenders);
  return summary;
}

/// Skips the rows whose point has a wrong placement, `wrong` by platform and placement, and leaves
/// these points out.
void skip_wrong_places(Validation& validation, const std::map<std::string, std::string>& wrong) {
  if (wrong.empty()) return;
  std::vector<ValidatedRow> kept;
  std::vector<plan::Point> points;
  std::map<std::size_t, std::size_t> moved;  // points, by their index before
  for (ValidatedRow& row : validation.rows) {
    const plan::Point& point = validation.sweep.points[row.point];
    const auto found =
        point.platform.empty()
            ? wrong.end()
            : wrong.find(topologies::kPlatforms.file(point.platform) + '\n' + point.placement);
    if (found != wrong.end()) {
      validation.skipped.push_back({std::move(row.measured), found->second});
      continue;
    }
    const auto [place, is_new] = moved.try_emplace(row.point, points.size());
    if (is_new) points.push_back(point);
    row.point = place->second;
    kept.push_back(std::move(row));
  }
  validation.rows = std::move(kept);
  validation.sweep.points = std::move(points);
}

}  // namespace

std::string name_of(RowBasis basis) {
  switch (basis) {
    case RowBasis::calibrated:
      return "calibrated";
    case RowBasis::probed:
      return "probed";
    case RowBasis::predicted:
      break;
  }
  return "predicted";
}

std::string name_of(Predictor predictor) {
  return predictor == Predictor::simulation ? "simulation" : "plain formula";
}

Validation plan_validation(const std::vector<MeasuredRow>& rows,
                           std::vector<MachineDescription> machines,
                           const std::string& placements) {
  Planner planner(std::move(machines), placements);
  for (const MeasuredRow& row : rows) planner.add(row);
  return planner.finish();
}

void check_places(Validation& validation) {
  std::map<std::string, std::map<std::string, int>> placements;  // by platform; their most ranks
  for (const plan::Point& point : validation.sweep.points) {
    if (point.platform.empty()) continue;
    int& ranks = placements[topologies::kPlatforms.file(point.platform)][point.placement];
    ranks = std::max(ranks, point.ranks);
  }
  std::map<std::string, std::string> wrong;  // by platform and placement, why
  for (const auto& [path, of_platform] : placements) {
    Json complaints = Json::object();
    const auto check = [&, &path = path, &of_platform = of_platform] {
      const topologies::Platform platform(path);
      for (const auto& [placement, ranks] : of_platform) {
        try {
          static_cast<void>(topologies::place(platform.hosts(), ranks, placement));
        } catch (const TooFewHostsError&) {
          continue;
        } catch (const InputError& error) {
          complaints[placement] = error.what();
        }
      }
    };
    const ChildOutcome outcome = in_child_process(
        {.subject = path, .prepare = check, .run = [&] { return complaints.dump(); }});
    const Json told = Json::parse(outcome.text);
    for (const auto& complaint : told.items()) {
      wrong[path + '\n' + complaint.key()] = complaint.value().get<std::string>();
    }
  }
  skip_wrong_places(validation, wrong);
}

void take_results(Validation& validation, const std::vector<results::Row>& results) {
  std::vector<ValidatedRow> kept;
  for (ValidatedRow& row : validation.rows) {
    const results::Row& result = results.at(row.point);
    if (!result.outcome) {
      validation.skipped.push_back({std::move(row.measured), result.reason});
      continue;
    }
    const double time = result.outcome->time().value();
    if (time <= 0) {
      validation.skipped.push_back({std::move(row.measured), "the simulation takes no time"});
      continue;
    }
    row.simulated = time;
    kept.push_back(std::move(row));
  }
  validation.rows = std::move(kept);
  for (std::size_t machine = 0; machine < validation.machines.size(); ++machine) {
    validation.formulas[machine] =
        formula_of(validation.rows, machine, validation.machines[machine]);
  }
  for (ValidatedRow& row : validation.rows) {
    const auto& formula = validation.formulas[row.machine];
    if (!formula) continue;
    // A parameter of 0 may leave no term of a row.
    if (const double seconds = formula->machine.seconds(row.terms); seconds > 0)
      row.plain = seconds;
  }
}

std::vector<AccuracySummary> summaries_of(const Validation& validation) {
  std::vector<AccuracySummary> summaries;
  for (std::size_t machine = 0; machine < validation.machines.size(); ++machine) {
    std::vector<std::string> collectives;
    for (const ValidatedRow& row : validation.rows) {
      if (row.machine != machine) continue;
      if (std::ranges::find(collectives, row.measured.collective) == collectives.end()) {
        collectives.push_back(row.measured.collective);
      }
    }
    if (collectives.size() > 1) collectives.insert(collectives.begin(), kAllCollectives);
    for (const RowBasis basis : {RowBasis::calibrated, RowBasis::probed, RowBasis::predicted}) {
      for (const std::string& collective : collectives) {
        for (const Predictor predictor : {Predictor::simulation, Predictor::formula}) {
          AccuracySummary summary = summary_of(validation, {.machine = machine,
                                                            .collective = collective,
                                                            .basis = basis,
                                                            .predictor = predictor,
                                                            .errors = {},
                                                            .choices = {}});
          if (summary.errors.rows > 0) summaries.push_back(std::move(summary));
        }
      }
    }
  }
  return summaries;
}

}  // namespace thinwire::studies
