#include "sim/machine/networks/links/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/prefetch.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/event_window.hpp"
#include "sim/machine/networks/links/background.hpp"
#include "sim/machine/networks/links/fabric.hpp"
#include "sim/machine/networks/links/fair_links.hpp"
#include "sim/machine/networks/links/link_use.hpp"

namespace thinwire::networks {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A message on its way.
struct Transfer {
  topologies::Way way;
  Rank from;
  Rank to;
  Tag tag;
  Strand strand;
  bool eager;
  bool ready;
  Words words;
  SlotIndex send;
  SlotIndex receive;
  double posted;
  double departed;
  double latency;  ///< of its minimal route
  double detour;   ///< latency of its path beyond that
};

/// A serial send port of a rank: transfers that are ready depart, one after the other.
class SendPort {
 public:
  struct Ready {
    double time;
    std::uint64_t order;
    TransferIndex transfer;

    friend bool operator>(const Ready& a, const Ready& b) {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  void push(double time, TransferIndex transfer) {
    ready_.push_back({time, order_++, transfer});
    std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
  }
  [[nodiscard]] double next() const {
    if (ready_.empty()) return kNever;
    return std::max(ready_.front().time, free);
  }
  TransferIndex pop() {
    const TransferIndex first = ready_.front().transfer;
    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    ready_.pop_back();
    return first;
  }

  double free = 0;
  double scheduled = kNever;

 private:
  std::vector<Ready> ready_;  ///< a heap
  std::uint64_t order_ = 0;
};

class LinksLoop;

/// A strand of a rank.
class LinksRank final : public TimedRank {
 public:
  LinksRank(Rank rank, int size, LinksLoop& loop, Strand strand);

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override;
  [[nodiscard]] Request irecv(Rank from, Tag tag) override;

 private:
  LinksLoop& loop_;
  Strand strand_;
};

class LinksLoop final : public EventLoop {
 public:
  /// `bandwidths` by link is what there is for the ranks; `timeline` and `use` may be nullptr.
  LinksLoop(int size, Fabric& fabric, std::span<const double> bandwidths, Bytes eager,
            Timeline* timeline, LinkUse* use)
      : size_(size),
        fabric_(fabric),
        eager_(eager),
        timeline_(timeline),
        use_(use),
        links_(bandwidths, events_),
        first_transfer_(static_cast<std::uint32_t>(bandwidths.size())) {
    for (int rank = 0; rank < size; ++rank) {
      if (fabric.serial()) {
        first_port_.push_back(static_cast<std::uint32_t>(ports_.size()));
        ports_.resize(ports_.size() + fabric.ports(Rank(rank)));
      }
      auto made = std::make_unique<LinksRank>(Rank(rank), size, *this, Strand::main);
      if (timeline_ != nullptr) made->follow(timeline_->track(Rank(rank), Strand::main));
      ranks_.push_back(std::move(made));
    }
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    return timed_report();
  }

  /// A rank posts a message; returns the slot that is complete when the send is.
  SlotIndex post(Rank from, Rank to, Strand strand, Tag tag, Message&& message, double now) {
    const TransferIndex index = acquire();
    const Words words = message.words;
    const SlotIndex send = slots().acquire(to, tag, false);
    slots()[send].transfer = index;
    const Match match = EventLoop::match(from, to, strand, tag, std::move(message), index);
    const bool eager = fabric_.serial() || (eager_ > Bytes(0) && to_bytes(words) <= eager_);
    transfers_[index] = {.way = {},
                         .from = from,
                         .to = to,
                         .tag = tag,
                         .strand = strand,
                         .eager = eager,
                         .ready = eager || match.posted,
                         .words = words,
                         .send = send,
                         .receive = match.slot,
                         .posted = now,
                         .departed = 0,
                         .latency = 0,
                         .detour = 0};
    if (eager) {
      set_off(index, now);
    } else if (match.posted) {
      set_off(index, std::max(now, slots()[match.slot].stamp));
    }
    return send;
  }
  /// A receive is posted for a message that was sent before.
  void taken(TransferIndex index, double now) {
    Transfer& transfer = transfers_[index];
    if (std::exchange(transfer.ready, true)) return;
    set_off(index, std::max(now, transfer.posted));
  }

 protected:
  /// Handles all events of one lookahead: no rank learns of any of them before its end. So what
  /// they touch can be fetched ahead, and ranks run many at a time.
  bool advance() override {
    depart_all();
    if (!ended_.empty()) {  // eager sends, whose senders go on before anything else happens
      hand_over();
      return true;
    }
    if (!events_.open(fabric_.lookahead())) return false;
    Event event{};
    while (fetch_ahead(), events_.next(event)) {
      if (fabric_.serial()) {
        serve(event.who, event.time);
      } else if (event.who >= first_transfer_) {
        enter(event.who - first_transfer_, event.time);
      } else {
        links_.happens(event.time, event.who);
      }
      for (const TransferIndex index : links_.through()) arrive(index, event.time);
      links_.through().clear();
    }
    hand_over();
    return true;
  }

  std::unique_ptr<LoopRank> make_second(Rank rank) override {
    auto second = std::make_unique<LinksRank>(rank, size_, *this, Strand::second);
    if (timeline_ != nullptr) second->follow(timeline_->track(rank, Strand::second));
    return second;
  }

 private:
  /// Each stage asks for what the next one reads: a transfer, the links of its way, who is there.
  void fetch_ahead() const {
    constexpr std::size_t kStage = 3;
    const auto entering = [&](std::size_t stages) -> const Transfer* {
      const Event* event = events_.ahead(stages * kStage);
      if (fabric_.serial() || event == nullptr || event->who < first_transfer_) return nullptr;
      return &transfers_[event->who - first_transfer_];
    };
    if (const Transfer* transfer = entering(3)) {
      prefetch_line(transfer);
      links_.prefetch_flow(static_cast<FlowIndex>(transfer - transfers_.data()));
    }
    if (const Transfer* transfer = entering(2)) fabric_.prefetch_path(transfer->way);
    if (const Transfer* transfer = entering(1)) {
      fabric_.follow(transfer->from, transfer->to, transfer->way,
                     [this](topologies::LinkIndex link) { links_.prefetch(link); });
    }
  }

  /// What has been delivered, and sent, is told to the ranks.
  void hand_over() {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < ended_.size(); ++i) {
      if (i + kAhead < ended_.size()) {
        const Ended& later = ended_[i + kAhead];
        slots().prefetch(later.slot);
        prefetch(later.rank, later.strand);
      }
      complete(ended_[i].rank, ended_[i].strand, ended_[i].slot, ended_[i].time);
    }
    ended_.clear();
  }

  TransferIndex acquire() {
    if (free_.empty()) {
      transfers_.emplace_back();
      return static_cast<TransferIndex>(transfers_.size() - 1);
    }
    const TransferIndex index = free_.back();
    free_.pop_back();
    return index;
  }

  /// A message sets off at `time`, as soon as no rank can run.
  void set_off(TransferIndex index, double time) {
    transfers_[index].departed = time;
    setting_off_.push_back(index);
  }

  void depart_all() {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < setting_off_.size(); ++i) {
      if (i + kAhead < setting_off_.size()) {
        const Transfer& later = transfers_[setting_off_[i + kAhead]];
        fabric_.prefetch_way(later.from, later.to);
      }
      depart(setting_off_[i]);
    }
    setting_off_.clear();
  }
  void depart(TransferIndex index) {
    Transfer& transfer = transfers_[index];
    transfer.way = fabric_.way(transfer.from, transfer.to);
    transfer.latency = fabric_.latency(transfer.from, transfer.to, transfer.way);
    if (fabric_.serial()) {
      const std::uint32_t at =
          first_port_[static_cast<std::size_t>(transfer.from.value())] + Fabric::port(transfer.way);
      ports_[at].push(transfer.departed, index);
      schedule(at);
      return;
    }
    if (transfer.eager) {
      end_send(transfer, transfer.departed +
                             fabric_.send_occupancy(transfer.from, transfer.way, transfer.words));
    }
    // Shared links serve a message once its head has come all the way, as SimGrid's do.
    events_.push(transfer.departed + transfer.latency, first_transfer_ + index);
  }
  void end_send(Transfer& transfer, double time) {
    ended_.push_back({transfer.from, transfer.strand, transfer.send, time});
    transfer.send = kNoSlot;
  }

  void schedule(std::uint32_t at) {
    SendPort& port = ports_[at];
    const double next = port.next();
    if (next >= port.scheduled) return;
    port.scheduled = next;
    events_.push(next, at);
  }
  /// Transfers of a serial port depart.
  void serve(std::uint32_t at, double now) {
    SendPort& port = ports_[at];
    if (port.scheduled != now) return;
    port.scheduled = kNever;
    while (port.next() == now) {
      const TransferIndex index = port.pop();
      Transfer& transfer = transfers_[index];
      transfer.departed = now;
      port.free = now + fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
      end_send(transfer, port.free);
      if (use_ != nullptr) take_path(index, now);
      arrive(index, now);
    }
    schedule(at);
  }
  /// A message enters the links that it shares with others.
  void enter(TransferIndex index, double now) {
    const Fabric::Path path = take_path(index, now);
    if (path.shared == 0) {
      arrive(index, now);
      return;
    }
    Transfer& transfer = transfers_[index];
    transfer.detour = path.detour;
    links_.begin(now, index, path.shared, fabric_.bytes(transfer.way, transfer.words));
  }
  Fabric::Path take_path(TransferIndex index, double now) {
    const Transfer& transfer = transfers_[index];
    const Fabric::Path path = fabric_.path({.from = transfer.from,
                                            .to = transfer.to,
                                            .way = transfer.way,
                                            .words = transfer.words,
                                            .now = now,
                                            .number = departures_++},
                                           links_, links_.links_of(index));
    if (use_ != nullptr) {
      if (index >= paths_.size()) paths_.resize(transfers_.size());
      const std::span<const topologies::LinkIndex> whole = fabric_.whole_path();
      paths_[index].assign(whole.begin(), whole.end());
    }
    return path;
  }

  /// A message has crossed all links that it shares with others, if any: its tail goes on.
  void arrive(TransferIndex index, double now) {
    Transfer& transfer = transfers_[index];
    double head = transfer.departed + transfer.latency;
    if (fabric_.serial()) {
      head = fabric_.take_in(transfer.to, transfer.way, transfer.words, head);
    }
    double delivered = head + fabric_.alone(transfer.way, transfer.words);
    if (!fabric_.serial()) delivered = std::max(now, delivered) + transfer.detour;
    if (timeline_ != nullptr) tell(transfer, head, delivered);
    if (use_ != nullptr) count(index, now, head);
    if (transfer.send != kNoSlot) end_send(transfer, delivered);
    ended_.push_back({transfer.to, transfer.strand, transfer.receive, delivered});
    free_.push_back(index);
  }

  /// Links are busy with a message until it has crossed them, serial ports while they serve it.
  void count(TransferIndex index, double crossed, double taken_from) {
    const Transfer& transfer = transfers_[index];
    const double begin = transfer.departed;
    const double bytes = static_cast<double>(to_bytes(transfer.words).value());
    const double alone = fabric_.alone(transfer.way, transfer.words);
    const std::span<const topologies::LinkIndex> path = paths_[index];
    if (!fabric_.serial() || path.size() < 2) {
      use_->add(path, bytes, begin, std::max(crossed, begin + alone));
      return;
    }
    const double sent = fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
    use_->add(path.first(1), bytes, begin, begin + sent);
    use_->add(path.last(1), bytes, taken_from, taken_from + alone);
    use_->add(path.subspan(1, path.size() - 2), bytes, begin, begin + alone);
  }

  void tell(const Transfer& transfer, double received_from, double delivered) {
    const double occupied = fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
    timeline_->add({.from = transfer.from,
                    .to = transfer.to,
                    .strand = transfer.strand,
                    .tag = transfer.tag,
                    .words = transfer.words,
                    .posted = Seconds(transfer.posted),
                    .send_begin = Seconds(transfer.departed),
                    .send_end = Seconds(transfer.eager ? transfer.departed + occupied : delivered),
                    .receive_begin = Seconds(received_from),
                    .receive_end = Seconds(delivered)});
  }

  int size_;
  Fabric& fabric_;
  Bytes eager_;
  Timeline* timeline_;
  LinkUse* use_;
  EventWindow events_;  ///< of serial ports, or of links and then of transfers that enter them
  FairLinks links_;
  std::uint32_t first_transfer_;
  std::vector<SendPort> ports_;            ///< where they are serial
  std::vector<std::uint32_t> first_port_;  ///< by rank
  std::vector<Transfer> transfers_;
  std::vector<TransferIndex> setting_off_;
  std::vector<TransferIndex> free_;
  std::vector<std::vector<topologies::LinkIndex>>
      paths_;  ///< by transfer, where links are recorded
  std::uint64_t departures_ = 0;
  std::vector<std::unique_ptr<LoopRank>> ranks_;
  /// Something that a strand may wait for is complete at `time`.
  struct Ended {
    Rank rank;
    Strand strand;
    SlotIndex slot;
    double time;
  };
  std::vector<Ended> ended_;
};

LinksRank::LinksRank(Rank rank, int size, LinksLoop& loop, Strand strand)
    : TimedRank(rank, size, loop), loop_(loop), strand_(strand) {}

Request LinksRank::isend(Rank to, Tag tag, Message message) {
  check_peer(*this, to);
  books().sent(message.words);
  return slot_request(loop_.post(rank(), to, strand_, tag, std::move(message), clock_));
}

Request LinksRank::irecv(Rank from, Tag tag) {
  const Request request = TimedRank::irecv(from, tag);
  const Slot& slot = slots()[slot_of(request)];
  if (slot.sent && !slot.arrived) loop_.taken(slot.transfer, clock_);
  return request;
}

}  // namespace

LinksNetwork::LinksNetwork(const std::string& platform, const LinksSettings& settings)
    : settings_(settings), platform_(platform, {.verbose = settings.verbose}) {}

LinksNetwork::~LinksNetwork() = default;

void LinksNetwork::place(std::vector<topologies::HostIndex> hosts) {
  hosts_ = std::move(hosts);
  std::vector<topologies::HostIndex> sites = hosts_;
  if (settings_.routing != LinkRouting::minimal) {  // messages may go by way of any host's switch
    sites.resize(hosts_.size() + platform_.hosts().size());
    std::iota(sites.begin() + static_cast<std::ptrdiff_t>(hosts_.size()), sites.end(),
              topologies::HostIndex{0});
  }
  routes_ = std::make_unique<topologies::CompactRoutes>(platform_, sites);
  fabric_ = std::make_unique<Fabric>(platform_, *routes_, hosts_.size(), settings_);
  bandwidths_ = bandwidths_left(platform_, hosts_, settings_, [this](topologies::LinkIndex link) {
    return fabric_->is_port(link);
  });
}

RunReport LinksNetwork::run(int ranks, const RankProgram& program) {
  check_places(platform_.path(), ranks, hosts_.size());
  Fabric fabric = *fabric_;  // with ports that are free
  std::optional<LinkUse> use;
  if (settings_.record_links) use.emplace(platform_.links());
  LinksLoop loop(ranks, fabric, bandwidths_, settings_.eager, timeline(), use ? &*use : nullptr);
  RunReport report = loop.run(program);
  if (use) report.links = use->reports(report.makespan().value());
  return report;
}

}  // namespace thinwire::networks
