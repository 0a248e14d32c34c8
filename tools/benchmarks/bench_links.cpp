// Compares messages per second of network links with smpi and alphabeta, through the Communicator,
// each message with a payload handle, on one core.
//
//   bench_links [PLATFORM] [RANKS ...] [--pattern rotated_1] [--bytes 1000] [--networks links ...]
//
// Prints one line per network and number of ranks, each from its own process: millions of messages
// per second of processor time, the preceding time to load the platform and its routes, the peak
// memory, and the simulated time. Patterns: tools/accuracy/patterns.hpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/links/links.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"
#include "tools/accuracy/patterns.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace {

using namespace thinwire;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Job {
  std::string platform;
  std::string file;
  int ranks = 0;
  const accuracy::Pattern* pattern = nullptr;
  std::int64_t bytes = 1000;
};

template <class Platformed>
std::unique_ptr<Network> placed(std::unique_ptr<Platformed> network, int ranks) {
  network->connect(place(network->platform().hosts(), ranks, "block"));
  return network;
}

std::unique_ptr<Network> make(const std::string& name, const Job& job) {
  if (name == "links")
    return placed(std::make_unique<networks::LinksNetwork>(job.file, networks::LinksSettings{}),
                  job.ranks);
  if (name == "smpi")
    return placed(std::make_unique<networks::SmpiNetwork>(job.file, networks::SmpiSettings{}),
                  job.ranks);
  if (name == "alphabeta") {
    return std::make_unique<networks::AlphaBetaNetwork>(
        networks::alpha_beta(Seconds(2e-6), Seconds(4e-10)));
  }
  throw InputError("bench_links: networks are links, smpi and alphabeta");
}

/// The processor seconds of preparation and run, and the simulated time.
std::string measured(const std::string& name, const Job& job) {
  const double begin = processor_seconds();
  const std::unique_ptr<Network> network = make(name, job);
  const double ready = processor_seconds();
  const accuracy::PatternMessages messages{
      .lengths = accuracy::MessageLengths::equal(Words(job.bytes / 4)),
      .payload = DenseBlock(0, std::vector<float>(1)).payload()};
  const RunReport report = network->run(job.ranks, job.pattern->program(job.ranks, messages));
  return fmt::format("{} {} {}", ready - begin, processor_seconds() - ready,
                     report.makespan().value());
}

void measure(const std::string& name, const Job& job, std::map<int, double>& smpi) {
  const ChildOutcome child =
      in_child_process({.subject = job.file, .run = [&] { return measured(name, job); }});
  char* end = nullptr;
  const double preparation = std::strtod(child.text.c_str(), &end);
  const double run = std::strtod(end, &end);
  const double simulated = std::strtod(end, nullptr);
  const double per_message = run / static_cast<double>(job.pattern->messages(job.ranks));
  if (name == "smpi") smpi[job.ranks] = per_message;
  const std::string ratio =
      smpi.contains(job.ranks) ? fmt::format("{:.0f}", smpi[job.ranks] / per_message) : "-";
  fmt::print("{:<10} {:<15} {:>6} {:>9.3f} {:>9.3f} {:>8} {:>7.1f} {:>7.0f}  {:.6g}\n", name,
             name == "alphabeta" ? "-" : job.platform, job.ranks, 1e-6 / per_message,
             1e6 * per_message, ratio, preparation, static_cast<double>(child.peak_rss_bytes) / 1e6,
             simulated);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Messages per second of the networks, side by side");
  std::string platform = "aries_daint";
  std::vector<int> rank_counts{512, 1024, 4096};
  std::vector<std::string> networks{"smpi", "links", "alphabeta"};
  std::string pattern = "rotated_1";
  int smpi_up_to = 1024;
  Job job;
  app.add_option("platform", platform, "a shipped platform or an XML file")->capture_default_str();
  app.add_option("ranks", rank_counts, "numbers of ranks")->capture_default_str();
  app.add_option("--networks", networks, "smpi first is what the others are compared with")
      ->capture_default_str();
  app.add_option("--pattern", pattern, "see tools/accuracy/patterns.hpp")->capture_default_str();
  app.add_option("--bytes", job.bytes, "of a message")->capture_default_str();
  app.add_option("--smpi-up-to", smpi_up_to, "ranks beyond which smpi is left out")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    job.platform = platform;
    job.file = topologies::kPlatforms.file(platform);
    job.pattern = accuracy::pattern_named(pattern);
    if (job.pattern == nullptr) throw InputError("bench_links: no such pattern: " + pattern);
    fmt::print("{:<10} {:<15} {:>6} {:>9} {:>9} {:>8} {:>7} {:>7}  {}\n", "network", "platform",
               "ranks", "M msg/s", "us/msg", "x smpi", "prep s", "MB", "simulated s");
    std::map<int, double> smpi;
    for (const int ranks : rank_counts) {
      job.ranks = ranks;
      for (const std::string& name : networks) {
        if (name != "smpi" || ranks <= smpi_up_to) measure(name, job, smpi);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
