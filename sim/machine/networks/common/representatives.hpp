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
// P ranks would whose gradients repeat after R ranks, and whose lengths are those of the images. So
// times differ from those of P ranks as far as lengths differ at random, and as the last of R ranks
// is earlier than the last of P.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/renaming.hpp"

namespace thinwire::networks {

/// The rank that stands for the ranks with this remainder. If P is a power of two, these ranks are
/// spread over all, so that they have parts of all of the gradient. At another P, schedules for
/// powers of two fold the first ranks in pairs (algorithms/collectives/folding.hpp), which are a
/// majority if P is well above the middle of two powers: then they are the first R ranks.
[[nodiscard]] Rank representative_of(int remainder, int ranks, int representatives);

/// Which ranks run.
enum class Representatives : std::uint8_t {
  spread,  ///< as representative_of() says
  first    ///< the first R, which are next to each other on a platform and in nodes
};

/// A network on which few ranks stand for all. The report has the ranks that run.
class RepresentativesNetwork final : public Network {
 public:
  RepresentativesNetwork(std::unique_ptr<Network> network, int representatives,
                         std::unique_ptr<const Renamer> renamer,
                         Representatives which = Representatives::spread)
      : network_(std::move(network)),
        representatives_(representatives),
        renamer_(std::move(renamer)),
        which_(which) {}

  /// Throws InputError if the representatives do not divide `ranks`, and SimulationError if the
  /// schedule is not symmetric.
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  std::unique_ptr<Network> network_;
  int representatives_;
  std::unique_ptr<const Renamer> renamer_;
  Representatives which_;
};

}  // namespace thinwire::networks
