#include "sim/app/run/extrapolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/app/results/compare.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::run {

namespace {

/// How far the extrapolation from the last quarter of the chunks may be from the one from the quarter
/// before, as a share of the extrapolated time.
constexpr double kStraight = 0.03;

/// The pipeline of a point that is to be extrapolated; nothing if all of the point is simulated, or if
/// NCCL takes rings or switches.
std::optional<algorithms::Pipeline> pipeline_of(const plan::Point& point,
                                                const plan::Machine& machine) {
  if (point.few_chunks() == 0 || point.ranks == 1) return std::nullopt;
  const algorithms::SchemeInfo& scheme = *point.scheme;
  if (!scheme.stand_ins.pipeline) return std::nullopt;
  const algorithms::Options options(scheme.options, point.options);
  return scheme.stand_ins.pipeline(results::cost_input(point, machine, options, 1));
}

/// See simulated_share().
double share_of(const plan::Point& point, const std::optional<algorithms::Pipeline>& pipeline) {
  if (!pipeline) return 1;
  constexpr double kOfMost = 0.5 + 0.75 + 1;
  const double all = pipeline->long_chunks * std::max(1, point.iterations);
  return std::min(1.0, kOfMost * point.few_chunks() / all);
}

/// The point with about so many of its chunks.
ShorterPoint shorter(const plan::Point& point, const plan::Machine& machine,
                     const algorithms::Pipeline& pipeline, std::int64_t chunks) {
  ShorterPoint shorter{.point = point};
  plan::Point& of = shorter.point;
  of.iterations = 1;
  of.scheme = pipeline.scheme;
  of.options = algorithms::Options(of.scheme->options, pipeline.options).all();
  const double share = static_cast<double>(chunks) / pipeline.long_chunks;
  of.space.components =
      std::max(std::int64_t{1},
               static_cast<std::int64_t>(share * static_cast<double>(point.space.components)));
  of.k = std::min(point.k, of.space.components);
  // The rounding of lengths may make it fewer.
  shorter.chunks = pipeline_of(of, machine)->chunks;
  of.approximate = 0;
  return shorter;
}

/// Extends a line from its values at few and at more chunks to all. What it has without chunks is
/// there each time that the trees fill.
class Line {
 public:
  Line(const ShorterPoint& few, const ShorterPoint& more, double chunks, std::int64_t fills)
      : beyond_(chunks - static_cast<double>(more.chunks)),
        between_(static_cast<double>(more.chunks - few.chunks)),
        more_(static_cast<double>(more.chunks)),
        more_fills_(static_cast<double>(fills - 1)),
        ranks_(more.point.simulated_ranks()) {}

  [[nodiscard]] double operator()(double few, double more) const {
    const double without = more - more_ * (more - few) / between_;
    return more + beyond_ * (more - few) / between_ + more_fills_ * without;
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
  [[nodiscard]] results::Spread operator()(const results::Spread& few,
                                           const results::Spread& more) const {
    // What all ranks count is a whole number.
    return {.max = (*this)(few.max, more.max),
            .mean = std::round((*this)(few.mean, more.mean) * ranks_) / ranks_};
  }

 private:
  double beyond_;      ///< chunks that are not simulated
  double between_;     ///< chunks by which the points differ
  double more_;        ///< chunks of the longer point
  double more_fills_;  ///< after the first
  double ranks_;
};

}  // namespace

std::optional<Extrapolation> extrapolation_of(const plan::Point& point,
                                              const plan::Machine& machine) {
  const std::optional<algorithms::Pipeline> pipeline = pipeline_of(point, machine);
  if (share_of(point, pipeline) == 1) return std::nullopt;
  const std::int64_t most = point.few_chunks();
  Extrapolation how{.points = {}, .all = *pipeline};
  for (const std::int64_t chunks : {most / 2, most * 3 / 4, most}) {
    how.points.push_back(shorter(point, machine, *pipeline, chunks));
  }
  const auto same = [](const ShorterPoint& a, const ShorterPoint& b) {
    return a.chunks == b.chunks;
  };
  if (std::ranges::adjacent_find(how.points, same) != how.points.end()) return std::nullopt;
  return how;
}

results::Outcome extrapolated(const plan::Point& point, const Extrapolation& how,
                              const std::vector<results::Outcome>& outcomes) {
  const results::Outcome& few = outcomes.front();
  const results::Outcome& more = outcomes.back();
  const auto line_of = [&how](const ShorterPoint& few_chunks, const ShorterPoint& more_chunks) {
    return Line(few_chunks, more_chunks, how.all.long_chunks, how.all.fills);
  };
  const Line line = line_of(how.points.front(), how.points.back());
  // The messages of a chunk do not depend on its length.
  const Line messages(how.points.front(), how.points.back(), static_cast<double>(how.all.chunks),
                      1);
  const auto check_straight = [&](const char* what, auto time_of) {
    const Line first = line_of(how.points[0], how.points[1]);
    const Line last = line_of(how.points[1], how.points[2]);
    const Seconds by_first = first(time_of(outcomes[0]), time_of(outcomes[1]));
    const Seconds by_last = last(time_of(outcomes[1]), time_of(outcomes[2]));
    const Seconds time = line(time_of(few), time_of(more));
    const double apart = std::abs((by_last - by_first).value());
    if (apart <= kStraight * time.value()) return;
    throw SimulationError(
        "/approximate: {} does not yet grow evenly with the chunks: extrapolated from gradients of "
        "{} and {} chunks, and from {} and {} chunks, it differs by {:.0f}%; take more chunks",
        what, how.points[0].chunks, how.points[1].chunks, how.points[1].chunks,
        how.points[2].chunks, 100 * apart / time.value());
  };
  check_straight("the time", [](const results::Outcome& of) { return of.time(); });
  results::Outcome outcome = more;
  outcome.iteration = point.iterations;
  outcome.iteration_times.assign(static_cast<std::size_t>(point.iterations),
                                 line(few.time(), more.time()));
  if (more.alphabeta_time) {
    check_straight("the time on the α-β machine",
                   [](const results::Outcome& of) { return of.alphabeta_time.value(); });
    outcome.alphabeta_time = line(*few.alphabeta_time, *more.alphabeta_time);
  }
  outcome.messages_sent = messages(few.messages_sent, more.messages_sent);
  outcome.messages_received = messages(few.messages_received, more.messages_received);
  outcome.words_sent = line(few.words_sent, more.words_sent);
  outcome.words_received = line(few.words_received, more.words_received);
  if (!how.all.own_phases) outcome.phases.clear();
  for (results::PhaseCost& phase : outcome.phases) {
    const auto same = std::ranges::find(few.phases, phase.name, &results::PhaseCost::name);
    if (same == few.phases.end()) continue;
    phase.time = line(same->time, phase.time);
    phase.words_received = line(same->words_received, phase.words_received);
    phase.messages_received = messages(same->messages_received, phase.messages_received);
  }
  outcome.result_components = point.space.components;
  outcome.ranks_agree = std::ranges::all_of(outcomes, &results::Outcome::ranks_agree);
  outcome.extrapolated_chunks = how.all.chunks;
  return outcome;
}

double simulated_share(const plan::Point& point, const plan::Machine& machine) {
  return share_of(point, pipeline_of(point, machine));
}

}  // namespace thinwire::run
