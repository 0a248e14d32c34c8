// SimGrid's MPI emulation (SMPI) on a platform XML: flows share the links of their routes, so that
// congestion shows.
//
// Each rank is an actor of SimGrid that calls MPI_Issend, MPI_Irecv and MPI_Wait with the simulated
// sizes; payloads pass from rank to rank beside MPI, by reference, and no byte is copied. All sends
// are rendezvous: a transfer begins when both sides are posted (SMPI's eager sends cost 6 times the
// processor time; see docs/decisions/0009-rendezvous.md).
// A message of L bytes alone on its route takes: latency of the links + message gap + L over the
// smallest bandwidth (SimGrid's model CM02, without cross-traffic and TCP windows; SMPI's envelope
// of 16 bytes is taken off). The platform's <config> may say otherwise.
//
// Second strands are actors too, on the hosts of their ranks, with an MPI_COMM_WORLD of their own:
// see docs/decisions/0012-second-strand.md. The flows of both strands share the host's links.
//
// SimGrid allows one engine in a process: make and run this in a child
// (sim/core/base/child_process.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// NS_ATTRIBUTE_DEFAULT=...: SimGrid gives ns-3's sockets a whole message at once, and aborts where
/// their buffers are smaller.
inline constexpr const char* kPacketBuffers =
    "ns3::TcpSocket::SndBufSize=1000000000;ns3::TcpSocket::RcvBufSize=1000000000";

/// Of the library that runs, as in "3.32.0".
[[nodiscard]] std::string simgrid_version();

/// How SimGrid simulates, and what is recorded.
struct SmpiSettings {
  /// Events that are no further apart happen together, which saves SimGrid from sharing the links
  /// out anew for each. 0: as exact as SimGrid can (1e-12 s). 1e-6 makes congested runs with
  /// messages of unequal lengths some 4 to 15 times faster; see docs/decisions/0010-faster-smpi.md.
  Seconds time_resolution{0};
  /// How many flows a host's port serves at once, in each direction; others wait their turn. 0: all
  /// of them share it. 1 makes runs with many messages in flight faster still, and another network
  /// of the platform: see there.
  int flows_per_port = 0;
  /// ns-3's packets instead of flows: small P, platforms of one zone (topo make star flat=1). The
  /// message gap is not charged. Above 50 kB a message it needs kPacketBuffers in the environment
  /// when the process starts.
  bool packets = false;
  bool record_links = false;           ///< fill RunReport::links
  bool verbose = false;                ///< SimGrid's log goes to stderr
  std::vector<std::string> more = {};  ///< of SimGrid's own settings, as KEY:VALUE
};

class SmpiLinks;

/// SimGrid's MPI emulation on a platform.
class SmpiNetwork final : public Network {
 public:
  /// Loads the platform; throws as Platform does.
  SmpiNetwork(const std::string& platform, const SmpiSettings& settings);
  ~SmpiNetwork() override;
  SmpiNetwork(const SmpiNetwork&) = delete;
  SmpiNetwork& operator=(const SmpiNetwork&) = delete;
  SmpiNetwork(SmpiNetwork&&) = delete;
  SmpiNetwork& operator=(SmpiNetwork&&) = delete;

  [[nodiscard]] const topologies::Platform& platform() const { return platform_; }
  /// Rank r of the runs to come is on hosts[r].
  void place(std::vector<topologies::HostIndex> hosts);

  /// Runs follow one another in one simulation; each begins at its own time 0. Throws InputError
  /// where no place was given for that many ranks.
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  void limit_ports();

  SmpiSettings settings_;
  topologies::Platform platform_;
  std::unique_ptr<SmpiLinks> links_;
  std::vector<topologies::HostIndex> hosts_;
  std::function<void()> at_deadlock_;  ///< of the run under way
  int runs_ = 0;
};

}  // namespace thinwire::networks
