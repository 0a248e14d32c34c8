// A shortcut for many ranks that do the same: few of them run and stand for all.
//
// R of P ranks run, where R divides P, one for each remainder r of a division by R. Representative r
// stands for the ranks r, r + R, r + 2R ... A message to any of them goes to the representative, and
// a receive from any of them takes a message of the representative. Each of the R ranks thus sends
// and receives as much as on P ranks, and its ports are as busy. What a rank receives in this way is
// an image of the message that it would receive: it was made for another rank that it stands for,
// and the ranks named in it are renamed.
//
// This needs a symmetric schedule: what rank r sends to rank r + d, rank r - d sends to rank r; or
// the same with bits flipped in place of a sum. Every message is checked for it. The R ranks run as
// P ranks would whose gradients repeat after R ranks, with the messages of an image as long as its
// rank's. So times differ from the times of P ranks as far as lengths differ at random, and as the last
// of R ranks is earlier than the last of P.
#pragma once

#include <memory>
#include <utility>

#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/renaming.hpp"
#include "sim/machine/networks/common/approximate/few_ranks.hpp"

namespace thinwire::networks {

/// A network on which few ranks stand for all. The report has the ranks that run.
class RepresentativesNetwork final : public Network {
 public:
  /// `network` has an event loop (event_loop.hpp).
  RepresentativesNetwork(std::unique_ptr<Network> network, FewRanks few,
                         std::unique_ptr<const Renamer> renamer)
      : network_(std::move(network)), few_(few), renamer_(std::move(renamer)) {}

  /// Throws SimulationError if the schedule is not symmetric. `ranks` is the number of ranks in `few`.
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  std::unique_ptr<Network> network_;
  FewRanks few_;
  std::unique_ptr<const Renamer> renamer_;
};

}  // namespace thinwire::networks
