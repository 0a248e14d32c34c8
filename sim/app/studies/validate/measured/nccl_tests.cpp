#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::studies {

namespace {

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
    said_.algorithm = "default_nccl";  // NCCL chooses, unless NCCL_ALGO says otherwise
    std::vector<Token> heading;
    double unit = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const int line = static_cast<int>(i) + 1;
      const std::vector<Token> tokens = tokens_of(lines_[i]);
      if (tokens.empty()) continue;
      if (tokens[0].text.starts_with('#')) {
        if (is_of_nccl_tests(tokens)) {
          heading = tokens;
          unit = unit_of(i + 1);
        } else {
          refuse_failed(line, tokens, heading);
          take_comment(line, tokens);
        }
        continue;
      }
      take_algorithm(tokens);
      if (heading.empty() || !is_row(heading, tokens)) continue;
      const std::size_t time = time_at(line, heading, tokens);
      refuse_wrong(line, heading, tokens);
      times_.add(line, tokens, 0, time, unit);
    }
    settle_ranks();
    return times_.rows(said_);
  }

 private:
  /// The number of the first "time" among the words of a line that has all columns: the heading
  /// begins with a '#'.
  static std::size_t time_in(const std::vector<Token>& heading) {
    const auto time = std::ranges::find(heading, "time", &Token::text);
    return static_cast<std::size_t>(time - heading.begin()) - 1;
  }

  /// Whether a line is one of the table's: its size is a number, or it is a wrong one in a line with
  /// all columns. Libraries print lines of their own between them.
  static bool is_row(const std::vector<Token>& heading, const std::vector<Token>& tokens) {
    if (parse_number<std::int64_t>(tokens[0].text)) return true;
    return tokens.size() + 1 == heading.size() && parse_number<std::int64_t>(tokens[1].text) &&
           parse_number<double>(tokens[time_in(heading)].text);
  }

  /// The number of the word that is the time. Versions that leave cells empty, of a root, have fewer
  /// words than the heading: then it is the word below, since columns are aligned at their right.
  [[nodiscard]] std::size_t time_at(int line, const std::vector<Token>& heading,
                                    const std::vector<Token>& tokens) const {
    const std::size_t time = time_in(heading);
    if (tokens.size() + 1 == heading.size()) return time;
    const auto end_of = [](const Token& token) { return token.column + token.text.size(); };
    const auto below = std::ranges::find(tokens, end_of(heading[time + 1]), end_of);
    if (below == tokens.end() || end_of(tokens[0]) != end_of(heading[1])) {
      refuse_at(file_.path, line, tokens[0].column,
                fmt::format("the line has {} words, the heading {}, and they are not aligned; give "
                            "the text with its blanks, as nccl-tests prints it",
                            tokens.size(), heading.size() - 1));
    }
    return static_cast<std::size_t>(below - tokens.begin());
  }

  /// Refuses a row whose out-of-place results nccl-tests has counted as wrong.
  void refuse_wrong(int line, const std::vector<Token>& heading,
                    const std::vector<Token>& tokens) const {
    const auto column = std::ranges::find(heading, "#wrong", &Token::text);
    if (column == heading.end()) return;
    const auto end_of = [](const Token& token) { return token.column + token.text.size(); };
    auto cell = std::ranges::find(tokens, end_of(*column), end_of);
    if (tokens.size() + 1 == heading.size()) cell = tokens.begin() + (column - heading.begin()) - 1;
    if (cell == tokens.end()) return;
    const auto wrong = parse_number<double>(cell->text);  // "N/A" where nothing was checked
    if (!wrong || *wrong == 0) return;
    refuse_at(file_.path, line, cell->column,
              fmt::format("nccl-tests found {} wrong results: such a time is no measurement; mend "
                          "the machine, or take the line out",
                          excerpt(cell->text)));
  }

  /// "# Out of bounds values : 3 FAILED", which older versions count for all rows together.
  void refuse_failed(int line, const std::vector<Token>& tokens,
                     const std::vector<Token>& heading) const {
    const bool counted = std::ranges::find(heading, "#wrong", &Token::text) != heading.end();
    if (counted || tokens.size() < 7 || tokens[1].text != "Out" || tokens[6].text != "FAILED") {
      return;
    }
    refuse_at(file_.path, line, tokens[5].column,
              fmt::format("nccl-tests found {} wrong results, and does not say in which rows: such "
                          "times are no measurements",
                          excerpt(tokens[5].text)));
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
                fmt::format("'{}': unknown unit of size; known is (B)", excerpt(tokens[1].text)));
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
      name = known_collective(name);
      if (!said_.collective.empty() && said_.collective != name) refuse_several(line);
      said_.collective = name;
    }
    const auto on = std::ranges::find(tokens, "on", &Token::text);
    if (tokens.size() < 3 || tokens[1].text != "Rank" || on == tokens.end()) return;
    if (std::next(on) == tokens.end()) return;
    if (!ranks_.emplace(tokens[2].text).second) refuse_several(line);
    hosts_.emplace(std::next(on)->text);
    // "device  0 [0x07] NVIDIA H100"
    const auto bus = std::ranges::find_if(
        on, tokens.end(), [](const Token& token) { return token.text.ends_with(']'); });
    said_.device.clear();
    for (auto word = bus; word != tokens.end(); ++word) {
      if (word != bus)
        said_.device += fmt::format("{}{}", said_.device.empty() ? "" : " ", word->text);
    }
  }

  /// "node1:42:42 [0] NCCL INFO NCCL_ALGO set by environment to Ring".
  void take_algorithm(const std::vector<Token>& tokens) {
    const auto name = std::ranges::find(tokens, "NCCL_ALGO", &Token::text);
    if (name == tokens.end() ||
        std::ranges::find(tokens, "environment", &Token::text) == tokens.end())
      return;
    said_.algorithm = lower(tokens.back().text);
    if (said_.algorithm.ends_with('.')) said_.algorithm.pop_back();
  }

  void settle_ranks() {
    if (ranks_.empty()) return;
    const auto ranks = static_cast<std::int64_t>(ranks_.size());
    const auto nodes = static_cast<std::int64_t>(hosts_.size());
    if (ranks % nodes != 0) {
      throw InputError("{}: {} ranks on {} nodes: not the same number on each", file_.path, ranks,
                       nodes);
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

}  // namespace

std::vector<MeasuredRow> rows_of_nccl_tests(std::string_view text, const MeasuredFile& file) {
  return NcclReader(text, file).read();
}

bool is_of_nccl_tests(const std::vector<Token>& line) {
  return line.size() > 4 && line[0].text == "#" && line[1].text == "size" &&
         line[2].text == "count" && std::ranges::find(line, "time", &Token::text) != line.end();
}

}  // namespace thinwire::studies
