#include "sim/app/report/tables/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace thinwire::report {

namespace {

double microseconds(Seconds time) { return time.value() * 1e6; }

/// The position of an event: a rank is a process, and its tracks are threads.
struct Place {
  int pid;
  int tid;
};

/// One end of a message, as a slice at a port.
struct PortSlice {
  Seconds begin;
  Seconds end;
  const MessageTimes* message;
  std::int64_t id;  ///< message id
};

/// Both directions of the ports of a rank.
struct Ports {
  std::vector<PortSlice> sends;
  std::vector<PortSlice> receives;
};

/// The slices in lanes without overlap, so that each lane fits on a track.
using Lanes = std::vector<std::vector<PortSlice>>;

Lanes lanes_of(std::vector<PortSlice> slices) {
  std::ranges::stable_sort(slices, {}, &PortSlice::begin);
  Lanes lanes;
  for (const PortSlice& slice : slices) {
    const auto free = std::ranges::find_if(
        lanes, [&](const auto& lane) { return lane.back().end <= slice.begin; });
    auto& lane = free == lanes.end() ? lanes.emplace_back() : *free;
    lane.push_back(slice);
  }
  return lanes;
}

const char* name_of(SliceKind kind) {
  constexpr std::array kNames{"program", "phase", "work"};
  return kNames.at(static_cast<std::size_t>(kind));
}

class Writer {
 public:
  explicit Writer(const Timeline& timeline) : timeline_(timeline) {
    for (const auto& [strand, track] : timeline.tracks()) {
      if (!track.marks().empty()) last_ = std::max(last_, track.marks().back().at);
    }
    std::int64_t id = 0;
    for (const MessageTimes& message : timeline.messages()) {
      ++id;
      last_ = std::max(last_, message.receive_end);
      if (timeline.shows(message.from)) {
        ports_[message.from].sends.push_back({message.send_begin, message.send_end, &message, id});
      }
      if (timeline.shows(message.to)) {
        ports_[message.to].receives.push_back(
            {message.receive_begin, message.receive_end, &message, id});
      }
    }
  }

  TimelineText write(const Json& about) {
    text_ = fmt::format("{{\"displayTimeUnit\": \"ns\",\n\"otherData\": {},\n\"traceEvents\": [",
                        about.dump());
    for (const Rank rank : timeline_.shown()) add_rank(rank);
    text_ += "\n]}\n";
    return {.events = events_, .text = std::move(text_)};
  }

 private:
  void add_rank(Rank rank) {
    const int pid = rank.value() + 1;  // readers of the format take 0 for the idle process
    add_name(pid, "process", fmt::format("rank {}", rank.value()), rank.value());
    int track = 0;
    const auto place = [&](const std::string& name) {
      const Place next{.pid = pid, .tid = ++tid_};
      add_name(pid, "thread", name, track++, next.tid);
      return next;
    };
    for (const Strand strand : {Strand::main, Strand::second}) {
      const auto found = timeline_.tracks().find({rank, strand});
      if (found == timeline_.tracks().end()) continue;
      add_track(place(strand == Strand::main ? "program" : "second strand"), found->second);
    }
    const Ports& ports = ports_[rank];
    for (const bool sends : {true, false}) {
      int lane = 0;
      for (const auto& slices : lanes_of(sends ? ports.sends : ports.receives)) {
        const std::string name = sends ? "sends" : "receives";
        ++lane;
        const Place at = place(lane == 1 ? name : fmt::format("{} {}", name, lane));
        for (const PortSlice& slice : slices) add_message(at, slice, sends);
      }
    }
  }

  void add_track(Place place, const TimelineTrack& track) {
    int open = 0;
    for (const TimelineTrack::Mark& mark : track.marks()) {
      if (!mark.begins) {
        --open;
        add("E", place, mark.at);
        continue;
      }
      ++open;
      add("B", place, mark.at,
          fmt::format(R"(, "cat": "{}", "name": {})", name_of(mark.kind), Json(mark.name).dump()));
    }
    for (; open > 0; --open) add("E", place, last_);
  }

  void add_message(Place place, const PortSlice& slice, bool send) {
    const MessageTimes& message = *slice.message;
    const std::string peer = send ? fmt::format("to {}", message.to.value())
                                  : fmt::format("from {}", message.from.value());
    add("B", place, slice.begin,
        fmt::format(
            R"(, "cat": "message", "name": "{}", "args": {{"from": {}, "to": {}, "tag": {}, )"
            R"("words": {}, "bytes": {}, "posted_us": {}, "departs_us": {}, "arrives_us": {}}})",
            peer, message.from.value(), message.to.value(), message.tag.value(),
            message.words.value(), to_bytes(message.words).value(), microseconds(message.posted),
            microseconds(message.send_begin), microseconds(message.receive_end)));
    const bool both = timeline_.shows(message.from) && timeline_.shows(message.to);
    const auto add_flow = [&](const char* kind, Seconds at, const char* more) {
      add(kind, place, at,
          fmt::format(R"(, "cat": "message", "name": "message", "id": {}{})", slice.id, more));
    };
    if (both && send) add_flow("s", slice.begin, "");
    if (both && !send) {
      // The flow ends inside the slice that it belongs to: readers round to whole nanoseconds.
      const double back = std::min(1e-9, (slice.end - slice.begin).value() / 2);
      add_flow("f", Seconds(slice.end.value() - back), R"(, "bp": "e")");
    }
    add("E", place, slice.end);
  }

  void add(const char* kind, Place place, Seconds at, const std::string& more = {}) {
    ++events_;
    separate();
    fmt::format_to(std::back_inserter(text_), R"({{"ph": "{}", "pid": {}, "tid": {}, "ts": {}{}}})",
                   kind, place.pid, place.tid, microseconds(at), more);
  }

  /// Names a rank, or a track of it; both are shown in the order of `order`.
  void add_name(int pid, const char* what, const std::string& name, int order, int tid = 0) {
    const std::string track = tid > 0 ? fmt::format(R"(, "tid": {})", tid) : "";
    separate();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph": "M", "pid": {}{}, "name": "{}_name", "args": {{"name": "{}"}}}},)"
                   "\n"
                   R"({{"ph": "M", "pid": {}{}, "name": "{}_sort_index", "args": )"
                   R"({{"sort_index": {}}}}})",
                   pid, track, what, name, pid, track, what, order);
  }

  void separate() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
  }

  const Timeline& timeline_;
  Seconds last_;
  std::map<Rank, Ports> ports_;
  std::string text_;
  bool first_ = true;
  int tid_ = 0;
  std::int64_t events_ = 0;
};

}  // namespace

TimelineText to_trace_events(const Timeline& timeline, Json about) {
  Json ranks = Json::array();
  for (const Rank rank : timeline.shown()) ranks.push_back(rank.value());
  const Timeline::LeftOut& left_out = timeline.left_out();
  const bool all = left_out.messages + left_out.slices == 0;
  about["ranks_shown"] = ranks;
  about["messages_left_out"] = left_out.messages;
  about["slices_left_out"] = left_out.slices;
  about["left_out_since_us"] = all ? Json() : Json(microseconds(left_out.since));
  return Writer(timeline).write(about);
}

}  // namespace thinwire::report
