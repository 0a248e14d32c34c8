#include "sim/app/studies/validate/calibrate.hpp"

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

/// Fits some of the settings; the others keep their values.
class Fitter {
 public:
  Fitter(const std::vector<MeasuredRow>& rows, MachineDescription machine, std::string placements,
         const RunPoints& run)
      : machine_(std::move(machine)), placements_(std::move(placements)), run_(run) {
    std::ranges::copy_if(rows, std::back_inserter(rows_), [&](const MeasuredRow& row) {
      return row.machine == machine_.name && row.gpu == machine_.gpu && machine_.calibrated(row);
    });
    check_places(plan_validation(rows_, {machine_}, placements_));
  }

  LeastSquares fit(const std::vector<std::string>& paths) {
    Vector start;
    for (const std::string& path : paths) start.push_back(std::log(start_of(path)));
    LeastSquares found = least_squares(
        [&](const std::vector<Vector>& points) { return residuals(paths, points); }, start);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      machine_.settings[json_pointer_of(paths[i])] = std::exp(found.point[i]);
    }
    return found;
  }

  [[nodiscard]] double start_of(const std::string& path) const {
    const plan::Setting& setting = plan::setting_at(path);
    if (setting.kind != plan::SettingKind::number) {
      throw InputError("--fit {}: only numbers can be fitted", path);
    }
    const Json::json_pointer at = json_pointer_of(path);
    const double value =
        machine_.settings.contains(at) ? machine_.settings.at(at).get<double>() : 0;
    if (value > 0) return value;
    throw InputError("--fit {}: {} needs a value above 0 there, from which the fit starts", path,
                     machine_.path);
  }

  MachineDescription& machine() { return machine_; }
  [[nodiscard]] std::size_t rows() const { return simulated_; }
  [[nodiscard]] std::size_t points() const { return points_; }

 private:
  /// log(simulated / measured) of every row, for each of several machines. The points of all of
  /// them are simulated together.
  std::vector<Vector> residuals(const std::vector<std::string>& paths,
                                const std::vector<Vector>& logs) {
    std::vector<Validation> plans;
    run::Sweep all{.name = "calibrate", .description = {}, .points = {}};
    for (const Vector& values : logs) {
      MachineDescription machine = machine_;
      for (std::size_t i = 0; i < paths.size(); ++i) {
        machine.settings[json_pointer_of(paths[i])] = std::exp(values[i]);
      }
      plans.push_back(plan_validation(rows_, {std::move(machine)}, placements_));
      const std::vector<plan::Point>& points = plans.back().sweep.points;
      all.points.insert(all.points.end(), points.begin(), points.end());
    }
    if (machine_.calibrated_on.empty()) {
      throw InputError(
          "{}: /calibrated_on: is missing; name the rows to fit to, as in [{{\"run\": \"1\"}}], "
          "and give texts of benchmarks their run, as in --measured FILE,run=1",
          machine_.path);
    }
    if (plans.empty() || plans.front().rows.empty()) {
      throw InputError("{}: /calibrated_on: no row of a known algorithm agrees with it",
                       machine_.path);
    }
    const std::vector<results::Row> results = run_(all);
    auto next = results.begin();
    std::vector<Vector> residuals;
    for (Validation& plan : plans) {
      const auto end = next + static_cast<std::ptrdiff_t>(plan.sweep.points.size());
      take_results(plan, {next, end});
      next = end;
      Vector logs_of_rows;
      for (const ValidatedRow& row : plan.rows) {
        logs_of_rows.push_back(std::log(*row.simulated / row.measured.seconds));
      }
      residuals.push_back(std::move(logs_of_rows));
      if (residuals.back().size() != residuals.front().size()) {
        throw InputError("{}: a point cannot be simulated with the tried settings: {}",
                         machine_.path, plan.skipped.back().why);
      }
    }
    simulated_ = residuals.front().size();
    points_ = plans.front().sweep.points.size();
    return residuals;
  }

  MachineDescription machine_;
  std::vector<MeasuredRow> rows_;
  std::string placements_;
  const RunPoints& run_;
  std::size_t simulated_ = 0;
  std::size_t points_ = 0;
};

}  // namespace

MachineFit calibrate(const std::vector<MeasuredRow>& rows, const MachineDescription& machine,
                     const std::string& placements, const std::vector<std::string>& paths,
                     const RunPoints& run) {
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    if (std::find(paths.begin(), path, *path) == path) continue;
    throw InputError("--fit {}: is given twice", *path);
  }
  Fitter fitter(rows, machine, placements, run);
  std::vector<std::string> fitted = paths;
  std::vector<FittedSetting> given_up;
  LeastSquares found;
  while (true) {
    std::vector<double> starts;
    for (const std::string& path : fitted) starts.push_back(fitter.start_of(path));
    found = fitter.fit(fitted);
    if (!found.converged) {
      std::string reached;
      for (std::size_t i = 0; i < fitted.size(); ++i) {
        reached +=
            fmt::format("{}{} = {:.3g}", i > 0 ? ", " : "", fitted[i], std::exp(found.point[i]));
      }
      throw SimulationError(
          "{}: the fit has not converged in {} steps; it came to {}, where the rms of "
          "log(simulated/measured) is {:.3f}. Set values that are nearer to the machine's, or fit "
          "fewer settings",
          machine.path, found.steps, reached, found.rms);
    }
    const auto worst = std::ranges::max_element(found.deviations);
    if (worst == found.deviations.end() || *worst <= kMostDeviation) break;
    const auto at = static_cast<std::size_t>(worst - found.deviations.begin());
    // The logarithm of a setting that had better be 0 falls for ever, and changes nothing any more.
    constexpr double kFallsToNothing = 0.1;
    const bool nothing = std::exp(found.point[at]) < kFallsToNothing * starts[at];
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      fitter.machine().settings[json_pointer_of(fitted[i])] = starts[i];
    }
    if (nothing) fitter.machine().settings[json_pointer_of(fitted[at])] = 0;
    given_up.push_back({.path = fitted[at],
                        .value = nothing ? 0 : starts[at],
                        .deviation = *worst,
                        .identified = false});
    fitted.erase(fitted.begin() + static_cast<std::ptrdiff_t>(at));
  }
  MachineFit result{.machine = fitter.machine(),
                    .settings = {},
                    .rows = fitter.rows(),
                    .points = fitter.points(),
                    .rms = found.rms};
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    result.settings.push_back(
        {.path = fitted[i], .value = std::exp(found.point[i]), .deviation = found.deviations[i]});
  }
  result.settings.insert(result.settings.end(), given_up.begin(), given_up.end());
  return result;
}

Json to_json(const MachineFit& calibration) {
  Json json = read_json(calibration.machine.path);
  json["settings"] = calibration.machine.settings;
  Json settings = Json::array();
  Json undetermined = Json::array();
  for (const FittedSetting& setting : calibration.settings) {
    Json told = {{"setting", setting.path}, {"value", setting.value}};
    if (setting.identified) told["relative_deviation"] = setting.deviation;
    (setting.identified ? settings : undetermined).push_back(std::move(told));
  }
  Json before = json.contains("calibration") ? json["calibration"] : Json();
  json["calibration"] = {
      {"rows", calibration.rows}, {"rms_of_log_ratio", calibration.rms}, {"settings", settings}};
  if (!undetermined.empty()) json["calibration"]["undetermined"] = undetermined;
  if (!before.is_null()) json["calibration"]["before"] = std::move(before);
  return json;
}

}  // namespace thinwire::studies
