// The content of a report's figures: which results form which curve. The page and the single
// figures draw the same.
//
// A curve is one scheme with its options, in one place (network, platform and machine), with one
// setting (everything else: components, input, training ...), at one density; its x axis is the
// number of ranks. Results that differ in any of these are never on one curve.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// The lowest and the highest value; equal if a formula is exact.
using ValueRange = std::pair<double, double>;

/// The seconds of a phase of the scheme, or of a part of a training iteration.
struct TimePart {
  std::string name;
  double time_s = 0;
};

/// A result in the form that figures show.
struct CurvePoint {
  int ranks = 1;
  /// The time of an iteration, or of a training's whole iteration, in the mean if some do more work
  /// than others; none on a network without a clock.
  std::optional<double> time_s;
  std::optional<ValueRange> formula_s;  ///< the paper's, if results are compared with it
  double words = 0;                     ///< words of 4 bytes: the most that a rank sent or received
  ValueRange formula_words;
  std::optional<double> congestion_factor;
  /// Each phase's time at the rank that it costs most; phases overlap if a scheme's strands do.
  std::vector<TimePart> parts;
  std::optional<double> parts_time_s;  ///< the time of the iteration that has these parts
  std::string verdict;
  bool far_from_k = false;  ///< what was selected: the time wins nothing
};

/// `label`, `place` and `setting` are indices into the lists of Figures.
struct Curve {
  std::size_t label = 0;
  std::size_t place = 0;
  std::size_t setting = 0;
  std::optional<double> density;   ///< none for dense schemes, which belong to all
  std::vector<CurvePoint> points;  ///< sorted by ranks, which are distinct
};

/// A cell of the crossover map: the candidates that ran there, the fastest first.
struct Cell {
  struct Candidate {
    std::size_t label = 0;
    double time_s = 0;
  };
  std::size_t place = 0;
  std::size_t setting = 0;
  int ranks = 1;
  std::optional<double> density;  ///< none if only dense schemes ran
  std::vector<Candidate> candidates;
};

/// A point without a result.
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
  /// Schemes, with the options in which they differ; the leading ones come first.
  std::vector<std::string> labels;
  std::vector<std::string> places;    ///< networks, platforms and machines
  std::vector<std::string> settings;  ///< other differences between results; one empty text if none
  std::string common;                 ///< sizes and machine that all results share
  std::vector<Curve> curves;
  std::vector<Cell> cells;
  /// The labels that figures show where the reader has chosen none; empty: all. Of more than ten
  /// they are the ten nearest to the fastest on the geometric mean; the best of the dense schemes in
  /// full precision is among them.
  std::vector<std::size_t> leading;
  std::vector<Trouble> troubles;
};

[[nodiscard]] Figures figures_of(const std::vector<results::Row>& rows);

/// Recovers the density that the user gave from k: the shortest decimal that yields this k when
/// rounded to components and down to granules.
[[nodiscard]] double given_density(std::int64_t k, const GradientSpace& space);

/// The JSON that the page reads.
[[nodiscard]] Json to_json(const Figures& figures);

}  // namespace thinwire::report
