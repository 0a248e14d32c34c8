#include "tools/recorder/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/core/base/errors.hpp"

namespace thinwire::recorder {

namespace {

constexpr int kAveraged = 10;  ///< iterations whose losses are averaged
constexpr int kReportEvery = 100;

[[noreturn]] void no_iterations(std::string_view text, std::string_view why) {
  throw InputError("'{}' is no list of iterations: {}; such a list is 10,20-24,40-80/8", text, why);
}

/// Removes a whole number from the front and returns it.
int take_number(std::string_view& rest, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{} || number < 1) no_iterations(text, "a positive whole number is missing");
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

bool take(std::string_view& rest, char c) {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw InputError(what);
}

/// Completes the settings; throws InputError if they cannot be satisfied.
RecordSettings complete(RecordSettings s, std::int64_t components) {
  if (s.sample_from == 0) s.sample_from = s.warm_up + 1;
  require(s.ranks >= 1, fmt::format("{} ranks: at least 1 is needed", s.ranks));
  require(s.density > 0 && s.density <= 1,
          fmt::format("density {} does not lie above 0 and up to 1", s.density));
  require(std::isfinite(s.learning_rate) && s.learning_rate > 0,
          fmt::format("learning rate {} is not above 0", s.learning_rate));
  require(
      s.warm_up >= 0 && s.warm_up < s.iterations,
      fmt::format("{} dense iterations of {} leave nothing to record", s.warm_up, s.iterations));
  require(!s.recorded.empty(), "no iteration is recorded");
  const auto outside = [&](int first, int last) {
    return fmt::format("iterations {} to {} are recorded, but the sparse ones are {} to {}", first,
                       last, s.warm_up + 1, s.iterations);
  };
  require(s.recorded.front() > s.warm_up && s.recorded.back() <= s.iterations,
          outside(s.recorded.front(), s.recorded.back()));
  if (s.coordinates == 0) return s;
  require(s.coordinates > 0 && s.coordinates <= components,
          fmt::format("a sample of {} coordinates: the model has {}", s.coordinates, components));
  require(s.sample_ranks >= 1 && s.sample_ranks <= s.ranks,
          fmt::format("a sample of {} ranks: there are {}", s.sample_ranks, s.ranks));
  require(s.sample_iterations >= 1, "a sample of gradients needs iterations");
  require(s.sample_from > s.warm_up && s.sample_iterations <= s.iterations - s.sample_from + 1,
          outside(s.sample_from, s.sample_from + s.sample_iterations - 1));
  return s;
}

/// The sampled coordinates of `values`.
std::vector<float> at(std::span<const float> values, std::span<const std::uint32_t> coordinates) {
  std::vector<float> sampled(coordinates.size());
  std::ranges::transform(coordinates, sampled.begin(), [&](std::uint32_t c) { return values[c]; });
  return sampled;
}

/// Writes the recorded data of each iteration.
class Recording {
 public:
  Recording(const RecordSettings& settings, const TopkSgd& sgd, const std::string& path,
            const traces::TraceHeader& header)
      : settings_(settings),
        sgd_(sgd),
        components_(static_cast<double>(header.components)),
        coordinates_(spread_coordinates(header.components, settings.coordinates)),
        writer_(path, header) {
    for (int ranks = 2; ranks < 2 * settings.ranks; ranks *= 2) {
      unions_.push_back({std::min(ranks, settings.ranks), 0.0});
    }
  }

  void before(int iteration) {
    if (coordinates_.empty() || iteration != settings_.sample_from) return;
    traces::GradientSample sample{coordinates_, {}, settings_.sample_ranks, {}};
    for (int rank = 0; rank < sample.ranks; ++rank) {
      sample.residuals.push_back(at(sgd_.residual(Rank(rank)), coordinates_));
    }
    writer_.sample_gradients(sample);
  }

  void after(int iteration, const TopkStep& step) {
    const int sampled = iteration - settings_.sample_from;
    if (!coordinates_.empty() && sampled >= 0 && sampled < settings_.sample_iterations) {
      std::vector<std::vector<float>> gradients;
      for (int rank = 0; rank < settings_.sample_ranks; ++rank) {
        gradients.push_back(at(sgd_.gradient(Rank(rank)), coordinates_));
      }
      writer_.append_gradients(iteration, gradients);
    }
    if (!std::ranges::binary_search(settings_.recorded, iteration)) return;
    for (RecordSummary::Union& joined : unions_) {
      const auto first = std::span(step.selected).first(static_cast<std::size_t>(joined.ranks));
      joined.density += static_cast<double>(sum(first).size()) / components_ /
                        static_cast<double>(settings_.recorded.size());
    }
    writer_.append({iteration, step.selected, step.thresholds, step.global_threshold});
  }

  std::vector<RecordSummary::Union> finish() {
    writer_.finish();
    return unions_;
  }

 private:
  const RecordSettings& settings_;
  const TopkSgd& sgd_;
  double components_;
  std::vector<std::uint32_t> coordinates_;
  traces::TraceWriter writer_;
  std::vector<RecordSummary::Union> unions_;
};

}  // namespace

std::vector<int> parse_iterations(std::string_view text) {
  std::vector<int> iterations;
  std::string_view rest = text;
  do {
    const int first = take_number(rest, text);
    const int last = take(rest, '-') ? take_number(rest, text) : first;
    const int step = last != first && take(rest, '/') ? take_number(rest, text) : 1;
    if (last < first || (!iterations.empty() && first <= iterations.back())) {
      no_iterations(text, "iterations must increase");
    }
    for (int iteration = first; iteration <= last; iteration += step) {
      iterations.push_back(iteration);
    }
  } while (take(rest, ','));
  if (!rest.empty()) no_iterations(text, fmt::format("'{}' is not understood", rest));
  return iterations;
}

std::vector<std::uint32_t> spread_coordinates(std::int64_t components, std::int64_t count) {
  std::vector<std::uint32_t> coordinates(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    coordinates[static_cast<std::size_t>(i)] =
        static_cast<std::uint32_t>((2 * i + 1) * components / (2 * count));
  }
  return coordinates;
}

RecordSummary record(Model& model, const RecordSettings& settings, const std::string& path,
                     const std::function<void(const std::string&)>& say) {
  traces::TraceHeader header;
  header.components = static_cast<std::int64_t>(model.parameters().size());
  const RecordSettings checked = complete(settings, header.components);
  header.ranks = settings.ranks;
  header.density = settings.density;
  header.seed = settings.seed;
  header.source = fmt::format(
      "{}; plain SGD, learning rate {} in the accumulators, the first {} of {} iterations dense",
      model.description(), settings.learning_rate, settings.warm_up, settings.iterations);
  header.residual_rule = settings.rule;
  header.layers = model.layers();

  TopkSgd sgd(model, {settings.ranks, header.k(), settings.rule, settings.learning_rate});
  Recording recording(checked, sgd, path, header);
  RecordSummary summary;
  summary.before = model.evaluate();
  std::vector<double> losses;
  for (int iteration = 1; iteration <= settings.iterations; ++iteration) {
    if (iteration <= settings.warm_up) {
      losses.push_back(sgd.dense_step(iteration));
    } else {
      recording.before(iteration);
      const TopkStep step = sgd.step(iteration);
      losses.push_back(step.loss);
      recording.after(iteration, step);
    }
    if (iteration % kReportEvery == 0) {
      const Evaluation now = model.evaluate();
      say(fmt::format("iteration {}: loss {:.4f}; held out: loss {:.4f}, accuracy {:.1f} %",
                      iteration, losses.back(), now.loss, 100 * now.accuracy));
    }
  }
  summary.unions = recording.finish();
  summary.after = model.evaluate();
  const std::size_t averaged = std::min<std::size_t>(kAveraged, losses.size());
  for (std::size_t i = 0; i < averaged; ++i) {
    summary.first_loss += losses[i] / static_cast<double>(averaged);
    summary.last_loss += losses[losses.size() - 1 - i] / static_cast<double>(averaged);
  }
  return summary;
}

}  // namespace thinwire::recorder
