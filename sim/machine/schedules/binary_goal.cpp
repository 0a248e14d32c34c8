#include "sim/machine/schedules/binary_goal.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"

namespace thinwire::schedules {

namespace {

constexpr std::uint64_t kBegin = 4223;
constexpr std::uint64_t kUsedUp = 2342;  ///< after a run of LogGOPSim with --save-mem
constexpr std::uint64_t kBehindBegin = 8;
constexpr std::uint64_t kRankTable =
    kBehindBegin + 6;  ///< behind the number of ranks, CPUs and NICs
constexpr std::uint64_t kNodeBytes = 39;
constexpr std::uint32_t kAny = 0xffffffff;

/// The number that these bytes are, the lowest first.
std::uint64_t number_in(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = (value << 8) | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

/// Numbers of a file, the lowest byte first.
class Bits {
 public:
  Bits(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::uint64_t bytes) const {
    if (at > text_.size() || bytes > text_.size() - at) {
      refuse(fmt::format("is cut off: byte {} is beyond its {} bytes", at + bytes, text_.size()));
    }
    return number_in(text_.substr(at, bytes));
  }
  [[nodiscard]] std::uint32_t word(std::uint64_t at) const {
    return static_cast<std::uint32_t>(number(at, 4));
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError("{}: {}", origin_, what);
  }

 private:
  std::string_view text_;
  const std::string& origin_;
};

/// A rank's part: the numbers of its nodes and of those that wait for none, the latter, the nodes,
/// and the lists of nodes that wait for others.
class RankReader {
 public:
  /// `left` is how many bytes nobody has read yet: parts of several ranks do not overlap.
  RankReader(const Bits& bits, std::uint64_t begin, std::size_t rank, Seconds unit,
             std::uint64_t& left)
      : bits_(bits), rank_(rank), unit_(unit), left_(left), nodes_(bits.word(begin)) {
    const std::uint64_t roots = bits.word(begin + 4);
    first_ = begin + 8 + 4 * roots;
    lists_ = first_ + kNodeBytes * nodes_;
    static_cast<void>(bits.number(lists_, 0));  // refuses more nodes than the file can have
    take(kNodeBytes * nodes_);
  }

  RankSchedule read() {
    std::vector<ScheduleOp> ops;
    std::vector<OpLists::Pair> after_end;
    std::vector<OpLists::Pair> after_begin;
    ops.reserve(nodes_);
    for (std::uint32_t node = 0; node < nodes_; ++node) ops.push_back(op_of(node));
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      const std::uint64_t at = first_ + kNodeBytes * node;
      read_list(node, at + 23, after_end);
      read_list(node, at + 31, after_begin);
    }
    return {std::move(ops), after_end, after_begin};
  }

 private:
  void take(std::uint64_t bytes) {
    if (bytes > left_) bits_.refuse(fmt::format("rank {}: its operations are others', too", rank_));
    left_ -= bytes;
  }
  [[noreturn]] void refuse(std::uint32_t node, const std::string& what) const {
    bits_.refuse(fmt::format("rank {}, operation {}: {}", rank_, node + 1, what));
  }

  /// Adds the nodes that wait for `node`, of the list whose length and beginning are at a place.
  void read_list(std::uint32_t node, std::uint64_t at, std::vector<OpLists::Pair>& waits) {
    const std::uint32_t length = bits_.word(at);
    take(std::uint64_t{4} * length);
    const std::uint64_t begin = lists_ + std::uint64_t{4} * bits_.word(at + 4);
    if (length > 0) static_cast<void>(bits_.number(begin + std::uint64_t{4} * (length - 1), 4));
    for (std::uint32_t i = 0; i < length; ++i) {
      waits.emplace_back(bits_.word(begin + std::uint64_t{4} * i), node);
      if (waits.back().first >= nodes_) refuse(node, "one that waits for it does not exist");
    }
  }

  [[nodiscard]] ScheduleOp op_of(std::uint32_t node) const {
    const std::uint64_t at = first_ + kNodeBytes * node;
    const std::uint64_t kind = bits_.number(at + 4, 1);
    const std::uint32_t peer = bits_.word(at + 5);
    const std::uint64_t size = bits_.number(at + 9, 8);
    const std::uint32_t tag = bits_.word(at + 17);
    ScheduleOp op{.peer = {}, .tag = {}, .words = {}, .work = {}};
    op.processor = static_cast<int>(bits_.number(at + 21, 1));
    if (kind == 3) {
      op.work = Seconds(static_cast<double>(size) * unit_.value());
      return op;
    }
    if (kind != 1 && kind != 2) refuse(node, fmt::format("unknown kind {}", kind));
    op.kind = kind == 1 ? ScheduleOpKind::send : ScheduleOpKind::receive;
    if (peer == kAny) refuse(node, "receives from any source are not simulated; name the rank");
    if (tag == kAny) refuse(node, "receives of any tag are not simulated; name the tag");
    if (peer > INT32_MAX || tag > INT32_MAX) {
      refuse(node, fmt::format("its peer or tag is above {}", INT32_MAX));
    }
    if (size > static_cast<std::uint64_t>(kLargestSize)) {
      refuse(node, fmt::format("{} bytes are more than {}", size, kLargestSize));
    }
    op.peer = Rank(static_cast<std::int32_t>(peer));
    op.tag = Tag(static_cast<std::int32_t>(tag));
    op.words = words_of_goal(static_cast<std::int64_t>(size));
    return op;
  }

  const Bits& bits_;
  std::size_t rank_;
  Seconds unit_;
  std::uint64_t& left_;
  std::uint32_t nodes_;
  std::uint64_t first_ = 0;
  std::uint64_t lists_ = 0;
};

std::uint64_t begin_of(std::string_view text) {
  return text.size() < 8 ? 0 : number_in(text.substr(0, 8));
}

}  // namespace

bool is_binary_goal(std::string_view text) {
  const std::uint64_t begin = begin_of(text);
  return begin == kBegin || begin == kUsedUp;
}

ReadSchedule from_binary_goal(std::string_view text, const std::string& origin, Seconds unit) {
  const Bits bits(text, origin);
  if (begin_of(text) == kUsedUp) {
    bits.refuse("a run of LogGOPSim has used up this schedule; make it anew with txt2bin");
  }
  ReadSchedule schedule{.ops = {}, .origin = origin};
  schedule.eager = kEagerOfLogGopsim;
  const std::uint32_t ranks = bits.word(kBehindBegin);
  if (ranks == 0) bits.refuse("there must be one rank at least");
  static_cast<void>(bits.number(kRankTable + std::uint64_t{16} * ranks, 0));
  std::uint64_t left = text.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t begin = bits.number(kRankTable + 16 * rank, 8);
    if (begin > text.size()) bits.refuse(fmt::format("is cut off: rank {} is missing", rank));
    schedule.ops.push_back(RankReader(bits, kBehindBegin + begin, rank, unit, left).read());
  }
  return schedule;
}

}  // namespace thinwire::schedules
