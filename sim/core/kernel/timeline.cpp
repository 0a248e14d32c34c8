#include "sim/core/kernel/timeline.hpp"

#include <algorithm>
#include <utility>

namespace thinwire::inline kernel {

void TimelineTrack::begin(SliceKind kind, std::string_view name, Seconds at) {
  at += timeline_->offset_;
  open_.push_back(timeline_->take_slice(at));
  if (!open_.back()) return;
  Mark& mark = marks_.emplace_back();
  mark.at = at;
  mark.begins = true;
  mark.kind = kind;
  mark.name = name;
}

void TimelineTrack::end(Seconds at) {
  if (open_.empty()) return;
  const bool kept = open_.back();
  open_.pop_back();
  if (kept) marks_.emplace_back().at = at + timeline_->offset_;
}

void TimelineTrack::open(Seconds at) {
  begin(SliceKind::program, strand_ == Strand::main ? timeline_->iteration_ : "started", at);
}

void TimelineTrack::enter(std::string_view phase, Seconds at) {
  begin(SliceKind::phase, phase, at);
}

void TimelineTrack::leave(Seconds at) { end(at); }

void TimelineTrack::work(Seconds begins, Seconds ends) {
  if (ends <= begins) return;
  begin(SliceKind::work, "local work", begins);
  end(ends);
}

void TimelineTrack::close(Seconds at) {
  while (!open_.empty()) end(at);
}

Timeline::Timeline(std::vector<Rank> shown, std::size_t most_events) : most_events_(most_events) {
  for (const Rank rank : shown) show(rank);
}

void Timeline::show(Rank rank) {
  const auto at = std::ranges::lower_bound(shown_, rank);
  if (at == shown_.end() || *at != rank) shown_.insert(at, rank);
}

bool Timeline::shows(Rank rank) const { return std::ranges::binary_search(shown_, rank); }

void Timeline::begin_iteration(int iteration) {
  iteration_ = "iteration " + std::to_string(iteration);
}

void Timeline::end_iteration(Seconds makespan) { offset_ += makespan; }

TimelineTrack* Timeline::track(Rank rank, Strand strand) {
  if (!shows(rank)) return nullptr;
  return &tracks_.try_emplace({rank, strand}, *this, strand).first->second;
}

void Timeline::add(const MessageTimes& message) {
  if (!shows(message.from, message.to)) return;
  const bool both = shows(message.from) && shows(message.to);
  const std::size_t events = both ? 6 : 2;  // two slices and a flow, or one slice
  const std::size_t most = most_events_ - most_events_ / 4;
  if (events > most || events_ > most - events) {
    ++left_out_.messages;
    left_out_.since = std::min(left_out_.since, message.send_begin + offset_);
    return;
  }
  events_ += events;
  MessageTimes& kept = messages_.emplace_back(message);
  for (Seconds* time :
       {&kept.posted, &kept.send_begin, &kept.send_end, &kept.receive_begin, &kept.receive_end}) {
    *time += offset_;
  }
}

bool Timeline::take_slice(Seconds at) {
  constexpr std::size_t kEvents = 2;
  if (most_events_ < kEvents || events_ > most_events_ - kEvents) {
    ++left_out_.slices;
    left_out_.since = std::min(left_out_.since, at);
    return false;
  }
  events_ += kEvents;
  return true;
}

}  // namespace thinwire::inline kernel
