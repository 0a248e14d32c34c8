// Measures statistical gradient values at scale:
// bench_statistical [scheme ranks]... [--platform PLATFORM]
//
// Runs schemes with the profile of BERT (n = 133,547,324, density 1%), each in its own process, on
// the α-β machine or on the network links. Prints seconds of processor time of the first iteration,
// with what is prepared for it, and of the second, which is a steady one, messages per second in
// the latter, and the peak memory of the process.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/run/simulation.hpp"
#include "sim/core/base/child_process.hpp"

namespace {

using namespace thinwire;

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// `platform`: where the network links runs; empty for the α-β machine.
std::string bench(const std::string& platform, const std::string& scheme, int ranks) {
  std::vector<double> marks{seconds_now()};
  nlohmann::json settings{{"scheme", scheme},
                          {"ranks", ranks},
                          {"iterations", 2},
                          {"input", {{"profile", "bert"}, {"statistical", true}}}};
  if (!platform.empty()) settings.update({{"network", "links"}, {"platform", platform}});
  const plan::Point point = plan::point_from(settings, "bench_statistical");
  const results::Outcome outcome =
      run::Simulation(point, {.after_iteration = [&](int) { marks.push_back(seconds_now()); }})
          .run();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double steady = marks[2] - marks[1];
  return fmt::format("{:24} {:6} {:10.2f} {:10.2f} {:12.3g} {:10.0f} {:14.6g}\n", scheme, ranks,
                     marks[1] - marks[0], steady, outcome.messages_sent.mean * ranks / steady,
                     static_cast<double>(usage.ru_maxrss) / 1000, outcome.time().value());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time and memory of statistical gradient values");
  std::vector<std::string> given;
  std::string platform;
  app.add_option("cases", given, "schemes, each followed by a number of ranks");
  app.add_option("--platform", platform, "a platform, for the network links");
  CLI11_PARSE(app, argc, argv);
  std::vector<std::pair<std::string, int>> cases;
  for (std::size_t i = 0; i < given.size(); i += 2) {
    int ranks = 0;
    const std::string number = i + 1 < given.size() ? given[i + 1] : "";
    const char* const end = number.data() + number.size();
    if (number.empty() || std::from_chars(number.data(), end, ranks).ptr != end) {
      fmt::print(stderr, "bench_statistical: each scheme needs a number of ranks\n");
      return 2;
    }
    cases.emplace_back(given[i], ranks);
  }
  if (cases.empty()) {
    cases = {{"oktopk", 4096},
             {"oktopk", 8192},
             {"topka", 8192},
             {"gtopk", 8192},
             {"ssar_recursive_double", 8192},
             {"dense_rabenseifner", 8192},
             {"dense_recursive_doubling", 8192}};
  }
  fmt::print("{:24} {:>6} {:>10} {:>10} {:>12} {:>10} {:>14}\n", "scheme", "ranks", "first, s",
             "steady, s", "messages/s", "peak, MB", "simulated, s");
  std::fflush(stdout);
  for (const auto& [scheme, ranks] : cases) {
    const auto run = [&platform, of = scheme, on = ranks] { return bench(platform, of, on); };
    fmt::print("{}", in_child_process({.run = run}).text);
    std::fflush(stdout);
  }
}
