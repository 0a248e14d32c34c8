#include "tools/recorder/train.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/hash.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::recorder {

namespace {

using plan::Point;

Json settings_json(const TrainSettings& settings) {
  const TrainerSettings& trainer = settings.trainer;
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  Json json{{"model", settings.model},
            {"as_model", text_or_null(settings.as_model)},
            {"device", text_or_null(settings.device)},
            {"staging", settings.staging},
            {"compute_s", settings.compute.value()}};
  json["batch"] = settings.batch;
  json["iterations"] = settings.iterations;
  json["evaluate_every"] = settings.evaluate_every;
  json["learning_rate"] = static_cast<double>(trainer.learning_rate);
  json["decay"] = static_cast<double>(trainer.decay);
  json["decay_every"] = trainer.decay_every;
  json["momentum"] = static_cast<double>(trainer.momentum);
  json["warm_up"] = trainer.warm_up;
  for (const Point& point : trainer.points) {
    Json place = to_json(point);
    place.erase("input");  // gradients are the model's
    json["points"].push_back(std::move(place));
  }
  return json;
}

/// The simulated seconds since the start at one place.
struct Clock {
  workloads::IterationParts parts;

  void add(const workloads::IterationParts& more) {
    parts.computation += more.computation;
    parts.sparsification += more.sparsification;
    parts.communication += more.communication;
  }
  [[nodiscard]] Json json(const Point& point) const {
    return {{"network", point.network->name},
            {"platform", point.platform.empty() ? Json() : Json(point.platform)},
            {"time_s", parts.total().value()},
            {"computation_s", parts.computation.value()},
            {"sparsification_s", parts.sparsification.value()},
            {"communication_s", parts.communication.value()}};
  }
};

/// A number of JSON, which has no infinity: null if it is not finite.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// Writes the rows of one training.
class Rows {
 public:
  Rows(const TrainSettings& settings, const std::function<void(const Json&)>& write)
      : settings_(settings),
        write_(write),
        key_(key_of(settings)),
        clocks_(settings.trainer.points.size()) {}

  void begin(const Model& model, std::int64_t parameters) const {
    Json row = settings_json(settings_);
    row["kind"] = "training";
    row["training"] = key_;
    row["version"] = version();
    row["description"] = model.description();
    row["parameters"] = parameters;
    write_(row);
  }

  void count(const TrainerStep& step) {
    for (std::size_t at = 0; at < clocks_.size(); ++at) clocks_[at].add(step.parts[at]);
  }

  [[nodiscard]] std::vector<double> times() const {
    std::vector<double> all;
    for (const Clock& clock : clocks_) all.push_back(clock.parts.total().value());
    return all;
  }

  void iteration(int number, const TrainerStep& step, const std::optional<Evaluation>& held_out) {
    Json row{{"kind", "iteration"}, {"training", key_}, {"iteration", number}};
    for (std::size_t at = 0; at < clocks_.size(); ++at) {
      row["places"].push_back(clocks_[at].json(settings_.trainer.points[at]));
    }
    row["learning_rate"] = static_cast<double>(step.learning_rate);
    row["loss"] = finite(step.loss);
    add(row, held_out);
    row["selected"] = nullptr;
    if (step.selection) {
      row["selected"] = {{"ranks", step.selection->ranks},
                         {"least", step.selection->least},
                         {"most", step.selection->most},
                         {"total", step.selection->total}};
    }
    row["result_components"] = step.result_components;
    row["xi"] = report::optional_json(step.xi);
    row["global_error"] = report::optional_json(step.global_error);
    write_(row);
  }

  void end(const std::string& trouble) const {
    write_({{"kind", "end"},
            {"training", key_},
            {"status", trouble.empty() ? "ok" : "failed"},
            {"reason", trouble.empty() ? Json() : Json(trouble)}});
  }

 private:
  void add(Json& row, const std::optional<Evaluation>& held_out) const {
    const bool text = predicts_text(settings_.model);
    row["held_out_loss"] = held_out ? finite(held_out->loss) : Json();
    row["accuracy"] = held_out ? finite(held_out->accuracy) : Json();
    row["perplexity"] = held_out && text ? finite(std::exp(held_out->loss)) : Json();
  }

  const TrainSettings& settings_;
  const std::function<void(const Json&)>& write_;
  std::string key_;
  std::vector<Clock> clocks_;
};

void check_counts(const TrainSettings& settings) {
  if (settings.iterations < 1 || settings.evaluate_every < 1 || settings.rows_every < 1) {
    throw InputError("a training has at least one iteration, evaluation and row");
  }
}

}  // namespace

std::string key_of(const TrainSettings& settings) {
  return hash_of_text(version() + settings_json(settings).dump());
}

std::vector<CurvePoint> train(Model& model, Trainer& trainer, const TrainSettings& settings,
                              const std::function<void(const Json&)>& write) {
  check_counts(settings);
  Rows rows(settings, write);
  std::vector<CurvePoint> curve;
  rows.begin(model, static_cast<std::int64_t>(model.parameters().size()));
  try {
    curve.push_back({.iteration = 0, .time_s = rows.times(), .held_out = model.evaluate()});
    for (int iteration = 1; iteration <= settings.iterations; ++iteration) {
      const bool last = iteration == settings.iterations;
      const bool evaluated = last || iteration % settings.evaluate_every == 0;
      const bool written = last || iteration % settings.rows_every == 0;
      const TrainerStep step = trainer.step(iteration, written);
      rows.count(step);
      std::optional<Evaluation> held_out;
      if (evaluated) {
        held_out = model.evaluate();
        curve.push_back({.iteration = iteration,
                         .time_s = rows.times(),
                         .loss = step.loss,
                         .held_out = *held_out});
      }
      if (written) rows.iteration(iteration, step, held_out);
    }
  } catch (const SimulationError& error) {
    rows.end(error.what());
    throw;
  }
  rows.end("");
  return curve;
}

std::optional<double> time_to(double target, const std::vector<CurvePoint>& curve,
                              std::size_t place) {
  for (const CurvePoint& point : curve) {
    if (point.held_out.accuracy >= target) return point.time_s.at(place);
  }
  return std::nullopt;
}

}  // namespace thinwire::recorder
