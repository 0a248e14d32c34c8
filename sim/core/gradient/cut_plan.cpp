#include "sim/core/gradient/cut_plan.hpp"

#include <algorithm>
#include <memory>

#include "sim/core/gradient/halving.hpp"

namespace thinwire::inline gradient {

namespace {

/// Draws of `count` nodes, and where their results go.
struct Draws {
  std::size_t count;
  const std::uint64_t* mixed_numbers;
  const double* sizes;
  const double* shares;
  const double* left_widths;
  const double* right_widths;
  double* left;
};

[[gnu::always_inline]] inline void draw_each(const HalfDraw& draw, const Draws& draws) {
  for (std::size_t i = 0; i < draws.count; ++i) {
    draws.left[i] = draw.left(draws.mixed_numbers[i], draws.sizes[i], draws.shares[i],
                              draws.left_widths[i], draws.right_widths[i]);
  }
}

#ifdef __x86_64__
// The same loop with vectors of four, in half the time. Without fused operations, so no digit moves.
[[gnu::target("avx2")]] void draw_each_by_fours(const HalfDraw& draw, const Draws& draws) {
  draw_each(draw, draws);
}
#endif

void draw_all(const HalfDraw& draw, const Draws& draws) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    draw_each_by_fours(draw, draws);
    return;
  }
#endif
  draw_each(draw, draws);
}

}  // namespace

CutPlan::CutPlan(CutSpace space, std::span<const std::int64_t> cuts)
    : space_(space), cuts_(cuts.begin(), cuts.end()), found_(cuts.size()) {
  const auto coordinate_of_cut = [&](std::int64_t cut) { return cut - space.offset; };
  const auto begin = static_cast<std::size_t>(
      std::ranges::upper_bound(cuts_, std::int64_t{space.first}, {}, coordinate_of_cut) -
      cuts_.begin());
  const auto end = static_cast<std::size_t>(
      std::ranges::lower_bound(cuts_, std::int64_t{space.last}, {}, coordinate_of_cut) -
      cuts_.begin());
  for (std::size_t i = end; i < found_.size(); ++i) found_[i].offset = 1;  // after all entries
  if (begin >= end) return;
  std::vector<Open> open{{.place = 0,
                          .first = space.first,
                          .last = space.last,
                          .number = 1,
                          .begin = begin,
                          .end = end}};
  while (!open.empty()) {
    std::vector<Open> halves;
    for (const Open& node : open) halve(node, halves);
    depths_.push_back(places_.size());
    open = std::move(halves);
  }
}

void CutPlan::halve(const Open& node, std::vector<Open>& halves) {
  if (node.last - node.first <= space_.narrow) {
    for (std::size_t i = node.begin; i < node.end; ++i) {
      found_[i] = {.place = node.place,
                   .offset = static_cast<double>(cuts_[i] - space_.offset - node.first),
                   .width = static_cast<double>(node.last - node.first)};
    }
    return;
  }
  const std::uint32_t middle = node.first + (node.last - node.first) / 2;
  const auto left = static_cast<Place>(2 * places_.size() + 1);
  places_.push_back(node.place);
  firsts_.push_back(node.first);
  lasts_.push_back(node.last);
  mixed_numbers_.push_back(mix(node.number));
  left_widths_.push_back(middle - node.first);
  right_widths_.push_back(node.last - middle);

  const auto from = cuts_.begin() + static_cast<std::ptrdiff_t>(node.begin);
  const auto to = cuts_.begin() + static_cast<std::ptrdiff_t>(node.end);
  const auto [low, high] = std::equal_range(from, to, middle + space_.offset);
  const auto until = static_cast<std::size_t>(low - cuts_.begin());
  const auto after = static_cast<std::size_t>(high - cuts_.begin());
  for (std::size_t i = until; i < after; ++i) found_[i].place = left + 1;
  if (node.begin < until) {
    halves.push_back({.place = left,
                      .first = node.first,
                      .last = middle,
                      .number = 2 * node.number,
                      .begin = node.begin,
                      .end = until});
  }
  if (after < node.end) {
    halves.push_back({.place = left + 1,
                      .first = middle,
                      .last = node.last,
                      .number = 2 * node.number + 1,
                      .begin = after,
                      .end = node.end});
  }
}

bool CutPlan::is_of(const CutSpace& space, std::span<const std::int64_t> cuts) const {
  return space_ == space && std::ranges::equal(cuts_, cuts);
}

const std::vector<double>& CutPlan::shares_of(const Statistics& body) const {
  constexpr std::size_t kMost = 64;
  if (shares_.size() >= kMost && !shares_.contains(body.counts)) shares_.clear();
  const auto [kept, fresh] = shares_.try_emplace(body.counts);
  if (!fresh) return kept->second;
  const auto before = [&](std::uint32_t coordinate) {
    return Halving::expected_before(body.population.get(), body.counts, coordinate);
  };
  kept->second.reserve(places_.size());
  for (std::size_t j = 0; j < places_.size(); ++j) {
    const std::uint32_t middle = firsts_[j] + (lasts_[j] - firsts_[j]) / 2;
    kept->second.push_back(
        Halving::left_share(before(firsts_[j]), before(middle), before(lasts_[j])));
  }
  return kept->second;
}

std::vector<std::uint32_t> CutPlan::positions_in(const Statistics& body) const {
  const std::vector<double>& shares = shares_of(body);
  const HalfDraw draw{.key = body.key,
                      .dispersion = body.counts != nullptr ? body.counts->dispersion : 1};
  // Entries of each node and before it, which are whole numbers. Nothing is read before it is written.
  const auto uninitialised = [](std::size_t size) {
    return std::make_unique_for_overwrite<double[]>(size);  // NOLINT(*-avoid-c-arrays)
  };
  const auto sizes = uninitialised(2 * places_.size() + 1);
  const auto begins = uninitialised(2 * places_.size() + 1);
  const auto above = uninitialised(places_.size());
  const auto left = uninitialised(places_.size());
  sizes[0] = body.size;
  begins[0] = 0;
  std::size_t from = 0;
  for (const std::size_t to : depths_) {
    const std::size_t count = to - from;
    for (std::size_t i = 0; i < count; ++i) above[i] = sizes[places_[from + i]];
    draw_all(draw, {.count = count,
                    .mixed_numbers = &mixed_numbers_[from],
                    .sizes = above.get(),
                    .shares = &shares[from],
                    .left_widths = &left_widths_[from],
                    .right_widths = &right_widths_[from],
                    .left = left.get()});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = 2 * (from + i) + 1;
      const double begin = begins[places_[from + i]];
      sizes[place] = left[i];
      sizes[place + 1] = above[i] - left[i];
      begins[place] = begin;
      begins[place + 1] = begin + left[i];
    }
    from = to;
  }
  std::vector<std::uint32_t> positions(found_.size());
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const Cut& cut = found_[i];
    positions[i] = static_cast<std::uint32_t>(begins[cut.place]) +
                   static_cast<std::uint32_t>(cut.offset * sizes[cut.place] / cut.width);
  }
  return positions;
}

}  // namespace thinwire::inline gradient
