#include "sim/networks/links/fair_links.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace thinwire {

FairLinks::FairLinks(std::span<const double> bandwidths, EventWindow& events,
                     std::uint32_t first_event)
    : events_(events), first_event_(first_event) {
  for (const double bandwidth : bandwidths) links_.push_back({.seconds_per_byte = 1 / bandwidth});
  watches_.resize(links_.size());
}

/// Brings the link's own time to what it is at `now`, through the ends of those that it has served.
void FairLinks::catch_up(LinkIndex at, double now) {
  Link& link = links_[at];
  // An event comes at the time that was computed from the same figures, which is rounded.
  const double rounding = 1e-15 * now;
  double passed = now - link.updated;
  link.updated = now;
  while (!link.waiting.empty()) {
    const Share first = link.waiting.front();
    const double seconds =  // for a byte of each
        static_cast<double>(link.waiting.size()) * link.seconds_per_byte;
    const double needed = (first.end - link.served) * seconds;
    if (needed > passed + rounding) {
      link.served += std::max(passed, 0.0) / seconds;
      return;
    }
    passed -= needed;
    link.served = first.end;
    std::pop_heap(link.waiting.begin(), link.waiting.end(), std::greater<>());
    link.waiting.pop_back();
    Flow& flow = flows_[first.flow];
    flow.left &= ~(1U << first.place);
    if (flow.watching == first.place) {
      --watches_[at].flows;
      reached_.push_back(first.flow);
    }
  }
  link.served = 0;  // small numbers are exact ones
}

void FairLinks::schedule(LinkIndex at) {
  Watch& watch = watches_[at];
  if (watch.flows == 0) return;
  const Link& link = links_[at];
  const double first = link.waiting.front().end;
  const double next = link.updated + (first - link.served) *
                                         static_cast<double>(link.waiting.size()) *
                                         link.seconds_per_byte;
  if (next >= watch.scheduled) return;  // what is scheduled comes too early, and looks again
  watch.scheduled = next;
  events_.push(next, first_event_ + at);
}

void FairLinks::begin(double now, std::span<const LinkIndex> links, double bytes,
                      std::uint32_t name) {
  auto index = static_cast<FlowIndex>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  for (const LinkIndex link : links) __builtin_prefetch(&links_[link]);
  double longest = -1;
  std::uint8_t watching = 0;
  for (std::size_t place = 0; place < links.size(); ++place) {
    catch_up(links[place], now);
    Link& link = links_[links[place]];
    link.waiting.push_back(
        {.end = link.served + bytes, .flow = index, .place = static_cast<std::uint8_t>(place)});
    std::push_heap(link.waiting.begin(), link.waiting.end(), std::greater<>());
    const double time = bytes * static_cast<double>(link.waiting.size()) * link.seconds_per_byte;
    if (time > longest) {
      longest = time;
      watching = static_cast<std::uint8_t>(place);
    }
  }
  Flow& flow = flows_[index];
  flow.name = name;
  flow.left = (1U << links.size()) - 1;
  flow.watching = watching;
  std::ranges::copy(links, flow.at.begin());
  ++watches_[links[watching]].flows;
  schedule(links[watching]);
  settle(now);
}

void FairLinks::happens(double now, LinkIndex at) {
  if (watches_[at].scheduled != now) return;
  watches_[at].scheduled = kNever;
  catch_up(at, now);
  schedule(at);
  settle(now);
}

/// Flows whose watched link is through with them are through, or watch another link.
void FairLinks::settle(double now) {
  while (!reached_.empty()) {
    const FlowIndex index = reached_.back();
    reached_.pop_back();
    for (std::uint32_t left = flows_[index].left; left != 0; left &= left - 1) {
      catch_up(flows_[index].at[static_cast<std::size_t>(std::countr_zero(left))], now);
    }
    Flow& flow = flows_[index];
    if (flow.left == 0) {
      through_.push_back(flow.name);
      free_.push_back(index);
      continue;
    }
    flow.watching = static_cast<std::uint8_t>(std::countr_zero(flow.left));
    const LinkIndex at = flow.at[flow.watching];
    ++watches_[at].flows;
    schedule(at);
  }
}

}  // namespace thinwire
