#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <vector>

#include "tests/machine/networks/time_driven.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::networks {

using test::below;
using test::close;
using test::Generator;
using test::History;
using test::Operation;
using test::run_on;
using test::run_time_driven;
using test::Script;

namespace {

struct Settings {
  int ranks;
  int windows;
  int messages;  ///< in a window, over all ranks
  std::int64_t least_words = 0;
  std::int64_t most_words = 500;
  bool whole_times = false;  ///< computing takes whole seconds: many things happen at one time
  int started = 0;           ///< programs that every rank starts in a window, at the most
};

/// Random windowed exchanges: in each window every rank posts its sends and receives in random
/// order, computing now and then, and waits for what is posted, in random order, alone or
/// together; something may stay open until a later window, and receives may be posted a window
/// late. Nobody waits in a window for what is sent in a later one, so there is no deadlock. What
/// ranks start is made in the same way; they wait for it as for messages, or never.
class ScriptMaker {
 public:
  ScriptMaker(const Settings& settings, std::uint64_t seed)
      : settings_(settings),
        generator_(seed),
        scripts_(static_cast<std::size_t>(settings.ranks)),
        posted_(scripts_.size(), 0),
        open_(scripts_.size()),
        late_(scripts_.size()) {}

  std::vector<Script> make() {
    for (int window = 0; window < settings_.windows; ++window) {
      std::vector<std::vector<Post>> posts(scripts_.size());
      for (std::size_t rank = 0; rank < scripts_.size(); ++rank) posts[rank].swap(late_[rank]);
      if (settings_.started > 0) start_programs();
      add_messages(posts, window + 1 == settings_.windows);
      for (std::size_t rank = 0; rank < scripts_.size(); ++rank) add_window(rank, posts[rank]);
    }
    for (std::size_t rank = 0; rank < scripts_.size(); ++rank) wait_for(rank, 0);
    return scripts_;
  }

 private:
  /// A send that may meet a receive that is posted a window late is not waited for before then.
  struct Post {
    Operation operation;
    bool waited_for_later = false;
  };

  bool one_in(std::int64_t count) { return below(generator_, count) == 0; }

  void start_programs() {
    const auto count = below(generator_, settings_.started + 1);
    for (std::int64_t i = 0; i < count; ++i) {
      Settings settings = settings_;
      settings.windows = 2;
      settings.messages = settings_.messages / 2;
      settings.started = 0;
      std::vector<Script> programs = ScriptMaker(settings, generator_()).make();
      for (std::size_t rank = 0; rank < scripts_.size(); ++rank) {
        if (one_in(2)) compute(rank);
        scripts_[rank].push_back(Operation::start(std::move(programs[rank])));
        if (!one_in(4)) open_[rank].push_back(posted_[rank]);
        ++posted_[rank];
      }
    }
  }

  void add_messages(std::vector<std::vector<Post>>& posts, bool last_window) {
    std::set<std::tuple<int, int, int>> late_keys;  // source, destination and tag
    for (int i = 0; i < settings_.messages; ++i) {
      const int from = static_cast<int>(below(generator_, settings_.ranks));
      const int to = one_in(3) ? static_cast<int>(below(generator_, 1 + settings_.ranks / 4))
                               : static_cast<int>(below(generator_, settings_.ranks));
      const int tag = static_cast<int>(below(generator_, 3));
      const std::int64_t words =
          settings_.least_words +
          below(generator_, settings_.most_words - settings_.least_words + 1);
      const bool late = !last_window && one_in(5);
      if (late) late_keys.insert({from, to, tag});
      posts[static_cast<std::size_t>(from)].push_back({Operation::send(to, tag, words)});
      auto& receives = late ? late_ : posts;
      receives[static_cast<std::size_t>(to)].push_back({Operation::receive(from, tag)});
    }
    for (int rank = 0; rank < settings_.ranks; ++rank) {
      for (Post& post : posts[static_cast<std::size_t>(rank)]) {
        const Operation& operation = post.operation;
        post.waited_for_later = operation.kind == Operation::Kind::send &&
                                late_keys.contains({rank, operation.peer, operation.tag});
      }
    }
  }

  void add_window(std::size_t rank, std::vector<Post>& posts) {
    std::shuffle(posts.begin(), posts.end(), generator_);
    std::vector<std::size_t> open_later;
    for (Post& post : posts) {
      if (one_in(4)) compute(rank);
      scripts_[rank].push_back(std::move(post.operation));
      (post.waited_for_later ? open_later : open_[rank]).push_back(posted_[rank]++);
    }
    wait_for(rank, one_in(2) ? static_cast<std::size_t>(below(generator_, 3)) : 0);
    open_[rank].insert(open_[rank].end(), open_later.begin(), open_later.end());
  }

  void compute(std::size_t rank) {
    const double seconds = settings_.whole_times
                               ? static_cast<double>(below(generator_, 4))
                               : static_cast<double>(below(generator_, 1000)) * 1.7e-7;
    scripts_[rank].push_back(Operation::compute(seconds));
  }

  /// Waits for all open requests but `kept` of them.
  void wait_for(std::size_t rank, std::size_t kept) {
    auto& open = open_[rank];
    std::shuffle(open.begin(), open.end(), generator_);
    while (open.size() > kept) {
      const auto most = static_cast<std::int64_t>(std::min<std::size_t>(open.size() - kept, 5));
      const auto count = 1 + below(generator_, most);
      scripts_[rank].push_back(Operation::wait_all({open.end() - count, open.end()}));
      open.resize(open.size() - static_cast<std::size_t>(count));
      if (one_in(4)) compute(rank);
    }
  }

  Settings settings_;
  Generator generator_;
  std::vector<Script> scripts_;
  std::vector<std::size_t> posted_;
  std::vector<std::vector<std::size_t>> open_;
  std::vector<std::vector<Post>> late_;
};

bool agree(const Settings& settings, std::uint64_t seed, const LogGP& machine) {
  const std::vector<Script> scripts = ScriptMaker(settings, seed).make();
  AlphaBetaNetwork network(machine);
  return close(run_on(network, scripts), run_time_driven(scripts, machine));
}

LogGP log_gp(double latency, double overhead, double gap, double gap_per_word) {
  return {Seconds(latency), Seconds(overhead), Seconds(gap), Seconds(gap_per_word)};
}

constexpr std::array kRanks{1, 2, 3, 7, 12, 64};

}  // namespace

TEST_CASE("Random exchanges on the alpha-beta machine agree with a time-driven simulator") {
  for (const int ranks : kRanks) {
    for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 2 : 30); ++seed) {
      CAPTURE(ranks);
      CAPTURE(seed);
      const Settings settings{.ranks = ranks, .windows = 8, .messages = 6 * ranks};
      CHECK(agree(settings, seed, alpha_beta(Seconds(1.3e-6), Seconds(0.7e-9))));
    }
  }
}

TEST_CASE("Random exchanges with many things at one time agree with a time-driven simulator") {
  for (const int ranks : kRanks) {
    for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 1 : 30); ++seed) {
      CAPTURE(ranks);
      CAPTURE(seed);
      const Settings settings{.ranks = ranks,
                              .windows = 8,
                              .messages = 6 * ranks,
                              .most_words = 3,
                              .whole_times = true};
      CHECK(agree(settings, seed, alpha_beta(Seconds(1), Seconds(1))));
      CHECK(agree(settings, seed, alpha_beta(Seconds(2), Seconds(0))));
      CHECK(agree(settings, seed, log_gp(1, 1, 2, 1)));
      CHECK(agree(settings, seed, log_gp(2, 0, 0, 1)));
      CHECK(agree(settings, seed, log_gp(0, 1, 0, 1)));
      // Where neither o, L nor g passes any time, a message without words would.
      Settings no_empty = settings;
      no_empty.least_words = 1;
      CHECK(agree(no_empty, seed, alpha_beta(Seconds(0), Seconds(1))));
    }
  }
}

TEST_CASE("Random exchanges on LogGP machines agree with a time-driven simulator") {
  const std::array machines{log_gp(3e-6, 0, 0, 0),       log_gp(0, 3e-6, 0, 0),
                            log_gp(0, 0, 3e-6, 0),       log_gp(5e-6, 1e-6, 2e-6, 1e-9),
                            log_gp(5e-6, 2e-6, 0, 1e-8), log_gp(1e-9, 1e-3, 1e-6, 1e-6),
                            log_gp(1e-3, 1e-9, 1e-9, 0)};
  for (const LogGP& machine : machines) {
    for (const int ranks : kRanks) {
      for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 2 : 8); ++seed) {
        CAPTURE(ranks);
        CAPTURE(seed);
        CHECK(agree({.ranks = ranks, .windows = 6, .messages = 5 * ranks}, seed, machine));
      }
    }
  }
}

TEST_CASE("What ranks start beside their own messages agrees with a time-driven simulator") {
  for (const int ranks : kRanks) {
    for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 1 : 20); ++seed) {
      CAPTURE(ranks);
      CAPTURE(seed);
      Settings settings{.ranks = ranks, .windows = 6, .messages = 5 * ranks, .started = 3};
      CHECK(agree(settings, seed, alpha_beta(Seconds(1.3e-6), Seconds(0.7e-9))));
      CHECK(agree(settings, seed, log_gp(5e-6, 1e-6, 2e-6, 1e-9)));
      CHECK(agree(settings, seed, log_gp(5e-6, 2e-6, 0, 1e-8)));
      CHECK(agree(settings, seed, log_gp(1e-9, 1e-3, 1e-6, 1e-6)));
      settings.most_words = 3;
      settings.whole_times = true;
      CHECK(agree(settings, seed, alpha_beta(Seconds(1), Seconds(1))));
      CHECK(agree(settings, seed, log_gp(1, 1, 2, 1)));
    }
  }
}

TEST_CASE("A machine on which nothing takes time agrees with a time-driven simulator") {
  for (const int ranks : kRanks) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CHECK(agree({.ranks = ranks, .windows = 6, .messages = 5 * ranks}, seed, log_gp(0, 0, 0, 0)));
    }
  }
}

TEST_CASE("Crowded windows and long runs agree with a time-driven simulator") {
  const LogGP machine = alpha_beta(Seconds(1e-6), Seconds(1e-9));
  CHECK(agree({.ranks = 3, .windows = 400, .messages = 10}, 1, machine));
  CHECK(agree({.ranks = 2, .windows = 3, .messages = 3000}, 2, machine));
  CHECK(agree({.ranks = 64, .windows = 4, .messages = 4000}, 3, machine));
  CHECK(agree({.ranks = 12, .windows = 40, .messages = 200, .most_words = 1 << 30}, 4, machine));
}

}  // namespace thinwire::networks
