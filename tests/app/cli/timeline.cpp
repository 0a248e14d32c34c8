// `thinwire run --timeline`: the trace-event format, and what simulations say of themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"

namespace {

using Plain = nlohmann::json;
using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

struct Slice {
  Plain begin;
  double end;
  double self;  ///< without the phases inside
};

/// A trace, read by the rules of its format: a trace that breaks a rule fails the test.
class Trace {
 public:
  explicit Trace(const std::string& text) : json_(Plain::parse(text)) {
    std::map<Track, std::vector<std::size_t>> open;
    std::map<Track, double> last;
    std::map<int, std::pair<int, int>> flows;
    for (const Plain& event : json_.at("traceEvents")) {
      const std::string kind = event.at("ph");
      if (kind == "M") {
        if (event.at("name") == "process_name") names_[event.at("pid")] = event["args"]["name"];
        if (event.at("name") == "thread_name") {
          tracks_[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
        }
        continue;
      }
      const Track track{event.at("pid"), event.at("tid")};
      const double at = event.at("ts");
      REQUIRE(tracks_.contains(track));
      REQUIRE(names_.contains(track.first));
      REQUIRE(at >= 0);
      REQUIRE((!last.contains(track) || at >= last[track]));
      last[track] = at;
      if (kind == "B") {
        open[track].push_back(slices_.size());
        of_[track].push_back(slices_.size());
        slices_.push_back({event, 0, 0});
      } else if (kind == "E") {
        REQUIRE(!open[track].empty());
        end(open[track], at);
      } else {
        REQUIRE((kind == "s" || kind == "f"));
        REQUIRE(!open[track].empty());  // the slice that it belongs to
        if (kind == "f") REQUIRE(event.at("bp") == "e");
        auto& count = flows[event.at("id")];
        ++(kind == "s" ? count.first : count.second);
        (kind == "s" ? starts : ends)[event.at("id")] = at;
      }
    }
    for (const auto& [track, slices] : open) REQUIRE(slices.empty());
    for (const auto& [id, count] : flows) REQUIRE((count == std::pair{1, 1}));
  }

  std::map<int, double> starts;  ///< of flows, by id
  std::map<int, double> ends;

  [[nodiscard]] const Plain& about() const { return json_.at("otherData"); }
  [[nodiscard]] std::set<std::string> ranks() const {
    std::set<std::string> names;
    for (const auto& [pid, name] : names_) names.insert(name);
    return names;
  }
  /// The slices of a rank's tracks whose name starts so, within [from, to] microseconds.
  [[nodiscard]] std::vector<Slice> slices(int rank, const std::string& track, double from = 0,
                                          double to = 1e300) const {
    std::vector<Slice> found;
    for (const auto& [key, slices] : of_) {
      if (names_.at(key.first) != "rank " + std::to_string(rank)) continue;
      if (tracks_.at(key).rfind(track, 0) != 0) continue;
      for (const std::size_t slice : slices) {
        if (slices_[slice].begin.at("ts") >= from && slices_[slice].end <= to) {
          found.push_back(slices_[slice]);
        }
      }
    }
    return found;
  }
  /// Begin and end of the last iteration, over all ranks.
  [[nodiscard]] std::pair<double, double> last_iteration() const {
    std::pair<double, double> times{0, 0};
    for (const Slice& slice : slices_) {
      if (slice.begin.at("cat") != "program" || slice.begin.at("name") == "started") continue;
      times.first = std::max(times.first, slice.begin.at("ts").get<double>());
      times.second = std::max(times.second, slice.end);
    }
    return times;
  }

 private:
  using Track = std::pair<int, int>;

  void end(std::vector<std::size_t>& open, double at) {
    Slice& slice = slices_[open.back()];
    open.pop_back();
    slice.end = at;
    const double duration = at - slice.begin.at("ts").get<double>();
    slice.self += duration;
    if (slice.begin.at("cat") != "work" && !open.empty()) slices_[open.back()].self -= duration;
  }

  Plain json_;
  std::map<int, std::string> names_;
  std::map<Track, std::string> tracks_;
  std::map<Track, std::vector<std::size_t>> of_;
  std::vector<Slice> slices_;
};

struct Run {
  Plain row;
  Trace trace;
  std::string err;
};

Run run_with_timeline(const std::string& flags) {
  const TemporaryFolder folder;
  const std::string file = folder.path("out.json");
  const Ended ended = run_program("run --format jsonl --timeline " + file + " " + flags);
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  return {Plain::parse(ended.out), Trace(text_of(file)), ended.err};
}

/// What the run says of the phases of each rank is what the timeline shows.
void check_phases(const Run& run) {
  const auto [begin, end] = run.trace.last_iteration();
  const double time = run.row.at("result").at("time_s");
  CHECK(end - begin == thinwire::test::approx(time * 1e6).epsilon(1e-9));
  std::map<std::pair<int, std::string>, double> shown;
  const int ranks = run.row.at("point").at("ranks");
  for (int rank = 0; rank < ranks; ++rank) {
    for (const char* track : {"program", "second strand"}) {
      for (const Slice& slice : run.trace.slices(rank, track, begin)) {
        if (slice.begin.at("cat") == "work") continue;
        const std::string name = slice.begin.at("cat") == "program"
                                     ? "other"
                                     : slice.begin.at("name").get<std::string>();
        shown[{rank, name}] += slice.self;
      }
    }
  }
  int compared = 0;
  for (const Plain& phase : run.row.at("result").at("by_rank")) {
    CAPTURE(phase.dump());
    const double seconds = phase.at("time_s");
    const double microseconds = shown[{phase.at("rank"), phase.at("phase")}];
    CHECK(microseconds == thinwire::test::approx(seconds * 1e6).epsilon(1e-6));
    ++compared;
  }
  if (time > 0) CHECK(compared >= ranks);
}

/// Words and messages that arrive in the reported iteration are as many as the row says.
void check_messages(const Run& run) {
  const auto [begin, end] = run.trace.last_iteration();
  std::int64_t most_words = 0;
  std::int64_t most_messages = 0;
  for (int rank = 0; rank < run.row.at("point").at("ranks"); ++rank) {
    std::int64_t words = 0;
    std::int64_t messages = 0;
    for (const Slice& slice : run.trace.slices(rank, "receives", begin)) {
      const Plain& message = slice.begin.at("args");
      CHECK(message.at("to") == rank);
      CHECK(message.at("bytes") == 4 * message.at("words").get<std::int64_t>());
      CHECK(message.at("posted_us") <= message.at("departs_us"));
      CHECK(message.at("departs_us") <= message.at("arrives_us"));
      CHECK(message.at("arrives_us") <= end * (1 + 1e-12));
      words += message.at("words").get<std::int64_t>();
      ++messages;
    }
    most_words = std::max(most_words, words);
    most_messages = std::max(most_messages, messages);
  }
  CHECK(most_words == run.row.at("result").at("words_received_max"));
  CHECK(most_messages == run.row.at("result").at("messages_received_max"));
}

}  // namespace

TEST_CASE("a timeline keeps the rules of its format and says what the row says") {
  for (const std::string flags :
       {"-P 1 -n 1000", "-P 3 -n 10000", "-P 7 -n 10000 --scheme oktopk --iterations 3",
        "-P 8 -n 10000 --scheme topka --gamma 1e-10",
        "-P 5 -n 10000 --scheme dense_ovlp --set options.bucket_words=1000",
        "-P 6 -n 10000 --set machine.latency_s=1e-6 --set machine.overhead_s=3e-7",
        "-P 4 -n 10000 --network smpi --platform fat_tree",
        "-P 5 -n 10000 --network smpi --platform gige_star --scheme dense_ovlp",
        "-P 4 --model bert --statistical --scheme oktopk",
        "-P 4 --model lstm_an4 --statistical --scheme dense_ovlp"}) {
    CAPTURE(flags);
    const Run run = run_with_timeline(flags + " --by-rank");
    check_phases(run);
    check_messages(run);
    CHECK(run.trace.ranks().size() == run.row.at("point").at("ranks"));
    CHECK(run.trace.about().at("messages_left_out") == 0);
  }
}

TEST_CASE("on the alpha-beta machine a message takes alpha + beta L, and sends do not overlap") {
  const Run run = run_with_timeline("-P 8 -n 1000 --scheme dense_ring --alpha 1e-6 --beta 1e-9");
  int flows = 0;
  for (int rank = 0; rank < 8; ++rank) {
    CHECK(run.trace.slices(rank, "sends 2").empty());
    for (const Slice& slice : run.trace.slices(rank, "sends")) {
      const Plain& message = slice.begin.at("args");
      const double wanted = 1 + 1e-3 * message.at("words").get<double>();
      CHECK(message.at("arrives_us").get<double>() - message.at("departs_us").get<double>() ==
            thinwire::test::approx(wanted));
      CHECK(slice.end - slice.begin.at("ts").get<double>() == thinwire::test::approx(wanted));
    }
  }
  for (const auto& [id, start] : run.trace.starts) {
    // It ends a nanosecond inside the slice that it belongs to.
    const double took = run.trace.ends.at(id) - start;
    CHECK((took > 1.124 - 0.002 && took < 1.126));
    ++flows;
  }
  CHECK(flows == 2 * 8 * 14);
}

/// Whether two results are the same, numbers within 1e-12: where nothing is recorded, the steps of an
/// exchange are taken apart, and sums of times are rounded in another order.
static bool same_result(const Plain& a, const Plain& b) {
  if (a.is_number() && b.is_number()) {
    return a.get<double>() == thinwire::test::approx(b.get<double>()).epsilon(1e-12);
  }
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (!a.is_structured()) return a == b;
  for (auto item = a.begin(), other = b.begin(); item != a.end(); ++item, ++other) {
    if (a.is_object() && item.key() != other.key()) return false;
    if (!same_result(*item, *other)) return false;
  }
  return true;
}

TEST_CASE("a timeline changes nothing in what is simulated" * doctest::test_suite("large")) {
  const TemporaryFolder folder;
  for (const std::string flags :
       {"-P 24 -n 10000 --scheme oktopk", "-P 6 -n 10000 --network smpi --platform aries_daint",
        "-P 18 -n 10000 --network smpi --platform fat_tree --scheme dense_ovlp",
        "-P 4 --model vgg16 --statistical"}) {
    CAPTURE(flags);
    const std::string command = "run --format jsonl --by-rank " + flags;
    const Plain without = Plain::parse(run_program(command).out);
    const Plain with =
        Plain::parse(run_program(command + " --timeline " + folder.path("t.json")).out);
    CHECK(same_result(without.at("result"), with.at("result")));
    CHECK(without.at("key") == with.at("key"));
  }
}

TEST_CASE("of many ranks the first are shown and the one that ends last") {
  const Run run = run_with_timeline("-P 40 -n 10000 --scheme oktopk --set input.skew=2");
  CHECK(run.trace.ranks().contains("rank 15"));
  const auto [begin, end] = run.trace.last_iteration();
  CHECK(
      end - begin ==
      thinwire::test::approx(1e6 * run.row.at("result").at("time_s").get<double>()).epsilon(1e-9));
  CHECK(run.trace.ranks().size() <= 17);
}

TEST_CASE("ranks are chosen, and messages with others name them") {
  const Run run = run_with_timeline("-P 20 -n 10000 --scheme dense_ring --timeline-ranks 3-4,19");
  CHECK(run.trace.ranks() == std::set<std::string>{"rank 3", "rank 4", "rank 19"});
  CHECK(run.trace.slices(3, "receives").front().begin.at("args").at("from") == 2);
  CHECK(run.trace.slices(3, "receives").front().begin.at("name") == "from 2");
  CHECK(run.trace.starts.size() == 2 * 38);  // from 3 to 4 alone
}

TEST_CASE("a timeline is bounded, says what it leaves out, and stays valid") {
  for (const std::string most : {"0", "1", "100", "1000"}) {
    CAPTURE(most);
    const Run run =
        run_with_timeline("-P 16 -n 10000 --scheme oktopk --timeline-events " + std::string(most));
    CHECK(run.trace.about().at("messages_left_out") > 0);
    CHECK(run.trace.about().at("left_out_since_us") >= 0);
    CHECK(run.err.find("left out, from ") != std::string::npos);
  }
}

TEST_CASE("a run that is interrupted leaves no timeline" * doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string file = folder.path("t.json");
  const std::string run = " run --scheme oktopk -P 4096 --profile bert --statistical --timeline ";
  const int status = std::system(
      ("timeout -s INT 0.3 " + std::string(THINWIRE_PROGRAM) + run + file + " 2>&1").c_str());
  CHECK(status != 0);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("what cannot have a timeline is refused before anything runs") {
  const TemporaryFolder folder;
  const std::string file = folder.path("t.json");
  for (const auto& [flags, what] : std::vector<std::pair<std::string, const char*>>{
           {"--network counting --timeline " + file, "has no clock"},
           {"--timeline " + folder.write("file", "") + "/t.json", "cannot be written"},
           {"--timeline /", "cannot be written"},
           {"-P 4 --timeline-ranks 4 --timeline " + file, "there is no rank 4"},
           {"--timeline-ranks 3-1 --timeline " + file, "'3-1' is not valid"},
           {"--timeline-ranks 1,x --timeline " + file, "'x' is not valid"},
           {"--timeline-ranks 0-99999999999 --timeline " + file, "is not valid"}}) {
    CAPTURE(flags);
    const Ended ended = run_program("run " + flags);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    CHECK(ended.err.find(what) != std::string::npos);
    CHECK(std::ranges::count(ended.err, '\n') == 1);
  }
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("a disk that is full fails the run, and what never ran leaves no file") {
  const Ended full = run_program("run -P 2 --timeline /dev/full");
  CHECK(full.exit_code == 1);
  CHECK(full.err.find("/dev/full: cannot be written to") != std::string::npos);
  const TemporaryFolder folder;
  const Ended refused =
      run_program("run -P 100000 -n 1000 --network smpi --platform fat_tree --timeline " +
                  folder.path("t.json"));
  CHECK(refused.exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(folder.path("t.json")));
}
