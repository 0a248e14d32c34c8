// Measures statistical gradient values at scale: bench_statistical [scheme ranks]...
//
// Runs schemes with the profile of BERT (n = 133,547,324, density 1%) on the α-β machine, each in
// its own process, and prints seconds of processor time of the first and of the second, steady
// iteration, messages per second in the latter, and the peak memory of the process.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/experiment/point.hpp"
#include "sim/app/experiment/run.hpp"
#include "sim/core/base/child_process.hpp"

namespace {

using namespace thinwire;

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string bench(const std::string& scheme, int ranks) {
  std::vector<double> marks{seconds_now()};
  const experiment::Point point =
      experiment::point_from({{"scheme", scheme},
                              {"ranks", ranks},
                              {"iterations", 2},
                              {"input", {{"profile", "bert"}, {"statistical", true}}}},
                             "bench_statistical");
  const experiment::Outcome outcome =
      experiment::Simulation(point,
                             {.after_iteration = [&](int) { marks.push_back(seconds_now()); }})
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
  std::vector<std::pair<std::string, int>> cases;
  for (int i = 1; i + 1 < argc; i += 2) cases.emplace_back(argv[i], std::atoi(argv[i + 1]));
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
  for (const auto& one : cases) {
    fmt::print("{}", in_child_process({.run = [&] { return bench(one.first, one.second); }}).text);
    std::fflush(stdout);
  }
}
