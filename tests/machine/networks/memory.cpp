// Memory follows what is in flight, not what has been delivered.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/counting/counting.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/sanitizers.hpp"

namespace thinwire::networks {

using test::BodyCount;
using test::counted_message;

namespace {

constexpr Tag kMemoryTag(0);
constexpr int kMemoryRanks = 16;

/// Bytes that malloc has handed out, or 0 where that cannot be told.
std::size_t allocated() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  if constexpr (!test::kSanitized) {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
#endif
  return 0;
}

struct Peak {
  std::size_t bytes = 0;
  BodyCount bodies;
  void look() { bytes = std::max(bytes, allocated()); }
};

/// A ring in which a window of four exchanges is always under way.
Task<void> windowed_ring(Communicator& comm, int rounds, Peak& peak) {
  constexpr std::size_t kWindow = 4;
  const int rank = comm.rank().value();
  const Rank next((rank + 1) % comm.size());
  const Rank previous((rank + comm.size() - 1) % comm.size());
  std::array<Request, kWindow> sends{};
  std::array<Request, kWindow> receives{};
  const auto total = static_cast<std::size_t>(rounds);
  for (std::size_t round = 0; round < total + kWindow; ++round) {
    const std::size_t at = round % kWindow;
    if (round >= kWindow) {
      co_await comm.wait(receives[at]);
      co_await comm.wait(sends[at]);
    }
    if (round < total) {
      receives[at] = comm.irecv(previous, kMemoryTag);
      sends[at] = comm.isend(next, kMemoryTag, counted_message(peak.bodies, Words(3)));
    }
    if (round % 16 == 0) peak.look();
  }
}

/// Everybody with everybody, so that each mailbox sees many sources come and go.
Task<void> all_pairs(Communicator& comm, int rounds, Peak& peak) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  for (int round = 0; round < rounds; ++round) {
    const int shift = 1 + round % (size - 1);
    const Rank to((rank + shift) % size);
    const Rank from((rank - shift + size) % size);
    co_await comm.sendrecv(to, counted_message(peak.bodies, Words(3)), from, kMemoryTag);
    if (round % 16 == 0) peak.look();
  }
}

using Program = Task<void> (*)(Communicator&, int, Peak&);

Peak peak_of(Network& network, Program program, int rounds) {
  Peak peak;
  const std::size_t before = allocated();
  network.run(kMemoryRanks, [&](Communicator& comm) { return program(comm, rounds, peak); });
  CHECK(peak.bodies.living == 0);
  peak.bytes -= std::min(peak.bytes, before);
  return peak;
}

void check_growth(Network& network, Program program, const char* what) {
  CAPTURE(what);
  constexpr int kRounds = 1000;
  const Peak few = peak_of(network, program, kRounds);
  const Peak many = peak_of(network, program, 20 * kRounds);
  CHECK(many.bodies.most <= few.bodies.most);
  CHECK(many.bytes <= few.bytes + std::size_t{16} * 1024);
  if (allocated() > 0) {
    CHECK(few.bytes > 0);
  }
}

}  // namespace

TEST_CASE("Memory does not grow with messages that were delivered") {
  AlphaBetaNetwork alphabeta(alpha_beta(Seconds(1e-6), Seconds(1e-9)));
  CountingNetwork counting;
  check_growth(alphabeta, windowed_ring, "windowed_ring on alphabeta");
  check_growth(alphabeta, all_pairs, "all_pairs on alphabeta");
  check_growth(counting, windowed_ring, "windowed_ring on counting");
  check_growth(counting, all_pairs, "all_pairs on counting");
}

}  // namespace thinwire::networks
