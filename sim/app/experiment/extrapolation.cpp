#include "sim/app/experiment/extrapolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/compare.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::experiment {

namespace {

constexpr int kLeast = 4;

std::optional<algorithms::Pipeline> pipeline_of(const Point& point, const Machine& machine) {
  const algorithms::SchemeInfo scheme = algorithms::find_scheme(point.scheme);
  if (!scheme.pipeline) return std::nullopt;
  const algorithms::Options options(scheme.options, point.options);
  return scheme.pipeline(cost_input(point, machine, options, 1));
}

/// The point with about so many of its chunks.
ShorterPoint shorter(const Point& point, const Machine& machine,
                     const algorithms::Pipeline& pipeline, std::int64_t chunks) {
  ShorterPoint shorter{.point = point};
  Point& of = shorter.point;
  of.extrapolate_chunks = 0;
  of.iterations = 1;
  of.scheme = pipeline.scheme;
  of.options =
      algorithms::Options(algorithms::find_scheme(of.scheme).options, pipeline.options).all();
  const double share = static_cast<double>(chunks) / static_cast<double>(pipeline.chunks);
  of.space.components =
      std::max(std::int64_t{1},
               static_cast<std::int64_t>(share * static_cast<double>(point.space.components)));
  of.k = std::min(point.k, of.space.components);
  // The rounding of lengths may make it a chunk more or less.
  shorter.chunks = pipeline_of(of, machine)->chunks;
  return shorter;
}

/// Extends a line from its values at few and at more chunks to all.
class Line {
 public:
  explicit Line(const Extrapolation& how)
      : beyond_(static_cast<double>(how.chunks - how.more.chunks) /
                static_cast<double>(how.more.chunks - how.few.chunks)) {}

  [[nodiscard]] double operator()(double few, double more) const {
    return more + beyond_ * (more - few);
  }
  [[nodiscard]] Seconds operator()(Seconds few, Seconds more) const {
    return Seconds((*this)(few.value(), more.value()));
  }
  [[nodiscard]] std::int64_t operator()(std::int64_t few, std::int64_t more) const {
    return std::llround((*this)(static_cast<double>(few), static_cast<double>(more)));
  }
  [[nodiscard]] Words operator()(Words few, Words more) const {
    return Words((*this)(few.value(), more.value()));
  }
  [[nodiscard]] Spread operator()(const Spread& few, const Spread& more) const {
    return {.max = (*this)(few.max, more.max), .mean = (*this)(few.mean, more.mean)};
  }

 private:
  double beyond_;
};

}  // namespace

void check_extrapolation(const Point& point, const algorithms::SchemeInfo& scheme,
                         const std::string& origin) {
  if (point.extrapolate_chunks == 0) return;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: /extrapolate_chunks: {}", origin, why));
  };
  if (point.extrapolate_chunks < kLeast) {
    refuse(fmt::format("a time is extrapolated from {} chunks or more", kLeast));
  }
  if (!scheme.pipeline) {
    refuse(fmt::format("{} sends no chunks one after the other through trees", scheme.name));
  }
  if (!point.input.trace.empty()) refuse("a recorded gradient has a length of its own");
  if (!point.workload.model.empty())
    refuse("a model has a length of its own; leave out 'workload'");
  if (point.error_feedback) refuse("gradients are shorter; leave out 'error_feedback'");
  if (!point.tensors.empty()) refuse("gradients are shorter than the tensors; leave out 'tensors'");
  if (point.machine.cache > Bytes(0)) {
    refuse("shorter gradients fit better into the cache; leave out 'machine.cache_bytes'");
  }
  if (point.stragglers.any() || point.machine.host.noise > Seconds(0)) {
    refuse("delays at random do not repeat; leave out 'stragglers' and 'noise_s'");
  }
  if (point.record.links || point.record.ranks) refuse("not all is sent; leave out 'record'");
}

std::optional<Extrapolation> extrapolation_of(const Point& point, const Machine& machine) {
  if (point.extrapolate_chunks == 0) return std::nullopt;
  const std::optional<algorithms::Pipeline> pipeline = pipeline_of(point, machine);
  if (!pipeline) {
    throw InputError(fmt::format(
        "/extrapolate_chunks: {} sends no chunks through trees here; leave it out", point.scheme));
  }
  if (pipeline->chunks <= point.extrapolate_chunks) return std::nullopt;
  Extrapolation how{.few = shorter(point, machine, *pipeline, point.extrapolate_chunks / 2),
                    .more = shorter(point, machine, *pipeline, point.extrapolate_chunks),
                    .chunks = pipeline->chunks};
  if (how.more.chunks == how.few.chunks) return std::nullopt;  // of a few words each
  return how;
}

Outcome extrapolated(const Point& point, const Extrapolation& how, const Outcome& few,
                     const Outcome& more) {
  const Line line(how);
  Outcome outcome = more;
  outcome.iteration = point.iterations;
  outcome.iteration_times.assign(static_cast<std::size_t>(point.iterations),
                                 line(few.time(), more.time()));
  if (few.alphabeta_time && more.alphabeta_time) {
    outcome.alphabeta_time = line(*few.alphabeta_time, *more.alphabeta_time);
  }
  outcome.messages_sent = line(few.messages_sent, more.messages_sent);
  outcome.messages_received = line(few.messages_received, more.messages_received);
  outcome.words_sent = line(few.words_sent, more.words_sent);
  outcome.words_received = line(few.words_received, more.words_received);
  for (PhaseCost& phase : outcome.phases) {
    const auto same = std::ranges::find(few.phases, phase.name, &PhaseCost::name);
    if (same == few.phases.end()) continue;
    phase.time = line(same->time, phase.time);
    phase.words_received = line(same->words_received, phase.words_received);
    phase.messages_received = line(same->messages_received, phase.messages_received);
  }
  outcome.result_components = point.space.components;
  outcome.ranks_agree = few.ranks_agree && more.ranks_agree;
  return outcome;
}

double simulated_share(const Point& point) {
  if (point.extrapolate_chunks == 0) return 1;
  const std::optional<algorithms::Pipeline> pipeline = pipeline_of(point, point.machine);
  if (!pipeline || pipeline->chunks <= point.extrapolate_chunks) return 1;
  return 1.5 * point.extrapolate_chunks / static_cast<double>(pipeline->chunks) /
         std::max(1, point.iterations);
}

}  // namespace thinwire::experiment
