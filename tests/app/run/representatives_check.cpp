// Few ranks that stand for all against all ranks: every scheme of statistical values. Prints a
// table; fails where a time is off by more than 2%, or where no ranks stand for others although the
// scheme is named.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sim/app/plan/point.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/chosen_cells.hpp"

namespace {

using namespace thinwire;

constexpr double kTolerance = 0.02;

/// `platform` is empty for the α-β machine.
results::Row run(const std::string& platform, const std::string& scheme, int ranks,
                 int representatives) {
  Json json = {{"scheme", scheme},
               {"ranks", ranks},
               {"approximate", representatives},
               {"input", {{"profile", "bert"}, {"statistical", true}}}};
  if (!platform.empty()) {
    json["network"] = "links";
    json["platform"] = platform;
  }
  const char* const name = "representatives_check";
  const plan::Point point = plan::point_from(json, name);
  if (point.few_chunks() > 0) throw InputError("its ranks have different places in trees");
  results::Row row = run::simulate_point(name, point);
  if (row.status != results::Status::ok) throw SimulationError(row.reason);
  return row;
}

double percent(double few, double all) { return all == 0 ? 0 : 100 * (few / all - 1); }

/// Prints a row. Returns whether the times are within the tolerance.
bool compare(const std::string& platform, const std::string& scheme, int ranks,
             int representatives) {
  std::optional<results::Outcome> represented;
  try {
    represented = run(platform, scheme, ranks, representatives).outcome;
  } catch (const std::runtime_error& refusal) {
    const std::string text = refusal.what();
    fmt::print("| {} | {} | {} | refused | | | |\n", scheme, ranks, representatives);
    fmt::print(stderr, "{} on {} ranks: {}\n", scheme, ranks, text.substr(0, 200));
    return false;
  }
  const results::Outcome& few = represented.value();
  const results::Outcome all = run(platform, scheme, ranks, 0).outcome.value();
  const double time = percent(few.time().value(), all.time().value());
  const double mean = percent(few.mean_time().value(), all.mean_time().value());
  const double words = percent(few.words_received.mean, all.words_received.mean);
  const bool good = std::abs(time) <= 100 * kTolerance && std::abs(mean) <= 100 * kTolerance;
  fmt::print("| {} | {} | {} | {:.6g} | {:+.3f}% | {:+.3f}% | {:+.2f}%{} |\n", scheme, ranks,
             representatives, all.time().value(), time, mean, words, good ? "" : " OFF");
  std::fflush(stdout);
  return good;
}

}  // namespace

/// Arguments: --platform NAME for `links` in place of the α-β machine; representatives (default 16), then numbers of ranks (default 64 256 1024), then
/// schemes (default: all whose ranks end with the same result).
int main(int argc, char** argv) {
  std::string platform;
  if (argc > 2 && std::string_view(argv[1]) == "--platform") {
    platform = argv[2];
    argv += 2;
    argc -= 2;
  }
  const int representatives = argc > 1 ? std::atoi(argv[1]) : 16;
  const auto all_end_alike = [](const algorithms::SchemeInfo& scheme) {
    return same_on_all_ranks(scheme.collective_kind);
  };
  const test::ChosenCells chosen = test::chosen_cells(argc, argv, {64, 256, 1024}, all_end_alike);
  int bad = 0;
  fmt::print(
      "| scheme | P | representatives | seconds, all ranks | error | error of the mean | of the "
      "words |\n|---|---|---|---|---|---|---|\n");
  for (const algorithms::SchemeInfo& scheme : chosen.schemes) {
    for (const int ranks : chosen.ranks) {
      bad += compare(platform, scheme.name, ranks, representatives) ? 0 : 1;
    }
  }
  fmt::print(stderr, "{} of {} cells are off or refused\n", bad, chosen.count());
  return bad > 0 && chosen.named ? 1 : 0;
}
