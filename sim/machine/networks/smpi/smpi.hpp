// SimGrid's MPI emulation (SMPI) on a platform XML: flows share their links, so there is
// congestion.
//
// Each rank is an actor of SimGrid that calls MPI_Issend, MPI_Irecv and MPI_Wait with the simulated
// sizes; payloads bypass MPI by reference, and no byte is copied. All sends are rendezvous: a
// transfer begins when both sides have posted it (SMPI's eager sends cost 6 times the processor
// time; see docs/decisions/0009-rendezvous.md). A message of L bytes alone on its route takes:
// latency of the links + message gap + L over the smallest bandwidth (SimGrid's model CM02, without
// cross-traffic and TCP windows; SMPI's envelope of 16 bytes is subtracted). The platform's
// <config> may say otherwise.
//
// Second strands are actors too, on the hosts of their ranks, with an MPI_COMM_WORLD of their own:
// see docs/decisions/0012-second-strand.md. The flows of both strands share the host's links.
//
// SimGrid allows one engine per process: create and run this network in a child process
// (sim/core/base/child_process.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// For the environment variable NS_ATTRIBUTE_DEFAULT: SimGrid gives ns-3's sockets a whole message
/// at once, and aborts if their buffers are smaller.
inline constexpr const char* kPacketBuffers =
    "ns3::TcpSocket::SndBufSize=1000000000;ns3::TcpSocket::RcvBufSize=1000000000";

/// The version of the loaded library, as in "3.32.0".
[[nodiscard]] std::string simgrid_version();

/// The settings of SimGrid, and what is recorded.
struct SmpiSettings {
  /// Events that are no further apart are handled together, which saves SimGrid from sharing the
  /// links anew for each. 0: as exact as SimGrid can be (1e-12 s). 1e-6 makes congested runs with
  /// messages of unequal lengths some 4 to 15 times faster; see docs/decisions/0010-faster-smpi.md.
  Seconds time_resolution{0};
  /// The number of flows that a host's port serves at once, in each direction; others queue. 0: all
  /// of them share it. 1 makes runs with many messages in flight still faster, but models a
  /// different network: see there.
  int flows_per_port = 0;
  /// ns-3's packets instead of flows: for small P and platforms of one zone (topo make star
  /// flat=1). The message gap is not charged. Messages above 50 kB need kPacketBuffers in the
  /// environment when the process starts.
  bool packets = false;
  bool record_links = false;           ///< fill RunReport::links
  bool verbose = false;                ///< SimGrid's log goes to stderr
  std::vector<std::string> more = {};  ///< SimGrid's own settings, as KEY:VALUE
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
  /// Puts rank r of the following runs on hosts[r].
  void place(std::vector<topologies::HostIndex> hosts);

  /// Runs follow one another in one simulation; each begins at its own time 0. Throws InputError
  /// when no hosts were given for that many ranks.
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  void limit_ports();

  SmpiSettings settings_;
  topologies::Platform platform_;
  std::unique_ptr<SmpiLinks> links_;
  std::vector<topologies::HostIndex> hosts_;
  std::function<void()> at_deadlock_;  ///< for the current run
  int runs_ = 0;
};

}  // namespace thinwire::networks
