#include "sim/core/gradient/population.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

#include "sim/core/base/random.hpp"

namespace thinwire::inline gradient {

namespace {

constexpr int kLevelsAnOctave = 32;
constexpr int kOctaves = 40;  // of the grid of levels, below 1 and above
const double kEveryLevel = std::exp2(kOctaves);

/// The levels of the grid, from 0 on.
double level_at(std::size_t i) {
  return std::exp2((static_cast<double>(i) - kOctaves * kLevelsAnOctave) / kLevelsAnOctave);
}

/// The first index below `size` for which `holds`, which holds for all that follow; `size` if none.
template <class Predicate>
std::size_t first_index(std::size_t size, Predicate holds) {
  std::size_t low = 0;
  while (low < size) {
    const std::size_t middle = low + (size - low) / 2;
    if (holds(middle)) {
      size = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Draws how many of `ranks` select, each with `probability`, given that at least one does.
int selectors(int ranks, double probability, std::uint64_t key) {
  const double none = std::pow(1 - probability, ranks);
  const double u = none + to_unit(mix(key)) * (1 - none);
  const double mean = ranks * probability;
  if (mean > 50) {
    const double deviation = std::sqrt(mean * (1 - probability));
    return static_cast<int>(std::clamp(std::round(mean + deviation * normal_draw(key)), 1.0,
                                       static_cast<double>(ranks)));
  }
  double chance = none;
  double below = none;
  int count = 0;
  while (below < u && count < ranks) {
    chance *= (ranks - count) * probability / ((count + 1) * (1 - probability));
    below += chance;
    ++count;
  }
  return std::max(1, count);
}

}  // namespace

double MagnitudeLaw::share(double x) const {
  const auto reach = [this](double y) {
    if (y <= 0) return most;
    if (y < 1) return std::min(most, std::pow(y, -below));
    return std::exp(-std::pow(std::log(y) / scale, shape));
  };
  return unit == 1 ? reach(x) : reach(x * unit) / reach(unit);
}

double MagnitudeLaw::ratio(double share) const {
  const auto reached = [this](double part) {
    if (part >= 1) return std::pow(std::min(part, most), -1 / below);
    return std::exp(scale * std::pow(-std::log(part), 1 / shape));
  };
  if (unit == 1) return reached(share);
  const MagnitudeLaw law{.shape = shape, .scale = scale, .below = below, .most = most};
  return reached(share * law.share(unit)) / unit;
}

Population::Population(Settings settings) : settings_(std::move(settings)) {
  for (const std::vector<double>& rates : settings_.rates) totals_.emplace_back(rates.size(), 0.0);
  for (const PopulationPiece& piece : settings_.pieces) {
    for (std::size_t c = 0; c < piece.counts.size(); ++c) {
      totals_[piece.region][c] += static_cast<double>(piece.counts[c]);
      if (settings_.rates[piece.region][c] > 0) present_ += static_cast<double>(piece.counts[c]);
    }
  }
  // The grid is so fine that all functions are nearly linear in logarithms between its points. It
  // is bounded by levels that have hardly an entry, or all but a few.
  constexpr std::size_t kLevels = 2 * kOctaves * kLevelsAnOctave + 1;
  selected_ = united(1);
  grid_begin_ =
      first_index(kLevels, [&](std::size_t i) { return united(level_at(i)) >= 1e-9 * selected_; });
  const std::size_t end = first_index(
      kLevels, [&](std::size_t i) { return united(level_at(i)) > (1 - 1e-9) * present_; });
  for (std::size_t i = grid_begin_; i < end; ++i) grid_levels_.push_back(std::log(level_at(i)));
  grid_.resize(grid_levels_.size());
}

Population::~Population() = default;

const Population::GridPoint& Population::grid_point(std::size_t i) const {
  std::optional<GridPoint>& kept = grid_[i];
  if (!kept) {
    const double entries = united(level_at(grid_begin_ + i));
    kept = GridPoint{.entries = std::log(entries),
                     .ratio = std::log(settings_.magnitudes.ratio(entries / selected_))};
  }
  return *kept;
}

double Population::united(double level) const {
  double sum = 0;
  for (std::size_t r = 0; r < totals_.size(); ++r) {
    for (std::size_t c = 0; c < totals_[r].size(); ++c) {
      sum += totals_[r][c] * -std::expm1(-settings_.rates[r][c] * level);
    }
  }
  return sum;
}

double Population::level_of(double entries) const {
  if (entries <= 0) return 0;
  if (grid_.empty() || entries >= (1 - 1e-9) * present_) return kEveryLevel;
  const double at = std::log(entries);
  const std::size_t i =
      first_index(grid_.size(), [&](std::size_t j) { return grid_point(j).entries >= at; });
  if (i == 0) return std::exp(grid_levels_.front());
  if (i == grid_.size()) return std::exp(grid_levels_.back());
  const double low = grid_point(i - 1).entries;
  const double part = (at - low) / (grid_point(i).entries - low);
  return std::exp(std::lerp(grid_levels_[i - 1], grid_levels_[i], part));
}

// Newton's method, in an interval that each step narrows. The entries are linear in the level around
// each level of the grid, so that a few steps are enough.
double Population::level_of(double first, double last, double entries) const {
  if (entries <= 0) return 0;
  if (entries >= united(first, last, kEveryLevel)) return kEveryLevel;
  double low = 0;
  double high = kEveryLevel;
  double level = level_of(entries * settings_.coordinates / (last - first));  // if evenly spread
  for (int step = 0; step < 200; ++step) {
    const Line line = entries_near(first, last, level);
    const double beyond = line.at(level) - entries;
    (beyond < 0 ? low : high) = level;
    double next = level - beyond / line.slope;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::abs(next - level) <= 1e-12 * level) return next;
    level = next;
  }
  return level;
}

double Population::ratio_of_level(double level) const {
  if (grid_.empty()) return 1;
  const double at = std::log(level);
  const double first = grid_levels_.front();
  if (at <= first) return std::exp(grid_point(0).ratio);
  if (at > grid_levels_.back()) return std::exp(grid_point(grid_.size() - 1).ratio);
  // The grid has equal steps; rounding may be off by one.
  auto i = static_cast<std::size_t>((at - first) / std::numbers::ln2 * kLevelsAnOctave) + 1;
  i = std::min(i, grid_.size() - 1);
  while (grid_levels_[i - 1] >= at) --i;
  while (grid_levels_[i] < at) ++i;
  const double part = (at - grid_levels_[i - 1]) / (grid_levels_[i] - grid_levels_[i - 1]);
  return std::exp(std::lerp(grid_point(i - 1).ratio, grid_point(i).ratio, part));
}

double Population::level_of_ratio(double ratio) const {
  if (ratio <= 0 || grid_.empty()) return kEveryLevel;
  const double at = std::log(ratio);
  if (at >= grid_point(0).ratio) return 0;
  if (at <= grid_point(grid_.size() - 1).ratio) return kEveryLevel;
  const std::size_t i =
      first_index(grid_.size(), [&](std::size_t j) { return grid_point(j).ratio <= at; });
  const double step = grid_point(i).ratio - grid_point(i - 1).ratio;
  const double part = step == 0 ? 0 : (at - grid_point(i - 1).ratio) / step;
  return std::exp(std::lerp(grid_levels_[i - 1], grid_levels_[i], part));
}

CellCounts Population::counts_of(const std::vector<std::vector<double>>& weight,
                                 const std::vector<std::vector<double>>& slope) const {
  const std::size_t cells =
      (std::size_t{settings_.coordinates} + settings_.cell_width - 1) / settings_.cell_width;
  CellCounts result;
  result.united.assign(cells + 1, 0);
  result.slope.assign(slope.empty() ? 0 : cells + 1, 0);
  double squares = 0;
  for (const PopulationPiece& piece : settings_.pieces) {
    const std::vector<double>& w = weight[piece.region];
    double united = 0;
    double change = 0;
    for (std::size_t c = 0; c < piece.counts.size(); ++c) {
      const auto count = static_cast<double>(piece.counts[c]);
      united += count * w[c];
      squares += count * w[c] * w[c];
      if (!slope.empty()) change += count * slope[piece.region][c];
    }
    result.united[piece.cell + 1] += united;
    if (!slope.empty()) result.slope[piece.cell + 1] += change;
  }
  for (std::size_t i = 1; i <= cells; ++i) {
    result.united[i] += result.united[i - 1];
    if (!slope.empty()) result.slope[i] += result.slope[i - 1];
  }
  const double all = result.united.back();
  result.dispersion = all > 0 ? std::max(0.0, 1 - squares / all) : 1;
  return result;
}

const CellCounts& Population::counts(double level) const {
  const auto index = static_cast<int>(
      std::lround(std::log2(std::clamp(level, 0x1p-60, 0x1p60)) * kLevelsAnOctave));
  std::unique_ptr<CellCounts>& kept = counts_[index];
  if (!kept) {
    const double at = std::exp2(static_cast<double>(index) / kLevelsAnOctave);
    std::vector<std::vector<double>> weight = settings_.rates;
    std::vector<std::vector<double>> slope = settings_.rates;
    for (std::size_t r = 0; r < weight.size(); ++r) {
      for (std::size_t c = 0; c < weight[r].size(); ++c) {
        const double rate = settings_.rates[r][c];
        weight[r][c] = -std::expm1(-rate * at);
        slope[r][c] = rate * std::exp(-rate * at);
      }
    }
    kept = std::make_unique<CellCounts>(counts_of(weight, slope));
    kept->level = at;
  }
  return *kept;
}

namespace {

/// Interpolates prefix sums over cells at `cells`, a fractional number of cells.
double interpolated(const std::vector<double>& prefix, double cells) {
  const auto last = static_cast<double>(prefix.size() - 1);
  cells = std::clamp(cells, 0.0, last);
  const auto cell = std::min(static_cast<std::size_t>(cells), prefix.size() - 2);
  return std::lerp(prefix[cell], prefix[cell + 1], cells - static_cast<double>(cell));
}

}  // namespace

double Population::before(const CellCounts& counts, double coordinate) const {
  return interpolated(counts.united, cells_before(coordinate));
}

double Population::cells_before(double coordinate) const {
  // The last cell may be narrower than the others.
  const double width = settings_.cell_width;
  const double cells = std::ceil(settings_.coordinates / width);
  const double begin = (cells - 1) * width;
  if (coordinate <= begin) return coordinate / width;
  const double rest = static_cast<double>(settings_.coordinates) - begin;
  return cells - 1 + std::min(1.0, (coordinate - begin) / rest);
}

const CutPlan& Population::cut_plan(const CutSpace& space,
                                    std::span<const std::int64_t> cuts) const {
  constexpr std::size_t kKept = 8;
  auto found =
      std::ranges::find_if(cut_plans_, [&](const auto& plan) { return plan->is_of(space, cuts); });
  if (found == cut_plans_.end()) {
    if (cut_plans_.size() == kKept) cut_plans_.pop_back();
    cut_plans_.push_back(std::make_unique<const CutPlan>(space, cuts));
    found = std::prev(cut_plans_.end());
  }
  std::rotate(cut_plans_.begin(), found, std::next(found));
  return *cut_plans_.front();
}

const CutPlan& Population::cell_plan() const {
  if (cell_plan_) return *cell_plan_;
  const std::uint32_t width = settings_.cell_width;
  std::vector<std::int64_t> begins;
  const auto halve = [&](const auto& self, std::uint32_t first, std::uint32_t last) -> void {
    if (last - first <= width) {
      begins.push_back(first);
      return;
    }
    const std::uint32_t middle = first + (last - first) / 2;
    self(self, first, middle);
    self(self, middle, last);
  };
  halve(halve, 0, settings_.coordinates);
  begins.push_back(settings_.coordinates);
  const CutSpace space{.first = 0, .last = settings_.coordinates, .narrow = width};
  cell_plan_ = std::make_unique<const CutPlan>(space, begins);
  return *cell_plan_;
}

Population::Line Population::entries_near(double first, double last, double level) const {
  const CellCounts& near = counts(level);
  const double begin = cells_before(first);
  const double end = cells_before(last);
  return {.level = near.level,
          .entries = interpolated(near.united, end) - interpolated(near.united, begin),
          .slope = interpolated(near.slope, end) - interpolated(near.slope, begin)};
}

double Population::united(double first, double last, double level) const {
  return level <= 0 ? 0 : entries_near(first, last, level).at(level);
}

double Population::slope(double first, double last, double level) const {
  return entries_near(first, last, level).slope;
}

const Population::Sums& Population::sums(int ranks) const {
  std::unique_ptr<Sums>& kept = sums_[ranks];
  if (kept) return *kept;
  constexpr int kGrid = 144;
  constexpr int kDraws = 2048;
  constexpr std::uint64_t kSeed = 0x73756d73;
  kept = std::make_unique<Sums>();
  for (int i = 0; i <= kGrid; ++i) {
    const double probability = std::min(1 - 1e-9, std::pow(10.0, -7 * (1 - i / double{kGrid})));
    const double rate = -std::log1p(-probability);
    // The magnitude of a rank, given that it selects.
    const auto magnitude = [&](std::uint64_t bits) {
      return ratio_of_level(-std::log1p(-to_unit(bits) * probability) / rate);
    };
    double square = 0;
    for (int j = 0; j < kDraws; ++j) {
      square += std::pow(magnitude(random_bits(kSeed, i, j, -1)), 2) / kDraws;
    }
    std::vector<float> magnitudes;
    for (int j = 0; j < kDraws; ++j) {
      const int count = selectors(ranks, probability, random_bits(kSeed, i, j));
      double sum = 0;
      if (count > 64) {
        sum = std::sqrt(count * square) * normal_draw(random_bits(kSeed, i, j, 1));
      } else {
        for (int s = 0; s < count; ++s) {
          const std::uint64_t bits = random_bits(kSeed, i, j, 2, s);
          sum += (bits & 1U) != 0 ? magnitude(bits) : -magnitude(bits);
        }
      }
      magnitudes.push_back(static_cast<float>(std::abs(sum)));
    }
    std::ranges::sort(magnitudes);
    kept->probability.push_back(probability);
    kept->sorted.push_back(std::move(magnitudes));
  }
  return *kept;
}

std::vector<std::vector<double>> Population::reach(int ranks, double ratio) const {
  const Sums& table = sums(ranks);
  std::vector<double> share;  // one per point of the grid
  for (const std::vector<float>& sorted : table.sorted) {
    const auto at = std::ranges::lower_bound(sorted, static_cast<float>(ratio));
    share.push_back(static_cast<double>(sorted.end() - at) / static_cast<double>(sorted.size()));
  }
  std::vector<std::vector<double>> weight = settings_.rates;
  for (std::vector<double>& rates : weight) {
    for (double& rate : rates) {
      const double probability = -std::expm1(-rate);
      const auto upper = std::ranges::lower_bound(table.probability, probability);
      const auto i = std::min(static_cast<std::size_t>(upper - table.probability.begin()),
                              table.probability.size() - 1);
      double there = share[i];
      if (i > 0) {
        const double low = std::log(table.probability[i - 1]);
        const double step = std::log(table.probability[i]) - low;
        const double part = std::clamp((std::log(probability) - low) / step, 0.0, 1.0);
        there = std::lerp(share[i - 1], share[i], probability > 0 ? part : 0.0);
      }
      rate = there * -std::expm1(-rate * ranks);
    }
  }
  return weight;
}

const CellCounts& Population::reaching(int ranks, double ratio) const {
  std::unique_ptr<CellCounts>& kept = reaching_[{ranks, ratio}];
  if (!kept) {
    kept = std::make_unique<CellCounts>(counts_of(reach(ranks, ratio), {}));
  }
  return *kept;
}

double Population::ratio_reached_by(int ranks, double entries) const {
  const auto [kept, fresh] = reached_by_.try_emplace({ranks, entries}, 0.0);
  if (!fresh) return kept->second;
  const auto reached = [&](double ratio) {
    const std::vector<std::vector<double>> weight = reach(ranks, ratio);
    double sum = 0;
    for (std::size_t r = 0; r < weight.size(); ++r) {
      for (std::size_t c = 0; c < weight[r].size(); ++c) sum += totals_[r][c] * weight[r][c];
    }
    return sum;
  };
  double low = 0;
  double high = 1e6;
  for (int step = 0; step < 60; ++step) {
    const double middle = low == 0 ? high / 64 : (low + high) / 2;
    if (middle < 1e-6) break;
    (reached(middle) >= entries ? low : high) = middle;
  }
  kept->second = (low + high) / 2;
  return kept->second;
}

double Population::excess(double from, int power) const {
  const bool squares = from == 0 && power == 2;  // asked for time and again
  if (squares && squares_) return *squares_;
  // Integrates the number of magnitudes above x on a grid in ln x that ends when none are left.
  const auto count = [&](double x) {
    return std::min(present_, selected_ * settings_.magnitudes.share(x));
  };
  const auto weight = [&](double x) { return power == 2 ? 2 * x : 1.0; };
  const double least = settings_.magnitudes.ratio(settings_.magnitudes.most);
  double sum = power == 2 ? count(from) * from * from : 0;
  if (from < least) {
    sum += present_ * (power == 2 ? least * least - from * from : least - from);
    from = least;
  }
  const double end = std::max(2 * from, settings_.magnitudes.ratio(1e-12));
  constexpr int kSteps = 2000;
  const double step = std::log(end / from) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const double x = from * std::exp((i + 0.5) * step);
    sum += count(x) * weight(x) * x * step;
  }
  if (squares) squares_ = sum;
  return sum;
}

}  // namespace thinwire::inline gradient
