#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::studies {

namespace {

/// The tables of IMB, one for each benchmark and number of processes:
///   # Benchmarking Allreduce
///   # #processes = 4
///          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
///               4         1000         1.03         1.21         1.12
class ImbReader {
 public:
  ImbReader(std::string_view text, const MeasuredFile& file)
      : file_(file), lines_(lines_of_text(text)), chosen_(file.fact("collective")) {}

  std::vector<MeasuredRow> read() {
    if (file_.facts.contains("nodes")) {
      throw InputError(
          "{}: the text says how many processes there are; give tasks_per_node, and leave nodes "
          "out",
          file_.path);
    }
    std::vector<MeasuredRow> rows;
    bool wanted = false;  // whether the table is of a collective that is read
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::vector<Token> tokens = tokens_of(lines_[i]);
      const auto begins = [&](std::string_view first, std::string_view second) {
        return tokens.size() > 2 && tokens[0].text == first && tokens[1].text == second;
      };
      if (begins("#", "Benchmarking")) {
        collective_ = lower(tokens[2].text);
        wanted = is_wanted(collective_);
      } else if (begins("#", "#processes") && tokens.size() > 3) {
        const auto processes = parse_number<std::int64_t>(tokens[3].text);
        if (!processes || *processes < 1) {
          refuse_at(file_.path, static_cast<int>(i) + 1, tokens[3].column,
                    "expected the number of processes");
        }
        processes_ = *processes;
      } else if (wanted && is_of_imb(tokens)) {
        read_table(i, rows);
        --i;  // the line below the table may begin the next one
      }
    }
    if (rows.empty()) {
      throw InputError("{}: holds no measured times of {}", file_.path,
                       chosen_.empty() ? fmt::format("{}", fmt::join(known_collectives(), ", "))
                                       : excerpt(chosen_));
    }
    check_algorithm(rows);
    return rows;
  }

 private:
  /// Whether the tables of a collective are read: of the one that the user names, or of all.
  [[nodiscard]] bool is_wanted(const std::string& collective) const {
    if (!chosen_.empty()) return collective == chosen_;
    return std::ranges::find(known_collectives(), collective) != known_collectives().end();
  }

  /// Refuses an algorithm for the tables of several collectives: it belongs to one.
  void check_algorithm(const std::vector<MeasuredRow>& rows) const {
    if (!file_.facts.contains("algorithm")) return;
    const auto other = std::ranges::find_if(rows, [&rows](const MeasuredRow& row) {
      return row.collective != rows.front().collective;
    });
    if (other == rows.end()) return;
    throw InputError(
        "{0}: holds times of {1} and {2}, but an algorithm belongs to one collective; say which, "
        "as in {0},collective={1},algorithm=..., and give the file once for each",
        file_.path, rows.front().collective, other->collective);
  }

  /// Whether IMB says that it leaves a size out: "BYTES int-overflow.; ...", "BYTES out-of-mem.; ...".
  static bool is_left_out(const std::vector<Token>& tokens) {
    return tokens.size() > 1 && tokens[1].text.ends_with(".;");
  }

  /// Reads the lines below the heading, of which t_max counts: the time of the slowest process.
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
    for (++line; line < lines_.size(); ++line) {
      const std::vector<Token> tokens = tokens_of(lines_[line]);
      if (tokens.empty() || tokens[0].text.starts_with('#')) break;
      if (!is_timed(tokens, heading.size()) || is_left_out(tokens)) continue;
      times.add(static_cast<int>(line) + 1, tokens, 0,
                static_cast<std::size_t>(time - heading.begin()), 1e-6);
    }
    if (times.empty()) return;
    for (MeasuredRow& row : times.rows(said)) {
      row.of_first_ranks = true;
      // Their sizes are the size of one process's block.
      if (row.collective == "allgather" || row.collective == "alltoall") {
        take_blocks(row, processes_);
      }
      rows.push_back(std::move(row));
    }
  }

  /// Fewer processes than a node takes are on one node.
  void add_places(Said& said, MeasuredFile& of_table) const {
    const auto fact = of_table.facts.find("tasks_per_node");
    if (fact == of_table.facts.end()) {
      throw InputError(
          "{0}: the text does not say how many processes a node has; give it as in "
          "{0},tasks_per_node=4",
          file_.path);
    }
    const auto tasks = parse_number<std::int64_t>(fact->second);
    if (!tasks || *tasks < 1) return;  // rows() refuses it
    of_table.facts.erase(fact);
    said.tasks_per_node = std::min(*tasks, processes_);
    said.nodes = processes_ / *said.tasks_per_node;
    if (*said.nodes * *said.tasks_per_node != processes_) {
      throw InputError("{}: {} processes of {} on a node: not the same number on each", file_.path,
                       processes_, *tasks);
    }
  }

  const MeasuredFile& file_;
  std::vector<std::string_view> lines_;
  std::string chosen_;      ///< the collective that the user names, or empty
  std::string collective_;  ///< of the table
  std::int64_t processes_ = 0;
};

}  // namespace

std::vector<MeasuredRow> rows_of_imb(std::string_view text, const MeasuredFile& file) {
  return ImbReader(text, file).read();
}

bool is_of_imb(const std::vector<Token>& line) {
  return line.size() > 2 && line[0].text == "#bytes" && line[1].text == "#repetitions";
}

}  // namespace thinwire::studies
