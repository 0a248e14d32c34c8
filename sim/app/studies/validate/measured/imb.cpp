#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/numbers.hpp"

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
      } else if (known && is_of_imb(tokens)) {
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

 private:
  /// Whether a line is one of the table's: libraries print lines of their own between them, and IMB
  /// prints "BYTES int-overflow.; ..." and "BYTES out-of-mem.; ..." for sizes that it leaves out. A
  /// size that is no number is a wrong one if numbers follow, as many as in the heading.
  static bool is_row(const std::vector<Token>& tokens, std::size_t words) {
    const auto number = [](const Token& token) {
      return parse_number<double>(token.text).has_value();
    };
    if (tokens.size() < 2 || !number(tokens[1])) return false;
    return number(tokens[0]) ||
           (tokens.size() == words && std::all_of(tokens.begin() + 1, tokens.end(), number));
  }

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
      if (tokens.empty() || tokens[0].text.starts_with('#')) break;
      if (!is_row(tokens, heading.size())) continue;
      if (tokens[0].text == "0") continue;  // nothing is sent, which may take no time
      times.add(static_cast<int>(line) + 1, tokens, 0,
                static_cast<std::size_t>(time - heading.begin()), 1e-6);
      any = true;
    }
    if (!any) return;
    for (MeasuredRow& row : times.rows(said)) {
      row.of_first_ranks = true;
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
    if (fact == of_table.facts.end()) {
      throw InputError(
          fmt::format("{0}: the text does not say how many processes a node has; give it as in "
                      "{0},tasks_per_node=4",
                      file_.path));
    }
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

std::vector<MeasuredRow> rows_of_imb(std::string_view text, const MeasuredFile& file) {
  return ImbReader(text, file).read();
}

bool is_of_imb(const std::vector<Token>& line) {
  return line.size() > 2 && line[0].text == "#bytes" && line[1].text == "#repetitions";
}

}  // namespace thinwire::studies
