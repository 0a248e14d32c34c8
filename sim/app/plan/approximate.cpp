#include "sim/app/plan/approximate.hpp"

#include <fmt/format.h>

#include <bit>
#include <functional>

#include "algorithms/collectives/hierarchical.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::plan {

namespace {

using Refuse = std::function<void(const std::string&)>;

/// From so many on, ranks that add unequal parts stand for all within some percent.
constexpr int kManyForParts = 64;
/// Fewer chunks hardly fill the trees.
constexpr int kLeastChunks = 32;

/// Refuses what is not alike for all ranks on a platform.
void check_represented_links(const Point& point, const Refuse& refuse) {
  if (point.network != "links") return;
  if (point.placement != "block" && point.placement != "round_robin") {
    refuse(
        fmt::format("with the placement {} the ranks that run are not near each other; take block "
                    "or round_robin",
                    point.placement));
  }
  if (point.record.links) refuse("not all links are used; leave out 'record.links'");
  if (point.links.routing != networks::LinkRouting::minimal) {
    refuse("messages of all ranks would have to choose paths; leave out 'links.routing'");
  }
  if (point.links.background_share > 0 || point.links.background_flows > 0 ||
      !point.links.slow_links.empty()) {
    refuse("other jobs and slow links are not near all ranks alike; leave out 'links'");
  }
}

/// Refuses settings that treat ranks differently.
void check_ranks(const Point& point, const Refuse& refuse) {
  const algorithms::SchemeInfo& scheme = *point.scheme;
  const algorithms::StandIns& stand_ins = scheme.stand_ins;
  const int few = point.approximate;
  if (point.network->clock_goes_on) {
    refuse(fmt::format("all ranks run on {}; take links or alphabeta", point.network->name));
  }
  if (few < 2 || point.ranks % few != 0) {
    refuse(fmt::format("{} ranks are not 2 or more that divide {}", few, point.ranks));
  }
  if (!point.input.statistical) {
    refuse("exact values differ from rank to rank; give a profile and 'statistical'");
  }
  if (!algorithms::same_on_all_ranks(scheme.collective_kind)) {
    refuse(fmt::format("the ranks of a {} end with different values",
                       name_of(scheme.collective_kind)));
  }
  if (point.ranks % stand_ins.alike_after == 0 && few % stand_ins.alike_after != 0) {
    refuse(
        fmt::format("ranks of {} whose numbers differ by {} do not do the same; take a multiple "
                    "of {}",
                    scheme.name, few, stand_ins.alike_after));
  }
  if (!stand_ins.unlike_with.empty() &&
      algorithms::Options(scheme.options, point.options).flag(stand_ins.unlike_with)) {
    refuse(fmt::format("the ranks of {} are not busy for the same time with 'options.{}'",
                       scheme.name, stand_ins.unlike_with));
  }
  check_represented_links(point, refuse);
  if (stand_ins.uneven_parts == algorithms::UnevenParts::sent_and_gathered) {
    const bool power = std::has_single_bit(static_cast<unsigned>(point.ranks));
    if (few < kManyForParts || (!power && !stand_ins.adds_in_nodes)) {
      refuse(
          fmt::format("parts that ranks of {} gather have more entries on some ranks than on "
                      "others: few stand for all only if they are {} or more{}",
                      scheme.name, kManyForParts,
                      stand_ins.adds_in_nodes ? "" : ", and where 'ranks' is a power of two"));
    }
  }
  if (scheme.selects_together || scheme.one_selects) {
    refuse(
        fmt::format("the ranks of {} select differently, so none stand for others", scheme.name));
  }
  if (point.record.ranks) refuse("not all ranks run; leave out 'record.ranks'");
  if (point.stragglers.any() || point.machine.host.noise > Seconds(0)) {
    refuse("few ranks cannot stand for the slowest of many; leave out 'stragglers' and 'noise_s'");
  }
  const networks::HostCosts& host = point.machine.host;
  if (host.one_way > Bytes(0) || host.buffered > Bytes(0) ||
      host.limits_destinations(point.ranks)) {
    refuse(
        "messages of different ranks would wait for each other; leave out 'one_way_bytes', "
        "'buffered_bytes' and 'destinations'");
  }
}

/// Refuses what does not repeat from chunk to chunk.
void check_chunks(const Point& point, const Refuse& refuse) {
  if (!point.network->has_clock) {
    refuse("a time is extrapolated from few chunks, and this network has no clock");
  }
  if (point.approximate < kLeastChunks) {
    refuse(fmt::format("a time is extrapolated from {} chunks or more", kLeastChunks));
  }
  if (!point.input.trace.empty()) refuse("a recorded gradient has a length of its own");
  if (!point.workload.model.empty())
    refuse("a model has a length of its own; leave out this setting, or the model");
  if (point.error_feedback) refuse("gradients are shorter; leave out 'error_feedback'");
  if (!point.tensors.empty()) refuse("gradients are shorter than the tensors; leave out 'tensors'");
  if (point.machine.cache > Bytes(0)) {
    refuse("shorter gradients fit better into the cache; leave out 'machine.cache_bytes'");
  }
  if (point.machine.gamma_per_word > Seconds(0) || point.machine.gamma_beyond_cache > Seconds(0)) {
    refuse(
        "with sums that take time, the order of chunks that meet decides, and other lengths have "
        "another; leave out 'machine.gamma_s_per_word' (--gamma)");
  }
  if (point.machine.host.noise > Seconds(0)) {
    refuse("delays at random do not repeat; leave out 'machine.noise_s'");
  }
  if (point.record.links || point.record.ranks)
    refuse("not all is sent; leave out 'record.links' (--links) and 'record.ranks' (--by-rank)");
}

}  // namespace

std::optional<networks::FewRanks> few_ranks_of(const Point& point) {
  if (point.few_ranks() == 0) return std::nullopt;
  // The same ranks run on all networks that a point needs.
  const bool next_to_each_other = point.network->congests || point.scheme->stand_ins.adds_in_nodes;
  using enum networks::FewRanks::Which;
  return networks::FewRanks{.ranks = point.ranks,
                            .running = point.few_ranks(),
                            .which = next_to_each_other ? first : spread};
}

void check_approximation(const Point& point, const std::string& origin) {
  if (point.approximate == 0) return;
  const auto refuse = [&](const std::string& why) {
    throw InputError("{}: /approximate: {}", origin, why);
  };
  if (point.approximates_chunks) {
    check_chunks(point, refuse);
  } else {
    check_ranks(point, refuse);
  }
}

void check_whole_nodes(const Point& point, const algorithms::Options& options, int known_node) {
  const algorithms::SchemeInfo& scheme = *point.scheme;
  if (point.few_ranks() == 0 || !scheme.stand_ins.adds_in_nodes) return;
  const int node = algorithms::nodes_of(options, point.ranks, known_node).size;
  constexpr int kLeastNodes = 8;
  if (point.few_ranks() % node == 0 && point.few_ranks() >= kLeastNodes * node) return;
  const std::string why =
      point.ranks % node != 0
          ? fmt::format(
                "nodes of this size do not divide {} ranks, so no ranks can stand for others",
                point.ranks)
          : fmt::format(
                "take {} nodes or more that divide {} ranks, so a multiple of {} from {} on",
                kLeastNodes, point.ranks, node, kLeastNodes * node);
  throw InputError("/approximate: {} sums inside nodes of {} ranks: {}", scheme.name, node, why);
}

bool represents_unequal_parts(const Point& point) {
  using algorithms::UnevenParts;
  if (point.few_ranks() == 0) return false;
  const algorithms::StandIns& stand_ins = point.scheme->stand_ins;
  return stand_ins.adds_in_nodes || stand_ins.uneven_parts == UnevenParts::sent_and_gathered ||
         (stand_ins.uneven_parts == UnevenParts::sent && point.few_ranks() < kManyForParts);
}

double approximation_error(const Point& point, bool uneven) {
  if (point.approximates_chunks) return 0.05;
  const bool beyond =
      represents_unequal_parts(point) || (uneven && point.few_ranks() < kManyForParts);
  return beyond ? 0.25 : 0.03;
}

}  // namespace thinwire::plan
