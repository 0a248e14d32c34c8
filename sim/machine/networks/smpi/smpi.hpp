// SimGrid's MPI emulation (SMPI) on a platform XML file. Flows share links, so the network can be
// congested.
//
// Each rank is an actor of SimGrid that calls MPI_Issend, MPI_Irecv and MPI_Wait with the simulated
// sizes. Payloads are passed by reference outside MPI, so no byte is copied. All sends are
// rendezvous: a transfer begins when its send and its receive have both been posted (SMPI's eager
// sends cost 6 times the processor time; see docs/decisions/0009-rendezvous.md). A message of L
// bytes that shares no link takes the latency of its links, plus the message gap, plus L divided by
// the smallest bandwidth (SimGrid's model CM02, without cross-traffic and TCP windows; SMPI's
// envelope of 16 bytes is subtracted). The <config> of the platform may change these settings.
//
// Second strands are actors too, on the hosts of their ranks, with an MPI_COMM_WORLD of their own:
// see docs/decisions/0012-second-strand.md. The flows of both strands share the host's links.
//
// SimGrid allows one engine per process. This network must therefore be created and run in a child
// process (sim/core/base/child_process.hpp).
#pragma once

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
  /// Events that are no further apart than this are handled together, so that SimGrid need not
  /// compute the rates of the flows again for each event. 0 is as exact as SimGrid can be (1e-12
  /// s). 1e-6 makes congested runs with messages of unequal lengths some 4 to 15 times faster; see
  /// docs/decisions/0010-faster-smpi.md.
  Seconds time_resolution{0};
  /// The number of flows that a host's port serves at once, in each direction; other flows wait.
  /// With 0, all flows share the port. 1 makes runs with many messages in flight even faster, but
  /// models a different network; see docs/decisions/0010-faster-smpi.md.
  int flows_per_port = 0;
  /// Simulates the packets of ns-3 instead of flows. This is for small P and platforms of one zone
  /// (topo make star flat=1). The message gap is not charged. Messages above 50 kB need
  /// kPacketBuffers in the environment when the process starts.
  bool packets = false;
  topologies::PlatformFactors factors = {};
  bool record_links = false;           ///< whether to fill RunReport::links
  bool verbose = false;                ///< whether SimGrid's log goes to stderr
  std::vector<std::string> more = {};  ///< SimGrid's own settings, as KEY:VALUE
};

class SmpiSimulation;

/// SimGrid's MPI emulation on a platform.
class SmpiNetwork final : public Network {
 public:
  /// Loads the platform; throws as Platform does.
  SmpiNetwork(const std::string& platform, const SmpiSettings& settings);
  ~SmpiNetwork() override;
  SmpiNetwork(const SmpiNetwork&) = delete;
  SmpiNetwork& operator=(const SmpiNetwork&) = delete;

  [[nodiscard]] const topologies::Platform& platform() const { return platform_; }
  /// Puts rank r of the following runs on hosts[r].
  void connect(std::vector<topologies::HostIndex> hosts);

  /// All runs follow one another in one simulation of SimGrid. Times are counted from the beginning
  /// of each run. Throws InputError unless hosts were given for all ranks.
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  std::unique_ptr<SmpiSimulation> simulation_;
  topologies::Platform platform_;
};

}  // namespace thinwire::networks
