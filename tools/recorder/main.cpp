// thinwire-record: trains a small model with Top-k SGD and writes a trace of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tools/recorder/models.hpp"
#include "tools/recorder/record.hpp"

namespace {

using thinwire::traces::ResidualRule;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

constexpr const char* kDescription =
    "Trains a small model on real data, data-parallel over P workers in one process, by Top-k SGD "
    "with residuals, and writes a trace (docs/reference/traces.md): which entries of its "
    "accumulator each "
    "worker selected in the iterations that --record names, and the gradients of a sample of "
    "coordinates. Iterations count from 1, dense ones too.";

constexpr const char* kFooter =
    "Example:\n"
    "  thinwire-record --model cnn --iterations 400 --record 369-400 -o cnn.h5\n"
    "\n"
    "Data: the digits of Debian's python3-sklearn, the text of bible-kjv-text (and bible-kjv, "
    "which\n"
    "reads it). The same seed gives the same trace on the same machine; another machine may round\n"
    "in another way.\n"
    "\n"
    "Exit codes: 0 all is well, 1 the training failed, 2 bad input.";

struct Arguments {
  std::string model;
  std::int64_t batch = 8;
  std::string record;
  std::string output;
  thinwire::recorder::RecordSettings settings;
};

void add_options(CLI::App& app, Arguments& arguments) {
  const std::map<std::string, ResidualRule> rules{{"all", ResidualRule::all},
                                                  {"oktopk", ResidualRule::oktopk}};
  thinwire::recorder::RecordSettings& s = arguments.settings;
  app.add_option("--model", arguments.model,
                 "cnn: convolutional classifier of digits; lstm, transformer: character-level "
                 "language models")
      ->required()
      ->check(CLI::IsMember(thinwire::recorder::model_names()))
      ->option_text("cnn|lstm|transformer REQUIRED");
  app.add_option("--ranks", s.ranks, "Workers P")->capture_default_str();
  app.add_option("--density", s.density, "k/n of the exact local top-k")->capture_default_str();
  app.add_option("--residual-rule", s.rule,
                 "all: all that is selected is applied and forgotten; oktopk: the top-k of the sum "
                 "is applied, and only what of it a worker selected is forgotten")
      ->transform(CLI::Transformer(rules))
      ->option_text("all|oktopk [all]");
  app.add_option("--learning-rate", s.learning_rate,
                 "Of plain SGD; gradients are multiplied by it before they are accumulated")
      ->capture_default_str();
  app.add_option("--batch", arguments.batch, "Images, or pieces of text, a worker and iteration")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--iterations", s.iterations, "Iterations in all")->required();
  app.add_option("--warm-up", s.warm_up, "The first so many iterations are dense")
      ->capture_default_str();
  app.add_option("--record", arguments.record,
                 "Iterations whose selections are recorded: N, FROM-TO or FROM-TO/STEP, several "
                 "after commas")
      ->required();
  app.add_option("--sample-coordinates", s.coordinates,
                 "Coordinates, evenly spread, whose gradients are sampled; 0: none")
      ->capture_default_str();
  app.add_option("--sample-ranks", s.sample_ranks, "Of the first so many workers")
      ->capture_default_str();
  app.add_option("--sample-from", s.sample_from,
                 "In which iteration the sample begins; 0: the first sparse one")
      ->capture_default_str();
  app.add_option("--sample-iterations", s.sample_iterations, "How many iterations it lasts")
      ->capture_default_str();
  app.add_option("--seed", s.seed, "Of initial parameters, shares and batches")
      ->capture_default_str();
  app.add_option("-o,--output", arguments.output, "The trace to write")->required();
}

void print(const thinwire::recorder::RecordSummary& summary) {
  fmt::print(stderr, "loss of the workers: {:.4f} at first, {:.4f} at the end\n",
             summary.first_loss, summary.last_loss);
  fmt::print(stderr,
             "held out: loss {:.4f}, accuracy {:.1f} % at first; {:.4f}, {:.1f} % at the end\n",
             summary.before.loss, 100 * summary.before.accuracy, summary.after.loss,
             100 * summary.after.accuracy);
  fmt::print(stderr, "union density in recorded iterations:");
  for (const auto& joined : summary.unions) {
    fmt::print(stderr, " P={} {:.2f} %", joined.ranks, 100 * joined.density);
  }
  fmt::print(stderr, "\n");
}

int run(int argc, char** argv) {
  CLI::App app(kDescription, "thinwire-record");
  app.footer(kFooter);
  app.get_formatter()->column_width(40);
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "thinwire-record: {} (see 'thinwire-record --help')\n", error.what());
    return kBadInput;
  }
  thinwire::recorder::RecordSettings& settings = arguments.settings;
  settings.recorded = thinwire::recorder::parse_iterations(arguments.record);

  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const std::unique_ptr<thinwire::recorder::Model> model = thinwire::recorder::make_model(
      arguments.model, settings.ranks, arguments.batch, settings.seed);
  fmt::print(stderr, "{}; {} parameters in {} layers\n", model->description(),
             model->parameters().size(), model->layers().size());
  const auto say = [&](const std::string& line) {
    fmt::print(stderr, "{} ({:.0f} s)\n", line, seconds());
  };
  print(thinwire::recorder::record(*model, settings, arguments.output, say));
  fmt::print(stderr, "{} written after {:.0f} s\n", arguments.output, seconds());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const thinwire::InputError& error) {
    fmt::print(stderr, "thinwire-record: {}\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "thinwire-record: {}\n", error.what());
    return kFailed;
  }
}
