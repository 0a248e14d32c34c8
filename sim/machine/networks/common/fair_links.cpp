#include "sim/machine/networks/common/fair_links.hpp"

#include <algorithm>
#include <bit>

#include "sim/core/base/errors.hpp"

namespace thinwire::networks {

FairLinks::FairLinks(std::span<const double> bandwidths, EventWindow& events) : events_(events) {
  for (const double bandwidth : bandwidths) links_.push_back({.seconds_per_byte = 1 / bandwidth});
  later_.resize(links_.size());
}

/// Inserts a share behind those that finish no later.
void FairLinks::push(topologies::LinkIndex at, Share share) {
  Link& link = links_[at];
  const auto before = [](const Share& a, const Share& b) { return a.finish < b.finish; };
  if (link.flows == 1) {
    link.first[1] = share;
  } else {
    if (before(share, link.first[1])) std::swap(share, link.first[1]);
    std::vector<Share>& later = later_[at].shares;
    const auto first = later.begin() + static_cast<std::ptrdiff_t>(later_[at].gone);
    // Most flows finish behind nearly all others, so the search begins at the end.
    auto end = later.end();
    std::ptrdiff_t step = 1;
    for (; step < end - first && before(share, *(end - step)); step *= 2) end -= step;
    later.insert(std::upper_bound(end - std::min(step, end - first), end, share, before), share);
  }
  ++link.flows;
  if (before(link.first[1], link.first[0])) std::swap(link.first[0], link.first[1]);
}

/// Removes the share that finishes first.
void FairLinks::pop(topologies::LinkIndex at) {
  Link& link = links_[at];
  link.first[0] = link.first[1];
  if (--link.flows < link.first.size()) return;
  Later& later = later_[at];
  link.first[1] = later.shares[later.gone++];
  if (2 * later.gone < later.shares.size()) return;
  later.shares.erase(later.shares.begin(),
                     later.shares.begin() + static_cast<std::ptrdiff_t>(later.gone));
  later.gone = 0;
}

/// Advances a link's virtual time to `now` and removes the shares that have finished by then.
inline void FairLinks::update(topologies::LinkIndex at, double now) {
  if (links_[at].flows == 0) {
    links_[at].updated = now;
  } else {
    serve(at, now);
  }
}

void FairLinks::serve(topologies::LinkIndex at, double now) {
  Link& link = links_[at];
  // The event's time was computed from the same figures, up to rounding.
  const double rounding = 1e-15 * now;
  double passed = now - link.updated;
  link.updated = now;
  while (link.flows > 0) {
    const Share first = link.first[0];
    const double seconds =  // for one byte of each flow
        static_cast<double>(link.flows) * link.seconds_per_byte;
    const double needed = (first.finish - link.virtual_time) * seconds;
    if (needed > passed + rounding) {
      link.virtual_time += std::max(passed, 0.0) / seconds;
      return;
    }
    passed -= needed;
    link.virtual_time = first.finish;
    pop(at);
    prefetch_flow(link.first[0].flow);  // it may be served next
    if (first.untracked != 0) continue;
    Flow& flow = flows_[first.flow];
    flow.tracked &= ~(1U << first.position);
    if (flow.bottleneck == first.position) {
      --link.bottleneck_of;
      served_.push_back(first.flow);
    }
  }
  link.virtual_time = 0;  // small numbers keep full precision
}

/// Makes a share tracked: its flow then waits for it to finish.
void FairLinks::track(Share& share) {
  share.untracked = 0;
  const std::uint32_t bit = 1U << share.position;
  flows_[share.flow].tracked |= bit;
  flows_[share.flow].untracked &= ~bit;
}

void FairLinks::schedule(topologies::LinkIndex at) {
  Link& link = links_[at];
  if (link.bottleneck_of == 0) return;
  const double next = next_finish(link);
  if (next >= link.scheduled)
    return;  // the event already scheduled comes first and schedules this one
  link.scheduled = next;
  events_.push({.time = next, .who = at});
}

void FairLinks::set_links(FlowIndex index, std::span<const topologies::LinkIndex> links) {
  if (index >= flows_.size()) {
    if (index >= kMostFlows) throw SimulationError("too many messages are under way at once");
    flows_.resize(index + 1);
  }
  Flow& flow = flows_[index];
  std::ranges::copy(links, flow.links.begin());
  flow.count = static_cast<std::uint16_t>(links.size());
}

void FairLinks::begin(double now, FlowIndex index, double bytes) {
  Flow& flow = flows_[index];
  flow.tracked = 0;
  flow.untracked = 0;
  double longest = -1;
  double slowest = 0;  // of the links that serve no other flow
  for (std::size_t position = 0; position < flow.count; ++position) {
    const topologies::LinkIndex at = flow.links[position];
    Link& link = links_[at];
    update(at, now);
    Share share{.finish = link.virtual_time + bytes,
                .flow = index & (kMostFlows - 1),
                .position = static_cast<std::uint32_t>(position) & 31U,
                .untracked = 0};
    if (link.flows == 0) {
      share.untracked = 1;
      link.first[0] = share;
      link.flows = 1;
      flow.untracked |= 1U << position;
      slowest = std::max(slowest, link.seconds_per_byte);
    } else {
      if (link.first[0].untracked != 0) track(link.first[0]);
      push(at, share);
      flow.tracked |= 1U << position;
    }
    const double time = bytes * static_cast<double>(link.flows) * link.seconds_per_byte;
    if (time > longest) {
      longest = time;
      flow.bottleneck = static_cast<std::uint16_t>(position);
    }
  }
  flow.untracked_until = now + bytes * slowest;
  const topologies::LinkIndex bottleneck = flow.links[flow.bottleneck];
  if (links_[bottleneck].first[0].untracked != 0) track(links_[bottleneck].first[0]);
  ++links_[bottleneck].bottleneck_of;
  schedule(bottleneck);
}

double FairLinks::estimate(double now, topologies::LinkIndex link, double bytes) {
  update(link, now);
  return bytes * static_cast<double>(links_[link].flows + 1) * links_[link].seconds_per_byte;
}

void FairLinks::handle_event(double now, topologies::LinkIndex at) {
  if (links_[at].scheduled != now) return;
  links_[at].scheduled = kNever;
  update(at, now);
  schedule(at);
}

/// Flows that their bottleneck has served are complete or get another bottleneck.
void FairLinks::complete_flows(double now) {
  while (!served_.empty()) {
    const FlowIndex index = served_.back();
    served_.pop_back();
    Flow& flow = flows_[index];
    if (now < flow.untracked_until) {
      for (std::uint32_t left = flow.untracked; left != 0; left &= left - 1) {
        Link& link = links_[flow.links[static_cast<std::size_t>(std::countr_zero(left))]];
        Share& share = link.first[0];  // or another flow's, if this one's has finished
        if (link.flows == 1 && share.flow == index && share.untracked != 0) track(share);
      }
    }
    for_each_tracked(flow, [&](topologies::LinkIndex link) { update(link, now); });
    if (flow.tracked == 0) {
      completed_.push_back(index);
      continue;
    }
    flow.bottleneck = static_cast<std::uint16_t>(std::countr_zero(flow.tracked));
    const topologies::LinkIndex at = flow.links[flow.bottleneck];
    ++links_[at].bottleneck_of;
    schedule(at);
  }
}

}  // namespace thinwire::networks
