// The collectives of a trace, done by schemes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/run/ranks.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::cli {

/// The scheme of each collective that schemes do, as --collective gives them.
class CollectiveSchemes {
 public:
  /// dense_auto, and the rings and pairwise exchanges of the other collectives.
  CollectiveSchemes();
  /// Takes KEY=SCHEME, as in allreduce=nccl_ring. Throws InputError for a collective that is not
  /// known, or a scheme that is none of the collective's or not dense.
  void set(const std::string& key_and_scheme);
  [[nodiscard]] const std::string& of(schedules::CollectiveKind kind) const;

 private:
  std::map<schedules::CollectiveKind, std::string> schemes_;
};

/// Runs the collectives of a replay. One for a run; it must outlive it.
class TraceCollectives {
 public:
  TraceCollectives(plan::Point point, const plan::Machine& machine, CollectiveSchemes schemes);

  /// A broadcast is a binomial tree, and a barrier an allreduce of one word.
  [[nodiscard]] Task<void> run(Communicator& group, const schedules::CollectiveCall& call);

 private:
  /// Members, kind, bytes, and the how manieth such call it is.
  using Key = std::tuple<decltype(Members{}.key()), schedules::CollectiveKind, std::int64_t, int>;
  struct Running {
    std::unique_ptr<run::PointRanks> ranks;
    int left = 0;  ///< ranks that have not ended
  };

  [[nodiscard]] plan::Point point_of(const schedules::CollectiveCall& call) const;
  [[nodiscard]] plan::Machine machine_of(const Members& members) const;
  [[nodiscard]] Task<void> run_scheme(Communicator& group, const schedules::CollectiveCall& call);

  plan::Point point_;
  plan::Machine machine_;
  CollectiveSchemes schemes_;
  std::map<Key, Running> running_;
  /// By rank among the members, how many calls of the key without its number it has made.
  std::map<std::pair<Key, int>, int> made_;
};

}  // namespace thinwire::cli
