#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/report/tables/groups.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::report {

namespace {

/// The number of terminal columns of a UTF-8 text: one per character for the characters used here.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// A key's name without the unit, which a word may follow ("time_mean_s_median"), and the unit.
struct SplitKey {
  std::string name;
  std::string_view unit;
};

constexpr std::array<std::string_view, 4> kUnits{"_bytes_per_s", "_Bps", "_bytes", "_s"};

SplitKey split_key(std::string_view key) {
  const auto ends_in = [](std::string_view text) -> std::string_view {
    if (text.ends_with("_s_per_word")) return "_s_per_word";
    for (const std::string_view unit : kUnits) {
      if (!text.ends_with(unit) || text.size() == unit.size()) continue;
      return unit == "_s" && text.ends_with("_per_s") ? std::string_view() : unit;
    }
    return {};
  };
  if (const std::string_view unit = ends_in(key); !unit.empty()) {
    return {.name = std::string(key.substr(0, key.size() - unit.size())), .unit = unit};
  }
  for (const std::string_view last : {"_median", "_mean", "_min", "_max", "_sum"}) {
    if (!key.ends_with(last)) continue;
    const std::string_view begin = key.substr(0, key.size() - last.size());
    const std::string_view unit = ends_in(begin);
    if (unit.empty()) break;
    return {.name = std::string(begin.substr(0, begin.size() - unit.size())) + std::string(last),
            .unit = unit};
  }
  return {.name = std::string(key), .unit = {}};
}

/// A number in the largest of the units, which are 1000 apart, in which it is at least 1.
std::string in_thousands(double value, std::initializer_list<const char*> units) {
  const char* const* unit = units.begin();
  for (; std::abs(value) >= 999.95 && unit + 1 != units.end(); ++unit) value /= 1000;
  return fmt::format("{:.4g} {}", value, *unit);
}

/// A multiple of 1024 in the largest unit in which it is whole.
std::string in_binary(std::int64_t bytes) {
  std::size_t unit = 0;
  static constexpr std::array kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  for (; bytes % 1024 == 0 && unit + 1 < kNames.size(); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, kNames.at(unit));
}

using Cells = std::vector<std::string>;

/// Whether a cell is no number, with its sign and unit, and not empty.
bool is_words(const std::string& cell) {
  const std::size_t begin = cell.find_first_not_of("+-.<>=( ≥≤");
  const bool digit = begin != std::string::npos && cell[begin] >= '0' && cell[begin] <= '9';
  return begin != std::string::npos && !digit && !cell.starts_with("inf");
}

/// The cells of a table, whose first line has the names.
class Grid {
 public:
  Grid(const std::vector<Json>& records, const std::vector<Column>& columns) {
    for (const Column& column : columns) {
      Cells cells{column.name};
      for (const Json& record : records) cells.push_back(printable(column.text(record)));
      columns_.push_back(std::move(cells));
    }
    for (const Cells& cells : columns_) {
      std::size_t widest = 0;
      for (const std::string& cell : cells) widest = std::max(widest, width_of(cell));
      widest_.push_back(widest);
      headings_.push_back({cells.front()});
      left_.push_back(
          std::any_of(cells.begin() + 1, cells.end(), [](const auto& c) { return is_words(c); }));
    }
  }

  [[nodiscard]] std::size_t width() const {
    std::size_t all = widest_.empty() ? 0 : 2 * (widest_.size() - 1);
    for (const std::size_t one : widest_) all += one;
    return all;
  }

  void leave_out(std::size_t column) {
    const auto at = static_cast<std::ptrdiff_t>(column);
    columns_.erase(columns_.begin() + at);
    headings_.erase(headings_.begin() + at);
    widest_.erase(widest_.begin() + at);
    left_.erase(left_.begin() + at);
  }

  /// Takes room from the widest texts that have words to break between.
  void narrow(std::size_t width) {
    constexpr std::size_t kLeast = 20;
    std::vector<bool> done(columns_.size());
    while (this->width() > width) {
      std::size_t most = columns_.size();
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (!done[c] && left_[c] && widest_[c] > kLeast &&
            (most == columns_.size() || widest_[c] > widest_[most])) {
          most = c;
        }
      }
      if (most == columns_.size()) return;
      const std::size_t excess = this->width() - width;
      const std::size_t wanted = std::max(kLeast, widest_[most] - std::min(widest_[most], excess));
      std::size_t got = 0;
      for (const std::string& cell : columns_[most]) {
        for (const std::string& line : report::wrapped(cell, wanted))
          got = std::max(got, width_of(line));
      }
      done[most] = true;
      widest_[most] = std::min(widest_[most], std::max(got, wanted));
    }
  }

  /// Breaks the names of columns that are wider than what is below them, behind an underscore.
  void break_headings(std::size_t width) {
    std::vector<bool> done(columns_.size());
    while (this->width() > width) {
      std::size_t most = columns_.size();
      std::size_t gain = 0;
      std::vector<std::string> lines;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (done[c]) continue;
        std::size_t least = 0;
        for (auto cell = columns_[c].begin() + 1; cell != columns_[c].end(); ++cell) {
          least = std::max(least, width_of(*cell));
        }
        std::vector<std::string> broken = broken_heading(columns_[c].front(), least);
        for (const std::string& line : broken) least = std::max(least, width_of(line));
        if (widest_[c] - std::min(widest_[c], least) <= gain) continue;
        gain = widest_[c] - least;
        most = c;
        lines = std::move(broken);
      }
      if (most == columns_.size()) return;
      done[most] = true;
      headings_[most] = std::move(lines);
      widest_[most] -= gain;
    }
  }

  [[nodiscard]] std::string aligned() const { return aligned(0, columns_.size()); }
  /// Tables below each other, each at most this wide where one column allows it. The first column is in
  /// all of them.
  [[nodiscard]] std::string folded(std::size_t width) const {
    if (columns_.size() < 2) return aligned();
    std::string tables;
    for (std::size_t first = 1; first < columns_.size();) {
      std::size_t all = widest_[0] + 2 + widest_[first];
      std::size_t end = first + 1;
      while (end < columns_.size() && all + 2 + widest_[end] <= width) all += 2 + widest_[end++];
      tables += (first > 1 ? "\n" : "") + aligned(first, end);
      first = end;
    }
    return tables;
  }

  [[nodiscard]] std::string markdown() const {
    std::string table;
    for (std::size_t row = 0; !columns_.empty() && row < columns_.front().size(); ++row) {
      for (const Cells& cells : columns_) {
        std::string cell = cells[row];
        for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
          cell.insert(at, "\\");
        }
        table += "| " + cell + " ";
      }
      table += "|\n";
      if (row > 0) continue;
      for (std::size_t c = 0; c < columns_.size(); ++c) table += left_[c] ? "|---" : "|---:";
      table += "|\n";
    }
    return table;
  }

 private:
  /// Lines of at most `width` characters, or as few as the parts between underscores allow.
  static std::vector<std::string> broken_heading(const std::string& name, std::size_t width) {
    std::vector<std::string> lines(1);
    for (std::size_t at = 0; at < name.size();) {
      const std::size_t end = std::min(name.find('_', at), name.size() - 1) + 1;
      const std::string part = name.substr(at, end - at);
      if (!lines.back().empty() && width_of(lines.back()) + width_of(part) > width) {
        lines.emplace_back();
      }
      lines.back() += part;
      at = end;
    }
    return lines;
  }

  /// The first column, and those from `first` to before `end`.
  [[nodiscard]] std::string aligned(std::size_t first, std::size_t end) const {
    std::vector<std::size_t> shown;
    if (first > 0) shown.push_back(0);
    for (std::size_t c = first; c < end; ++c) shown.push_back(c);
    std::string table;
    for (std::size_t row = 0; !columns_.empty() && row < columns_.front().size(); ++row) {
      std::vector<std::vector<std::string>> cells;
      std::size_t lines = 1;
      for (const std::size_t c : shown) {
        const std::string& cell = columns_[c][row];
        const bool fits = width_of(cell) <= widest_[c];
        cells.push_back(row == 0 && headings_[c].size() > 1 ? headings_[c]
                        : fits                              ? std::vector{cell}
                                                            : report::wrapped(cell, widest_[c]));
        lines = std::max(lines, cells.back().size());
      }
      for (std::size_t line = 0; line < lines; ++line) table += line_of(shown, cells, line);
    }
    return table;
  }

  [[nodiscard]] std::string line_of(const std::vector<std::size_t>& shown,
                                    const std::vector<std::vector<std::string>>& cells,
                                    std::size_t line) const {
    std::string text;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::size_t c = shown[i];
      const std::string cell = line < cells[i].size() ? cells[i][line] : "";
      const std::size_t room = std::max(widest_[c], width_of(cell)) - width_of(cell);
      const std::string padding(room, ' ');
      if (i > 0) text += "  ";
      text += left_[c] ? cell + padding : padding + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  }

  std::vector<Cells> columns_;
  std::vector<std::vector<std::string>> headings_;  ///< by column: the lines of its name
  std::vector<std::size_t> widest_;
  std::vector<bool> left_;
};

/// The columns that a view names, out of the columns of the table or of the records.
std::vector<Column> named_columns(const std::vector<Json>& records,
                                  const std::vector<Column>& columns, const View& view) {
  std::vector<Column> chosen;
  std::vector<std::string> keys = columns_of(records);
  for (const std::string& name : view.columns) {
    const auto own = std::ranges::find(columns, name, &Column::name);
    if (own != columns.end()) {
      chosen.push_back(*own);
    } else {
      std::string key = key_of_name("--columns", name, keys);
      const auto same = std::ranges::find(columns, name_of_key(key), &Column::name);
      chosen.push_back(same != columns.end() ? *same : column(std::move(key)));
    }
  }
  return chosen;
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
}

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t kUsual = 100;
  if (is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const char* const given = std::getenv("COLUMNS");
  const auto number = parse_number<std::size_t>(given == nullptr ? "" : given);
  return number && *number > 0 ? *number : kUsual;
}

bool is_terminal() { return isatty(STDOUT_FILENO) == 1; }

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string name_of_key(std::string_view key) {
  return split_key(key.substr(key.rfind('.') + 1)).name;
}

std::optional<std::string> find_key(const std::string& name, const std::vector<std::string>& keys) {
  if (std::ranges::find(keys, name) != keys.end()) return name;
  for (const std::string& wanted : {name, name + "_low", name + "_high"}) {
    for (const std::string& key : keys) {
      const std::string whole = split_key(key).name;
      if (whole == wanted) return key;
    }
  }
  for (const std::string& key : keys) {
    if (name_of_key(key) == name || key.substr(key.rfind('.') + 1) == name) return key;
  }
  // The heading under which tables show where gradients come from.
  if (name == "input") {
    for (const char* key : {"input.trace", "input.profile"}) {
      if (std::ranges::find(keys, key) != keys.end()) return key;
    }
  }
  return std::nullopt;
}

std::string key_of_name(const std::string& flag, const std::string& name,
                        const std::vector<std::string>& keys) {
  if (const std::optional<std::string> found = find_key(name, keys)) return *found;
  throw InputError("{}: no column is called '{}'{}", flag, excerpt(name), did_you_mean(name, keys));
}

Column column(std::string key, std::string name, Shown shown) {
  if (name.empty()) name = name_of_key(key);
  return {.name = std::move(name),
          .text =
              [key = std::move(key)](const Json& record) {
                const auto found = record.find(key);
                return found == record.end() ? std::string("-") : text_of_value(key, *found);
              },
          .shown = shown};
}

Column interval(std::string name, std::string low, std::string high, Shown shown) {
  return {.name = std::move(name),
          .text =
              [low = std::move(low), high = std::move(high)](const Json& record) {
                std::string from = text_of_value(low, record.at(low));
                const std::string to = text_of_value(high, record.at(high));
                if (from == to) return from;
                const std::size_t space = from.find(' ');
                const bool same_unit =
                    space != std::string::npos && to.ends_with(from.substr(space));
                return fmt::format("{} .. {}", same_unit ? from.substr(0, space) : from, to);
              },
          .shown = shown};
}

void add_columns(std::vector<Column>& columns, std::initializer_list<const char*> keys,
                 Shown shown) {
  for (const char* key : keys) columns.push_back(column(key, {}, shown));
}

std::vector<Json> of_kind(const std::vector<Json>& records, std::string_view kind) {
  std::vector<Json> found;
  std::ranges::copy_if(records, std::back_inserter(found),
                       [kind](const Json& r) { return r.at("kind") == kind; });
  return found;
}

std::string to_table(const std::vector<Json>& records, const std::vector<Column>& columns,
                     const View& view) {
  std::vector<Column> chosen = columns;
  if (!view.columns.empty()) {
    chosen = named_columns(records, columns, view);
  } else if (!view.wide) {
    std::erase_if(chosen, [](const Column& column) { return column.shown == Shown::if_wide; });
  }
  Grid grid(records, chosen);
  if (view.format == Format::markdown) return grid.markdown();
  const auto leave_out = [&](Shown shown) {
    for (std::size_t c = chosen.size(); c-- > 0 && grid.width() > view.width;) {
      if (!view.columns.empty() || chosen[c].shown != shown) continue;
      grid.leave_out(c);
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(c));
    }
  };
  if (!view.wide) {
    leave_out(Shown::if_room);
    grid.narrow(view.width);
    if (view.folds) {
      grid.break_headings(view.width);
      leave_out(Shown::if_unfolded);
      if (grid.width() > view.width) return grid.folded(view.width);
    }
  }
  return grid.aligned();
}

std::string number_text(const Json& value, int digits) {
  if (value.is_null()) return "-";
  if (value.is_number_integer() || value.is_boolean()) return value.dump();
  return fmt::format("{:.{}g}", value.get<double>(), digits);
}

std::string seconds_text(double value) {
  for (const auto& [unit, factor] : {std::pair{"s", 1.0}, {"ms", 1e-3}, {"µs", 1e-6}}) {
    if (std::abs(value) >= factor * 0.99995) return fmt::format("{:.4g} {}", value / factor, unit);
  }
  if (value == 0) return "0 s";
  return std::abs(value) < 1e-12 ? fmt::format("{:.2g} s", value)
                                 : fmt::format("{:.4g} ns", value / 1e-9);
}

std::string text_of_value(std::string_view key, const Json& value) {
  constexpr int kDigits = 4;
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return value.is_null() ? "-" : value.dump();
  const std::string_view unit = split_key(key).unit;
  const auto number = value.get<double>();
  if (unit == "_s" || unit == "_s_per_word") return seconds_text(number);
  // Powers of two, as sizes of messages and buffers are, are exact in their own units.
  const bool binary =
      value.is_number_integer() && value != 0 && value.get<std::int64_t>() % 1024 == 0;
  if (unit == "_bytes" && binary) return in_binary(value.get<std::int64_t>());
  if (unit == "_bytes") return in_thousands(number, {"B", "kB", "MB", "GB", "TB"});
  if (!unit.empty()) return in_thousands(number, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
  return number_text(value, kDigits);
}

std::string interval_text(const Json& low, const Json& high, int digits) {
  const std::string from = number_text(low, digits);
  const std::string to = number_text(high, digits);
  return from == to ? from : fmt::format("{} .. {}", from, to);
}

}  // namespace thinwire::report
