// A precise form of the papers' machine, T(L) = α + βL, generalised to LogGP.
//
// Each rank has a send port and a receive port that work at the same time; nothing else is shared.
// A message of L words
//   - costs its sender's processor o, then waits until the send port is free and departs;
//   - keeps the send port busy for g + G·L from its departure; then the send is complete (eager);
//   - reaches the receive port `latency` after its departure and is received as soon as that port
//     is free, in order of departure (ties: lower source rank, then order of posting); it keeps the
//     receive port busy for g + G·L, and is then delivered;
//   - costs its receiver's processor o when it is waited for.
// α-β is o = 0, L = 0, g = α, G = β (LogGP: Alexandrov et al., JPDC 1997). So m messages from one
// rank cost it the sum of their α + βL, and m messages into one rank queue there.
//
// The two strands of a rank share its ports. The send port takes their messages in the order of
// posting (ties: the rank's own program first), the receive port goes by departure as ever. Each
// strand has a processor of its own: o and local work of one do not keep the other waiting.
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
