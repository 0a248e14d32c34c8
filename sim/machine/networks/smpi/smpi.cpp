#include "sim/machine/networks/smpi/smpi.hpp"

#include <fmt/format.h>
#include <smpi/smpi.h>

#include <simgrid/version.h>
#include <xbt/xbt_os_time.h>
#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <xbt/config.hpp>

#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "topologies/loading/routes.hpp"

// SMPI reads the thread's CPU clock twice in each MPI call, two system calls, even where it does
// not simulate computation and throws the reading away. These take the place of its own two
// functions: half of the processor time of a message. See
// docs/decisions/0011-no-thread-timers.md.
extern "C" {
void xbt_os_threadtimer_start(xbt_os_timer_t /*timer*/) {}
void xbt_os_threadtimer_stop(xbt_os_timer_t /*timer*/) {}
}

namespace thinwire::networks {

namespace {

namespace sg4 = simgrid::s4u;

constexpr double kEnvelope = 16;  // bytes that SMPI adds to every message

#if defined(__SANITIZE_ADDRESS__)
constexpr const char* kContexts = "thread";  // AddressSanitizer knows the stacks of threads alone
constexpr int kStackKiB = 1024;
#else
constexpr const char* kContexts = "raw";
constexpr int kStackKiB = 256;
#endif

/// Takes effect before the engine is made, and not after.
SmpiSettings with_contexts(const SmpiSettings& settings) {
  simgrid::config::set_value<std::string>("contexts/factory", kContexts);
  return settings;
}

/// What MPI is given as the address of what is sent. Nothing is read there but by SimGrid's
/// callback, which hands it over at the very end of the transfer, unless it has no words.
struct Address {
  bool shown = false;  ///< by a timeline, which wants to know the end
  bool ended = false;
  double origin = 0;  ///< SimGrid's clock when the run began
  MessageTimes times{};

  void end(double clock) {
    if (!shown || std::exchange(ended, true)) return;
    times.send_end = Seconds(clock - origin);
    times.receive_end = times.send_end;
  }
};

/// The messages of a run that a timeline shows. A transfer begins when both sides have posted it.
class Transfers {
 public:
  Transfers(Timeline& timeline, double origin) : timeline_(timeline), origin_(origin) {}

  [[nodiscard]] Timeline& timeline() const { return timeline_; }
  [[nodiscard]] bool shows(Rank from, Rank to) const { return timeline_.shows(from, to); }

  /// A message is posted; `slot` is that of its receive, or kNoSlot as long as there is none.
  Address* sent(const MessageTimes& times, SlotIndex slot) {
    Address& address = all_.emplace_back();
    address.shown = true;
    address.origin = origin_;
    address.times = times;
    if (slot == kNoSlot) {
      early_[key_of(times.from, times.to, times.strand, times.tag)].push_back(&address);
    } else {
      begin(address, slot, times.posted);
    }
    return &address;
  }
  /// A receive is posted for a message that was there already.
  void taken(Rank from, Rank to, Strand strand, Tag tag, SlotIndex slot, Seconds now) {
    std::deque<Address*>& early = early_.at(key_of(from, to, strand, tag));
    begin(*early.front(), slot, now);
    early.pop_front();
  }
  /// The receiver has learnt that it is complete.
  void received(SlotIndex slot, double clock) {
    const auto found = receives_.find(slot);
    if (found == receives_.end()) return;
    found->second->end(clock);
    receives_.erase(found);
  }
  /// Tells the timeline of what has arrived.
  void tell() const {
    for (const Address& address : all_) {
      if (address.ended) timeline_.add(address.times);
    }
  }

 private:
  using Key = std::tuple<Rank, Rank, Strand, Tag>;
  static Key key_of(Rank from, Rank to, Strand strand, Tag tag) { return {from, to, strand, tag}; }

  void begin(Address& address, SlotIndex slot, Seconds now) {
    address.times.send_begin = now;
    address.times.receive_begin = now;
    receives_[slot] = &address;
  }

  Timeline& timeline_;
  double origin_;
  std::deque<Address> all_;  // they stay where they are
  std::map<Key, std::deque<Address*>> early_;
  std::unordered_map<SlotIndex, Address*> receives_;
};

void prepare_smpi(const SmpiSettings& settings) {
  using simgrid::config::set_default;
  // The time that our own code takes is no simulated time.
  sg4::Engine::set_config("smpi/simulate-computation", false);
  sg4::Engine::set_config("contexts/stack-size", kStackKiB);
  if (settings.time_resolution > Seconds(0)) {
    sg4::Engine::set_config("surf/precision", settings.time_resolution.value());
  }
  set_default<double>("smpi/wtime", 0);
  set_default<double>("smpi/init", 0);
  for (const std::string& setting : settings.more) sg4::Engine::set_config(setting);
  SMPI_init();
  smpi_comm_set_copy_data_callback([](smx_activity_t, void*, size_t) {});
}

/// Of a run with a timeline, all of whose messages are sent from an Address.
void tell_addresses_of_ends() {
  smpi_comm_set_copy_data_callback([](smx_activity_t, void* sent, size_t) {
    static_cast<Address*>(sent)->end(sg4::Engine::get_clock());
  });
}

/// Strands of one kind send to each other alone.
struct Matching {
  explicit Matching(std::size_t ranks) : mailboxes(ranks), ended(ranks) {}

  std::vector<Mailbox> mailboxes;  ///< by receiver
  std::vector<bool> ended;         ///< by rank
};

/// What was started on a second strand.
struct Started {
  StartedProgram program;
  sg4::SemaphorePtr done = sg4::Semaphore::create(0);
  Message message = {};
  std::exception_ptr error = {};  ///< until somebody hears it
};

class SecondStrands;

/// All that the ranks of one run have in common.
struct Shared {
  Shared(double start, std::size_t ranks) : origin(start), matching{Matching(ranks), Matching(0)} {}

  double origin;  ///< SimGrid's clock when the run began
  SlotPool slots;
  PhaseNames names;
  std::array<Matching, 2> matching;  ///< by strand
  SecondStrands* seconds = nullptr;
  Transfers* transfers = nullptr;  ///< where there is a timeline
};

/// A length as MPI takes it: bytes, or units of 16 where an int cannot count the bytes. Receives
/// are posted in units of 16, with which bytes go together too.
struct MpiLength {
  int count;
  MPI_Datatype type;
};

MpiLength mpi_length(Words words) {
  const std::int64_t bytes = to_bytes(words).value();
  if (bytes <= INT_MAX) return {static_cast<int>(bytes), MPI_BYTE};
  const std::int64_t units = (bytes + 15) / 16;
  if (units > INT_MAX) {
    throw SimulationError(
        fmt::format("a message of {} words is more than MPI can send at once ({} words)",
                    words.value(), 4 * std::int64_t{INT_MAX}));
  }
  return {static_cast<int>(units), MPI_LONG_DOUBLE};
}

class SmpiRank final : public Communicator {
 public:
  SmpiRank(Rank rank, int size, Shared& shared, Strand strand)
      : Communicator(rank, size), shared_(shared), strand_(strand), ledger_(shared.names) {
    if (shared_.transfers == nullptr) return;
    ledger_.follow(shared_.transfers->timeline().track(rank, strand));
  }

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    check_peer(*this, to);
    if (matching().ended[static_cast<std::size_t>(to.value())]) {  // SMPI would abort
      throw_unreceived(rank(), to, tag, message.words, strand_);
    }
    ledger_.sent(message.words);
    const Words words = message.words;
    const MpiLength length = mpi_length(words);
    // Before MPI knows of it: the receiver may run on before this call returns.
    const SlotIndex slot = matching().mailboxes[static_cast<std::size_t>(to.value())].arrive(
        shared_.slots, rank(), tag, std::move(message), 0);
    Address* address = &nowhere_;
    if (shared_.transfers != nullptr && shared_.transfers->shows(rank(), to)) {
      address = shared_.transfers->sent({.from = rank(),
                                         .to = to,
                                         .strand = strand_,
                                         .tag = tag,
                                         .words = words,
                                         .posted = now()},
                                        slot);
    }
    const std::size_t at = acquire({.peer = to, .tag = tag, .address = address});
    MPI_Issend(address, length.count, length.type, to.value(), tag.value(), MPI_COMM_WORLD,
               &posted_[at].mpi);
    return Request{at};
  }

  [[nodiscard]] Request irecv(Rank from, Tag tag) override {
    check_peer(*this, from);
    Mailbox& mailbox = matching().mailboxes[static_cast<std::size_t>(rank().value())];
    const SlotIndex slot = mailbox.post(shared_.slots, from, tag, 0);
    if (shared_.transfers != nullptr && shared_.transfers->shows(from, rank()) &&
        shared_.slots[slot].arrived) {
      shared_.transfers->taken(from, rank(), strand_, tag, slot, now());
    }
    const std::size_t at = acquire({.peer = from, .tag = tag, .slot = slot});
    MPI_Irecv(&nowhere_, INT_MAX, MPI_LONG_DOUBLE, from.value(), tag.value(), MPI_COMM_WORLD,
              &posted_[at].mpi);
    return Request{at};
  }

  [[nodiscard]] Seconds now() const override {
    return Seconds(sg4::Engine::get_clock() - shared_.origin);
  }

  void open_books() { ledger_.open(now()); }
  void close_books() { ledger_.close(now()); }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

  /// For whom the strand waits at this moment.
  void add_waits(std::vector<Waiting>& waits) const {
    if (awaited_ == nullptr) return;
    auto what = Waiting::For::message;
    if (awaited_->slot == kNoSlot) what = Waiting::For::taking;
    if (awaited_->started) what = Waiting::For::started;
    waits.push_back({.rank = rank(),
                     .peer = awaited_->peer,
                     .tag = awaited_->tag,
                     .what = what,
                     .strand = strand_});
  }

 protected:
  Request start_program(StartedProgram program) override;

  bool complete(std::span<const Request> requests) override {
    for (const Request request : requests) {
      Posted& posted = posted_[request.token];
      awaited_ = &posted;
      if (posted.started) {
        posted.started->done->acquire();
      } else {
        MPI_Wait(&posted.mpi, MPI_STATUS_IGNORE);
        if (shared_.transfers != nullptr) learn_end(posted);
      }
      awaited_ = nullptr;
    }
    return true;
  }

  void park(std::span<const Request> /*requests*/, std::coroutine_handle<> /*waiting*/) override {
    std::terminate();  // complete() never says no
  }

  Message finish(Request request) override {
    const SlotIndex slot = posted_[request.token].slot;
    const auto started = std::exchange(posted_[request.token].started, nullptr);
    free_.push_back(request.token);
    if (started) {
      if (started->error) std::rethrow_exception(std::exchange(started->error, nullptr));
      return std::move(started->message);
    }
    if (slot == kNoSlot) return {};
    Message message = std::move(shared_.slots[slot].message);
    shared_.slots.release(slot);
    ledger_.received(message.words);
    return message;
  }

  void spend(Seconds work) override {
    if (!(work.value() >= 0) || !std::isfinite(work.value())) {
      throw SimulationError("local work must take a finite time that is not negative");
    }
    const Seconds begin = now();
    if (work.value() > 0) sg4::this_actor::sleep_for(work.value());
    ledger_.worked(begin, now());
  }

  void enter_phase(std::string_view name) override { ledger_.enter(name, now()); }
  void leave_phase() noexcept override { ledger_.leave(now()); }

 private:
  struct Posted {
    Rank peer;
    Tag tag;
    SlotIndex slot = kNoSlot;    ///< of a receive
    Address* address = nullptr;  ///< of a send
    MPI_Request mpi = MPI_REQUEST_NULL;
    std::shared_ptr<Started> started = {};
  };

  Matching& matching() { return shared_.matching[static_cast<std::size_t>(strand_)]; }

  void learn_end(Posted& posted) const {
    const double clock = sg4::Engine::get_clock();
    if (posted.address != nullptr) posted.address->end(clock);
    if (posted.slot != kNoSlot) shared_.transfers->received(posted.slot, clock);
  }

  std::size_t acquire(Posted posted) {
    if (free_.empty()) {
      posted_.push_back(std::move(posted));
      return posted_.size() - 1;
    }
    const std::size_t at = free_.back();
    free_.pop_back();
    posted_[at] = std::move(posted);
    return at;
  }

  Shared& shared_;
  Strand strand_;
  Ledger ledger_;
  std::deque<Posted> posted_;  // its elements stay where they are while MPI holds on to them
  std::vector<std::size_t> free_;
  const Posted* awaited_ = nullptr;
  Address nowhere_;  // of what no timeline shows
};

/// The second strands of a run: nothing at all until the first rank starts something. Then there is
/// an actor for each rank, on the rank's host, and an SMPI instance of them: their MPI_COMM_WORLD.
class SecondStrands {
 public:
  SecondStrands(std::string instance, std::vector<sg4::Host*> hosts, Shared& shared)
      : instance_(std::move(instance)), hosts_(std::move(hosts)), shared_(shared) {}

  /// Called by the actor of the rank.
  std::shared_ptr<Started> start(Rank rank, StartedProgram program) {
    if (strands_.empty()) make();
    One& strand = *strands_[static_cast<std::size_t>(rank.value())];
    strand.programs.push_back(std::make_shared<Started>(Started{.program = std::move(program)}));
    auto started = strand.programs.back();
    strand.work->release();
    return started;
  }

  /// Called by the actor of the rank at its end: nothing more will be started.
  void close(Rank rank) {
    if (!strands_.empty()) strands_[static_cast<std::size_t>(rank.value())]->work->release();
  }

  void rethrow_unheard() const {
    for (const auto& failure : failures_) {
      if (failure->error) std::rethrow_exception(failure->error);
    }
  }

  void add_waits(std::size_t rank, std::vector<Waiting>& waits) const {
    if (!strands_.empty()) strands_[rank]->comm.add_waits(waits);
  }

  /// Adds what the strand of a rank has booked.
  void add_to(std::size_t rank, RankReport& report) const {
    if (strands_.empty()) return;
    const One& strand = *strands_[rank];
    report.finished = std::max(report.finished, strand.ended);
    add_phases(report.by_phase, strand.comm.ledger().by_phase());
  }

 private:
  struct One {
    One(Rank rank, int size, Shared& shared) : comm(rank, size, shared, Strand::second) {}

    SmpiRank comm;
    std::deque<std::shared_ptr<Started>> programs = {};
    sg4::SemaphorePtr work = sg4::Semaphore::create(0);  ///< for each program, and at the end
    Seconds ended{};                                     ///< of the last program
  };

  void make() {
    const auto size = static_cast<int>(hosts_.size());
    auto& matching = shared_.matching[static_cast<std::size_t>(Strand::second)];
    matching = Matching(hosts_.size());
    // All before the first actor starts: meanwhile other ranks may start something.
    for (int rank = 0; rank < size; ++rank) {
      strands_.push_back(std::make_unique<One>(Rank(rank), size, shared_));
    }
    all_there_ = sg4::Barrier::create(static_cast<unsigned>(size));
    SMPI_app_instance_register(instance_.c_str(), nullptr, size);
    const auto& main_ended = shared_.matching[static_cast<std::size_t>(Strand::main)].ended;
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      if (main_ended[rank]) strands_[rank]->work->release();
      const auto actor = sg4::Actor::init(fmt::format("second{}", rank), hosts_[rank]);
      actor->set_property("instance_id", instance_);
      actor->set_property("rank", fmt::format("{}", rank));
      actor->start([this, rank] { serve(rank); });
    }
  }

  /// What the actor does.
  void serve(std::size_t rank) {
    MPI_Init(nullptr, nullptr);
    all_there_->wait();  // SMPI cannot send to a rank before its MPI_Init
    One& strand = *strands_[rank];
    for (strand.work->acquire(); !strand.programs.empty(); strand.work->acquire()) {
      const std::shared_ptr<Started> started = std::move(strand.programs.front());
      strand.programs.pop_front();
      strand.comm.open_books();
      try {
        Task<Message> task = started->program(strand.comm);
        task.start();
        started->message = task.result();
      } catch (const simgrid::ForcefulKillException&) {
        throw;  // a rank failed
      } catch (...) {
        started->error = std::current_exception();
        failures_.push_back(started);
      }
      started->program = nullptr;
      strand.comm.close_books();
      strand.ended = strand.comm.now();
      started->done->release();
    }
    shared_.matching[static_cast<std::size_t>(Strand::second)].ended[rank] = true;
    MPI_Finalize();
  }

  std::string instance_;
  std::vector<sg4::Host*> hosts_;
  Shared& shared_;
  std::vector<std::unique_ptr<One>> strands_;  ///< by rank
  sg4::BarrierPtr all_there_;
  std::vector<std::shared_ptr<Started>> failures_;
};

Request SmpiRank::start_program(StartedProgram program) {
  if (strand_ == Strand::second) throw_started_by_second(rank());
  auto started = shared_.seconds->start(rank(), std::move(program));
  return Request{acquire({.peer = rank(), .tag = Tag(0), .started = std::move(started)})};
}

}  // namespace

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

/// Charges the message gap, and counts what crosses each link.
class SmpiNetwork::Links {
 public:
  Links(Seconds gap, bool record) : gap_(gap.value()), record_(record) {
    auto* model = sg4::Engine::get_instance()->get_netzone_root()->get_network_model();
    model->set_bw_factor_cb(
        [this](double size, const sg4::Host*, const sg4::Host*,
               const std::vector<sg4::Link*>& links,
               const std::unordered_set<sg4::NetZone*>&) { return bandwidth_factor(size, links); });
    if (record_) sg4::Engine::on_time_advance_cb([this](double) { look_at_usage(); });
  }

  void begin() {
    used_.clear();
    index_of_.clear();
  }

  [[nodiscard]] std::vector<LinkReport> end(double makespan) const {
    std::vector<LinkReport> reports;
    for (const Used& used : used_) {
      const double bandwidth = used.link->get_bandwidth();
      reports.push_back({.name = used.link->get_name(),
                         .bandwidth = bandwidth,
                         .carried = Bytes(static_cast<std::int64_t>(std::llround(used.bytes))),
                         .mean_utilisation = makespan > 0 ? used.bytes / (bandwidth * makespan) : 0,
                         .peak_utilisation = used.peak});
    }
    std::ranges::sort(reports, {}, &LinkReport::name);
    return reports;
  }

 private:
  struct Used {
    const sg4::Link* link;
    double bytes = 0;
    double peak = 0;
  };

  static constexpr std::size_t kNoLink = SIZE_MAX;

  /// As in topologies/loading/routes.hpp: no wire, only a length for the routing.
  static bool is_weight(const sg4::Link& link) {
    return topologies::is_weight(
        {.name = {},
         .bandwidth = link.get_bandwidth(),
         .latency = Seconds(link.get_latency()),
         .fat_pipe = link.get_sharing_policy() == sg4::Link::SharingPolicy::FATPIPE});
  }

  /// SimGrid divides the size by (bandwidth x factor): the factor that makes it take the message's
  /// own bytes, and the gap as if it were bytes.
  double bandwidth_factor(double size, const std::vector<sg4::Link*>& links) {
    const double bytes = size - kEnvelope;
    if (record_) count(bytes, links);
    double occupied = bytes;
    if (gap_ > 0) {
      double bandwidth = HUGE_VAL;
      for (const sg4::Link* link : links) bandwidth = std::min(bandwidth, link->get_bandwidth());
      if (std::isfinite(bandwidth)) occupied += gap_ * bandwidth;
    }
    constexpr double kAlmostNothing = 1e-6;
    return size / std::max(occupied, kAlmostNothing);
  }

  void count(double bytes, const std::vector<sg4::Link*>& links) {
    for (const sg4::Link* link : links) {
      const auto [found, fresh] = index_of_.try_emplace(link, used_.size());
      if (fresh && is_weight(*link)) found->second = kNoLink;
      if (found->second == kNoLink) continue;
      if (fresh) used_.push_back({.link = link});
      used_[found->second].bytes += bytes;
    }
  }

  void look_at_usage() {
    for (Used& used : used_) {
      used.peak = std::max(used.peak, used.link->get_usage() / used.link->get_bandwidth());
    }
  }

  double gap_;
  bool record_;
  std::vector<Used> used_;
  std::unordered_map<const sg4::Link*, std::size_t> index_of_;
};

SmpiNetwork::SmpiNetwork(const std::string& platform, const SmpiSettings& settings)
    : settings_(with_contexts(settings)),
      platform_(platform, {.packets = settings.packets,
                           .verbose = settings.verbose,
                           .before = [settings] { prepare_smpi(settings); }}) {
  if (!settings.packets) {
    links_ = std::make_unique<Links>(platform_.message_gap(), settings.record_links);
  }
  // Once: the engine keeps its callbacks from run to run.
  sg4::Engine::on_deadlock_cb([this] { at_deadlock_(); });
}

SmpiNetwork::~SmpiNetwork() = default;

void SmpiNetwork::place(std::vector<topologies::HostIndex> hosts) {
  hosts_ = std::move(hosts);
  if (settings_.flows_per_port > 0) limit_ports();
}

/// A port is a link with which the routes of one host begin, or end, and of no other. A bus, or a
/// half-duplex cable, is none. A GPU has one to its node and one to the others.
void SmpiNetwork::limit_ports() {
  std::vector<topologies::HostIndex> used = hosts_;
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.size() < 2) return;
  std::map<topologies::LinkIndex, std::set<std::pair<topologies::HostIndex, bool>>> ends;
  const auto look = [&](topologies::HostIndex host, topologies::HostIndex other) {
    ends[platform_.route(host, other).links.front()].emplace(host, true);
    ends[platform_.route(other, host).links.back()].emplace(host, false);
  };
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string& node = platform_.hosts()[used[i]].node;
    for (const bool same : {true, false}) {
      for (std::size_t j = i + 1; j < i + used.size(); ++j) {
        const topologies::HostIndex other = used[j % used.size()];
        if ((platform_.hosts()[other].node == node) != same) continue;
        look(used[i], other);
        break;
      }
    }
  }
  for (const auto& [link, whose] : ends) {
    if (whose.size() > 1) continue;
    sg4::Link::by_name(platform_.links()[link].name)
        ->set_concurrency_limit(settings_.flows_per_port);
  }
}

RunReport SmpiNetwork::run(int ranks, const RankProgram& program) {
  check_places(platform_.path(), ranks, hosts_.size());
  const std::string instance = fmt::format("run{}", runs_++);
  std::vector<sg4::Host*> hosts;
  for (const topologies::HostIndex host : hosts_) {
    hosts.push_back(sg4::Host::by_name(platform_.hosts()[host].name));
  }
  Shared shared(sg4::Engine::get_clock(), hosts_.size());
  SecondStrands seconds(instance + "-seconds", hosts, shared);
  shared.seconds = &seconds;
  std::optional<Transfers> transfers;
  if (timeline() != nullptr) {
    shared.transfers = &transfers.emplace(*timeline(), shared.origin);
    tell_addresses_of_ends();
  }
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
    try {
      Task<void> task = program(*communicators[at]);
      task.start();
      task.result();
    } catch (const simgrid::ForcefulKillException&) {
      throw;  // another rank failed
    } catch (...) {
      if (!error) error = std::current_exception();
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
    const auto actor =
        sg4::Actor::init(fmt::format("rank{}", rank), hosts[static_cast<std::size_t>(rank)]);
    actor->set_property("instance_id", instance);
    actor->set_property("rank", fmt::format("{}", rank));
    actor->start(rank_main);
  }

  if (links_) links_->begin();
  std::vector<Waiting> waits;
  std::size_t waiting_ranks = 0;
  bool deadlock = false;
  at_deadlock_ = [&] {
    deadlock = true;
    for (std::size_t at = 0; at < communicators.size(); ++at) {
      const std::size_t before = waits.size();
      communicators[at]->add_waits(waits);
      seconds.add_waits(at, waits);
      if (waits.size() > before) ++waiting_ranks;
    }
  };
  sg4::Engine::get_instance()->run();
  if (transfers) transfers->tell();
  if (error) std::rethrow_exception(error);
  seconds.rethrow_unheard();  // before the deadlock: the others may well wait for what failed
  if (deadlock) throw_deadlock(waiting_ranks, hosts_.size(), waits);

  std::vector<const Mailbox*> mailboxes;
  for (const Matching& matching : shared.matching) {
    for (const Mailbox& mailbox : matching.mailboxes) mailboxes.push_back(&mailbox);
  }
  check_matched(mailboxes, hosts_.size(), shared.slots);
  report.phases = shared.names.all();
  for (std::size_t at = 0; at < communicators.size(); ++at) {
    report.ranks[at].by_phase = communicators[at]->ledger().by_phase();
    seconds.add_to(at, report.ranks[at]);
  }
  if (links_ && settings_.record_links) report.links = links_->end(report.makespan().value());
  return report;
}

}  // namespace thinwire::networks
