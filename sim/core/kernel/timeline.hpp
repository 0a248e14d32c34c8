// What happens in a run, event by event, for those who want to look at it. Networks tell it where
// one is given to them (Network::record); it changes nothing in what they simulate.
//
// A shown rank has a track for each of its strands: slices that nest, in order of time. Messages
// of which either end is shown are kept beside. Times are seconds since the start of the first
// iteration; iterations follow one another without a gap.
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

/// A message as its network saw it, in seconds of the run.
struct MessageTimes {
  Rank from;
  Rank to;
  Strand strand = Strand::main;  ///< of both ends
  Tag tag;
  Words words;
  Seconds posted = {};         ///< when its sender posted it
  Seconds send_begin = {};     ///< when its transfer begins: it departs from the sender's port
  Seconds send_end = {};       ///< when the sender's port is free again
  Seconds receive_begin = {};  ///< when it begins to occupy the receiver's port
  Seconds receive_end = {};    ///< when it has arrived
};

enum class SliceKind : std::uint8_t {
  program,  ///< of a rank in an iteration, or what it started on its second strand
  phase,
  work  ///< local work that takes time
};

/// What one strand of a rank does.
class TimelineTrack {
 public:
  /// The beginning or the end of a slice. In the order of a track they nest; a run that fails
  /// leaves some open.
  struct Mark {
    Seconds at;
    bool begins = false;
    SliceKind kind = SliceKind::program;  ///< where it begins
    std::string name = {};                ///< where it begins
  };

  TimelineTrack(Timeline& timeline, Strand strand) : timeline_(&timeline), strand_(strand) {}

  // What the strand's ledger tells, in seconds of the run.
  void open(Seconds at);
  void enter(std::string_view phase, Seconds at);
  void leave(Seconds at);
  void work(Seconds begin, Seconds end);
  /// Ends all that is open.
  void close(Seconds at);

  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

 private:
  friend class Timeline;
  void begin(SliceKind kind, std::string_view name, Seconds at);
  void end(Seconds at);

  Timeline* timeline_;
  Strand strand_;
  std::vector<Mark> marks_;
  std::vector<bool> open_;  ///< slices: whether they are among the marks, or were left out
};

/// What the ranks of a run did, and when: phases, local work and messages, of the ranks that are
/// shown.
class Timeline {
 public:
  /// Of `most_events` beginnings, ends and flows a quarter is kept for the tracks, so that phases
  /// go on where messages are too many. What comes after that is left out, and counted.
  explicit Timeline(std::vector<Rank> shown,
                    std::size_t most_events = std::numeric_limits<std::size_t>::max());
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  Timeline(Timeline&&) = delete;
  Timeline& operator=(Timeline&&) = delete;
  ~Timeline() = default;

  /// Before anything is recorded.
  void show(Rank rank);
  [[nodiscard]] bool shows(Rank rank) const;
  [[nodiscard]] bool shows(Rank from, Rank to) const { return shows(from) || shows(to); }

  // What surrounds the network's runs tells.
  void begin_iteration(int iteration);
  /// The next iteration begins at the end of this one.
  void end_iteration(Seconds makespan);

  // What a network tells.
  /// Of a strand; nullptr where its rank is not shown.
  [[nodiscard]] TimelineTrack* track(Rank rank, Strand strand);
  /// Keeps it where either end is shown.
  void add(const MessageTimes& message);

  using Strands = std::pair<Rank, Strand>;
  [[nodiscard]] const std::map<Strands, TimelineTrack>& tracks() const { return tracks_; }
  /// In seconds of the timeline, in the order in which they were told.
  [[nodiscard]] const std::deque<MessageTimes>& messages() const { return messages_; }
  [[nodiscard]] const std::vector<Rank>& shown() const { return shown_; }

  /// What there was no room for.
  struct LeftOut {
    std::int64_t messages = 0;
    std::int64_t slices = 0;
    Seconds since{std::numeric_limits<double>::infinity()};  ///< when the first of them began
  };
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }

 private:
  friend class TimelineTrack;
  /// Beginning and end of a slice.
  [[nodiscard]] bool take_slice(Seconds at);

  std::vector<Rank> shown_;  ///< ascending
  std::size_t most_events_;
  std::size_t events_ = 0;
  std::string iteration_;  ///< its name
  Seconds offset_;         ///< where the iteration begins
  std::map<Strands, TimelineTrack> tracks_;
  std::deque<MessageTimes> messages_;
  LeftOut left_out_;
};

}  // namespace thinwire::inline kernel
