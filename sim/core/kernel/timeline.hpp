// A timeline is a record of the events of a run. A network writes it if Network::record() has been
// called. Recording does not change the simulation.
//
// Each rank that is shown has one track per strand. A track consists of nested slices in the order
// of time. Messages are stored separately, if their sender or their receiver is shown. Times are
// seconds since the start of the first iteration; iterations follow one another without a gap.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/communicator.hpp"

namespace thinwire::inline kernel {

class Timeline;

/// The times of a message, in seconds since the beginning of the run.
struct MessageTimes {
  Rank from;
  Rank to;
  Strand strand = Strand::main;  ///< the strand of both ends
  Tag tag;
  Words words;
  Seconds posted = {};         ///< when its sender posted it
  Seconds send_begin = {};     ///< when its transfer begins at the sender's port
  Seconds send_end = {};       ///< when the sender's port is free again
  Seconds receive_begin = {};  ///< when it begins to occupy the receiver's port
  Seconds receive_end = {};    ///< when it has arrived
};

enum class SliceKind : std::uint8_t {
  program,  ///< a rank's program in an iteration, or one that it started on its second strand
  phase,
  work  ///< local work that takes time
};

/// The activity of one strand of a rank.
class TimelineTrack {
 public:
  /// The beginning or the end of a slice. The slices of a track nest. A failed run leaves some of
  /// them without an end.
  struct Mark {
    Seconds at;
    bool begins = false;
    SliceKind kind = SliceKind::program;  ///< only for the beginning of a slice
    std::string name = {};                ///< only for the beginning of a slice
  };

  TimelineTrack(Timeline& timeline, Strand strand) : timeline_(&timeline), strand_(strand) {}

  // The strand's ledger calls these, with times in seconds since the beginning of the run.
  void open(Seconds at);
  void enter(std::string_view phase, Seconds at);
  void leave(Seconds at);
  void work(Seconds begin, Seconds end);
  /// Ends all open slices.
  void close(Seconds at);

  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

 private:
  friend class Timeline;
  void begin(SliceKind kind, std::string_view name, Seconds at);
  void end(Seconds at);

  Timeline* timeline_;
  Strand strand_;
  std::vector<Mark> marks_;
  std::vector<bool> open_;  ///< by open slice: whether it was recorded (otherwise it was left out)
};

/// The phases, local work and messages of the shown ranks, with their times.
class Timeline {
 public:
  /// Records at most `most_events` events: the beginnings and ends of slices, and the flows that
  /// connect the two slices of a message. A quarter of them is reserved for the tracks, so that
  /// phases are still recorded after the room for messages is used up. Events beyond the limit are
  /// left out and counted.
  explicit Timeline(std::vector<Rank> shown,
                    std::size_t most_events = std::numeric_limits<std::size_t>::max());
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline() = default;

  /// Adds a rank to those that are shown. To be called before the first event is recorded.
  void show(Rank rank);
  [[nodiscard]] bool shows(Rank rank) const;
  [[nodiscard]] bool shows(Rank from, Rank to) const { return shows(from) || shows(to); }

  // The caller of the network's runs calls these.
  void begin_iteration(int iteration);
  /// Moves the origin of the next iteration to the end of this one.
  void end_iteration(Seconds makespan);

  // The network calls these.
  /// The track of a strand; nullptr when its rank is not shown.
  [[nodiscard]] TimelineTrack* track(Rank rank, Strand strand);
  /// Stores the message if its sender or its receiver is shown.
  void add(const MessageTimes& message);

  using Strands = std::pair<Rank, Strand>;
  [[nodiscard]] const std::map<Strands, TimelineTrack>& tracks() const { return tracks_; }
  /// Times are seconds since the start of the first iteration. They are in the order of recording.
  [[nodiscard]] const std::deque<MessageTimes>& messages() const { return messages_; }
  [[nodiscard]] const std::vector<Rank>& shown() const { return shown_; }

  /// The events that exceeded the limit.
  struct LeftOut {
    std::int64_t messages = 0;
    std::int64_t slices = 0;
    Seconds since{std::numeric_limits<double>::infinity()};  ///< when the first of them began
  };
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }

 private:
  friend class TimelineTrack;
  /// Reserves two events for the marks of a slice. If there is no room for them, counts the slice
  /// as left out and returns false.
  [[nodiscard]] bool take_slice(Seconds at);

  std::vector<Rank> shown_;  ///< ascending
  std::size_t most_events_;
  std::size_t events_ = 0;
  std::string iteration_;  ///< name of the current iteration
  Seconds offset_;         ///< start of the current iteration
  std::map<Strands, TimelineTrack> tracks_;
  std::deque<MessageTimes> messages_;
  LeftOut left_out_;
};

}  // namespace thinwire::inline kernel
