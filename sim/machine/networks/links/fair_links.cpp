#include "sim/machine/networks/links/fair_links.hpp"

#include <algorithm>
#include <bit>

namespace thinwire::networks {

FairLinks::FairLinks(std::span<const double> bandwidths, EventWindow& events) : events_(events) {
  for (const double bandwidth : bandwidths) links_.push_back({.seconds_per_byte = 1 / bandwidth});
  later_.resize(links_.size());
  scheduled_.resize(links_.size(), kNever);
}

/// Adds a share to others, behind those that end no later.
void FairLinks::push(topologies::LinkIndex at, Share share) {
  Link& link = links_[at];
  const auto before = [](const Share& a, const Share& b) { return a.end < b.end; };
  if (link.flows == 1) {
    link.first[1] = share;
  } else {
    if (before(share, link.first[1])) std::swap(share, link.first[1]);
    std::vector<Share>& later = later_[at].shares;
    later.insert(std::upper_bound(later.begin() + static_cast<std::ptrdiff_t>(later_[at].gone),
                                  later.end(), share, before),
                 share);
  }
  ++link.flows;
  if (before(link.first[1], link.first[0])) std::swap(link.first[0], link.first[1]);
}

/// Takes away the share that ends first.
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

/// Brings the link's own time to what it is at `now`, through the ends of those that it has served.
inline void FairLinks::catch_up(topologies::LinkIndex at, double now) {
  if (links_[at].flows == 0) {
    links_[at].updated = now;
  } else {
    serve(at, now);
  }
}

void FairLinks::serve(topologies::LinkIndex at, double now) {
  Link& link = links_[at];
  // An event comes at the time that was computed from the same figures, which is rounded.
  const double rounding = 1e-15 * now;
  double passed = now - link.updated;
  link.updated = now;
  while (link.flows > 0) {
    const Share first = link.first[0];
    const double seconds =  // for a byte of each
        static_cast<double>(link.flows) * link.seconds_per_byte;
    const double needed = (first.end - link.served) * seconds;
    if (needed > passed + rounding) {
      link.served += std::max(passed, 0.0) / seconds;
      return;
    }
    passed -= needed;
    link.served = first.end;
    pop(at);
    if (first.alone != 0) continue;  // its flow knows
    Flow& flow = flows_[first.flow];
    flow.left &= ~(1U << first.place);
    if (flow.watching == first.place) {
      --link.watched;
      reached_.push_back(first.flow);
    }
  }
  link.served = 0;  // small numbers are exact ones
}

/// A share that was alone is so no longer: whether it is through has to be looked at.
void FairLinks::meet(Share& share) {
  share.alone = 0;
  const std::uint32_t place = 1U << share.place;
  flows_[share.flow].left |= place;
  flows_[share.flow].alone &= ~place;
}

void FairLinks::schedule(topologies::LinkIndex at) {
  const Link& link = links_[at];
  if (link.watched == 0) return;
  const double next = link.updated + (link.first[0].end - link.served) *
                                         static_cast<double>(link.flows) * link.seconds_per_byte;
  if (next >= scheduled_[at]) return;  // what is scheduled comes too early, and looks again
  scheduled_[at] = next;
  events_.push(next, at);
}

void FairLinks::begin(double now, FlowIndex index, std::size_t links, double bytes) {
  Flow& flow = flows_[index];
  flow.left = 0;
  flow.alone = 0;
  double longest = -1;
  double slowest = 0;  // of those where it is alone
  for (std::size_t place = 0; place < links; ++place) {
    const topologies::LinkIndex at = flow.at[place];
    Link& link = links_[at];
    catch_up(at, now);
    Share share{.end = link.served + bytes,
                .flow = index,
                .place = static_cast<std::uint16_t>(place),
                .alone = 0};
    if (link.flows == 0) {
      share.alone = 1;
      link.first[0] = share;
      link.flows = 1;
      flow.alone |= 1U << place;
      slowest = std::max(slowest, link.seconds_per_byte);
    } else {
      if (link.first[0].alone != 0) meet(link.first[0]);
      push(at, share);
      flow.left |= 1U << place;
    }
    const double time = bytes * static_cast<double>(link.flows) * link.seconds_per_byte;
    if (time > longest) {
      longest = time;
      flow.watching = static_cast<std::uint32_t>(place);
    }
  }
  flow.alone_until = now + bytes * slowest;
  const topologies::LinkIndex watched = flow.at[flow.watching];
  if (links_[watched].first[0].alone != 0) meet(links_[watched].first[0]);
  ++links_[watched].watched;
  schedule(watched);
  settle(now);
}

double FairLinks::estimate(double now, topologies::LinkIndex link, double bytes) {
  catch_up(link, now);
  return bytes * static_cast<double>(links_[link].flows + 1) * links_[link].seconds_per_byte;
}

void FairLinks::happens(double now, topologies::LinkIndex at) {
  if (scheduled_[at] != now) return;
  scheduled_[at] = kNever;
  catch_up(at, now);
  schedule(at);
  settle(now);
}

/// Flows whose watched link is through with them are through, or watch another link.
void FairLinks::settle(double now) {
  while (!reached_.empty()) {
    const FlowIndex index = reached_.back();
    reached_.pop_back();
    Flow& flow = flows_[index];
    if (now < flow.alone_until) {
      for (std::uint32_t alone = flow.alone; alone != 0; alone &= alone - 1) {
        Link& link = links_[flow.at[static_cast<std::size_t>(std::countr_zero(alone))]];
        Share& share = link.first[0];  // or another one's, where it is through
        if (link.flows == 1 && share.flow == index && share.alone != 0) meet(share);
      }
    }
    for (std::uint32_t left = flow.left; left != 0; left &= left - 1) {
      catch_up(flow.at[static_cast<std::size_t>(std::countr_zero(left))], now);
    }
    if (flow.left == 0) {
      through_.push_back(index);
      continue;
    }
    flow.watching = static_cast<std::uint32_t>(std::countr_zero(flow.left));
    const topologies::LinkIndex at = flow.at[flow.watching];
    ++links_[at].watched;
    schedule(at);
  }
}

}  // namespace thinwire::networks
