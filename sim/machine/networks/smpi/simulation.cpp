#include <fmt/format.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>

#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/smpi/engine.hpp"
#include "sim/machine/networks/smpi/simulation.hpp"
#include "sim/machine/networks/smpi/smpi_links.hpp"
#include "sim/machine/networks/smpi/smpi_rank.hpp"

namespace thinwire::networks {

namespace sg4 = simgrid::s4u;

namespace {

/// What waits when SimGrid finds that nothing can go on.
struct Deadlock {
  bool found = false;
  std::size_t ranks = 0;
  std::vector<Waiting> waits;

  void look_at(const std::vector<std::unique_ptr<SmpiRank>>& communicators,
               SecondStrands& seconds) {
    found = true;
    for (std::size_t at = 0; at < communicators.size(); ++at) {
      const std::size_t before = waits.size();
      communicators[at]->add_waits(waits);
      seconds.add_waits(at, waits);
      if (waits.size() > before) ++ranks;
    }
  }
};

/// Runs the program of a rank, and returns what it throws.
std::exception_ptr failure_of(const RankProgram& program, SmpiRank& rank) {
  try {
    Task<void> task = program(rank);
    task.start();
    task.result();
  } catch (const simgrid::ForcefulKillException&) {
    throw;  // another rank failed
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void check_all_matched(const Shared& shared, std::size_t ranks) {
  std::vector<const Mailbox*> mailboxes;
  for (const Matching& matching : shared.matching) {
    for (const Mailbox& mailbox : matching.mailboxes) mailboxes.push_back(&mailbox);
  }
  check_matched(mailboxes, ranks, shared.slots);
}

/// The actors of an MPI program, one for each communicator.
void start_actors(const std::string& instance, const std::vector<sg4::Host*>& hosts,
                  const std::function<void()>& rank_main) {
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto actor = sg4::Actor::init(fmt::format("rank{}", rank), hosts[rank]);
    actor->set_property("instance_id", instance);
    actor->set_property("rank", fmt::format("{}", rank));
    actor->start(rank_main);
  }
}

class OnSimGrid final : public SmpiSimulation {
 public:
  explicit OnSimGrid(SmpiSettings settings) : settings_(std::move(settings)) { choose_contexts(); }

  void configure() override { configure_smpi(settings_); }
  void take(const topologies::Platform& platform) override;
  void connect(std::vector<topologies::HostIndex> hosts) override;
  RunReport run(int ranks, const RankProgram& program, Timeline* timeline) override;

 private:
  void limit_ports();

  SmpiSettings settings_;
  const topologies::Platform* platform_ = nullptr;
  std::unique_ptr<SmpiLinks> links_;
  std::vector<topologies::HostIndex> hosts_;
  std::function<void()> at_deadlock_;  ///< for the current run
  int runs_ = 0;
};

void OnSimGrid::take(const topologies::Platform& platform) {
  platform_ = &platform;
  if (!settings_.packets) {
    links_ = std::make_unique<SmpiLinks>(platform.message_gap(), settings_.record_links);
  }
  // Registered once, because the engine keeps its callbacks from run to run.
  sg4::Engine::on_deadlock_cb([this] { at_deadlock_(); });
}

void OnSimGrid::connect(std::vector<topologies::HostIndex> hosts) {
  hosts_ = std::move(hosts);
  if (settings_.flows_per_port > 0) limit_ports();
}

/// A port is a link at which the routes of one host, and of no other, begin or end. A bus or a
/// half-duplex cable is not a port. A GPU has one port to its node and one to the others.
void OnSimGrid::limit_ports() {
  std::vector<topologies::HostIndex> used = hosts_;
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.size() < 2) return;
  std::map<topologies::LinkIndex, std::set<std::pair<topologies::HostIndex, bool>>> ends;
  const auto look = [&](topologies::HostIndex host, topologies::HostIndex other) {
    const std::vector<topologies::LinkIndex> there = platform_->route(host, other).links;
    const std::vector<topologies::LinkIndex> back = platform_->route(other, host).links;
    if (!there.empty()) ends[there.front()].emplace(host, true);
    if (!back.empty()) ends[back.back()].emplace(host, false);
  };
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string& node = platform_->hosts()[used[i]].node;
    for (const bool same : {true, false}) {
      for (std::size_t j = i + 1; j < i + used.size(); ++j) {
        const topologies::HostIndex other = used[j % used.size()];
        if ((platform_->hosts()[other].node == node) != same) continue;
        look(used[i], other);
        break;
      }
    }
  }
  for (const auto& [link, whose] : ends) {
    if (whose.size() > 1) continue;
    sg4::Link::by_name(platform_->links()[link].name)
        ->set_concurrency_limit(settings_.flows_per_port);
  }
}

RunReport OnSimGrid::run(int ranks, const RankProgram& program, Timeline* timeline) {
  check_places(platform_->path(), ranks, hosts_.size());
  const std::string instance = fmt::format("run{}", runs_++);
  std::vector<sg4::Host*> hosts;
  for (const topologies::HostIndex host : hosts_) {
    hosts.push_back(sg4::Host::by_name(platform_->hosts()[host].name));
  }
  Shared shared(sg4::Engine::get_clock(), hosts_.size());
  SecondStrands seconds(instance + "-seconds", hosts, shared);
  shared.seconds = &seconds;
  tell_ends();
  std::optional<ShownMessages> shown;
  if (timeline != nullptr) shared.shown = &shown.emplace(*timeline, shared.origin);
  std::vector<std::unique_ptr<SmpiRank>> communicators;
  RunReport report;
  report.ranks.resize(hosts_.size());
  std::exception_ptr error;

  const auto rank_main = [&] {
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto at = static_cast<std::size_t>(rank);
    communicators[at]->open_books();
    if (const std::exception_ptr failure = failure_of(program, *communicators[at])) {
      if (!error) error = failure;
      sg4::Actor::kill_all();
      return;
    }
    shared.matching[static_cast<std::size_t>(Strand::main)].ended[at] = true;
    communicators[at]->close_books();
    report.ranks[at].finished = communicators[at]->now();
    seconds.close(Rank(rank));
    MPI_Finalize();
  };

  SMPI_app_instance_register(instance.c_str(), nullptr, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    communicators.push_back(std::make_unique<SmpiRank>(Rank(rank), ranks, shared, Strand::main));
  }
  start_actors(instance, hosts, rank_main);

  if (links_) links_->begin();
  Deadlock deadlock;
  at_deadlock_ = [&] { deadlock.look_at(communicators, seconds); };
  sg4::Engine::get_instance()->run();
  if (shown) shown->show();
  if (error) std::rethrow_exception(error);
  seconds.rethrow_unheard();  // before the deadlock: others may wait for the failed program
  if (deadlock.found) throw_deadlock(deadlock.ranks, hosts_.size(), deadlock.waits);
  check_all_matched(shared, hosts_.size());
  report.phases = shared.names.all();
  for (std::size_t at = 0; at < communicators.size(); ++at) {
    report.ranks[at].by_phase = communicators[at]->ledger().by_phase();
    seconds.add_to(at, report.ranks[at]);
  }
  if (links_ && settings_.record_links) report.links = links_->end(report.makespan().value());
  return report;
}

std::unique_ptr<SmpiSimulation> make_simulation(const SmpiSettings& settings) {
  return std::make_unique<OnSimGrid>(settings);
}

}  // namespace

}  // namespace thinwire::networks

extern "C" const thinwire::networks::SmpiFunctions thinwire_smpi{
    .make = thinwire::networks::make_simulation, .version = thinwire::networks::version_of_simgrid};
