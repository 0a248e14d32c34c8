#include "sim/app/studies/validate/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/app/plan/config.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/studies/validate/least_squares.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::studies {

namespace {

Json::json_pointer json_pointer_of(const std::string& path) {
  return Json::json_pointer(plan::pointer_of(path));
}

/// Fits some of the variables; the others keep their values.
class Fitter {
 public:
  using Values = std::map<std::string, double>;

  Fitter(const std::vector<MeasuredRow>& rows, const FitProblem& problem, std::string placements,
         const RunPoints& run)
      : problem_(problem), placements_(std::move(placements)), run_(run) {
    const MachineDescription& machine = problem_.machine;
    std::ranges::copy_if(rows, std::back_inserter(rows_), [&](const MeasuredRow& row) {
      return row.machine == machine.name && row.gpu == machine.gpu && machine.calibrated(row);
    });
    for (const FitVariable& variable : problem_.variables) keep(variable.name, variable.start);
    Validation plan = plan_validation(rows_, {problem_.with(kept_)}, placements_);
    const std::size_t skipped = plan.skipped.size();
    check_places(plan);
    if (plan.skipped.size() > skipped) throw InputError(plan.skipped.back().why);
  }

  LeastSquares fit(const std::vector<FitVariable>& variables) {
    Vector start;
    for (const FitVariable& variable : variables) start.push_back(std::log(variable.start));
    return least_squares(
        [&](const std::vector<Vector>& points) { return residuals(variables, points); }, start,
        problem_.descent);
  }

  void keep(const std::string& name, double value) { kept_[name] = value; }
  [[nodiscard]] MachineDescription machine() const { return problem_.with(kept_); }
  [[nodiscard]] PlainMachine formula() const {
    std::vector<TimedTerms> timed;
    for (const ValidatedRow& row : plan_validation(rows_, {machine()}, placements_).rows) {
      timed.push_back({row.terms, row.measured.seconds});
    }
    return fit_plain(timed);
  }
  [[nodiscard]] std::size_t rows() const { return simulated_; }
  [[nodiscard]] std::size_t points() const { return points_; }

 private:
  /// log(simulated / measured) of every row, for each of several machines. The points of those that
  /// are new are simulated together.
  std::vector<Vector> residuals(const std::vector<FitVariable>& variables,
                                const std::vector<Vector>& logs) {
    const std::string& path = problem_.machine.path;
    std::vector<Values> machines;
    std::vector<const Values*> fresh;
    std::vector<Validation> plans;
    run::Sweep all{.name = "fit", .description = {}, .points = {}};
    for (const Vector& values : logs) {
      Values& tried = machines.emplace_back(kept_);
      for (std::size_t i = 0; i < variables.size(); ++i) {
        tried[variables[i].name] = std::exp(values[i]);
      }
    }
    for (const Values& tried : machines) {
      if (known_.contains(tried)) continue;
      fresh.push_back(&tried);
      plans.push_back(plan_validation(rows_, {problem_.with(tried)}, placements_));
      const std::vector<plan::Point>& points = plans.back().sweep.points;
      all.points.insert(all.points.end(), points.begin(), points.end());
    }
    if (problem_.machine.calibrated_on.empty()) {
      throw InputError(
          "{}: /calibrated_on: is missing; name the rows to fit to, as in [{{\"run\": \"1\"}}], "
          "and give texts of benchmarks their run, as in FILE,run=1",
          path);
    }
    if (!plans.empty() && plans.front().rows.empty()) {
      throw InputError("{}: /calibrated_on: no row of a known algorithm agrees with it{}", path,
                       plans.front().skipped.empty()
                           ? std::string()
                           : "; the first of those that do: " + plans.front().skipped.front().why);
    }
    const std::vector<results::Row> results = run_(all);
    auto next = results.begin();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      Validation& plan = plans[i];
      const auto end = next + static_cast<std::ptrdiff_t>(plan.sweep.points.size());
      take_results(plan, {next, end});
      next = end;
      Vector logs_of_rows;
      for (const ValidatedRow& row : plan.rows) {
        logs_of_rows.push_back(std::log(*row.simulated / row.measured.seconds));
      }
      if (!known_.empty() && logs_of_rows.size() != simulated_) {
        throw InputError("{}: a point cannot be simulated with the tried settings: {}", path,
                         plan.skipped.back().why);
      }
      simulated_ = logs_of_rows.size();
      points_ = plan.sweep.points.size();
      known_.emplace(*fresh[i], std::move(logs_of_rows));
    }
    std::vector<Vector> residuals;
    for (const Values& tried : machines) residuals.push_back(known_.at(tried));
    return residuals;
  }

  const FitProblem& problem_;
  Values kept_;
  std::map<Values, Vector> known_;  ///< the residuals of machines that were tried
  std::vector<MeasuredRow> rows_;
  std::string placements_;
  const RunPoints& run_;
  std::size_t simulated_ = 0;
  std::size_t points_ = 0;
};

[[noreturn]] void refuse_diverged(const std::string& path, const std::vector<FitVariable>& fitted,
                                  const LeastSquares& found) {
  std::string reached;
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    reached +=
        fmt::format("{}{} = {:.3g}", i > 0 ? ", " : "", fitted[i].name, std::exp(found.point[i]));
  }
  throw SimulationError(
      "{}: the fit has not converged in {} steps; it came to {}, where the rms of "
      "log(simulated/measured) is {:.3f}. Set values that are nearer to the machine's, or fit "
      "fewer settings",
      path, found.steps, reached, found.rms);
}

double start_of(const MachineDescription& machine, const std::string& path) {
  if (plan::setting_at(path).kind != plan::SettingKind::number) {
    throw InputError("--fit {}: only numbers can be fitted", path);
  }
  const Json::json_pointer at = json_pointer_of(path);
  const double value = machine.settings.contains(at) ? machine.settings.at(at).get<double>() : 0;
  if (value > 0) return value;
  throw InputError("--fit {}: the fit starts from the value in {}, which must be above 0", path,
                   machine.path);
}

}  // namespace

std::map<std::string, double> MachineFit::values() const {
  std::map<std::string, double> all;
  for (const FittedVariable& variable : variables) all[variable.name] = variable.value;
  return all;
}

FitProblem settings_to_fit(const MachineDescription& machine,
                           const std::vector<std::string>& paths) {
  FitProblem problem{.machine = machine, .variables = {}, .with = {}};
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    if (std::find(paths.begin(), path, *path) != path) {
      throw InputError("--fit {}: is given twice", *path);
    }
    problem.variables.push_back(
        {.name = *path, .start = start_of(machine, *path), .unit = plan::setting_at(*path).unit});
  }
  problem.with = [machine](const std::map<std::string, double>& values) {
    MachineDescription result = machine;
    for (const auto& [path, value] : values) result.settings[json_pointer_of(path)] = value;
    return result;
  };
  return problem;
}

MachineFit fit(const std::vector<MeasuredRow>& rows, const FitProblem& problem,
               const std::string& placements, const RunPoints& run) {
  Fitter fitter(rows, problem, placements, run);
  std::vector<FitVariable> fitted = problem.variables;
  std::vector<FittedVariable> given_up;
  LeastSquares found;
  while (true) {
    found = fitter.fit(fitted);
    if (!found.converged && !problem.takes_best)
      refuse_diverged(problem.machine.path, fitted, found);
    const auto worst = std::ranges::max_element(found.deviations);
    if (worst == found.deviations.end() || *worst <= kMostDeviation) break;
    const auto at = static_cast<std::size_t>(worst - found.deviations.begin());
    // The logarithm of a time that had better be 0 falls for ever, and changes nothing any more.
    constexpr double kFallsToNothing = 0.1;
    const FitVariable& variable = fitted[at];
    const bool nothing =
        variable.may_vanish && std::exp(found.point[at]) < kFallsToNothing * variable.start;
    const double value = nothing ? 0 : variable.start;
    fitter.keep(variable.name, value);
    given_up.push_back({.name = variable.name,
                        .unit = variable.unit,
                        .value = value,
                        .deviation = *worst,
                        .identified = false});
    fitted.erase(fitted.begin() + static_cast<std::ptrdiff_t>(at));
  }
  MachineFit result{.machine = {},
                    .variables = {},
                    .rows = fitter.rows(),
                    .points = fitter.points(),
                    .rms = found.rms,
                    .converged = found.converged,
                    .formula = fitter.formula()};
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    const double value = std::exp(found.point[i]);
    fitter.keep(fitted[i].name, value);
    result.variables.push_back({.name = fitted[i].name,
                                .unit = fitted[i].unit,
                                .value = value,
                                .deviation = found.deviations[i]});
  }
  result.machine = fitter.machine();
  result.variables.insert(result.variables.end(), given_up.begin(), given_up.end());
  return result;
}

std::vector<MeasuredRow> spread_over(const std::vector<MeasuredRow>& rows, std::size_t most) {
  if (rows.size() <= most) return rows;
  std::vector<MeasuredRow> kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(rows[most == 1 ? 0 : i * (rows.size() - 1) / (most - 1)]);
  }
  return kept;
}

Json to_json(const MachineFit& fit, Json description) {
  description["settings"] = fit.machine.settings;
  Json settings = Json::array();
  Json undetermined = Json::array();
  for (const FittedVariable& setting : fit.variables) {
    Json told = {{"setting", setting.name}, {"value", setting.value}};
    if (setting.identified) told["relative_deviation"] = setting.deviation;
    (setting.identified ? settings : undetermined).push_back(std::move(told));
  }
  Json before = description.contains("calibration") ? description["calibration"] : Json();
  description["calibration"] = {
      {"rows", fit.rows}, {"rms_of_log_ratio", fit.rms}, {"settings", settings}};
  description["formula"] = to_json(fit.formula);
  if (!undetermined.empty()) description["calibration"]["undetermined"] = undetermined;
  if (!before.is_null()) description["calibration"]["before"] = std::move(before);
  return description;
}

}  // namespace thinwire::studies
