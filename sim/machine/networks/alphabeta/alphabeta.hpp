// A precise form of the papers' machine, T(L) = α + βL, generalised to LogGP.
//
// Each rank has a send port and a receive port that work at the same time; no other resource is
// shared. A message of L words
//   - occupies its sender's processor for o, and is then posted;
//   - begins when its receive has been posted too (rendezvous), so that a port is never kept busy
//     by a message that nobody waits for; with an eager limit, messages up to it begin at once;
//   - reaches the two ports `latency` after it begins. It needs g + G·L of service at each. A port
//     serves the messages that are there at equal shares, and is never idle while there is one;
//   - is delivered when both ports have served it. Its send is complete then, too. The send of an
//     eager message is complete after g + G·L;
//   - occupies its receiver's processor for o when it is waited for.
// α-β is o = 0, L = 0, g = α, G = β (LogGP: Alexandrov et al., JPDC 1997; rendezvous beside eager
// messages as in LogGPS: Ino et al., PPoPP 2001, here without the time of the handshake). So m
// messages from one rank cost it the sum of their α + βL, and so do m messages into one rank.
//
// The two strands of a rank share its ports. Each strand has its own processor: overhead and local
// work of one do not delay the other.
#pragma once

#include "sim/core/kernel/network.hpp"

namespace thinwire::networks {

/// The machine: times of messages, in seconds.
struct LogGP {
  Seconds latency;       ///< L, from the beginning of a message to its service at the ports
  Seconds overhead;      ///< o, of the processor, per message, on each side
  Seconds gap;           ///< g, of the port, per message: α
  Seconds gap_per_word;  ///< G, of the port, per word of 4 bytes: β
};

[[nodiscard]] constexpr LogGP alpha_beta(Seconds alpha, Seconds beta_per_word) {
  return {
      .latency = Seconds(0), .overhead = Seconds(0), .gap = alpha, .gap_per_word = beta_per_word};
}

/// The α-β network: deterministic and single-threaded.
class AlphaBetaNetwork final : public Network {
 public:
  /// Messages up to `eager` bytes do not wait for their receiver.
  explicit AlphaBetaNetwork(LogGP machine, Bytes eager = Bytes(0))
      : machine_(machine), eager_(eager) {}
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  LogGP machine_;
  Bytes eager_;
};

}  // namespace thinwire::networks
