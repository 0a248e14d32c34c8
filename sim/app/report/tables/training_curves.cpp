#include "sim/app/report/tables/training_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

/// What a training is of, besides its scheme, its place and its seed.
std::string setting_text(const std::string& model, const Json& of_point, int iterations) {
  const double density = of_point.at("k").get<double>() / of_point.at("components").get<double>();
  const std::string text = fmt::format("P = {}, density {:.2g}%, {} iterations",
                                       of_point.at("ranks").get<int>(), 100 * density, iterations);
  return model.empty() ? text : model + ", " + text;
}

std::string label_of(const Json& point) {
  std::string label = point.at("scheme");
  if (!point.value("error_feedback", true)) label += ", no error feedback";
  return label;
}

std::string place_of(const Json& point) {
  const std::string platform = point.value("platform", "");
  if (!platform.empty()) return point.at("network").get<std::string>() + " " + platform;
  const Json& machine = point.at("machine");
  return fmt::format("{} ({:g} s + {:g} s/word)", point.at("network").get<std::string>(),
                     machine.at("alpha_s").get<double>(),
                     machine.at("beta_s_per_word").get<double>());
}

/// The options that are not the scheme's defaults.
std::string options_text(const Json& point) {
  Json defaults = Json::object();
  const algorithms::SchemeInfo& info =
      algorithms::find_scheme(point.at("scheme").get<std::string>());
  const algorithms::Options options(info.options, {});
  for (const auto& [name, value] : options.all()) {
    std::visit([&, key = name](auto given) { defaults[key] = given; }, value);
  }
  std::string text;
  const Json given = point.value("options", Json::object());
  for (const auto& [name, value] : given.items()) {
    if (!defaults.contains(name) || defaults.at(name) != value) {
      text += fmt::format(" {}={}", name, value.dump());
    }
  }
  return text;
}

}  // namespace

bool is_of_training(const Json& line) {
  return line.is_object() &&
         (line.contains("training") || (line.contains("variant") && line.contains("places")));
}

void TrainingLines::add(const Json& line, const std::string& at) {
  try {
    if (line.contains("variant")) {
      whole(line);
      return;
    }
    const std::string kind = line.at("kind");
    if (kind == "training") begin(line);
    if (kind == "iteration") step(line);
  } catch (const Json::exception&) {
    throw InputError(at + ": not a line of 'thinwire-train -o'");
  }
}

void TrainingLines::begin(const Json& line) {
  const Json& points = line.at("points");
  Training training{.key = line.at("training"),
                    .label = label_of(points.at(0)) + options_text(points.at(0)),
                    .setting = setting_text(line.at("model"), points.at(0), line.at("iterations")),
                    .places = {}};
  for (const Json& point : points) training.places.push_back(place_of(point));
  training.times.resize(points.size());
  trainings_.push_back(std::move(training));
}

void TrainingLines::step(const Json& line) {
  if (line.at("accuracy").is_null()) return;
  const std::string key = line.at("training");
  // A file may hold the same training more than once: the line belongs to the last.
  const auto found = std::find_if(trainings_.rbegin(), trainings_.rend(),
                                  [&](const Training& one) { return one.key == key; });
  if (found == trainings_.rend()) return;
  const Json& places = line.at("places");
  for (std::size_t place = 0; place < found->times.size(); ++place) {
    found->times[place].push_back(places.at(place).at("time_s"));
  }
  found->iterations.push_back(line.at("iteration"));
  found->accuracies.push_back(line.at("accuracy"));
}

void TrainingLines::whole(const Json& line) {
  if (line.at("status") != "ok") return;
  Training training{.key = {},
                    .label = line.at("variant"),
                    .setting = setting_text(line.value("model", ""), line,
                                            line.at("iteration").back().get<int>()),
                    .places = {},
                    .iterations = line.at("iteration").get<std::vector<double>>(),
                    .accuracies = line.at("accuracy").get<std::vector<double>>()};
  for (const auto& [name, place] : line.at("places").items()) {
    training.places.push_back(name);
    training.times.push_back(place.at("time_s").get<std::vector<double>>());
  }
  trainings_.push_back(std::move(training));
}

std::vector<Json> TrainingLines::curves() const {
  struct Mean {
    const Training* first = nullptr;
    std::size_t place = 0;
    double seeds = 0;
    std::vector<double> times = {};
    std::vector<double> accuracies = {};
  };
  std::vector<Mean> all;
  for (const Training& training : trainings_) {
    for (std::size_t place = 0; place < training.places.size(); ++place) {
      const std::size_t size = std::min(training.times[place].size(), training.accuracies.size());
      const auto same = std::ranges::find_if(all, [&](const Mean& curve) {
        return curve.first->label == training.label && curve.first->setting == training.setting &&
               curve.first->places[curve.place] == training.places[place] &&
               curve.first->iterations == training.iterations;
      });
      Mean& curve = same != all.end()
                        ? *same
                        : all.emplace_back(Mean{.first = &training,
                                                .place = place,
                                                .times = std::vector<double>(size),
                                                .accuracies = std::vector<double>(size)});
      ++curve.seeds;
      for (std::size_t i = 0; i < std::min(size, curve.times.size()); ++i) {
        curve.times[i] += training.times[place][i];
        curve.accuracies[i] += training.accuracies[i];
      }
    }
  }
  std::vector<Json> records;
  for (const Mean& curve : all) {
    Json points = Json::array();
    for (std::size_t i = 0; i < curve.times.size(); ++i) {
      points.push_back({{"iteration", curve.first->iterations[i]},
                        {"time_s", curve.times[i] / curve.seeds},
                        {"accuracy", curve.accuracies[i] / curve.seeds}});
    }
    if (points.empty()) continue;
    records.push_back({{"kind", "training_curve"},
                       {"label", curve.first->label},
                       {"setting", curve.first->setting},
                       {"place", curve.first->places[curve.place]},
                       {"seeds", static_cast<int>(curve.seeds)},
                       {"points", std::move(points)}});
  }
  return records;
}

}  // namespace thinwire::report
