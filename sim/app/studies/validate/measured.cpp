#include "sim/app/studies/validate/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/results_file.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::studies {

namespace {

constexpr std::int64_t kWordBytes = 4;
constexpr const char* kWantedSeconds = "a time in seconds, above 0";

const std::vector<std::string>& fact_names() {
  static const std::vector<std::string> names{"machine", "run",       "test",      "nodes",
                                              "library", "segment",   "algorithm", "tasks_per_node",
                                              "gpu",     "collective"};
  return names;
}

std::vector<MeasuredRow> rows_of_csv(const std::string& text, const MeasuredFile& file) {
  const CsvTable table(text, file.path);
  table.require({"machine", "run", "test", "nodes", "tasks_per_node", "collective", "library",
                 "gpu", "algorithm", "segment", "elements", "seconds_median"});
  if (!file.facts.empty()) {
    throw InputError(fmt::format("{}: '{}' is a column of the CSV; leave the fact out", file.path,
                                 file.facts.begin()->first));
  }
  std::vector<MeasuredRow> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    MeasuredRow row;
    row.machine = table.text(i, "machine");
    row.run = table.text(i, "run");
    row.test = table.text(i, "test");
    row.nodes = static_cast<int>(table.whole(i, "nodes", 1, 1 << 20));
    row.tasks_per_node = static_cast<int>(table.whole(i, "tasks_per_node", 1, 1 << 10));
    row.collective = table.text(i, "collective");
    row.library = table.text(i, "library");
    row.algorithm = table.text(i, "algorithm");
    if (row.machine.empty()) table.wrong(i, "machine", "the name of a machine");
    if (std::ranges::find(known_collectives(), row.collective) == known_collectives().end()) {
      table.wrong(i, "collective", fmt::format("{}", fmt::join(known_collectives(), ", ")));
    }
    const std::string& gpu = table.text(i, "gpu");
    if (gpu != "yes" && gpu != "no") table.wrong(i, "gpu", "yes or no");
    row.gpu = gpu == "yes";
    if (!table.text(i, "segment").empty()) row.segment = table.whole(i, "segment", 1);
    row.elements = table.whole(i, "elements", 1);
    row.seconds = table.number(i, "seconds_median", kWantedSeconds);
    if (row.seconds <= 0) table.wrong(i, "seconds_median", kWantedSeconds);
    if (table.has("seconds_min")) {
      row.seconds_min = table.number(i, "seconds_min", kWantedSeconds);
      if (row.seconds_min <= 0) table.wrong(i, "seconds_min", kWantedSeconds);
    }
    row.place = table.place(i);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A word of a line, and where it begins.
struct Token {
  std::string_view text;
  std::size_t column = 1;
};

std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (true) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos) return tokens;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    tokens.push_back({line.substr(at, end - at), at + 1});
    at = end;
  }
}

std::vector<std::string_view> lines_of_text(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// The seconds in a unit of time, or nothing.
std::optional<double> seconds_in(std::string_view unit) {
  if (unit == "s") return 1.0;
  if (unit == "ms") return 1e-3;
  if (unit == "us") return 1e-6;
  if (unit == "ns") return 1e-9;
  return std::nullopt;
}

/// What the text of a benchmark says about all of its rows.
struct Said {
  std::string collective = {};
  std::string library = {};
  std::string gpu = {};
  std::optional<std::int64_t> nodes = {};
  std::optional<std::int64_t> tasks_per_node = {};
};

/// The sizes and times of a benchmark's text, which the facts complete to rows.
class TimedLines {
 public:
  explicit TimedLines(const MeasuredFile& file) : file_(file) {}

  /// The seconds in the unit of a heading as "Latency(us)". Throws InputError for another unit.
  [[nodiscard]] double unit_at(int line, const Token& token) const {
    const std::size_t open = token.text.find('(');
    const std::size_t close = token.text.find(')', open);
    if (open != std::string_view::npos && close != std::string_view::npos) {
      if (const auto unit = seconds_in(token.text.substr(open + 1, close - open - 1))) return *unit;
    }
    refuse_at(file_.path, line, token.column,
              fmt::format("'{}': unknown unit of time; known are (s), (ms), (us) and (ns)",
                          printable(token.text)));
  }

  /// Adds a line, whose bytes and time are the words at these indices. Throws InputError.
  void add(int line, const std::vector<Token>& tokens, std::size_t bytes_at, std::size_t time_at,
           double unit) {
    const std::size_t last = std::max(bytes_at, time_at);
    if (tokens.size() <= last) {
      refuse_at(file_.path, line, tokens.back().column + tokens.back().text.size(),
                fmt::format("the line has {} words; wanted are {} at least, as in the heading",
                            tokens.size(), last + 1));
    }
    const auto bytes = parse_number<std::int64_t>(tokens[bytes_at].text);
    if (!bytes || *bytes < 0) {
      refuse_at(file_.path, line, tokens[bytes_at].column,
                fmt::format("'{}' is not valid; expected a number of bytes",
                            printable(tokens[bytes_at].text)));
    }
    const auto time = parse_number<double>(tokens[time_at].text);
    if (!time || !std::isfinite(*time) || *time <= 0) {
      refuse_at(file_.path, line, tokens[time_at].column,
                fmt::format("'{}' is not valid; expected a time above 0",
                            printable(tokens[time_at].text)));
    }
    if (*bytes > 0) lines_.push_back({line, *bytes, *time * unit});
  }

  /// Throws InputError for facts that are missing, not right or contradict the text.
  [[nodiscard]] std::vector<MeasuredRow> rows(const Said& said) const {
    if (lines_.empty()) throw InputError(fmt::format("{}: holds no measured times", file_.path));
    MeasuredRow common;
    common.machine = fact("machine", "");
    common.run = fact("run", "");
    common.test = fact("test", "");
    common.library = fact("library", said.library);
    common.collective = fact("collective", said.collective);
    common.algorithm = fact("algorithm", "");
    const std::string gpu = fact("gpu", said.gpu);
    if (gpu != "yes" && gpu != "no") wrong_fact("gpu", gpu, "yes or no");
    common.gpu = gpu == "yes";
    common.nodes = static_cast<int>(number_fact("nodes", said.nodes, 1 << 20));
    common.tasks_per_node =
        static_cast<int>(number_fact("tasks_per_node", said.tasks_per_node, 1 << 10));
    if (file_.facts.contains("segment")) common.segment = number_fact("segment", {}, INT32_MAX);
    need("machine", common.machine);
    need("collective", common.collective);
    if (std::ranges::find(known_collectives(), common.collective) == known_collectives().end()) {
      wrong_fact("collective", common.collective,
                 fmt::format("{}", fmt::join(known_collectives(), ", ")));
    }
    std::vector<MeasuredRow> all;
    for (const Line& line : lines_) {
      MeasuredRow& row = all.emplace_back(common);
      row.elements = line.bytes % kWordBytes == 0 ? line.bytes / kWordBytes : 0;
      row.seconds = line.seconds;
      row.place = fmt::format("{}:{}", file_.path, line.number);
    }
    return all;
  }

 private:
  struct Line {
    int number = 1;
    std::int64_t bytes = 0;
    double seconds = 0;
  };

  [[noreturn]] void wrong_fact(const std::string& name, const std::string& value,
                               const std::string& wanted) const {
    throw InputError(fmt::format("{}: {}={} is not valid; expected {}", file_.path, name,
                                 printable(value), wanted));
  }

  void need(const std::string& name, const std::string& value) const {
    if (!value.empty()) return;
    throw InputError(fmt::format("{}: the text does not say the {}; give it as in {},{}=...",
                                 file_.path, name, file_.path, name));
  }

  /// A fact that the user gave, else what the text says.
  [[nodiscard]] std::string fact(const std::string& name, const std::string& in_text) const {
    const auto given = file_.facts.find(name);
    if (given == file_.facts.end()) return in_text;
    if (!in_text.empty() && in_text != given->second) {
      throw InputError(fmt::format("{}: {}={} contradicts the text, which says {}", file_.path,
                                   name, printable(given->second), printable(in_text)));
    }
    return given->second;
  }

  [[nodiscard]] std::int64_t number_fact(const std::string& name,
                                         std::optional<std::int64_t> in_text,
                                         std::int64_t most) const {
    const std::string text = fact(name, in_text ? std::to_string(*in_text) : "");
    need(name, text);
    const auto value = parse_number<std::int64_t>(text);
    if (!value || *value < 1 || *value > most) {
      wrong_fact(name, text, fmt::format("a whole number from 1 to {}", most));
    }
    return *value;
  }

  const MeasuredFile& file_;
  std::vector<Line> lines_;
};

/// The table of nccl-tests:
///   # Rank  0 Group  0 Pid 4711 on node1 device  0 [0x07] NVIDIA H100
///   #       size         count      type   redop    root     time   algbw   busbw #wrong ...
///   #        (B)    (elements)                               (us)  (GB/s)  (GB/s)
///              8             2     float     sum      -1    32.06    0.00    0.00      0 ...
class NcclReader {
 public:
  NcclReader(std::string_view text, const MeasuredFile& file)
      : file_(file), lines_(lines_of_text(text)), times_(file) {}

  std::vector<MeasuredRow> read() {
    said_.library = "NCCL";
    said_.gpu = "yes";
    std::vector<Token> heading;
    double unit = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const int line = static_cast<int>(i) + 1;
      const std::vector<Token> tokens = tokens_of(lines_[i]);
      if (tokens.empty()) continue;
      if (tokens[0].text.starts_with('#')) {
        if (is_heading(tokens)) {
          heading = tokens;
          unit = unit_of(i + 1);
        } else {
          take_comment(line, tokens);
        }
        continue;
      }
      if (heading.empty() || !parse_number<std::int64_t>(tokens[0].text)) continue;
      times_.add(line, tokens, 0, time_at(heading, tokens), unit);
    }
    settle_ranks();
    return times_.rows(said_);
  }

  static bool is_heading(const std::vector<Token>& tokens) {
    return tokens.size() > 4 && tokens[0].text == "#" && tokens[1].text == "size" &&
           tokens[2].text == "count" &&
           std::ranges::find(tokens, "time", &Token::text) != tokens.end();
  }

 private:
  /// The word below the first "time" of the heading: columns are aligned at their right. Versions
  /// that leave cells empty, of a root, have fewer words than the heading. If nothing is aligned,
  /// it is the word of the same number.
  static std::size_t time_at(const std::vector<Token>& heading, const std::vector<Token>& tokens) {
    const auto end_of = [](const Token& token) { return token.column + token.text.size(); };
    const auto time = std::ranges::find(heading, "time", &Token::text);
    const auto below = std::ranges::find(tokens, end_of(*time), end_of);
    return below != tokens.end() ? static_cast<std::size_t>(below - tokens.begin())
                                 : static_cast<std::size_t>(time - heading.begin()) - 1;
  }

  /// The unit below the heading: "#  (B)  (elements)  (us) ...".
  [[nodiscard]] double unit_of(std::size_t index) const {
    const int line = static_cast<int>(index) + 1;
    const std::vector<Token> tokens =
        index < lines_.size() ? tokens_of(lines_[index]) : std::vector<Token>();
    if (tokens.size() < 4 || tokens[0].text != "#") {
      refuse_at(file_.path, line, 1, "expected the line of units, '# (B) (elements) (us) ...'");
    }
    if (tokens[1].text != "(B)") {
      refuse_at(file_.path, line, tokens[1].column,
                fmt::format("'{}': unknown unit of size; known is (B)", printable(tokens[1].text)));
    }
    return times_.unit_at(line, tokens[3]);
  }

  [[noreturn]] void refuse_several(int line) const {
    refuse_at(file_.path, line, 1,
              "another run begins here; give the text of each run in a file of its own");
  }

  void take_comment(int line, const std::vector<Token>& tokens) {
    constexpr std::string_view kEnd = "_perf";
    for (const Token& token : tokens) {  // "# Collective test starting: all_reduce_perf"
      if (!token.text.ends_with(kEnd)) continue;
      std::string name(token.text.substr(0, token.text.size() - kEnd.size()));
      name = name.substr(name.find_last_of('/') + 1);
      if (name == "all_reduce") name = "allreduce";
      if (name == "all_gather") name = "allgather";
      if (!said_.collective.empty() && said_.collective != name) refuse_several(line);
      said_.collective = name;
    }
    const auto on = std::ranges::find(tokens, "on", &Token::text);
    if (tokens.size() < 3 || tokens[1].text != "Rank" || on == tokens.end()) return;
    if (std::next(on) == tokens.end()) return;
    if (!ranks_.emplace(tokens[2].text).second) refuse_several(line);
    hosts_.emplace(std::next(on)->text);
  }

  void settle_ranks() {
    if (ranks_.empty()) return;
    const auto ranks = static_cast<std::int64_t>(ranks_.size());
    const auto nodes = static_cast<std::int64_t>(hosts_.size());
    if (ranks % nodes != 0) {
      throw InputError(fmt::format("{}: {} ranks on {} nodes: not the same number on each",
                                   file_.path, ranks, nodes));
    }
    said_.nodes = nodes;
    said_.tasks_per_node = ranks / nodes;
  }

  const MeasuredFile& file_;
  std::vector<std::string_view> lines_;
  TimedLines times_;
  Said said_;
  std::set<std::string> ranks_;
  std::set<std::string> hosts_;
};

/// The table of OSU:
///   # OSU MPI Allreduce Latency Test v7.3
///   # Size       Avg Latency(us)
///   4                       5.12
class OsuReader {
 public:
  OsuReader(std::string_view text, const MeasuredFile& file)
      : file_(file), lines_(lines_of_text(text)), times_(file) {}

  std::vector<MeasuredRow> read() {
    said_.gpu = "no";
    std::optional<double> unit;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const int line = static_cast<int>(i) + 1;
      const std::vector<Token> tokens = tokens_of(lines_[i]);
      if (tokens.empty()) continue;
      if (is_title(tokens)) {
        take_title(line, lines_[i]);
      } else if (tokens.size() > 2 && tokens[0].text == "#" && tokens[1].text == "Size") {
        const auto latency = std::ranges::find_if(
            tokens, [](const Token& token) { return token.text.starts_with("Latency"); });
        if (latency == tokens.end()) {
          refuse_at(file_.path, line, tokens[2].column, "there is no column 'Latency'");
        }
        unit = times_.unit_at(line, *latency);
      } else if (unit && !tokens[0].text.starts_with('#')) {
        times_.add(line, tokens, 0, 1, *unit);
      }
    }
    std::vector<MeasuredRow> rows = times_.rows(said_);
    for (MeasuredRow& row : rows) {
      // The sizes of these are those of one rank's block.
      if (row.collective != "allgather" && row.collective != "alltoall") continue;
      row.elements *= std::int64_t{row.nodes} * row.tasks_per_node;
    }
    return rows;
  }

  static bool is_title(const std::vector<Token>& tokens) {
    return tokens.size() > 3 && tokens[0].text == "#" && tokens[1].text == "OSU";
  }

 private:
  void take_title(int number, std::string_view line) {
    const std::string all = lower(line);
    const std::string title = all.substr(0, all.find(" test"));
    const std::string before = said_.collective;
    const auto has = [&](std::string_view part) { return title.find(part) != std::string::npos; };
    if (has("allreduce")) said_.collective = "allreduce";
    if (has("allgather")) said_.collective = "allgather";
    if (has("reduce_scatter")) said_.collective = "reduce_scatter";
    if (has("alltoall") || has("all-to-all")) said_.collective = "alltoall";
    if (has("-cuda") || has("-rocm")) said_.gpu = "yes";
    if (!before.empty() && said_.collective != before) {
      refuse_at(file_.path, number, 1,
                "another collective begins here; give the text of each in a file of its own");
    }
  }

  const MeasuredFile& file_;
  std::vector<std::string_view> lines_;
  TimedLines times_;
  Said said_;
};

/// Rows of 'thinwire measure', which say everything but what the machine is called.
std::vector<MeasuredRow> rows_of_results(const std::string& text, const MeasuredFile& file) {
  const auto fact = [&](const std::string& name) {
    const auto given = file.facts.find(name);
    return given == file.facts.end() ? std::string() : given->second;
  };
  for (const auto& [name, value] : file.facts) {
    if (name == "machine" || name == "run" || name == "test") continue;
    throw InputError(fmt::format("{}: rows of 'thinwire measure' say the {}; leave the fact out",
                                 file.path, name));
  }
  if (fact("machine").empty()) {
    throw InputError(
        fmt::format("{}: rows of 'thinwire measure' do not say the machine; give it as in "
                    "{},machine=...",
                    file.path, file.path));
  }
  std::vector<MeasuredRow> rows;
  int line = 0;
  for (const experiment::Row& result : experiment::rows_from(text, file.path).rows) {
    ++line;
    if (!result.outcome || !result.outcome->measured) continue;
    const experiment::Point& point = result.point;
    const experiment::Measured& measured = *result.outcome->measured;
    const auto nodes = std::max<int>(1, static_cast<int>(measured.hosts.size()));
    if (measured.time.median <= Seconds(0)) continue;  // a single rank that does nothing
    rows.push_back({.machine = fact("machine"),
                    .run = fact("run"),
                    .test = fact("test"),
                    .nodes = nodes,
                    .tasks_per_node = std::max(1, point.ranks / nodes),
                    .collective = name_of(algorithms::find_scheme(point.scheme).collective_kind),
                    .library = measured.library,
                    .algorithm = point.scheme,
                    .elements = point.space.components,
                    .seconds = measured.time.median.value(),
                    .seconds_min = measured.time.least.value(),
                    .place = fmt::format("{}:{}", file.path, line),
                    .point = std::make_shared<const experiment::Point>(point)});
  }
  if (rows.empty()) {
    throw InputError(fmt::format(
        "{}: holds no measured times; 'mpirun -n P thinwire measure -o FILE' makes some",
        file.path));
  }
  return rows;
}

/// The tables of IMB, one for each benchmark and number of processes:
///   # Benchmarking Allreduce
///   # #processes = 4
///          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
///               4         1000         1.03         1.21         1.12
class ImbReader {
 public:
  ImbReader(std::string_view text, const MeasuredFile& file)
      : file_(file), lines_(lines_of_text(text)) {}

  std::vector<MeasuredRow> read() {
    if (file_.facts.contains("nodes")) {
      throw InputError(
          fmt::format("{}: the text says how many processes there are; give "
                      "tasks_per_node, and leave nodes out",
                      file_.path));
    }
    std::vector<MeasuredRow> rows;
    bool known = false;  // whether the table is of a collective that is read
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::vector<Token> tokens = tokens_of(lines_[i]);
      const auto begins = [&](std::string_view first, std::string_view second) {
        return tokens.size() > 2 && tokens[0].text == first && tokens[1].text == second;
      };
      if (begins("#", "Benchmarking")) {
        collective_ = lower(tokens[2].text);
        const auto& all = known_collectives();
        known = std::ranges::find(all, collective_) != all.end();
      } else if (begins("#", "#processes") && tokens.size() > 3) {
        const auto processes = parse_number<std::int64_t>(tokens[3].text);
        if (!processes || *processes < 1) {
          refuse_at(file_.path, static_cast<int>(i) + 1, tokens[3].column,
                    "expected the number of processes");
        }
        processes_ = *processes;
      } else if (known && is_heading(tokens)) {
        read_table(i, rows);
        --i;  // the line below the table may be that of the next one
      }
    }
    if (rows.empty()) {
      throw InputError(fmt::format("{}: holds no measured times of {}", file_.path,
                                   fmt::join(known_collectives(), ", ")));
    }
    return rows;
  }

  static bool is_heading(const std::vector<Token>& tokens) {
    return tokens.size() > 2 && tokens[0].text == "#bytes" && tokens[1].text == "#repetitions";
  }

 private:
  /// Reads the lines below the heading, of which t_max counts: that of the slowest process.
  void read_table(std::size_t& line, std::vector<MeasuredRow>& rows) const {
    const std::vector<Token> heading = tokens_of(lines_[line]);
    const int number = static_cast<int>(line) + 1;
    if (processes_ == 0) refuse_at(file_.path, number, 1, "the line '# #processes = N' is missing");
    const auto time = std::ranges::find(heading, "t_max[usec]", &Token::text);
    if (time == heading.end()) {
      refuse_at(file_.path, number, heading[2].column, "there is no column 't_max[usec]'");
    }
    MeasuredFile of_table = file_;
    Said said{.collective = collective_, .gpu = "no"};
    add_places(said, of_table);
    TimedLines times(of_table);
    bool any = false;
    for (++line; line < lines_.size(); ++line) {
      const std::vector<Token> tokens = tokens_of(lines_[line]);
      if (tokens.empty() || !parse_number<std::int64_t>(tokens[0].text)) break;
      if (tokens[0].text == "0") continue;  // nothing is sent, which may take no time
      times.add(static_cast<int>(line) + 1, tokens, 0,
                static_cast<std::size_t>(time - heading.begin()), 1e-6);
      any = true;
    }
    if (!any) return;
    for (MeasuredRow& row : times.rows(said)) {
      // The sizes of these are those of one process's block.
      if (row.collective == "allgather" || row.collective == "alltoall") {
        row.elements *= processes_;
      }
      rows.push_back(std::move(row));
    }
  }

  /// Fewer processes than a node takes are on one node.
  void add_places(Said& said, MeasuredFile& of_table) const {
    const auto fact = of_table.facts.find("tasks_per_node");
    if (fact == of_table.facts.end()) return;  // rows() asks for it
    const auto tasks = parse_number<std::int64_t>(fact->second);
    if (!tasks || *tasks < 1) return;  // rows() refuses it
    of_table.facts.erase(fact);
    said.tasks_per_node = std::min(*tasks, processes_);
    said.nodes = processes_ / *said.tasks_per_node;
    if (*said.nodes * *said.tasks_per_node != processes_) {
      throw InputError(fmt::format("{}: {} processes of {} on a node: not the same number on each",
                                   file_.path, processes_, *tasks));
    }
  }

  const MeasuredFile& file_;
  std::vector<std::string_view> lines_;
  std::string collective_;
  std::int64_t processes_ = 0;
};

}  // namespace

std::int64_t MeasuredRow::selected() const {
  return point && !algorithms::find_scheme(point->scheme).dense ? point->k : 0;
}

const std::vector<std::string>& known_collectives() {
  static const std::vector<std::string> names{"allreduce", "allgather", "reduce_scatter",
                                              "alltoall", "ping_pong"};
  return names;
}

MeasuredFile measured_file(const std::string& argument) {
  const std::vector<std::string> parts = thinwire::split(argument);
  MeasuredFile file{.path = parts.front()};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string name = parts[i].substr(0, equals);
    if (equals == std::string::npos) {
      throw InputError(
          fmt::format("--measured {}: '{}' is not valid; expected KEY=VALUE", argument, parts[i]));
    }
    if (std::ranges::find(fact_names(), name) == fact_names().end()) {
      throw InputError(fmt::format("--measured {}: unknown key '{}'{}", argument, name,
                                   did_you_mean(name, fact_names())));
    }
    if (!file.facts.emplace(name, parts[i].substr(equals + 1)).second) {
      throw InputError(fmt::format("--measured {}: '{}' is there twice", argument, name));
    }
  }
  return file;
}

std::vector<MeasuredRow> read_measured(const MeasuredFile& file) {
  const std::string text = read_text(file.path);
  for (const std::string_view line : lines_of_text(text)) {
    const std::vector<Token> tokens = tokens_of(line);
    if (NcclReader::is_heading(tokens)) return NcclReader(text, file).read();
    if (OsuReader::is_title(tokens)) return OsuReader(text, file).read();
    if (ImbReader::is_heading(tokens)) return ImbReader(text, file).read();
  }
  if (text.starts_with('{')) return rows_of_results(text, file);
  return rows_of_csv(text, file);
}

}  // namespace thinwire::studies
