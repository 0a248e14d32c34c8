// Messages, words and time of a rank, by phase. Every network keeps one ledger per strand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/base/units.hpp"

namespace thinwire::inline kernel {

class TimelineTrack;

/// The cost of a phase, or of a whole run, for one rank.
struct Traffic {
  std::int64_t messages_sent = 0;
  std::int64_t messages_received = 0;
  Words words_sent;
  Words words_received;
  Seconds time;  ///< simulated seconds inside the phase (0 on a network without a clock)

  Traffic& operator+=(const Traffic& other);
};

/// Adds `phases` to `sum`, phase by phase. `sum` is extended if it has fewer phases.
void add_phases(std::vector<Traffic>& sum, std::span<const Traffic> phases);

/// The names of the phases of a run, shared by its ranks. Phase 0 is everything outside the marked
/// phases.
class PhaseNames {
 public:
  [[nodiscard]] std::size_t index_of(std::string_view name);
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_{"other"};
};

/// The account of one strand of a rank: the cost of each of its phases.
class Ledger {
 public:
  explicit Ledger(PhaseNames& names) : phases_(1), names_(&names) {}

  void sent(Words words) {
    Traffic& phase = phases_[current_];
    ++phase.messages_sent;
    phase.words_sent += words;
  }
  void received(Words words) {
    Traffic& phase = phases_[current_];
    ++phase.messages_received;
    phase.words_received += words;
  }
  /// Messages that were sent and received together.
  void add(const Traffic& traffic) { phases_[current_] += traffic; }
  /// Phases nest. Traffic and time are charged to the innermost phase.
  void enter(std::string_view phase, Seconds now);
  void leave(Seconds now);
  /// Reopens the ledger of a strand that was idle. The idle time is charged to no phase.
  void open(Seconds now);
  /// Closes the ledger at the end of the program.
  void close(Seconds now);
  /// From now on, also reports the strand's activity to `track`; nullptr ends the reports.
  void follow(TimelineTrack* track) { track_ = track; }
  /// Reports local work to the track, if there is one.
  void worked(Seconds begin, Seconds end) {
    if (track_ != nullptr) tell_work(begin, end);
  }

  /// Prefetches what sent() and received() read beside the ledger itself.
  void prefetch() const { prefetch_line(phases_.data() + current_); }

  /// Indexed like PhaseNames::all(). The last phases are missing if this rank never entered them.
  [[nodiscard]] const std::vector<Traffic>& by_phase() const { return phases_; }
  [[nodiscard]] Traffic total() const;

 private:
  void spend_until(Seconds now);
  void tell_work(Seconds begin, Seconds end);

  std::size_t current_ = 0;
  std::vector<Traffic> phases_;
  PhaseNames* names_;
  std::vector<std::size_t> enclosing_;
  Seconds since_;
  TimelineTrack* track_ = nullptr;
};

}  // namespace thinwire::inline kernel
