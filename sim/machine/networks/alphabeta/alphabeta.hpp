// A precise form of the machine of the papers, on which a message of w words takes T(w) = α + βw,
// generalised to LogGP.
//
// Each rank has a send port and a receive port, which work at the same time. Messages share no
// other resource. With the parameters L, o, g and G of LogGP, a message of w words goes through
// these steps:
//   - It occupies its sender's processor for the time o, and is then posted.
//   - It begins when its receive has been posted too (rendezvous), so that no port is kept busy by
//     a message that no rank waits for. With an eager limit, messages up to this size begin at
//     once.
//   - It reaches both ports a time L after it begins. It needs a service time of g + G·w at each
//     port. A port divides its capacity equally among the messages that it serves, and is never
//     idle while it has one to serve.
//   - It is delivered when both ports have served it. Its send is complete at the same time. The
//     send of an eager message is complete after g + G·w.
//   - It occupies its receiver's processor for the time o when the receiver waits for it.
// The α-β machine is the case o = 0, L = 0, g = α, G = β (LogGP: Alexandrov et al., JPDC 1997).
// Rendezvous messages beside eager ones are as in LogGPS (Ino et al., PPoPP 2001). The time of the
// handshake, and what else a host costs, is in common/host.hpp. If a rank sends m messages, they occupy
// its send port for the sum of their α + βw. The same holds for m messages to one rank and its receive
// port.
//
// A collective in switches (kernel/in_switches.hpp) is one switch between all members: what a member
// sends occupies its send port for g + G w, and what it receives its receive port, both from L and
// the switch's latency after the last member has posted. So a sum of w words among any number of
// ranks takes L + g + G w and the switch's latency; a switch that is slower than the ports occupies
// them as long as it takes itself.
//
// The two strands of a rank share its ports. Each strand has its own processor, so overhead and
// local work of one strand do not delay the other.
#pragma once

#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/common/host.hpp"
#include "sim/machine/networks/common/read_ahead_settings.hpp"

namespace thinwire::networks {

/// The parameters of the machine, in seconds.
struct LogGP {
  Seconds latency;       ///< L: time from the beginning of a message to its arrival at the ports
  Seconds overhead;      ///< o: processor time per message, for the sender and for the receiver
  Seconds gap;           ///< g: time of a port per message (α)
  Seconds gap_per_word;  ///< G: time of a port per word of 4 bytes (β)
};

[[nodiscard]] constexpr LogGP alpha_beta(Seconds alpha, Seconds beta_per_word) {
  return {
      .latency = Seconds(0), .overhead = Seconds(0), .gap = alpha, .gap_per_word = beta_per_word};
}

/// The α-β network: deterministic and single-threaded.
class AlphaBetaNetwork final : public Network {
 public:
  /// The overhead of `machine` is added to the overhead of `host`.
  explicit AlphaBetaNetwork(LogGP machine, HostCosts host = {}, ReducingSwitches switches = {})
      : machine_(machine), host_(host), switches_(switches) {
    host_.overhead = host.overhead + machine.overhead;
  }
  RunReport run(int ranks, const RankProgram& program) override;
  /// Sets how far the loop reads ahead, which changes no report.
  void read_ahead(const ReadAheadSettings& settings) { read_ahead_ = settings; }
  /// Makes events of all messages, even of those whose posts tell their end, which changes no report
  /// beyond rounding.
  void use_events_alone() { events_alone_ = true; }

 private:
  LogGP machine_;
  HostCosts host_;
  ReducingSwitches switches_;
  ReadAheadSettings read_ahead_;
  bool events_alone_ = false;
};

}  // namespace thinwire::networks
