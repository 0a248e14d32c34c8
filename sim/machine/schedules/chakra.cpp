#include "sim/machine/schedules/chakra.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <chakra.pb.h>
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/machine/schedules/chakra_node.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::schedules {

namespace {

namespace pb = google::protobuf;

constexpr std::string_view kExactDuration = "duration_s";
/// A key of the metadata: sends up to this size are eager.
constexpr std::string_view kEagerBytes = "thinwire.eager_bytes";
constexpr double kMicrosecond = 1e-6;
/// The processors of a rank's computation, on its device and its CPU, so that messages wait for
/// neither.
constexpr int kDevice = 1;
constexpr int kCpu = 2;
/// A node with more predecessors than this has a node of its own for them.
constexpr std::size_t kMostPredecessors = 4;

void add_message(pb::io::CodedOutputStream& out, const pb::MessageLite& message) {
  out.WriteVarint32(static_cast<std::uint32_t>(message.ByteSizeLong()));
  message.SerializeToCodedStream(&out);
}

/// The nodes of a rank, as they are written.
class ChakraWriter {
 public:
  ChakraWriter(pb::io::CodedOutputStream& out, const RankSchedule& ops, std::size_t rank,
               Bytes eager)
      : out_(out), ops_(ops), rank_(static_cast<std::int32_t>(rank)), eager_(eager) {}

  void write() {
    chakra::Metadata metadata;
    metadata.set_version("0.0.4");
    chakra::Attribute& eager = *metadata.add_attr();
    eager.set_name(std::string(kEagerBytes));
    eager.set_int64_val(eager_.value());
    add_message(out_, metadata);
    before_.resize(ops_.size());
    ids_.resize(ops_.size());
    for (std::size_t i = 0; i < ops_.size(); ++i) write_op(i);
    if (ops_.empty()) add_idle();
  }

 private:
  /// A node that does nothing: ASTRA-sim refuses a trace without one.
  void add_idle() {
    chakra::TraceNode idle = node("idle", chakra::COMP, {});
    add_bool(idle, "is_cpu_op", true);
    add_message(out_, idle);
  }

  void write_op(std::size_t at) {
    const ScheduleOp& op = ops_[at];
    std::vector<std::uint64_t>& before = before_[at] = predecessors(at);
    if (before.size() > kMostPredecessors) {
      chakra::TraceNode all = node("after", chakra::COMP, before);
      add_bool(all, "is_cpu_op", true);
      add_message(out_, all);
      before_of_[all.id()] = std::exchange(before, {all.id()});
    }
    const bool sends = op.kind == ScheduleOpKind::send;
    chakra::TraceNode made = op.kind == ScheduleOpKind::work ? node("work", chakra::COMP, before)
                             : sends ? node("send", chakra::COMM_SEND, before)
                                     : node("receive", chakra::COMM_RECV, before);
    ids_[at] = made.id();
    before_of_[made.id()] = before;
    add_bool(made, "is_cpu_op", false);
    if (op.kind == ScheduleOpKind::work) {
      made.set_duration_micros(
          static_cast<std::uint64_t>(std::llround(op.work.value() / kMicrosecond)));
      chakra::Attribute& exact = *made.add_attr();
      exact.set_name(std::string(kExactDuration));
      exact.set_double_val(op.work.value());
    } else {
      chakra::Attribute& size = *made.add_attr();
      size.set_name("comm_size");
      // One byte at least: ASTRA-sim's analytical network refuses empty messages.
      size.set_int64_val(std::max<std::int64_t>(1, to_bytes(op.words).value()));
      add_int32(made, "comm_src", sends ? rank_ : op.peer.value());
      add_int32(made, "comm_dst", sends ? op.peer.value() : rank_);
      add_int32(made, "comm_tag", op.tag.value());
    }
    add_message(out_, made);
  }

  /// The nodes that must have ended before an operation begins: those that it waits for itself, and
  /// the operations that begin before it. Dependencies that follow from others are left out.
  [[nodiscard]] std::vector<std::uint64_t> predecessors(std::size_t op) const {
    std::vector<std::uint64_t> all;
    for (const std::uint32_t before : ops_.after_end().of(op)) all.push_back(ids_[before]);
    for (const std::uint32_t before : ops_.after_begin().of(op)) {
      all.insert(all.end(), before_[before].begin(), before_[before].end());
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<std::uint64_t> implied;
    for (const std::uint64_t id : all) {
      const std::vector<std::uint64_t>& earlier = before_of_.at(id);
      implied.insert(implied.end(), earlier.begin(), earlier.end());
    }
    std::ranges::sort(implied);
    std::erase_if(all, [&](std::uint64_t id) { return std::ranges::binary_search(implied, id); });
    return all;
  }

  chakra::TraceNode node(const char* name, chakra::NodeKind kind,
                         const std::vector<std::uint64_t>& before) {
    chakra::TraceNode made;
    made.set_id(next_++);
    made.set_name(name);
    made.set_type(kind);
    for (const std::uint64_t id : before) made.add_data_deps(id);
    return made;
  }
  static void add_bool(chakra::TraceNode& node, const char* name, bool value) {
    chakra::Attribute& attribute = *node.add_attr();
    attribute.set_name(name);
    attribute.set_bool_val(value);
  }
  static void add_int32(chakra::TraceNode& node, const char* name, std::int32_t value) {
    chakra::Attribute& attribute = *node.add_attr();
    attribute.set_name(name);
    attribute.set_int32_val(value);
  }

  pb::io::CodedOutputStream& out_;
  const RankSchedule& ops_;
  std::int32_t rank_;
  Bytes eager_;
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> ids_;                  ///< by operation
  std::vector<std::vector<std::uint64_t>> before_;  ///< by operation: its predecessors
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> before_of_;  ///< by node
};

using Groups = ProcessGroups;

/// Adds the groups of a JSON object as {"1": [0, 1]}, or of PyTorch's list of {"pg_name", "ranks"}.
void add_groups(const Json& json, Groups& groups, const std::string& origin) {
  const auto ranks_of = [&](const Json& list) {
    std::vector<std::int32_t> ranks;
    for (const Json& rank : list) {
      if (!rank.is_number_integer() || rank < 0 || rank > INT32_MAX) {
        throw InputError("{}: '{}' is no rank of a process group", origin, excerpt(rank.dump()));
      }
      ranks.push_back(rank.get<std::int32_t>());
    }
    std::ranges::sort(ranks);
    if (const auto twice = std::ranges::adjacent_find(ranks); twice != ranks.end()) {
      throw InputError("{}: rank {} is in a process group twice", origin, *twice);
    }
    return ranks;
  };
  if (json.is_object()) {
    for (const auto& item : json.items()) groups[item.key()] = ranks_of(item.value());
    return;
  }
  for (const Json& one : json) {
    if (!one.is_object() || !one.contains("pg_name") || !one.contains("ranks")) continue;
    const Json& name = one.at("pg_name");
    groups[name.is_string() ? name.get<std::string>() : name.dump()] = ranks_of(one.at("ranks"));
  }
}

/// Where the nodes of a trace are, by their numbers.
class Positions {
 public:
  /// `nodes` in the order of the trace.
  explicit Positions(std::span<const std::uint64_t> nodes) {
    sorted_.reserve(nodes.size());
    for (const std::uint64_t node : nodes) {
      sorted_.emplace_back(node, static_cast<std::uint32_t>(sorted_.size()));
    }
    if (!std::ranges::is_sorted(sorted_)) std::ranges::sort(sorted_);
  }

  /// A node that is there more than once.
  [[nodiscard]] std::optional<std::uint64_t> twice() const {
    const auto found = std::ranges::adjacent_find(sorted_, {}, &Position::first);
    return found == sorted_.end() ? std::nullopt : std::optional(found->first);
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t node) const {
    // Most traces number their nodes from 0.
    auto found = sorted_.begin() +
                 static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(node, sorted_.size()));
    if (found == sorted_.end() || found->first != node) {
      found = std::ranges::lower_bound(sorted_, node, {}, &Position::first);
    }
    if (found == sorted_.end() || found->first != node) return std::nullopt;
    return found->second;
  }

 private:
  using Position = std::pair<std::uint64_t, std::uint32_t>;
  std::vector<Position> sorted_;
};

/// The trace of one rank, as it is read.
class ChakraReader {
 public:
  /// `text` must outlive read().
  ChakraReader(std::string_view text, std::string origin, std::size_t rank)
      : text_(text), origin_(std::move(origin)), rank_(static_cast<std::int32_t>(rank)) {}

  /// Takes the nodes apart; collectives() follows when all ranks are known.
  RankSchedule read() {
    if (!next()) refuse("holds no Chakra trace: its metadata is missing");
    chakra::Metadata metadata;
    expect(metadata.ParseFromArray(message_.data(), static_cast<int>(message_.size())));
    for (const chakra::Attribute& attribute : metadata.attr()) {
      if (attribute.name() != kEagerBytes) continue;
      if (attribute.value_case() != chakra::Attribute::kInt64Val || attribute.int64_val() < 0) {
        refuse(fmt::format("its attribute {} is no number of bytes", kEagerBytes));
      }
      eager_ = Bytes(attribute.int64_val());
    }
    std::vector<ScheduleOp> ops;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> before;  // operations and nodes
    ChakraNode node;
    while (next()) {
      expect(node.read(message_));
      const auto at = static_cast<std::uint32_t>(ops.size());
      ops.push_back(op_of(node, at));
      places_.push_back(node.id);
      // Control dependencies are the calls in which PyTorch recorded an operation: no order of time.
      for (const std::uint64_t id : node.data_deps) before.emplace_back(at, id);
    }
    const Positions positions(places_);
    if (const auto twice = positions.twice()) {
      refuse(fmt::format("node {} is there twice", *twice));
    }
    std::vector<OpLists::Pair> after_end;
    after_end.reserve(before.size());
    for (const auto& [op, id] : before) {
      if (const auto found = positions.find(id)) {
        after_end.emplace_back(op, *found);
      } else {  // converters leave out nodes that others wait for
        ++missing_;
      }
    }
    return {std::move(ops), after_end, {}};
  }

  [[nodiscard]] std::vector<std::uint64_t>& places() { return places_; }
  [[nodiscard]] std::optional<Bytes> eager() const { return eager_; }
  /// Computations that give operations, not a time.
  [[nodiscard]] std::int64_t untimed() const { return untimed_; }
  /// Dependencies on nodes that the trace does not have.
  [[nodiscard]] std::int64_t missing() const { return missing_; }
  [[nodiscard]] Groups& groups() { return groups_; }

  /// The collectives of the rank, by operation, among `ranks` ranks.
  [[nodiscard]] std::map<std::uint32_t, CollectiveCall> collectives(const Groups& groups,
                                                                    std::size_t ranks) const {
    std::map<std::uint32_t, CollectiveCall> all;
    for (const Named& one : calls_) {
      CollectiveCall call = one.call;
      const auto id = places_[one.op];
      call.members = members_of(id, one.group, groups, ranks);
      if (call.root < 0) call.root = call.members.at(0).value();
      const int root = call.members.number_of(Rank(call.root));
      if (root < 0) {
        refuse(fmt::format("node {}: its root {} is not in its process group", id, call.root));
      }
      call.root = root;
      all.emplace(one.op, call);
    }
    return all;
  }

 private:
  struct Named {
    std::uint32_t op = 0;
    CollectiveCall call;
    std::string group;
  };

  /// Goes to the next message; false at the end of the text.
  bool next() {
    const std::size_t begin = begin_ = at_;
    std::uint64_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (at_ == text_.size()) {
        if (at_ == begin) return false;
        refuse("is cut off: the length of a message is missing");
      }
      const auto byte = static_cast<unsigned char>(text_[at_++]);
      length |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
      if (shift == 28)
        refuse(fmt::format("is no Chakra trace: there is no length at byte {}", begin));
    }
    const std::size_t left = text_.size() - at_;
    if (length > left || length > INT32_MAX) {
      refuse(
          fmt::format("is cut off or no Chakra trace: at byte {}, a message of {} bytes is "
                      "announced, and {} follow",
                      begin, length, left));
    }
    if (length == 0 && begin > 0) {
      refuse(fmt::format("is no Chakra trace: at byte {} is a message of no bytes", begin));
    }
    message_ = text_.substr(at_, length);
    at_ += length;
    return true;
  }
  /// Refuses a message that could not be read.
  void expect(bool read) const {
    if (!read) refuse(fmt::format("is no Chakra trace: at byte {} is no message of one", begin_));
  }

  [[nodiscard]] std::string name_of(const ChakraNode& node) const {
    return fmt::format("node {} ('{}')", node.id, excerpt(node.name));
  }

  ScheduleOp op_of(const ChakraNode& node, std::uint32_t at) {
    ScheduleOp op{.peer = {}, .tag = {}, .words = {}, .work = {}};
    switch (node.type) {
      case chakra::METADATA:
        op.processor = kDevice;
        take_groups(node);
        return op;
      case chakra::COMP:
      case chakra::MEM_LOAD:
      case chakra::MEM_STORE:
        op.processor = flag(node, "is_cpu_op") ? kCpu : kDevice;
        op.work = duration_of(node);
        if (op.work == Seconds(0) && has(node, "num_ops")) ++untimed_;
        return op;
      case chakra::COMM_SEND:
      case chakra::COMM_RECV: {
        const bool sends = node.type == chakra::COMM_SEND;
        op.kind = sends ? ScheduleOpKind::send : ScheduleOpKind::receive;
        op.words = Words((whole(node, "comm_size", kLargestSize) + 2) / 4);
        op.peer = Rank(
            static_cast<std::int32_t>(whole(node, sends ? "comm_dst" : "comm_src", INT32_MAX)));
        op.tag = Tag(static_cast<std::int32_t>(whole(node, "comm_tag", INT32_MAX, 0)));
        const std::int64_t own = whole(node, sends ? "comm_src" : "comm_dst", INT32_MAX, rank_);
        if (own != rank_) {
          refuse(
              fmt::format("{} is of rank {}, in the trace of rank {}", name_of(node), own, rank_));
        }
        return op;
      }
      case chakra::COMM_COLL:
        if (flag(node, "is_cpu_op")) {  // the call, as PyTorch records it; the device does the rest
          op.processor = kCpu;
          op.work = duration_of(node);
          return op;
        }
        op.processor = kDevice;
        calls_.push_back({.op = at, .call = call_of(node), .group = text(node, "pg_name")});
        return op;
      default:
        refuse(fmt::format("{} is of kind {}, which is none of Chakra's", name_of(node),
                           static_cast<int>(node.type)));
    }
  }

  [[nodiscard]] CollectiveCall call_of(const ChakraNode& node) const {
    // CollectiveCommType of et_def.proto, and what each rank has before it.
    constexpr std::array<std::pair<int, CollectiveKind>, 7> kKinds{
        {{0, CollectiveKind::allreduce},
         {2, CollectiveKind::allgather},
         {5, CollectiveKind::broadcast},
         {6, CollectiveKind::alltoall},
         {7, CollectiveKind::reduce_scatter},
         {8, CollectiveKind::reduce_scatter},
         {9, CollectiveKind::barrier}}};
    const auto type = static_cast<int>(whole(node, "comm_type", INT32_MAX));
    const auto* const kind =
        std::ranges::find(kKinds, type, &std::pair<int, CollectiveKind>::first);
    if (kind == kKinds.end()) {
      refuse(fmt::format(
          "{} is a collective of comm_type {}; simulated are all-reduce (0), all-gather "
          "(2), broadcast (5), all-to-all (6), reduce-scatter (7, 8) and barrier (9)",
          name_of(node), type));
    }
    for (const NodeAttribute& attribute : node.attributes) {
      if (attribute.name != "involved_dim") continue;
      if (attribute.kind != chakra::Attribute::kBoolList || attribute.flag) continue;
      refuse(fmt::format(
          "{} is of some of the dimensions of a network (involved_dim), of which a trace "
          "has no sizes; name its ranks by pg_name and --groups",
          name_of(node)));
    }
    const bool barrier = kind->second == CollectiveKind::barrier;
    return {.kind = kind->second,
            .bytes = whole(node, "comm_size", kLargestSize, barrier ? 0 : -1),
            .members = {},
            .root = static_cast<int>(whole(node, "root", INT32_MAX, INT32_MAX)) == INT32_MAX
                        ? -1
                        : static_cast<int>(whole(node, "root", INT32_MAX))};
  }

  [[nodiscard]] Members members_of(std::uint64_t id, const std::string& name, const Groups& groups,
                                   std::size_t ranks) const {
    const Members all{.first = 0, .count = static_cast<int>(ranks), .stride = 1};
    const auto found = groups.find(name);
    if (found == groups.end()) {
      if (name.empty() || name == "0") return all;  // the default group
      refuse(fmt::format(
          "node {} is of the process group '{}', whose ranks nobody says; give --groups "
          "FILE, a JSON object as {{\"{}\": [0, 1]}}",
          id, excerpt(name), excerpt(name)));
    }
    const std::vector<std::int32_t>& members = found->second;
    if (members.empty()) return all;
    if (std::ranges::find(members, rank_) == members.end()) {
      refuse(fmt::format("node {}: rank {} is not in its process group '{}'", id, rank_,
                         excerpt(name)));
    }
    const int stride = members.size() > 1 ? members[1] - members[0] : 1;
    bool regular = true;
    for (std::size_t i = 1; i < members.size(); ++i) {
      regular = regular && members[i] - members[i - 1] == stride;
    }
    if (members.back() >= static_cast<std::int32_t>(ranks)) {
      refuse(fmt::format("node {}: rank {} of its process group '{}' has no trace", id,
                         members.back(), excerpt(name)));
    }
    const int count = static_cast<int>(members.size());
    if (regular) return {.first = members.front(), .count = count, .stride = stride};
    return {.first = 0, .count = count, .stride = 1, .list = members.data()};
  }

  /// The process groups that PyTorch writes into a node, as JSON within a list.
  void take_groups(const ChakraNode& node) {
    const std::string_view values = node.inputs;
    const std::size_t begin = values.find("[{");
    const std::size_t end = values.rfind("}]");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return;
    const std::string_view json = values.substr(begin, end + 2 - begin);
    std::string plain;  // quotes may be escaped
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (json[i] != '\\' || i + 1 == json.size() || json[i + 1] != '"') plain += json[i];
    }
    const Json parsed = Json::parse(plain, nullptr, false);
    if (parsed.is_array())
      add_groups(parsed, groups_, fmt::format("{}: {}", origin_, name_of(node)));
  }

  [[nodiscard]] Seconds duration_of(const ChakraNode& node) const {
    double seconds = static_cast<double>(node.duration_micros) * kMicrosecond;
    for (const NodeAttribute& attribute : node.attributes) {
      if (attribute.name != kExactDuration) continue;
      if (attribute.kind == chakra::Attribute::kDoubleVal ||
          attribute.kind == chakra::Attribute::kFloatVal) {
        seconds = attribute.number;
      } else {
        refuse(fmt::format("{}: its attribute {} is no double or float", name_of(node),
                           kExactDuration));
      }
    }
    if (!(seconds >= 0) || !std::isfinite(seconds)) {
      refuse(fmt::format("{}: its duration is no finite time", name_of(node)));
    }
    return Seconds(seconds);
  }

  [[nodiscard]] static bool has(const ChakraNode& node, std::string_view name) {
    return std::ranges::any_of(node.attributes,
                               [&](const NodeAttribute& one) { return one.name == name; });
  }
  [[nodiscard]] static bool flag(const ChakraNode& node, std::string_view name) {
    return std::ranges::any_of(node.attributes, [&](const NodeAttribute& one) {
      return one.name == name && one.flag && one.kind == chakra::Attribute::kBoolVal;
    });
  }
  [[nodiscard]] static std::string text(const ChakraNode& node, std::string_view name) {
    for (const NodeAttribute& one : node.attributes) {
      if (one.name == name) return std::string(one.text);
    }
    return {};
  }

  /// An attribute that is a whole number from 0 to `most`.
  [[nodiscard]] std::int64_t whole(const ChakraNode& node, std::string_view name, std::int64_t most,
                                   std::int64_t standard = -1) const {
    std::int64_t value = standard;
    for (const NodeAttribute& attribute : node.attributes) {
      if (attribute.name != name) continue;
      switch (attribute.kind) {
        case chakra::Attribute::kInt32Val:
        case chakra::Attribute::kInt64Val:
        case chakra::Attribute::kUint32Val:
        case chakra::Attribute::kUint64Val:
        case chakra::Attribute::kSint32Val:
        case chakra::Attribute::kSint64Val:
          value = attribute.whole;
          break;
        default:
          break;
      }
    }
    if (value < 0 || value > most) {
      refuse(fmt::format("node {} ('{}'): expected the attribute {}, a whole number from 0 to {}",
                         node.id, excerpt(node.name), name, most));
    }
    return value;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError("{}: {}", origin_, what);
  }

  std::string_view text_;
  std::string origin_;
  std::int32_t rank_;
  std::size_t at_ = 0;
  std::string_view message_;           ///< the one that next() found,
  std::size_t begin_ = 0;              ///< and where its length is
  std::vector<std::uint64_t> places_;  ///< by operation: its node
  std::vector<Named> calls_;
  Groups groups_;
  std::optional<Bytes> eager_;
  std::int64_t untimed_ = 0;
  std::int64_t missing_ = 0;
};

/// NAME and RANK of a file NAME.RANK.et; the rank is -1 for another name.
std::pair<std::string, std::int64_t> name_and_rank(const std::filesystem::path& file) {
  if (file.extension() != ".et") return {"", -1};
  const std::string stem = file.stem().string();
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string::npos) return {"", -1};
  const auto rank = parse_number<std::int64_t>(stem.substr(dot + 1));
  if (!rank || *rank < 0) return {"", -1};
  return {stem.substr(0, dot), *rank};
}

}  // namespace

std::string to_chakra(const Schedule& schedule, std::size_t rank, Bytes eager) {
  std::string text;
  {
    pb::io::StringOutputStream bytes(&text);
    pb::io::CodedOutputStream out(&bytes);
    ChakraWriter(out, schedule[rank], rank, eager).write();
  }
  return text;
}

void write_chakra(const Schedule& schedule, Bytes eager, const std::string& folder,
                  const std::string& name) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw InputError("{}: {}", folder, failed.message());
  const std::string next = fmt::format("{}.{}.et", name, schedule.size());
  if (std::filesystem::exists(std::filesystem::path(folder) / next, failed)) {
    throw InputError(
        "{}: has {}, of a schedule of more ranks; remove it and those after it, or name another "
        "folder",
        folder, next);
  }
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    write_text(fmt::format("{}/{}.{}.et", folder, name, rank), to_chakra(schedule, rank, eager));
  }
}

namespace {

/// The files NAME.RANK.et of a folder, by rank; sets `name`.
std::map<std::int64_t, std::string> files_of(const std::string& folder, std::string& name) {
  std::error_code failed;
  std::map<std::int64_t, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const auto [its_name, rank] = name_and_rank(entry.path());
    if (rank < 0) continue;
    if (!files.empty() && its_name != name) {
      throw InputError(
          "{}: has traces of two names, '{}' and '{}'; keep each in a folder of its own", folder,
          excerpt(name), excerpt(its_name));
    }
    name = its_name;
    const auto [file, fresh] = files.emplace(rank, entry.path().string());
    if (!fresh) {
      const auto [first, second] = std::minmax({file->second, entry.path().string()});
      throw InputError("{}: rank {} has two traces, {} and {}; remove one", folder, rank,
                       excerpt(first), excerpt(second));
    }
  }
  if (failed) throw InputError("{}: {}", folder, failed.message());
  if (files.empty()) {
    throw InputError("{}: holds no traces; expected NAME.0.et, NAME.1.et ...", folder);
  }
  return files;
}

}  // namespace

ReadSchedule read_chakra(const std::string& folder, const std::string& groups_file) {
  std::string name;
  const std::map<std::int64_t, std::string> files = files_of(folder, name);
  ReadSchedule schedule{.ops = {}, .origin = folder, .place = "node"};
  schedule.eager = kAllEager;
  const auto kept = std::make_shared<Groups>();
  Groups& groups = *kept;
  std::vector<std::unique_ptr<ChakraReader>> readers;
  std::int64_t untimed = 0;
  std::int64_t missing = 0;
  for (const auto& file : files) {
    const std::size_t rank = schedule.ops.size();
    if (file.first != static_cast<std::int64_t>(rank)) {
      throw InputError("{}: the trace of rank {}, {}.{}.et, is missing", folder, rank,
                       excerpt(name), rank);
    }
    const std::string text = read_text(file.second);
    readers.push_back(std::make_unique<ChakraReader>(text, file.second, rank));
    ChakraReader& reader = *readers.back();
    schedule.ops.push_back(reader.read());
    schedule.places.push_back(reader.places());
    schedule.eager = reader.eager().value_or(schedule.eager);
    untimed += reader.untimed();
    missing += reader.missing();
    groups.merge(reader.groups());
  }
  if (!groups_file.empty()) {
    groups.clear();
    const Json json = read_json(groups_file);
    if (!json.is_object()) {
      throw InputError("{}: expected a JSON object as {{\"1\": [0, 1]}}", groups_file);
    }
    add_groups(json, groups, groups_file);
  }
  for (const auto& reader : readers) {
    schedule.collectives.push_back(reader->collectives(groups, readers.size()));
  }
  schedule.groups = kept;
  if (untimed > 0) {
    schedule.notes.push_back(fmt::format(
        "{} computations give operations instead of a time: they take no time here", untimed));
  }
  if (missing > 0) {
    schedule.notes.push_back(fmt::format(
        "{} dependencies are on nodes that the traces do not have: nothing waits for those",
        missing));
  }
  check_schedule(schedule);
  return schedule;
}

}  // namespace thinwire::schedules
