// When a message leaves its rank, and what has to wait for it: the rules of the library and of the
// NIC, whose figures are in host.hpp. Most messages depart when both ends have met; a rule may hold
// one back until others have left, are delivered or are acknowledged.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/machine/networks/common/under_way.hpp"
#include "sim/machine/networks/common/waiting.hpp"

namespace thinwire::networks {

/// The rules of all ranks of a run. Times are in seconds.
template <class Fabric>
class HostRules {
 public:
  using Transfer = typename UnderWay<Fabric>::Transfer;

  explicit HostRules(UnderWay<Fabric>& all)
      : all_(all),
        host_(all.host),
        applies_(host_.eager > Bytes(0) || host_.one_way > Bytes(0)),
        limits_destinations_(host_.limits_destinations(all.size)),
        destinations_(limits_destinations_ ? all.size : 0, host_.destinations) {
    if (host_.queued > Bytes(0)) queued_until_.resize(2 * static_cast<std::size_t>(all.size));
  }

  /// Whether anything can be held back, or departs before its receive is posted.
  [[nodiscard]] bool applies() const { return applies_; }
  /// When a message with a latency departs, whose receive and send have met at `met`, if nothing
  /// holds it back.
  [[nodiscard]] double departure(const Transfer& message, double met) const {
    if (message.eager) return std::max(met, message.posted);
    return rendezvous(met, message.posted, message.latency);
  }
  /// The same of a rendezvous message, whose send was posted at `posted`.
  [[nodiscard]] double rendezvous(double met, double posted, double latency) const {
    double departs = std::max(met, posted);
    if (host_.handshake) departs = std::max(departs, posted + latency) + latency;
    return departs + host_.handshake_time.value();
  }

  /// A message is about to depart. Returns whether it does, perhaps later than it wanted. Else it
  /// enters its links when it may.
  [[nodiscard]] bool lets_depart(TransferIndex index) {
    if (!applies_) return true;
    Transfer& message = all_.transfers[index];
    if (host_.is_buffered(message.words)) complete_eager(message);
    if (waits_for_destination(message.words) &&
        !destinations_.enter(index, message.from, message.to, message.departed)) {
      await_acknowledgement(message.from);
      return false;
    }
    return lets_leave(index);
  }

  /// A message has been delivered at `time`: what has waited for it may depart. Its transfer has
  /// been released.
  void delivered(const Transfer& message, double time) {
    if (!applies_) return;
    if (host_.goes_one_way(message.words)) {
      for (const TransferIndex next : turns_.leave(message.from, message.to)) follow(next, time);
    }
    if (host_.is_buffered(message.words)) {
      if (const auto next = connections_.leave(message.from, message.to)) follow(*next, time);
    }
    if (waits_for_destination(message.words)) {
      destinations_.deliver(message.from, message.to, time + message.latency);
      await_acknowledgement(message.from);
    }
  }

  /// An acknowledgement for which messages of a rank wait has arrived.
  void acknowledged(TransferIndex index) {
    const double time = all_.now;
    const Rank rank = all_.transfers[index].from;
    all_.transfers.release(index);
    for (const auto& [next, since] : destinations_.admit(rank, time)) {
      Transfer& message = all_.transfers[next];
      message.departed = std::max(message.departed, since);
      if (lets_leave(next)) follow(next, time);
    }
    await_acknowledgement(rank);
  }

 private:
  [[nodiscard]] bool waits_for_destination(Words words) const {
    return limits_destinations_ && host_.is_eager(words);
  }
  /// The same as lets_depart() for a message whose destination is reached.
  [[nodiscard]] bool lets_leave(TransferIndex index) {
    Transfer& message = all_.transfers[index];
    if (host_.is_queued(message.words)) queue(message);
    if (message.eager && !host_.is_buffered(message.words)) complete_eager(message);
    if (host_.goes_one_way(message.words) && !turns_.enter(index, message.from, message.to)) {
      return false;
    }
    return !host_.is_buffered(message.words) || connections_.enter(index, message.from, message.to);
  }
  /// A message departs when those that its strand has queued before would have left, if they shared
  /// no link.
  void queue(Transfer& message) {
    double& until = queued_until_[2 * static_cast<std::size_t>(message.from.value()) +
                                  (message.strand == Strand::main ? 0 : 1)];
    message.departed = std::max(message.departed, until);
    until =
        message.departed + all_.fabric.send_occupancy(message.from, message.route, message.words);
  }
  /// Completes the send of an eager message, unless that waits for an acknowledgement.
  void complete_eager(Transfer& message) {
    if (host_.is_buffered(message.words)) {
      all_.complete_send(message, message.posted - host_.buffering(message.words));
    } else if (!host_.is_acknowledged(message.words)) {
      all_.complete_send(
          message, message.departed +
                       all_.fabric.send_occupancy(message.from, message.route, message.words));
    }
  }
  /// A message that has waited for others departs such that its head arrives at `time` or later.
  void follow(TransferIndex index, double time) {
    Transfer& message = all_.transfers[index];
    message.departed = std::max(message.departed, time - message.latency);
    all_.enter_at(std::max(time, message.departed + message.latency), index);
  }
  /// If messages of a rank wait for an acknowledgement that is known, makes an event of it.
  void await_acknowledgement(Rank rank) {
    const std::optional<double> time = destinations_.next_admission(rank, all_.now);
    if (!time) return;
    const TransferIndex index = all_.transfers.acquire();
    all_.transfers[index].from = rank;
    all_.transfers[index].kind = TransferKind::acknowledgement;
    all_.count(index);
    all_.links.set_links(index, {});
    all_.enter_at(*time, index);
  }

  UnderWay<Fabric>& all_;
  const HostCosts& host_;
  bool applies_;  ///< whether anything can be held back
  bool limits_destinations_;
  Turns turns_;
  Connections connections_;
  Destinations destinations_;
  std::vector<double> queued_until_;  ///< by strand of a rank, if messages are queued
};

}  // namespace thinwire::networks
