#include "sim/app/studies/concurrent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sim/app/plan/config.hpp"
#include "sim/app/plan/plan.hpp"
#include "sim/app/run/executor.hpp"
#include "sim/app/run/networks.hpp"
#include "sim/app/run/ranks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/kernel/group.hpp"
#include "topologies/loading/placement.hpp"

namespace thinwire::studies {

namespace {

using plan::Point;
using run::PointRanks;
using run::RankState;
using Hosts = std::vector<topologies::HostIndex>;

constexpr int kWarmUp = 1;
constexpr int kMostRounds = 8;
constexpr double kMostIterations = 1e6;

int wanted_of(const Job& job) { return job.point.iterations > 0 ? job.point.iterations : 2; }

/// The settings that describe the network rather than a job: settings of the place that links reads and
/// not every network does. Each job has a placement of its own.
Json shared_settings_of(const Point& point) {
  plan::Settings shared = plan::point_settings();
  std::erase_if(shared, [](const plan::Setting& setting) {
    const bool of_network = setting.aspect == plan::Aspect::place && !setting.networks.all() &&
                            setting.networks.has(plan::NetworkId::links);
    return !of_network || setting.path == "placement";
  });
  Json values = plan::config_of(point, shared);
  if (plan::network_draws(point)) values["seed"] = point.seed;
  return values;
}

/// The hosts of each job, which have no host in common.
std::vector<Hosts> hosts_of(const std::vector<Job>& jobs, const topologies::Platform& platform) {
  const auto& all = platform.hosts();
  std::vector<const Job*> owner(all.size(), nullptr);
  std::vector<Hosts> hosts;
  for (const Job& job : jobs) {
    const bool named = topologies::is_placement_file(job.point.placement);
    std::vector<topologies::PlatformHost> candidates;
    Hosts index;
    for (topologies::HostIndex host = 0; host < all.size(); ++host) {
      if (!named && owner[host] != nullptr) continue;
      candidates.push_back(all[host]);
      index.push_back(host);
    }
    Hosts mine;
    try {
      mine = topologies::place(candidates, job.point.ranks, job.point.placement);
    } catch (const TooFewHostsError& error) {
      if (candidates.size() == all.size()) throw;
      throw InputError(
          "job '{}': {} of the {} hosts are left by the jobs before it, fewer than its {} ranks",
          job.name, candidates.size(), all.size(), job.point.ranks);
    } catch (const InputError& error) {
      throw InputError("job '{}': {}", job.name, error.what());
    }
    for (topologies::HostIndex& host : mine) {
      host = index[host];
      if (owner[host] != nullptr && owner[host] != &job) {
        throw InputError("job '{}': host {} is one of job '{}'; give it another one", job.name,
                         all[host].name, owner[host]->name);
      }
      owner[host] = &job;
    }
    hosts.push_back(std::move(mine));
  }
  return hosts;
}

/// A job in one run of the network.
class RunningJob {
 public:
  RunningJob(const Job& job, const plan::Machine& machine, int first_rank, int iterations)
      : job_(job),
        members_{.first = first_rank, .count = job.point.ranks, .stride = 1},
        ranks_(job.point, machine),
        ends_(static_cast<std::size_t>(iterations)) {
    for (int rank = 0; rank < job.point.ranks; ++rank) states_.push_back(ranks_.make_rank());
  }

  [[nodiscard]] const Members& members() const { return members_; }

  /// The program of one rank of the network, of which the job must outlive.
  Task<void> run(Communicator& all) {
    Group comm(all, members_);
    RankState& state = states_[static_cast<std::size_t>(comm.rank().value())];
    if (job_.start > Seconds(0)) co_await comm.compute(job_.start);
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const int iteration = static_cast<int>(i) + 1;
      co_await ranks_.iterate(comm, state, iteration);
      ranks_.feed_back(state);
      ends_[i] = std::max(ends_[i], comm.now());
    }
  }

  /// When the last rank ended each iteration.
  [[nodiscard]] std::vector<Seconds> take_ends() { return std::move(ends_); }

 private:
  const Job& job_;
  Members members_;
  PointRanks ranks_;
  std::vector<RankState> states_;
  std::vector<Seconds> ends_;
};

/// Jobs that run beside one another, each for so many iterations.
struct Company {
  std::vector<const Job*> jobs = {};
  std::vector<const Hosts*> hosts = {};
  std::vector<int> iterations = {};
};
/// When each job of a company ended its iterations.
using Ends = std::vector<std::vector<Seconds>>;

Ends ends_of(networks::LinksNetwork& network, const Company& company) {
  std::vector<std::unique_ptr<RunningJob>> running;
  std::vector<RunningJob*> of_rank;
  Hosts places;
  for (std::size_t i = 0; i < company.jobs.size(); ++i) {
    const Job& job = *company.jobs[i];
    const Hosts& hosts = *company.hosts[i];
    const plan::Machine machine = run::machine_on(job.point, network.platform(), hosts);
    running.push_back(std::make_unique<RunningJob>(job, machine, static_cast<int>(places.size()),
                                                   company.iterations[i]));
    of_rank.insert(of_rank.end(), hosts.size(), running.back().get());
    places.insert(places.end(), hosts.begin(), hosts.end());
  }
  network.connect(places);
  static_cast<void>(network.run(static_cast<int>(places.size()), [&of_rank](Communicator& comm) {
    return of_rank[static_cast<std::size_t>(comm.rank().value())]->run(comm);
  }));
  Ends ends;
  for (const auto& job : running) ends.push_back(job->take_ends());
  return ends;
}

std::string text_of(const Ends& ends) {
  Json text = Json::array();
  for (const std::vector<Seconds>& of_job : ends) {
    Json& times = text.emplace_back(Json::array());
    for (const Seconds end : of_job) times.push_back(end.value());
  }
  return text.dump();
}

Ends ends_from(const std::string& text) {
  Ends ends;
  for (const Json& times : Json::parse(text)) {
    std::vector<Seconds>& of_job = ends.emplace_back();
    for (const Json& end : times) of_job.emplace_back(end.get<double>());
  }
  return ends;
}

/// The iterations of a job that all jobs accompany: from `first`, the last one excluded.
struct Accompanied {
  std::size_t first = kWarmUp;
  std::size_t last = kWarmUp;

  [[nodiscard]] int count() const { return static_cast<int>(last - first); }
};

Accompanied accompanied(const std::vector<Seconds>& ends, Seconds begin, Seconds end) {
  Accompanied found;
  while (found.first < ends.size() && ends[found.first - 1] < begin) ++found.first;
  found.last = found.first;
  while (found.last < ends.size() && ends[found.last] <= end) ++found.last;
  return found;
}

/// The mean time of these iterations.
Seconds mean_of(const std::vector<Seconds>& ends, const Accompanied& counted) {
  return (ends[counted.last - 1] - ends[counted.first - 1]) *
         (1 / static_cast<double>(counted.count()));
}

/// Whether all iterations of a job do the same.
bool are_alike(const Job& job) {
  return job.point.scheme->independent_iterations && !job.point.error_feedback;
}

/// When a job will have done its iterations that count, after `found.first`.
Seconds done_at(const Job& job, const std::vector<Seconds>& ends, const Accompanied& found) {
  const std::size_t wanted = found.first + static_cast<std::size_t>(wanted_of(job));
  if (wanted <= ends.size()) return ends[wanted - 1];
  const Seconds mean = (ends.back() - job.start) * (1 / static_cast<double>(ends.size()));
  return ends.back() + mean * static_cast<double>(wanted - ends.size());
}

int iterations_until(Seconds until, Seconds mean, const Job& job) {
  const double count = std::ceil((until - job.start).value() / mean.value()) + kWarmUp;
  if (count > kMostIterations) {
    throw InputError(
        "job '{}': {:.3g} iterations would accompany the longest job; give it fewer iterations, or "
        "this one a longer gradient",
        job.name, count);
  }
  return std::max(kWarmUp + wanted_of(job), static_cast<int>(count));
}

/// Refuses settings that have no meaning, or another one, where jobs share links.
void check_job_alone(const Point& point, const std::string& where) {
  struct Refused {
    bool given;
    const char* pointer;
    const char* reason;
  };
  if (point.network != "links") {
    throw InputError("{}: /network: '{}', but jobs share links on the network links alone", where,
                     point.network->name);
  }
  for (const Refused& one :
       {Refused{point.links.background_flows > 0, "/links/background_flows",
                "the hosts without a rank belong to other jobs here; describe their traffic as a "
                "job, or give links.background_share"},
        Refused{point.approximate > 0, "/approximate",
                "jobs share links, which few ranks or chunks of one do not load as all do; leave "
                "it out"},
        Refused{point.parallel.file != nullptr, "/parallel",
                "a job has regular groups; give them as in tp=8,dp=32"},
        Refused{point.machine.eager_copy_beyond_cache > Seconds(0),
                "/machine/eager_copy_beyond_cache_s_per_word",
                "it depends on the size of the gradient, of which jobs may have several; give "
                "eager_copy_s_per_word"},
        Refused{point.machine.host.destinations_beyond > 0, "/machine/destinations_beyond",
                "the jobs' ranks would count together; leave it out, and 'destinations' too if a "
                "job has no more ranks than that"},
        Refused{point.workload.local_steps > 1, "/workload/local_steps",
                "the times of a job are times of its exchanges; leave it out"}}) {
    if (one.given) throw InputError("{}: {}: {}", where, one.pointer, one.reason);
  }
}

/// Refuses values of the base that every job overrides.
void check_base(const Json& base, const Json& config, const std::string& origin) {
  const Json flat = base.empty() ? Json::object() : base.flatten();
  for (const auto& setting : flat.items()) {
    const Json::json_pointer path(setting.key());
    const auto gives_it = [&](const Json& job) { return job.contains(path); };
    if (!std::ranges::all_of(config.at("jobs"), gives_it)) continue;
    throw InputError(
        "{}: /base{}: every job has one of its own, so this value is not used; leave it out",
        origin, setting.key());
  }
}

}  // namespace

double JobTimes::slowdown() const {
  return alone > Seconds(0) ? together.value() / alone.value() : 1;
}

std::vector<Job> jobs_from(const Json& config, const std::string& origin) {
  const JsonNode top(origin, config);
  constexpr std::array<std::string_view, 3> kKeys{"$schema", "base", "jobs"};
  top.be_object(kKeys);
  const Json base = top.has("base") ? top.at("base").json() : Json::object();
  if (!base.is_object()) top.at("base").wrong("an object of settings");
  std::vector<Job> jobs;
  plan::Usage usage;
  for (const JsonNode& node : top.at("jobs").elements()) {
    if (!node.json().is_object()) node.wrong("an object with the settings of a job");
    Job job;
    Json own = node.json();
    if (node.has("name")) job.name = node.at("name").text();
    if (node.has("start_s")) {
      constexpr double kLatest = 1e4;  // later ones would have fewer digits than other times
      job.start = Seconds(node.at("start_s").number_from(0));
      if (job.start > Seconds(kLatest)) node.at("start_s").wrong("at most 10000 seconds");
    }
    own.erase("name");
    own.erase("start_s");
    Json point = base;
    point.merge_patch(own);
    if (!point.contains("network")) point["network"] = "links";
    const std::string where = origin + ": " + node.pointer();
    const plan::Plan planned = plan::resolve({point, plan::Origin::config, where});
    usage.add(planned);
    job.point = planned.point();
    if (job.name.empty()) job.name = fmt::format("{}_{}", job.point.scheme->name, jobs.size() + 1);
    check_job_alone(job.point, where);
    if (std::ranges::find(jobs, job.name, &Job::name) != jobs.end()) {
      throw InputError("{}: /name: '{}' is the name of a job before", where, job.name);
    }
    if (!jobs.empty() && shared_settings_of(job.point) != shared_settings_of(jobs.front().point)) {
      throw InputError(
          "{}: differs from '{}' in platform, links, the costs of hosts or the seed of what the "
          "network draws, which all jobs share; give them in 'base'",
          where, jobs.front().name);
    }
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) top.at("jobs").wrong("at least one job");
  check_base(base, config, origin);
  usage.check(origin);
  return jobs;
}

namespace {

/// Runs jobs alone, and then together until each has done its iterations beside all others.
class ConcurrentRuns {
 public:
  using Progress = std::function<void(const std::string&)>;

  ConcurrentRuns(networks::LinksNetwork& network, const std::vector<Job>& jobs, bool verbose,
                 const Progress& progress)
      : network_(network),
        jobs_(jobs),
        verbose_(verbose),
        hosts_(hosts_of(jobs, network.platform())),
        progress_(progress) {}

  std::vector<JobTimes> times() {
    run_alone();
    find_busy();
    for (int round = 1; !busy_.empty() && !run_round(round); ++round) {
      if (round < kMostRounds) continue;
      throw SimulationError(
          "after {} rounds some job has still not done its iterations beside all others; give the "
          "jobs more nearly equal lengths",
          round);
    }
    return std::move(times_);
  }

 private:
  /// A job that takes time.
  struct Busy {
    const Job* job;
    const Hosts* hosts;
    JobTimes* times;
    int iterations;
  };

  /// The ends of each company, in processes of their own.
  [[nodiscard]] std::vector<Ends> ends_of_each(const std::vector<Company>& companies) const {
    run::Executor executor({.at_once = default_processes(), .verbose = verbose_});
    for (const Company& company : companies) {
      executor.start({.run = [&] { return text_of(ends_of(network_, company)); }});
    }
    std::vector<Ends> ends;
    for (std::size_t i = 0; i < companies.size(); ++i) {
      ends.push_back(ends_from(executor.take(i)->outcome().text));
    }
    return ends;
  }

  void run_alone() {
    progress_("each job alone");
    std::vector<Company> companies;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      companies.push_back({{&jobs_[i]}, {&hosts_[i]}, {kWarmUp + wanted_of(jobs_[i])}});
    }
    const std::vector<Ends> ends = ends_of_each(companies);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      JobTimes& mine = times_.emplace_back();
      mine.job = jobs_[i];
      for (const topologies::HostIndex host : hosts_[i]) {
        mine.hosts.push_back(network_.platform().hosts()[host].name);
      }
      const std::vector<Seconds>& of_job = ends[i].front();
      mine.alone = mean_of(of_job, {.first = kWarmUp, .last = of_job.size()});
      if (mine.alone > Seconds(0)) longest_ = std::max(longest_, of_job.back());
    }
  }

  /// Jobs that take no time disturb nobody, and end at once.
  void find_busy() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (times_[i].alone == Seconds(0)) continue;
      begin_ = std::max(begin_, jobs_[i].start);
      busy_.push_back({.job = &jobs_[i],
                       .hosts = &hosts_[i],
                       .times = &times_[i],
                       .iterations = iterations_until(longest_, times_[i].alone, jobs_[i])});
    }
  }

  [[nodiscard]] Ends ends_together() const {
    Company all;
    for (const Busy& one : busy_) {
      all.jobs.push_back(one.job);
      all.hosts.push_back(one.hosts);
      all.iterations.push_back(one.iterations);
    }
    return ends_of_each({all}).front();
  }

  /// Whether each job has done its iterations beside all others; else more are set for the next
  /// round.
  bool run_round(int round) {
    progress_(fmt::format("all together, round {}", round));
    const Ends ends = ends_together();
    Seconds end = ends.front().back();
    for (const std::vector<Seconds>& of_job : ends) end = std::min(end, of_job.back());
    Seconds needed;
    bool enough = true;
    std::vector<Accompanied> counted;
    for (std::size_t at = 0; at < busy_.size(); ++at) {
      const Busy& one = busy_[at];
      const Accompanied& found = counted.emplace_back(accompanied(ends[at], begin_, end));
      enough = enough && found.count() >= wanted_of(*one.job);
      needed = std::max(needed, done_at(*one.job, ends[at], found));
      one.times->counted = found.count();
      if (found.count() > 0) one.times->together = mean_of(ends[at], found);
    }
    if (enough) {
      run_same_alone(counted);
      return true;
    }
    for (std::size_t at = 0; at < busy_.size(); ++at) {
      Busy& one = busy_[at];
      if (ends[at].back() >= needed) continue;
      const Seconds mean =
          (ends[at].back() - one.job->start) * (1 / static_cast<double>(ends[at].size()));
      one.iterations =
          std::max(one.iterations + 1, iterations_until(needed * 1.05, mean, *one.job));
    }
    return false;
  }

  /// The same iterations alone, of the jobs whose iterations differ.
  void run_same_alone(const std::vector<Accompanied>& same) {
    std::vector<std::size_t> differ;
    std::vector<Company> companies;
    for (std::size_t at = 0; at < busy_.size(); ++at) {
      const Busy& one = busy_[at];
      if (are_alike(*one.job)) continue;
      differ.push_back(at);
      companies.push_back({{one.job}, {one.hosts}, {static_cast<int>(same[at].last)}});
    }
    if (differ.empty()) return;
    progress_("each job alone, the same iterations");
    const std::vector<Ends> ends = ends_of_each(companies);
    for (std::size_t i = 0; i < differ.size(); ++i) {
      busy_[differ[i]].times->alone = mean_of(ends[i].front(), same[differ[i]]);
    }
  }

  networks::LinksNetwork& network_;
  const std::vector<Job>& jobs_;
  bool verbose_;
  std::vector<Hosts> hosts_;
  const Progress& progress_;
  std::vector<JobTimes> times_;
  std::vector<Busy> busy_;
  Seconds longest_;
  Seconds begin_;
};

}  // namespace

std::vector<JobTimes> run_together(const std::vector<Job>& jobs, bool verbose,
                                   const std::function<void(const std::string&)>& progress) {
  const auto network = run::links_of(jobs.front().point, verbose);
  const InterruptGuard guard;  // SimGrid's engine, which loads the platform, takes Ctrl-C
  return ConcurrentRuns(*network, jobs, verbose, progress).times();
}

}  // namespace thinwire::studies
