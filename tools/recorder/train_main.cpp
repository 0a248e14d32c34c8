// thinwire-train: accuracy over simulated time of trainings through any scheme.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/cli/points.hpp"
#include "sim/app/cli/program.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/split.hpp"
#include "sim/core/base/version.hpp"
#include "sim/machine/workloads/device.hpp"
#include "tools/recorder/train.hpp"

namespace thinwire::recorder {

namespace {

using plan::Point;
using report::number_text;

constexpr const char* kDescription =
    "Trains a small model on real data, data-parallel over P workers in one process. In each "
    "iteration the gradients go, value by value, through a scheme on a simulated network, so that "
    "accuracy is known over simulated time. Lists, as in --scheme dense_ring,oktopk --seed 1,2,3, "
    "train every combination. Time is for the small model's gradients, of about 100,000 "
    "components, unless --granule or --as-model makes them larger: docs/explanation/training.md.";

constexpr const char* kFooter =
    "Examples:\n"
    "  thinwire-train --model cnn --scheme dense_ring,oktopk -P 8 -d 0.01 --iterations 200 "
    "--learning-rate 0.2 --target 0.9\n"
    "  thinwire-train --model cnn --scheme topka -P 8 --iterations 200 --network links "
    "--platform gige_star \\\n"
    "      --also-on machine.alpha_s=2e-6,machine.beta_s_per_word=4e-10 -o rows.jsonl\n"
    "  thinwire-train --model lstm --scheme oktopk -P 8 --iterations 100 --learning-rate 1 "
    "--as-model lstm --device p100\n"
    "\n"
    "Data: the digits of Debian's python3-sklearn (cnn), the text of bible-kjv-text (lstm,\n"
    "transformer).\n"
    "The same seed gives the same training on the same machine.\n"
    "\n"
    "Exit codes: 0 all is well, 1 a training failed, 2 bad input.";

/// What a point has that a training gives itself.
constexpr std::array kNotOfTrainings{"components", "granule",  "tensors", "iterations",
                                     "input",      "workload", "record"};

struct TrainFlags {
  std::string model;
  std::int64_t batch = 8;
  int iterations = 0;
  int evaluate_every = 10;
  int rows_every = 1;
  double learning_rate = 0.1;
  double decay = 1;
  int decay_every = 0;
  double momentum = 0;
  int warm_up = 0;
  std::int64_t granule = 0;
  std::string as_model;
  std::string device;
  std::optional<double> compute_s;
  bool staging = false;
  std::optional<double> target;
  Json given = Json::object();
  std::vector<std::string> settings;
  std::vector<std::string> also_on;
  std::string output;
};

/// The settings that have flags here: all of 'thinwire run' but the gradient's and a workload's.
const plan::Settings& settings_of_trainings() {
  static const plan::Settings all = [] {
    plan::Settings kept;
    for (const plan::Setting& setting : plan::point_settings()) {
      const std::string first = setting.path.substr(0, setting.path.find('.'));
      if (std::ranges::find(kNotOfTrainings, first) == kNotOfTrainings.end()) {
        kept.push_back(setting);
      }
    }
    return kept;
  }();
  return all;
}

/// The model that is trained, before any worker: its tensors say how large gradients are.
struct Shape {
  std::vector<std::int64_t> tensors;
  std::int64_t parameters = 0;
};

/// Asks a child process, so that this one starts no library that its later children would inherit.
Shape shape_of(const TrainFlags& flags) {
  const ChildOutcome outcome = in_child_process(
      {.subject = flags.model, .run = [&] {
         Json tensors;
         for (const traces::Layer& layer : make_model(flags.model, 1, 1, 1)->layers()) {
           tensors.push_back(layer.size);
         }
         return tensors.dump();
       }});
  Shape shape{.tensors = Json::parse(outcome.text).get<std::vector<std::int64_t>>()};
  for (const std::int64_t tensor : shape.tensors) shape.parameters += tensor;
  return shape;
}

/// Where time comes from besides the allreduce, and how much a parameter stands for.
struct Scale {
  std::int64_t granule = 1;
  std::optional<workloads::Device> device = {};
  Seconds compute;
};

Scale scale_of(const TrainFlags& flags, const Shape& shape) {
  Scale scale;
  scale.granule = std::max<std::int64_t>(flags.granule, 1);
  if (flags.as_model.empty()) {
    if (!flags.device.empty() && !flags.compute_s) {
      throw InputError(
          "--device: it prices local work; say also how long it computes, by --compute-s or by "
          "--as-model");
    }
    if (flags.staging && flags.device.empty()) {
      throw InputError("--staging: copies have a price on a device; give --device");
    }
  }
  if (!flags.device.empty()) {
    scale.device = workloads::read_device(workloads::kDevices.file(flags.device));
  }
  scale.compute = Seconds(flags.compute_s.value_or(0));
  if (flags.as_model.empty()) return scale;
  if (flags.granule > 0) throw InputError("--granule: --as-model sets it; leave one of them out");
  if (flags.compute_s) throw InputError("--compute-s: --as-model sets it; leave one of them out");
  const workloads::Model model = workloads::read_model(workloads::kModels.file(flags.as_model));
  if (!scale.device) {
    if (model.compute.empty()) {
      throw InputError(
          "--as-model: {} has no computing time on any device; take another one, see 'thinwire "
          "list models'",
          model.name);
    }
    scale.device = workloads::read_device(workloads::kDevices.file(model.compute.front().device));
  }
  scale.compute = compute_on(model, scale.device->name).time;
  const double times =
      static_cast<double>(model.components) / static_cast<double>(shape.parameters);
  scale.granule = std::max<std::int64_t>(1, std::llround(times));
  return scale;
}

/// What a device adds to the iterations of these points.
TrainingWork work_of(const Scale& scale, const Point& point, const TrainFlags& flags) {
  if (!scale.device) return {.compute = scale.compute};
  workloads::Model model;
  model.name = flags.model;
  model.components = point.space.components;
  for (const std::int64_t tensor : point.tensors) {
    workloads::ModelLayer& layer = model.layers.emplace_back();
    layer.tensors = {tensor};
  }
  workloads::ModelCompute& compute = model.compute.emplace_back();
  compute.device = scale.device->name;
  compute.time = scale.compute;
  return {.compute = Seconds(0),
          .on_device = run::TrainingSetup{
              .training = {.compute = workloads::compute_times(model, scale.device->name),
                           .prices = scale.device->prices(flags.staging),
                           .space = point.space,
                           .feedback = point.error_feedback ? algorithms::Feedback::residual
                                                            : algorithms::Feedback::none},
              .batch = flags.batch,
              .tensors = point.tensors,
              .rows = {},
              .layers = point.tensors}};
}

/// Gives a point the gradient of the model.
Json completed(Json json, const Shape& shape, const Scale& scale, int iterations) {
  for (const char* key : kNotOfTrainings) {
    if (!json.contains(key)) continue;
    throw InputError(
        "--set {}: in a training it comes from the model and the flags of thinwire-train; leave it "
        "out",
        key);
  }
  for (const std::int64_t tensor : shape.tensors) {
    json["tensors"].push_back(tensor * scale.granule);
  }
  json["components"] = shape.parameters * scale.granule;
  json["granule"] = scale.granule;
  json["iterations"] = iterations;
  if (!json.contains("error_feedback")) json["error_feedback"] = true;
  return json;
}

/// The point at another place, which `words`, KEY=VALUE after commas, describes from scratch.
Point elsewhere(const Point& point, const std::string& words) {
  Json json = to_json(point);
  for (const plan::Setting& setting : plan::point_settings()) {
    if (setting.aspect != plan::Aspect::place) continue;
    const std::string group = setting.group();
    if (group.empty()) {
      json.erase(setting.path);
    } else {
      json.erase(group);
    }
  }
  for (const std::string& word : split(words)) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    if (equals == std::string::npos || equals == 0) {
      throw InputError("--also-on {}: expected KEY=VALUE, several after commas", word);
    }
    if (plan::setting_at(key).aspect != plan::Aspect::place) {
      throw InputError(
          "--also-on {}: it changes what is computed; a place has a network, a platform, a "
          "placement and a machine",
          key);
    }
    plan::set_by_path(json, key, cli::value_from(key, word.substr(equals + 1)));
  }
  return plan::point_from(json, "--also-on");
}

/// SimGrid loads one platform in a process.
void check_platforms(const std::vector<Point>& points) {
  const auto loads = [](const Point& point) { return !point.platform.empty(); };
  if (std::ranges::count_if(points, loads) <= 1) return;
  throw InputError(
      "--also-on: one of the places may have a platform, because a process can load only one; "
      "describe the others by machine.alpha_s and machine.beta_s_per_word");
}

void check_machines(const Scale& scale, const std::vector<Point>& points) {
  if (!scale.device) return;
  for (const Point& point : points) {
    const plan::Machine& machine = point.machine;
    if (machine.gamma_per_word > Seconds(0) || machine.gamma_beyond_cache > Seconds(0) ||
        machine.copy_per_word > Seconds(0) || machine.copy_beyond_cache > Seconds(0) ||
        machine.call > Seconds(0)) {
      throw InputError(
          "--device: it says what local work costs; leave out machine.gamma_s_per_word, "
          "machine.copy_s_per_word and machine.call_s");
    }
  }
}

std::string place_text(const Point& point) {
  if (point.platform.empty()) {
    return fmt::format("{} ({:g} s + {:g} s/word)", point.network->name,
                       point.machine.alpha.value(), point.machine.beta_per_word.value());
  }
  return fmt::format("{} {}", point.network->name, point.platform);
}

/// A training that has ended, and its times to the target, by place; null where it was not reached.
struct Ended {
  TrainSettings settings;
  Json times;
};

std::string name_of(const TrainSettings& settings) {
  const Point& point = settings.trainer.points.front();
  return fmt::format("{}, {}, P = {}, seed {}", settings.model, point.scheme->name, point.ranks,
                     point.seed);
}

std::string curve_text(const TrainSettings& settings, const std::vector<CurvePoint>& curve) {
  const std::vector<Point>& points = settings.trainer.points;
  std::vector<Json> records;
  for (const CurvePoint& point : curve) {
    Json record{{"iteration", point.iteration},
                {"loss", point.iteration == 0 ? Json() : Json(point.loss)},
                {"held_out_loss", point.held_out.loss},
                {"accuracy", point.held_out.accuracy},
                {"perplexity", std::exp(point.held_out.loss)}};
    for (std::size_t at = 0; at < points.size(); ++at) {
      record[fmt::format("time_{}_s", at)] = point.time_s[at];
    }
    records.push_back(std::move(record));
  }
  std::vector<report::Column> columns{report::column("iteration")};
  for (std::size_t at = 0; at < points.size(); ++at) {
    columns.push_back(
        report::column(fmt::format("time_{}_s", at),
                       points.size() == 1 ? "time" : fmt::format("time on {}", at + 1)));
  }
  for (const char* key : {"loss", "held_out_loss", "accuracy"}) {
    columns.push_back({key, [key](const Json& r) { return number_text(r.at(key), 4); }});
  }
  if (predicts_text(settings.model)) {
    columns.push_back(
        {"perplexity", [](const Json& r) { return number_text(r.at("perplexity"), 4); }});
  }
  std::string text = name_of(settings) + '\n';
  for (std::size_t at = 0; at < points.size(); ++at) {
    if (points.size() > 1) text += fmt::format("  {}: {}\n", at + 1, place_text(points[at]));
  }
  return text + report::to_table(records, columns);
}

/// The times of the trainings that differ in their seeds alone to reach the target.
void print_times(const std::vector<Ended>& all, double target) {
  struct Group {
    std::string scheme;
    int ranks = 0;
    std::string place;
    int trainings = 0;
    std::vector<double> times = {};
  };
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  for (const Ended& ended : all) {
    for (std::size_t at = 0; at < ended.settings.trainer.points.size(); ++at) {
      Point point = ended.settings.trainer.points[at];
      point.seed = 0;
      const auto [found, added] = known.emplace(to_json(point).dump(), groups.size());
      if (added) groups.push_back({point.scheme->name, point.ranks, place_text(point)});
      Group& group = groups[found->second];
      ++group.trainings;
      if (!ended.times.at(at).is_null()) group.times.push_back(ended.times.at(at));
    }
  }
  std::vector<Json> records;
  for (Group& group : groups) {
    std::ranges::sort(group.times);
    Json record{{"scheme", group.scheme},
                {"ranks", group.ranks},
                {"place", group.place},
                {"reached", fmt::format("{} of {}", group.times.size(), group.trainings)},
                {"least_s", nullptr},
                {"median_s", nullptr},
                {"most_s", nullptr}};
    if (!group.times.empty()) {
      const std::size_t middle = group.times.size() / 2;
      const bool even = group.times.size() % 2 == 0;
      record["least_s"] = group.times.front();
      record["median_s"] =
          even ? (group.times[middle - 1] + group.times[middle]) / 2 : group.times[middle];
      record["most_s"] = group.times.back();
    }
    records.push_back(std::move(record));
  }
  fmt::print("time to an accuracy of {:g} on held-out data\n{}", target,
             report::to_table(records, {report::column("scheme"), report::column("ranks"),
                                        report::column("place"), report::column("reached"),
                                        report::column("least_s"), report::column("median_s"),
                                        report::column("most_s")}));
}

std::vector<TrainSettings> trainings_of(const TrainFlags& flags) {
  const Shape shape = shape_of(flags);
  const Scale scale = scale_of(flags, shape);
  // The commands of a study differ in the scheme alone, so that dense ones have a density too; and
  // the seed is the training's.
  const std::vector<Point> points = cli::points_of(
      "", flags.given, flags.settings,
      [&](Json json) { return completed(std::move(json), shape, scale, flags.iterations); },
      cli::Unread::accepted);
  std::vector<TrainSettings> all;
  for (const Point& point : points) {
    std::vector<Point> places{point};
    for (const std::string& words : flags.also_on) places.push_back(elsewhere(point, words));
    check_platforms(places);
    check_machines(scale, places);
    all.push_back({.model = flags.model,
                   .batch = flags.batch,
                   .iterations = flags.iterations,
                   .evaluate_every = flags.evaluate_every,
                   .rows_every = flags.rows_every,
                   .trainer = {.points = places,
                               .learning_rate = static_cast<float>(flags.learning_rate),
                               .decay = static_cast<float>(flags.decay),
                               .decay_every = flags.decay_every,
                               .momentum = static_cast<float>(flags.momentum),
                               .warm_up = flags.warm_up,
                               .work = work_of(scale, point, flags)},
                   .as_model = flags.as_model,
                   .device = scale.device ? scale.device->name : "",
                   .staging = flags.staging,
                   .compute = scale.compute});
  }
  return all;
}

int run(const TrainFlags& flags) {
  if ((flags.decay == 1) != (flags.decay_every == 0)) {
    throw InputError("--decay: it comes with --decay-every, and --decay-every with it");
  }
  const std::vector<TrainSettings> trainings = trainings_of(flags);
  std::ofstream file;
  if (!flags.output.empty()) {
    file.open(flags.output, std::ios::app);
    if (!file) throw InputError("-o {}: it cannot be written", flags.output);
  }
  const auto write = [&](const Json& row) {
    if (!file.is_open()) return;
    file << row.dump() << '\n' << std::flush;
    if (!file) throw std::runtime_error(fmt::format("{} could not be written", flags.output));
  };
  const auto start = std::chrono::steady_clock::now();
  std::vector<Ended> ended;
  bool failed = false;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const TrainSettings& settings = trainings[i];
    const Point& point = settings.trainer.points.front();
    std::unique_ptr<Model> model;
    std::optional<Trainer> trainer;
    ChildWork work{.subject = place_text(point)};
    work.prepare = [&] {
      model = make_model(settings.model, point.ranks, settings.batch, point.seed);
      trainer.emplace(*model, settings.trainer);
    };
    work.run = [&] {
      const std::vector<CurvePoint> curve = train(*model, *trainer, settings, write);
      Json result{{"text", curve_text(settings, curve)}, {"times", Json::array()}};
      for (std::size_t at = 0; at < settings.trainer.points.size(); ++at) {
        result["times"].push_back(
            report::optional_json(time_to(flags.target.value_or(0), curve, at)));
      }
      return result.dump();
    };
    try {
      const Json result = Json::parse(in_child_process(std::move(work)).text);
      ended.push_back({settings, result.at("times")});
      fmt::print("{}\n", result.at("text").get<std::string>());
      static_cast<void>(std::fflush(stdout));
    } catch (const SimulationError& error) {
      failed = true;
      cli::say("thinwire-train: {}: {}", name_of(settings), error.what());
    }
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto left = static_cast<double>(trainings.size() - i - 1);
    cli::say("{} of {} trainings, {:.0f} s, about {:.0f} s left", i + 1, trainings.size(), spent,
             spent / static_cast<double>(i + 1) * left);
  }
  if (flags.target && !ended.empty()) print_times(ended, *flags.target);
  return failed ? cli::kFailed : 0;
}

void add_flags(cli::Command& command, TrainFlags& flags) {
  command
      .add_option("--model", flags.model,
                  "cnn: convolutional classifier of digits; lstm, transformer: character-level "
                  "language models")
      .choices(model_names())
      .required()
      .value_text("cnn|lstm|transformer REQUIRED");
  command.add_option("--iterations", flags.iterations, "iterations of each training")
      .range(1, 1'000'000)
      .required();
  command.add_option("--batch", flags.batch, "images, or pieces of text, a worker and iteration")
      .range(std::int64_t{1}, std::int64_t{4096})
      .show_default();
  command
      .add_option("--learning-rate", flags.learning_rate,
                  "of SGD; gradients are multiplied by it before they are accumulated")
      .range(0.0, 1000.0)
      .show_default();
  command.add_option("--decay", flags.decay, "factor of the learning rate, see --decay-every")
      .range(0.0, 1.0)
      .value_text("X [1]");
  command
      .add_option("--decay-every", flags.decay_every,
                  "iterations after which the learning rate is multiplied by --decay")
      .range(0, 1'000'000)
      .value_text("N [never]");
  command
      .add_option("--momentum", flags.momentum,
                  "of SGD; with error feedback it is DGC's momentum correction, with masking")
      .range(0.0, 1.0)
      .show_default();
  command
      .add_option("--warm-up", flags.warm_up,
                  fmt::format("the first so many iterations are dense, by {}", kWarmUpScheme))
      .range(0, 1'000'000)
      .show_default();
  add_setting_flags(command, flags.given, settings_of_trainings());
  command
      .add_option("--set", flags.settings,
                  "any other key of a point: --set options.tau=32 --set error_feedback=false "
                  "(which is on)")
      .value_text("KEY=VALUE");
  command
      .add_option("--also-on", flags.also_on,
                  "time the same training's allreduces at another place too, described by keys of "
                  "a point from scratch; may be repeated")
      .value_text("KEY=VALUE,...");
  command
      .add_option("--granule", flags.granule,
                  "every parameter stands for so many alike ones in the simulated gradient; the "
                  "training itself is of the small model")
      .range(std::int64_t{1}, std::int64_t{1} << 30)
      .value_text("N [1]");
  command
      .add_option(
          "--as-model", flags.as_model,
          "time as of a shipped model ('thinwire list models'): its computing time, and the "
          "granule that makes gradients about as large as its own")
      .value_text("NAME");
  command
      .add_option("--device", flags.device,
                  "prices of selection, sums and copies, as in 'thinwire run --model'; with "
                  "--as-model also of computing")
      .value_text("NAME [none]");
  command
      .add_option("--compute-s", flags.compute_s,
                  "computing time of an iteration; without --device it comes before the allreduce, "
                  "and nothing overlaps with it")
      .range(0.0, 1e6)
      .unit("s")
      .value_text("s [0]");
  command.add_flag("--staging", flags.staging, "messages are sent from the host's memory");
  command
      .add_option("--evaluate-every", flags.evaluate_every,
                  "iterations from one evaluation on held-out data to the next")
      .range(1, 1'000'000)
      .show_default();
  command
      .add_option("--target", flags.target,
                  "accuracy on held-out data; print the simulated time until it is reached")
      .range(0.0, 1.0)
      .value_text("X");
  command
      .add_option("-o,--output", flags.output,
                  "append a JSON line for each iteration (docs/reference/training-rows.md)")
      .value_text("FILE");
  command.add_option("--rows-every", flags.rows_every, "write one of so many iterations")
      .range(1, 1'000'000)
      .show_default();
  command.footer(kFooter);
}

int run_program(int argc, char** argv) {
  cli::CommandLine line("thinwire-train", kDescription, version());
  TrainFlags flags;
  line.root().require_subcommand(0, 0);
  add_flags(line.root(), flags);
  line.root().callback([&flags] { return run(flags); });
  return line.run(argc, argv);
}

}  // namespace

}  // namespace thinwire::recorder

int main(int argc, char** argv) {
  return thinwire::cli::exit_code_of("thinwire-train",
                                     [&] { return thinwire::recorder::run_program(argc, argv); });
}
