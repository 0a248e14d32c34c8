#include "sim/app/plan/representatives.hpp"

#include <fmt/format.h>

#include <bit>
#include <functional>

#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::plan {

namespace {

/// From so many on, ranks that add unequal parts stand for all within some percent.
constexpr int kManyForParts = 64;
/// Of an extrapolation.
constexpr int kLeastChunks = 32;

/// Refuses what is not alike for all ranks on a platform.
void check_represented_links(const Point& point,
                             const std::function<void(const std::string&)>& refuse) {
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

}  // namespace

void check_representatives(const Point& point, const algorithms::SchemeInfo& scheme,
                           const std::string& origin) {
  const int few = point.representatives;
  if (few == 0) return;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: /representatives: {}", origin, why));
  };
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
  if (scheme.alike_after == 0) {
    refuse(fmt::format("the ranks of {} have different places in a tree, so none stand for others",
                       scheme.name));
  }
  if (point.ranks % scheme.alike_after == 0 && few % scheme.alike_after != 0) {
    refuse(
        fmt::format("ranks of {} whose numbers differ by {} do not do the same; take a multiple "
                    "of {}",
                    scheme.name, few, scheme.alike_after));
  }
  if (!scheme.unlike_with.empty() &&
      algorithms::Options(scheme.options, point.options).flag(scheme.unlike_with)) {
    refuse(fmt::format("the ranks of {} are not busy for the same time with 'options.{}'",
                       scheme.name, scheme.unlike_with));
  }
  check_represented_links(point, refuse);
  if (scheme.uneven_parts == algorithms::UnevenParts::sent_and_gathered) {
    const bool power = std::has_single_bit(static_cast<unsigned>(point.ranks));
    if (few < kManyForParts || (!power && !scheme.adds_in_nodes)) {
      refuse(
          fmt::format("parts that ranks of {} gather have more entries on some ranks than on "
                      "others: few stand for all only if they are {} or more{}",
                      scheme.name, kManyForParts,
                      scheme.adds_in_nodes ? "" : ", and where 'ranks' is a power of two"));
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

void check_whole_nodes(const Point& point, const algorithms::SchemeInfo& scheme,
                       const algorithms::Options& options, int known_node) {
  if (point.representatives == 0 || !scheme.adds_in_nodes) return;
  const int node = algorithms::nodes_of(options, point.ranks, known_node).size;
  constexpr int kLeastNodes = 8;
  if (point.representatives % node == 0 && point.representatives >= kLeastNodes * node) return;
  const std::string why =
      point.ranks % node != 0
          ? fmt::format("they do not divide {} ranks, so no ranks stand for others", point.ranks)
          : fmt::format(
                "take {} nodes or more that divide {} ranks, so a multiple of {} from {} on",
                kLeastNodes, point.ranks, node, kLeastNodes * node);
  throw InputError(fmt::format("/representatives: {} adds parts in nodes of {} ranks: {}",
                               scheme.name, node, why));
}

bool represents_unequal_parts(const Point& point) {
  using algorithms::UnevenParts;
  if (point.representatives == 0) return false;
  const algorithms::SchemeInfo& scheme = algorithms::find_scheme(point.scheme);
  return scheme.adds_in_nodes || scheme.uneven_parts == UnevenParts::sent_and_gathered ||
         (scheme.uneven_parts == UnevenParts::sent && point.representatives < kManyForParts);
}

void check_extrapolation(const Point& point, const algorithms::SchemeInfo& scheme,
                         const std::string& origin) {
  if (point.extrapolate_chunks == 0) return;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: /extrapolate_chunks: {}", origin, why));
  };
  if (point.extrapolate_chunks < kLeastChunks) {
    refuse(fmt::format("a time is extrapolated from {} chunks or more", kLeastChunks));
  }
  if (!scheme.pipeline) {
    refuse(fmt::format("{} sends no chunks one after the other through trees", scheme.name));
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

}  // namespace thinwire::plan
