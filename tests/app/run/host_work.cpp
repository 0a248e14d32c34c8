// What a host does besides sending: the call of a collective, and the copies that MPI makes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::plan;
using namespace thinwire::results;
using namespace thinwire::run;
using test::contains;
using test::error_of;

/// Seconds of one iteration on the α-β machine, at a number of components that all tested numbers
/// of ranks divide, so that all ranks have the same work.
constexpr double kWords = 12 * 7 * 23;
double seconds_of(const std::string& scheme, int ranks, const std::string& machine) {
  const Point point = point_from(
      Json::parse(fmt::format(
          R"({{"scheme":"{}","ranks":{},"components":{},"iterations":1,"machine":{{{}}}}})", scheme,
          ranks, kWords, machine)),
      "test");
  return simulate_point("test", point).outcome->iteration_times.front().value();
}

}  // namespace

TEST_CASE("A collective begins after its call") {
  for (const int ranks : {3, 8}) {
    const double call = 1e-3;
    CHECK(seconds_of("dense_ring", ranks, R"("call_s":1e-3)") ==
          test::approx(seconds_of("dense_ring", ranks, "") + call).epsilon(1e-12));
  }
}

TEST_CASE("Dense allreduces and reduce-scatters copy their input once") {
  for (const char* scheme : {"dense_ring", "dense_rabenseifner", "dense_recursive_doubling",
                             "dense_ring_segmented", "dense_nonoverlapping", "reduce_scatter_ring",
                             "reduce_scatter_recursive_halving", "reduce_scatter_pairwise"}) {
    CAPTURE(std::string(scheme));
    for (const int ranks : {1, 3, 4, 7, 12}) {
      CHECK(seconds_of(scheme, ranks, R"("copy_s_per_word":1e-6)") ==
            test::approx(seconds_of(scheme, ranks, "") + 1e-6 * kWords).epsilon(1e-12));
    }
  }
}

TEST_CASE("Buffers beyond a limit cost the faults of their pages, and the registration of pieces") {
  static constexpr double kPage = 1e-6;
  static constexpr double kPiece = 1e-5;
  static constexpr double kWord = 1e-9;
  const auto cost = [](const std::string& scheme, int ranks, std::int64_t beyond) {
    const std::string limit = beyond == 0 ? "" : fmt::format(R"(,"fresh_beyond_bytes":{})", beyond);
    return seconds_of(
               scheme, ranks,
               fmt::format(R"("page_s":{},"registration_s":{},"registration_s_per_word":{}{})",
                           kPage, kPiece, kWord, limit)) -
           seconds_of(scheme, ranks, "");
  };
  CHECK(cost("reduce_scatter_ring", 1, 0) == 0);  // which allocates nothing
  const auto bytes = static_cast<std::int64_t>(4 * kWords);
  const double whole = std::ceil(4 * kWords / 4096) * kPage + kWord * kWords;
  for (const int ranks : {2, 3, 7, 12, 16}) {
    CAPTURE(ranks);
    const double block = std::ceil(kWords / ranks);
    const double piece = std::ceil(4 * block / 4096) * kPage + kWord * block + kPiece;
    const double steps = std::floor(std::log2(ranks));
    const auto exactly = [](double value) { return test::approx(value).epsilon(1e-9); };
    CHECK(cost("reduce_scatter_ring", ranks, 0) ==
          exactly(whole + (ranks - 1) * kPiece + 2 * piece));
    CHECK(cost("reduce_scatter_recursive_halving", ranks, 0) ==
          exactly(2 * (whole + steps * kPiece)));
    CHECK(cost("dense_rabenseifner", ranks, 0) == exactly(whole + steps * kPiece));
    CHECK(cost("dense_recursive_doubling", ranks, 0) == exactly(whole + kPiece));
    CHECK(cost("dense_ring", ranks, 0) == exactly(2 * piece));
    CHECK(cost("alltoall_bruck", ranks, 0) == exactly(whole - kWord * kWords));
    // A buffer of the limit is kept, and so are blocks if the vector alone is longer.
    CHECK(cost("dense_recursive_doubling", ranks, bytes) == exactly(0));
    CHECK(cost("reduce_scatter_ring", ranks, bytes - 1) == exactly(whole + (ranks - 1) * kPiece));
    // Two of one length may be fresh where one is kept.
    const auto pairs = [&](const std::string& scheme) {
      return seconds_of(scheme, ranks,
                        fmt::format(R"("page_s":{},"fresh_beyond_bytes":{},
                                       "fresh_pairs_beyond_bytes":{})",
                                    kPage, bytes, bytes - 1)) -
             seconds_of(scheme, ranks, "");
    };
    CHECK(pairs("reduce_scatter_recursive_halving") ==
          exactly(2 * std::ceil(4 * kWords / 4096) * kPage));
    CHECK(pairs("reduce_scatter_ring") == exactly(0));
    for (const char* scheme :
         {"alltoall_linear", "allgather_ring", "dense_ring_segmented", "reduce_scatter_pairwise"}) {
      CHECK(cost(scheme, ranks, 0) == 0);
    }
  }
}

TEST_CASE("Bruck's all-to-all copies all blocks twice, and the blocks of a message twice") {
  for (const int ranks : {3, 4, 7, 12, 23}) {
    CAPTURE(ranks);
    double blocks = 2 * ranks;
    for (int block = 1; block < ranks; ++block) {
      for (int bits = block; bits > 0; bits /= 2) blocks += 2 * (bits % 2);
    }
    CHECK(seconds_of("alltoall_bruck", ranks, R"("copy_s_per_word":1e-6)") ==
          test::approx(seconds_of("alltoall_bruck", ranks, "") + 1e-6 * kWords * blocks / ranks)
              .epsilon(1e-9));
  }
  for (const char* scheme : {"alltoall_linear", "alltoall_pairwise", "allgather_ring"}) {
    CHECK(seconds_of(scheme, 7, R"("copy_s_per_word":1e-6)") == seconds_of(scheme, 7, ""));
  }
}

TEST_CASE("Copies beyond the cache cost more, by the share that does not fit") {
  const double words = kWords;
  const double copied =
      seconds_of("dense_ring", 4,
                 fmt::format(R"("copy_s_per_word":1e-6,"copy_beyond_cache_s_per_word":3e-6,
                                "cache_bytes":{})",
                             2 * words)) -
      seconds_of("dense_ring", 4, "");
  // Source and target fill 8 bytes for each word, of which a quarter fits.
  CHECK(copied == test::approx(words * (1e-6 + 0.75 * 2e-6)).epsilon(1e-12));
}

TEST_CASE("Settings of a host that nothing would read are refused") {
  const auto refusal = [](const std::string& rest) {
    return error_of<InputError>(
        [&] { (void)point_from(Json::parse(R"({"scheme":"topka",)" + rest + "}"), "test"); });
  };
  CHECK(contains(refusal(R"("machine":{"eager_s_per_word":1e-9})"), "give 'eager_bytes'"));
  CHECK(contains(refusal(R"("machine":{"fresh_beyond_bytes":64})"), "give 'page_s'"));
  CHECK(contains(refusal(R"("machine":{"fetch_s":1e-6})"), "give 'eager_bytes'"));
  CHECK(contains(refusal(R"("machine":{"fetch_beyond_bytes":64})"), "give 'fetch_s'"));
  CHECK(contains(refusal(R"("machine":{"buffered_bytes":64})"), "give 'eager_bytes'"));
  CHECK(contains(refusal(R"("machine":{"queued_bytes":64})"), "give 'eager_bytes'"));
  CHECK(contains(refusal(R"("machine":{"inline_bytes":64})"), "give 'eager_bytes'"));
  CHECK(contains(refusal(R"("machine":{"destinations":8})"), "give 'eager_bytes'"));
  CHECK(contains(refusal(R"("machine":{"destinations_beyond":256})"), "give 'destinations'"));
  CHECK(contains(refusal(R"("machine":{"copy_beyond_cache_s_per_word":1e-9})"), "cache_bytes"));
  CHECK(contains(refusal(R"("machine":{"gap_s_per_word":1e-9})"), "links"));
  CHECK(contains(refusal(R"("network":"smpi","platform":"fat_tree","machine":{"one_way_bytes":1})"),
                 "links, alphabeta"));
  for (const char* setting : {"call_s", "copy_s_per_word", "page_s", "registration_s"}) {
    CHECK(contains(
        refusal(fmt::format(
            R"("workload":{{"model":"bert","device":"v100"}},"machine":{{"{}":1e-6}})", setting)),
        "the device says"));
  }
}
