// A precise form of the papers' machine, T(L) = α + βL, generalised to LogGP.
//
// Each rank has a send port and a receive port that work at the same time; no other resource is
// shared. A message of L words
//   - occupies its sender's processor for o, then waits until the send port is free and departs;
//   - occupies the send port for g + G·L from its departure; then the send is complete (eager);
//   - arrives at the receive port `latency` after its departure and is received as soon as that
//     port is free, in order of departure (ties: lower source rank, then order of posting); it
//     occupies the receive port for g + G·L, and is then delivered;
//   - occupies its receiver's processor for o when it is waited for.
// α-β is o = 0, L = 0, g = α, G = β (LogGP: Alexandrov et al., JPDC 1997). So m messages from one
// rank cost it the sum of their α + βL, and m messages into one rank queue there.
//
// The two strands of a rank share its ports. The send port serves their messages in the order of
// posting (ties: the rank's own program first), the receive port in the order of departure, as
// always. Each strand has its own processor: overhead and local work of one do not delay the other.
#pragma once

#include "sim/core/kernel/network.hpp"

namespace thinwire::networks {

/// The machine: times of messages, in seconds.
struct LogGP {
  Seconds latency;       ///< L, from departure to the receive port
  Seconds overhead;      ///< o, of the processor, per message, on each side
  Seconds gap;           ///< g, of the port, per message: α
  Seconds gap_per_word;  ///< G, of the port, per word of 4 bytes: β
};

[[nodiscard]] constexpr LogGP alpha_beta(Seconds alpha, Seconds beta_per_word) {
  return {
      .latency = Seconds(0), .overhead = Seconds(0), .gap = alpha, .gap_per_word = beta_per_word};
}

/// The α-β network: deterministic, single-threaded, with one event per message.
class AlphaBetaNetwork final : public Network {
 public:
  explicit AlphaBetaNetwork(LogGP machine) : machine_(machine) {}
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  LogGP machine_;
};

}  // namespace thinwire::networks
