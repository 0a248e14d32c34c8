// What the figures of a report show: which results make which curve. The page and the single
// figures draw the same.
//
// A curve is one scheme with its options, in one place (network, platform and machine), with one
// setting (everything else: components, input, training ...), at one density; it runs over the
// ranks. Nothing that differs in any of these is on one curve.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/app/experiment/row.hpp"

namespace thinwire::report {

/// Lowest and highest value; equal where a formula is exact.
using ValueRange = std::pair<double, double>;

/// Seconds of a phase of the scheme, or of a part of a training's iteration.
struct TimePart {
  std::string name;
  double time_s = 0;
};

/// A result, as figures show it.
struct CurvePoint {
  int ranks = 1;
  /// Of the reported iteration; of a training's whole iteration where there is one; none on a
  /// network without a clock.
  std::optional<double> time_s;
  std::optional<ValueRange> formula_s;  ///< where results are compared with it
  double words = 0;                     ///< of 4 bytes: the most that a rank sent or received
  ValueRange formula_words;
  std::optional<double> congestion_factor;
  /// The rank's that each phase costs most; they overlap where a scheme's strands do.
  std::vector<TimePart> parts;
  std::string verdict;
};

/// `label`, `place` and `setting` are indexes in the lists of Figures.
struct Curve {
  std::size_t label = 0;
  std::size_t place = 0;
  std::size_t setting = 0;
  std::optional<double> density;   ///< none for dense schemes, which belong to all of them
  std::vector<CurvePoint> points;  ///< by ranks, which are all different
};

/// A cell of the crossover map: who ran there, the fastest first.
struct Cell {
  struct Candidate {
    std::size_t label = 0;
    double time_s = 0;
  };
  std::size_t place = 0;
  std::size_t setting = 0;
  int ranks = 1;
  std::optional<double> density;  ///< none where only dense schemes ran
  std::vector<Candidate> candidates;
};

/// A result that is none.
struct Trouble {
  std::string status;  ///< "failed" or "skipped"
  std::size_t label = 0;
  std::size_t place = 0;
  std::size_t setting = 0;
  std::optional<double> density;
  int ranks = 1;
  std::string reason;
};

struct Figures {
  std::vector<std::string> labels;    ///< schemes, with the options in which they differ
  std::vector<std::string> places;    ///< where they ran
  std::vector<std::string> settings;  ///< in what else results differ; one empty text if in nothing
  std::string common;                 ///< sizes and machine that all results have
  std::vector<Curve> curves;
  std::vector<Cell> cells;
  /// The labels that figures show where the reader has chosen none; empty: all. Of more than ten they
  /// are the ten nearest to the fastest on the geometric mean, the best dense one among them.
  std::vector<std::size_t> leading;
  std::vector<Trouble> troubles;
};

[[nodiscard]] Figures figures_of(const std::vector<experiment::Row>& rows);

/// The density that the user gave, as far as k tells it: the shortest decimal that comes to this k
/// by rounding to components and down to granules.
[[nodiscard]] double given_density(std::int64_t k, const GradientSpace& space);

/// As the page reads it.
[[nodiscard]] Json to_json(const Figures& figures);

}  // namespace thinwire::report
