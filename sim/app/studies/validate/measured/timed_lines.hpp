// The text output of benchmarks of collectives, line by line: what their formats have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/studies/validate/measured.hpp"

namespace thinwire::studies {

/// A word of a line, and where it begins.
struct Token {
  std::string_view text;
  std::size_t column = 1;
};

/// The words of a line, which blanks separate.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view line);
[[nodiscard]] std::vector<std::string_view> lines_of_text(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);

/// Whether a line below a heading has a size and times: libraries print lines of their own between
/// them. A size that is no number is a wrong one if numbers alone follow, with it `columns` words
/// at least.
[[nodiscard]] bool is_timed(const std::vector<Token>& line, std::size_t columns);

/// Whether a time can have been measured: ratios to one below the normal numbers are not finite, and
/// nobody waits for more than 1e9 seconds.
[[nodiscard]] bool is_time(double seconds);

/// The elements of a row count one of `ranks` blocks: they become the elements of all. Throws
/// InputError where that is more than readers take.
void take_blocks(MeasuredRow& row, std::int64_t ranks);

/// What the text of a benchmark says about all of its rows.
struct Said {
  std::string collective = {};
  std::string library = {};
  std::string gpu = {};
  std::string algorithm = {};  ///< that holds if the user names none
  std::string device = {};
  std::optional<std::int64_t> nodes = {};
  std::optional<std::int64_t> tasks_per_node = {};
};

/// The sizes and times of a benchmark's text, which the facts complete to rows.
class TimedLines {
 public:
  explicit TimedLines(const MeasuredFile& file) : file_(file) {}

  /// The seconds in the unit of a heading as "Latency(us)". Throws InputError for another unit.
  [[nodiscard]] double unit_at(int line, const Token& token) const;
  /// Adds a line, whose bytes and time are the words at these indices, unless it is of 0 bytes,
  /// which may take no time. Throws InputError.
  void add(int line, const std::vector<Token>& tokens, std::size_t bytes_at, std::size_t time_at,
           double unit);
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// Throws InputError for facts that are missing, not right or contradict the text.
  [[nodiscard]] std::vector<MeasuredRow> rows(const Said& said) const;

 private:
  struct Line {
    int number = 1;
    std::int64_t bytes = 0;
    double seconds = 0;
  };

  [[noreturn]] void wrong_fact(const std::string& name, const std::string& value,
                               const std::string& wanted) const;
  /// Refuses texts that leave open what every row has.
  void need(const Said& said) const;
  /// A fact that the user gave, else what the text says.
  [[nodiscard]] std::string fact(const std::string& name, const std::string& in_text) const;
  [[nodiscard]] std::int64_t number_fact(const std::string& name,
                                         std::optional<std::int64_t> in_text,
                                         std::int64_t most) const;

  const MeasuredFile& file_;
  std::vector<Line> lines_;
};

}  // namespace thinwire::studies
