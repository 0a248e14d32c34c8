// The claims of SparseLoCo (2025): what its authors report of trainings over the internet.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/registry.hpp"
#include "sim/app/studies/claims/trials.hpp"

namespace thinwire::studies {

namespace {

constexpr double kBytesPerS = 5e8 / 8;

algorithms::Terms gathering(int ranks, std::int64_t n, std::int64_t k) {
  const algorithms::SchemeInfo& scheme = algorithms::find_scheme("sparseloco");
  const algorithms::Options options(scheme.options, {});
  return scheme.cost({.ranks = ranks, .n = n, .k = k, .options = &options}).run().low;
}

/// The bytes that a rank gathers.
double gathered_bytes(int ranks, std::int64_t n, std::int64_t k) {
  return 4 * gathering(ranks, n, k).words;
}

void sparseloco_compression(Trials& trials, ClaimPage& page) {
  const Json& claim = trials.claim("sparseloco.compression");
  const auto n = claim.at("components").get<std::int64_t>();
  const std::int64_t k = n / 4096 * claim.at("of_4096").get<std::int64_t>();
  // With two ranks, each gathers the other's message.
  page.number("dense words over those of a message", "/value",
              static_cast<double>(n) / gathering(2, n, k).words, Basis::formula);
}

/// A peer may download faster than it uploads, and the authors' peers exchange files in an object
/// store.
void sparseloco_gather(Trials& trials, ClaimPage& page) {
  const Json& claim = trials.claim("sparseloco.gather");
  const int ranks = claim.at("peers").get<int>();
  for (const char* name : {"8b", "70b"}) {
    const auto n = claim.at("components").at(name).get<std::int64_t>();
    const std::int64_t k = n / 4096 * claim.at("of_4096").get<std::int64_t>();
    page.number(fmt::format("{}, s", name), fmt::format("/values/{}", name),
                gathered_bytes(ranks, n, k) / kBytesPerS, Basis::predicted,
                "each peer gathers from all others at 500 Mb/s; downloads from the object store "
                "must have been faster")
        .against("each peer's own message at 500 Mb/s", gathered_bytes(2, n, k) / kBytesPerS);
  }
}

}  // namespace

ClaimChecks sparseloco_claims() {
  return {{"sparseloco.compression", sparseloco_compression},
          {"sparseloco.gather", sparseloco_gather}};
}

}  // namespace thinwire::studies
