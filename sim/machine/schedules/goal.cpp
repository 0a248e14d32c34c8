#include "sim/machine/schedules/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/random.hpp"
#include "sim/machine/schedules/binary_goal.hpp"

namespace thinwire::schedules {

namespace {

constexpr std::int64_t kBytesOfWord = 4;
/// The comment by which to_goal() says which sends are eager.
constexpr std::string_view kProtocol = "// thinwire.eager_bytes: ";

}  // namespace

Words words_of_goal(std::int64_t bytes) {
  if (bytes <= kEagerOfLogGopsim.value())
    bytes = std::min(bytes, kEagerOfLogGopsim.value() / 4 * 4);
  return Words((bytes + kBytesOfWord / 2) / kBytesOfWord);
}

namespace {
constexpr std::int64_t kMostGoalRanks = 1 << 24;
constexpr std::size_t kLeastOfRank = 8;  ///< characters: "rank 0{}"

/// A word of digits as a number; nothing for any other.
std::optional<std::int64_t> whole_number(std::string_view word) {
  constexpr std::size_t kSafe = 18;  // digits of any number that std::int64_t holds
  if (word.empty() || word.size() > kSafe) {
    const auto value = parse_number<std::int64_t>(word);
    return value && *value >= 0 ? value : std::nullopt;
  }
  std::int64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

/// The words and signs of GOAL text, with their lines. Ends of lines are words too, since they end
/// statements.
class GoalTokens {
 public:
  GoalTokens(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {
    advance();
  }

  /// The present word: empty at the end of the text, "\n" at the end of a line.
  [[nodiscard]] std::string_view word() const { return word_; }
  void advance() {
    if (ends_line()) ++line_;
    skip_blanks();
    const std::size_t begin = at_;
    std::size_t end = begin;
    while (end < text_.size() && is_part(text_[end])) ++end;
    if (end == begin && end < text_.size()) ++end;  // a sign, or the end of a line
    word_ = {text_.data() + begin, end - begin};
    at_ = end;
  }
  [[nodiscard]] bool ends_line() const { return !word_.empty() && word_.front() == '\n'; }
  [[nodiscard]] std::string_view take() {
    const std::string_view taken = word_;
    advance();
    return taken;
  }
  /// Whether it is this word. Its length is known to the compiler, which then calls nothing.
  template <std::size_t kSize>
  [[nodiscard]] bool is(const char (&wanted)[kSize]) const {  // NOLINT(*-avoid-c-arrays)
    return word_.size() == kSize - 1 && std::memcmp(word_.data(), wanted, kSize - 1) == 0;
  }
  template <std::size_t kSize>
  bool take_if(const char (&wanted)[kSize]) {  // NOLINT(*-avoid-c-arrays)
    if (!is(wanted)) return false;
    advance();
    return true;
  }
  template <std::size_t kSize>
  void expect(const char (&wanted)[kSize]) {  // NOLINT(*-avoid-c-arrays)
    if (!take_if(wanted)) refuse(fmt::format("'{}'", wanted));
  }
  [[nodiscard]] std::int64_t number(std::int64_t most, const char* what) {
    const auto value = whole_number(word_);
    if (!value || *value > most) {
      refuse(fmt::format("{}, a whole number from 0 to {}", what, most));
    }
    advance();
    return *value;
  }
  [[noreturn]] void refuse(const std::string& wanted) const {
    const std::string found = word_.empty() ? "the end of the text"
                              : ends_line() ? "the end of the line"
                                            : fmt::format("'{}'", excerpt(std::string(word_)));
    throw InputError("{}:{}: {} where {} was expected", origin_, line_, found, wanted);
  }
  [[noreturn]] void refuse_statement(const std::string& why) const {
    throw InputError("{}:{}: {}", origin_, line_, why);
  }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] const std::string& origin() const { return origin_; }
  [[nodiscard]] std::size_t size() const { return text_.size(); }

 private:
  /// Whether a character is part of a word of several.
  static bool is_part(char c) {
    static constexpr auto kParts = [] {
      std::array<bool, 256> parts{};
      for (const char part :
           std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")) {
        parts[static_cast<unsigned char>(part)] = true;
      }
      return parts;
    }();
    return kParts[static_cast<unsigned char>(c)];
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const std::string_view comment = c == '/' ? text_.substr(at_, 2) : std::string_view();
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (comment == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (comment == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) refuse_statement("the comment has no end");
        line_ +=
            static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                        text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t at_ = 0;
  std::string_view word_;
  int line_ = 1;
};

/// The labels of a rank's operations, which are parts of the text: a hash table with open addressing.
class Labels {
 public:
  void clear() {
    std::ranges::fill(entries_, Entry{});
    count_ = 0;
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view label) const {
    const Entry& entry = entries_[place_of(label)];
    return entry.label.empty() ? std::nullopt : std::optional(entry.op);
  }
  /// Adds a label unless it is there. Returns its operation.
  std::uint32_t add(std::string_view label, std::uint32_t op) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[place_of(label)];
    if (entry.label.empty()) {
      entry = {label, op};
      ++count_;
    }
    return entry.op;
  }

 private:
  struct Entry {
    std::string_view label = {};  ///< empty: none
    std::uint32_t op = 0;
  };

  /// The place of a label, or the free place for it.
  [[nodiscard]] std::size_t place_of(std::string_view label) const {
    const std::size_t mask = entries_.size() - 1;
    std::uint64_t hash = 0;
    for (const char c : label) hash = hash * 31 + static_cast<unsigned char>(c);
    std::size_t place = mix(hash) & mask;
    while (!entries_[place].label.empty() && entries_[place].label != label) {
      place = (place + 1) & mask;
    }
    return place;
  }
  void grow() {
    const std::vector<Entry> before =
        std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    for (const Entry& entry : before) {
      if (!entry.label.empty()) entries_[place_of(entry.label)] = entry;
    }
  }

  std::vector<Entry> entries_ = std::vector<Entry>(64);  ///< a power of two, half of them free
  std::size_t count_ = 0;
};

class GoalReader {
 public:
  GoalReader(std::string_view text, const std::string& origin, Seconds unit)
      : tokens_(text, origin), unit_(unit) {}

  ReadSchedule read() {
    ReadSchedule read{.ops = {}, .origin = tokens_.origin(), .place = "line"};
    read.eager = kEagerOfLogGopsim;
    skip_lines();
    tokens_.expect("num_ranks");
    const std::int64_t ranks = tokens_.number(kMostGoalRanks, "the number of ranks");
    if (ranks == 0) tokens_.refuse_statement("num_ranks 0: there must be one rank at least");
    if (static_cast<std::size_t>(ranks) > tokens_.size() / kLeastOfRank) {
      tokens_.refuse_statement(fmt::format("num_ranks {}: the text is too short for them", ranks));
    }
    Schedule& schedule = read.ops;
    schedule.resize(static_cast<std::size_t>(ranks));
    read.places.resize(schedule.size());
    std::vector<bool> known(schedule.size());
    for (skip_lines(); !tokens_.word().empty(); skip_lines()) {
      tokens_.expect("rank");
      const auto rank = static_cast<std::size_t>(tokens_.number(ranks - 1, "a rank"));
      if (known[rank]) tokens_.refuse_statement(fmt::format("rank {} is there twice", rank));
      known[rank] = true;
      tokens_.expect("{");
      places_ = &read.places[rank];
      schedule[rank] = read_rank();
    }
    const auto missing = std::ranges::find(known, false);
    if (missing != known.end()) {
      tokens_.refuse_statement(
          fmt::format("rank {} of {} is missing", std::distance(known.begin(), missing), ranks));
    }
    return read;
  }

 private:
  void skip_lines() {
    while (tokens_.ends_line()) tokens_.advance();
  }

  [[nodiscard]] RankSchedule read_rank() {
    std::vector<ScheduleOp> ops;
    labels_.clear();
    after_end_.clear();
    after_begin_.clear();
    for (skip_lines(); !tokens_.take_if("}"); skip_lines()) {
      const std::string_view first = tokens_.word();
      if (first.empty()) tokens_.refuse("'}'");
      if (tokens_.is("send") || tokens_.is("recv") || tokens_.is("calc")) {
        read_op(ops);
        continue;
      }
      if (!is_label(first)) tokens_.refuse("a label, send, recv, calc or '}'");
      tokens_.advance();
      if (tokens_.take_if(":")) {
        const std::uint32_t known = labels_.add(first, static_cast<std::uint32_t>(ops.size()));
        if (known != ops.size()) {
          tokens_.refuse_statement(fmt::format("line {1} has the label '{0}' already",
                                               excerpt(std::string(first)), (*places_)[known]));
        }
        read_op(ops);
      } else {
        read_dependency(first);
      }
    }
    return {std::move(ops), after_end_, after_begin_};
  }

  static bool is_label(std::string_view word) {
    return (word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z');
  }

  void read_dependency(std::string_view label) {
    const bool on_begin = tokens_.is("irequires");
    if (!on_begin && !tokens_.is("requires")) tokens_.refuse("':', requires or irequires");
    tokens_.advance();
    const std::uint32_t op = labelled(label);
    const std::uint32_t before = labelled(tokens_.word());
    tokens_.advance();
    (on_begin ? after_begin_ : after_end_).emplace_back(op, before);
    end_statement();
  }

  [[nodiscard]] std::uint32_t labelled(std::string_view label) const {
    const std::optional<std::uint32_t> found = labels_.find(label);
    if (found) return *found;
    tokens_.refuse_statement(fmt::format("no operation of this rank above has the label '{}'",
                                         excerpt(std::string(label))));
  }

  void read_op(std::vector<ScheduleOp>& ops) {
    places_->push_back(static_cast<std::uint64_t>(tokens_.line()));
    ScheduleOp op;
    if (tokens_.take_if("calc")) {
      const std::int64_t units = tokens_.number(std::numeric_limits<std::int64_t>::max(), "a time");
      op.work = Seconds(static_cast<double>(units) * unit_.value());
    } else {
      const bool sends = tokens_.is("send");
      if (!sends && !tokens_.is("recv")) tokens_.refuse("send, recv or calc");
      tokens_.advance();
      op.kind = sends ? ScheduleOpKind::send : ScheduleOpKind::receive;
      op.words = size();
      if (sends) {
        tokens_.expect("to");
      } else {
        tokens_.expect("from");
      }
      if (tokens_.is("-1")) {
        tokens_.refuse_statement("receives from any source (-1) are not simulated; name the rank");
      }
      op.peer = Rank(static_cast<std::int32_t>(tokens_.number(kMostGoalRanks, "a rank")));
    }
    while (!ends_statement()) read_detail(op);
    end_statement();
    ops.push_back(op);
  }

  /// "8b", also "8 b".
  [[nodiscard]] Words size() {
    std::string_view word = tokens_.word();
    const bool together = word.ends_with('b');
    if (together) word.remove_suffix(1);
    const auto bytes = whole_number(word);
    if (!bytes || *bytes > kLargestSize) {
      tokens_.refuse(fmt::format("a size in bytes, as in 8b, of at most {}", kLargestSize));
    }
    tokens_.advance();
    if (!together) tokens_.expect("b");
    return words_of_goal(*bytes);
  }

  void read_detail(ScheduleOp& op) {
    if (op.kind != ScheduleOpKind::work && tokens_.take_if("tag")) {
      if (tokens_.is("-1")) {
        tokens_.refuse_statement("receives of any tag (-1) are not simulated; name the tag");
      }
      op.tag = Tag(static_cast<std::int32_t>(tokens_.number(INT32_MAX, "a tag")));
    } else if (tokens_.take_if("cpu")) {
      op.processor = static_cast<int>(tokens_.number(INT32_MAX, "a processor"));
    } else if (tokens_.take_if("nic")) {
      static_cast<void>(tokens_.number(INT32_MAX, "a NIC"));
    } else {
      tokens_.refuse("tag, cpu, nic or the end of the line");
    }
  }

  [[nodiscard]] bool ends_statement() const {
    return tokens_.ends_line() || tokens_.word().empty() || tokens_.is("}");
  }
  void end_statement() const {
    if (!ends_statement()) tokens_.refuse("the end of the line");
  }

  GoalTokens tokens_;
  Seconds unit_;
  // About the present rank:
  Labels labels_;
  std::vector<OpLists::Pair> after_end_;
  std::vector<OpLists::Pair> after_begin_;
  std::vector<std::uint64_t>* places_ = nullptr;  ///< lines of the rank's operations
};

/// What the file says about the protocol of a schedule, in a comment on a line of its own before the
/// first rank.
std::optional<Bytes> stated_protocol(std::string_view text, const std::string& origin) {
  const std::size_t at = text.substr(0, text.find('{')).find(kProtocol);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view value = text.substr(at + kProtocol.size());
  value = value.substr(0, value.find_first_of("\r\n"));
  const auto bytes = parse_number<std::int64_t>(value);
  if (!bytes || *bytes < 0) {
    throw InputError("{}: '{}{}' is not valid; expected a number of bytes", origin, kProtocol,
                     excerpt(value));
  }
  return Bytes(*bytes);
}

void add_rank(std::string& text, const RankSchedule& ops, Seconds unit) {
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const ScheduleOp& op = ops[i];
    if (op.kind == ScheduleOpKind::work) {
      fmt::format_to(out, "l{}: calc {:.0f}", i + 1, std::round(op.work.value() / unit.value()));
    } else {
      const bool sends = op.kind == ScheduleOpKind::send;
      fmt::format_to(out, "l{}: {} {}b {} {} tag {}", i + 1, sends ? "send" : "recv",
                     std::max<std::int64_t>(1, to_bytes(op.words).value()), sends ? "to" : "from",
                     op.peer.value(), op.tag.value());
    }
    if (op.processor != 0) fmt::format_to(out, " cpu {}", op.processor);
    text += '\n';
    for (const std::uint32_t before : ops.after_end().of(i)) {
      fmt::format_to(out, "l{} requires l{}\n", i + 1, before + 1);
    }
    for (const std::uint32_t before : ops.after_begin().of(i)) {
      fmt::format_to(out, "l{} irequires l{}\n", i + 1, before + 1);
    }
  }
}

}  // namespace

std::string to_goal(const Schedule& schedule, Bytes eager, Seconds unit) {
  std::string text = fmt::format("num_ranks {}\n{}{}\n", schedule.size(), kProtocol, eager.value());
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    fmt::format_to(std::back_inserter(text), "\nrank {} {{\n", rank);
    add_rank(text, schedule[rank], unit);
    // LogGOPSim fails on a schedule without any operation.
    if (schedule[rank].empty()) text += "calc 0\n";
    text += "}\n";
  }
  return text;
}

ReadSchedule from_goal(std::string_view text, const std::string& origin, Seconds unit) {
  text = without_byte_order_mark(text);
  ReadSchedule schedule = is_binary_goal(text) ? from_binary_goal(text, origin, unit)
                                               : GoalReader(text, origin, unit).read();
  if (!is_binary_goal(text)) {
    schedule.eager = stated_protocol(text, origin).value_or(schedule.eager);
  }
  check_schedule(schedule);
  return schedule;
}

}  // namespace thinwire::schedules
