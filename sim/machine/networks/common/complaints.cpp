#include "sim/machine/networks/common/complaints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/base/errors.hpp"

namespace thinwire::networks {

namespace {

std::string name_of(Rank rank, Strand strand) {
  const char* what = strand == Strand::main ? "rank" : "what was started on rank";
  return fmt::format("{} {}", what, rank.value());
}

std::string unreceived_text(Rank from, Rank to, Tag tag, Words words, Strand strand) {
  return fmt::format("{} sent {} words to rank {} (tag {}) and nobody received them",
                     name_of(from, strand), words.value(), to.value(), tag.value());
}

std::string text_of(const Waiting& waiting) {
  const std::string who = name_of(waiting.rank, waiting.strand);
  if (waiting.what == Waiting::For::started) return who + " waits for what it started";
  return fmt::format("{} waits for rank {}{} (tag {})", who, waiting.peer.value(),
                     waiting.what == Waiting::For::taking ? " to receive" : "",
                     waiting.tag.value());
}

}  // namespace

void throw_unreceived(Rank from, Rank to, Tag tag, Words words, Strand strand) {
  throw UnmatchedError(unreceived_text(from, to, tag, words, strand));
}

void throw_started_by_second(Rank rank) {
  throw SimulationError(
      fmt::format("a started program on rank {} starts another one: only the rank's own program "
                  "may start programs",
                  rank.value()));
}

void check_peer(const Communicator& comm, Rank peer) {
  if (peer.value() < 0 || peer.value() >= comm.size()) {
    throw SimulationError(fmt::format("rank {} names rank {} as its peer, but ranks are 0 to {}",
                                      comm.rank().value(), peer.value(), comm.size() - 1));
  }
}

void check_work(Seconds work) {
  if (work.value() >= 0 && std::isfinite(work.value())) return;
  throw SimulationError("local work must take a finite time that is not negative");
}

void check_places(const std::string& platform, int ranks, std::size_t hosts) {
  if (hosts == static_cast<std::size_t>(ranks)) return;
  throw InputError(
      fmt::format("{}: {} ranks are to run, but {} have a place", platform, ranks, hosts));
}

void throw_no_reducing_switches(ReducingLevel level) {
  throw SimulationError(
      fmt::format("no switch {} sums on this network: the platform must have the property "
                  "thinwire.reducing.{}",
                  level == ReducingLevel::node ? "inside nodes" : "between nodes",
                  level == ReducingLevel::node ? "node" : "network"));
}

void throw_time_overflow() {
  throw InputError(
      "the simulated time is too large for a number; take smaller times of the machine or a "
      "smaller gradient");
}

void throw_deadlock(std::size_t waiting_ranks, std::size_t ranks,
                    const std::vector<Waiting>& waits) {
  constexpr std::size_t kNamed = 8;
  std::string text =
      fmt::format("deadlock: {} of {} ranks wait and nothing is in flight:", waiting_ranks, ranks);
  for (std::size_t i = 0; i < std::min(kNamed, waits.size()); ++i) {
    text += fmt::format(" {};", text_of(waits[i]));
  }
  if (waits.size() > kNamed) text += fmt::format(" and {} more", waits.size() - kNamed);
  throw DeadlockError(text);
}

void check_matched(const std::vector<const Mailbox*>& mailboxes, std::size_t ranks,
                   const SlotPool& slots) {
  std::size_t count = 0;
  std::string first;
  for (std::size_t i = 0; i < mailboxes.size(); ++i) {
    const Rank rank(static_cast<std::int32_t>(i % ranks));
    const Strand strand = i < ranks ? Strand::main : Strand::second;
    for (const SlotIndex index : mailboxes[i]->unmatched()) {
      const Slot& slot = slots[index];
      if (count++ > 0) continue;
      first = slot.sent ? unreceived_text(slot.from, rank, slot.tag, slot.message.words, strand)
                        : fmt::format("{} posted a receive from rank {} (tag {}) and nothing came",
                                      name_of(rank, strand), slot.from.value(), slot.tag.value());
    }
  }
  if (count == 0 && slots.in_use() > 0) {
    throw UnmatchedError(fmt::format(
        "{} receives were posted and complete, and nobody waited for them", slots.in_use()));
  }
  if (count == 0) return;
  if (count > 1) first += fmt::format("; and {} more pairs of ranks like this", count - 1);
  throw UnmatchedError(first);
}

}  // namespace thinwire::networks
