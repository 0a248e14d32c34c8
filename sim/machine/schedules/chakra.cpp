#include "sim/machine/schedules/chakra.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <chakra.pb.h>
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::schedules {

namespace {

namespace pb = google::protobuf;

constexpr const char* kExactDuration = "duration_s";
constexpr double kMicrosecond = 1e-6;
/// A node with more predecessors than this has a node of its own for them.
constexpr std::size_t kMostPredecessors = 4;

void add_message(pb::io::CodedOutputStream& out, const pb::MessageLite& message) {
  out.WriteVarint32(static_cast<std::uint32_t>(message.ByteSizeLong()));
  message.SerializeToCodedStream(&out);
}

/// The nodes of a rank, as they are written.
class ChakraWriter {
 public:
  ChakraWriter(pb::io::CodedOutputStream& out, const RankSchedule& ops, std::size_t rank)
      : out_(out), ops_(ops), rank_(static_cast<std::int32_t>(rank)) {}

  void write() {
    chakra::Metadata metadata;
    metadata.set_version("0.0.4");
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
    std::vector<std::uint64_t>& before = before_[at] = predecessors(op);
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
      exact.set_name(kExactDuration);
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
  /// those of the operations that begin before it. What follows from the others is left out.
  [[nodiscard]] std::vector<std::uint64_t> predecessors(const ScheduleOp& op) const {
    std::vector<std::uint64_t> all;
    for (const std::uint32_t before : op.after_end) all.push_back(ids_[before]);
    for (const std::uint32_t before : op.after_begin) {
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
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> ids_;                  ///< by operation
  std::vector<std::vector<std::uint64_t>> before_;  ///< by operation: its predecessors
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> before_of_;  ///< by node
};

/// The trace of one rank, as it is read.
class ChakraReader {
 public:
  ChakraReader(const std::string& text, std::string origin)
      : text_(text), origin_(std::move(origin)) {}

  RankSchedule read() {
    pb::io::ArrayInputStream bytes(text_.data(), static_cast<int>(text_.size()));
    pb::io::CodedInputStream in(&bytes);
    chakra::Metadata metadata;
    if (!next(in, metadata)) refuse("holds no Chakra trace: its metadata is missing");
    std::vector<chakra::TraceNode> nodes;
    for (chakra::TraceNode node; next(in, node); node.Clear()) nodes.push_back(node);
    std::unordered_map<std::uint64_t, std::uint32_t> positions;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!positions.emplace(nodes[i].id(), static_cast<std::uint32_t>(i)).second) {
        refuse(fmt::format("node {} is there twice", nodes[i].id()));
      }
    }
    RankSchedule ops;
    for (const chakra::TraceNode& node : nodes) {
      ScheduleOp op = op_of(node);
      for (const auto* before : {&node.data_deps(), &node.ctrl_deps()}) {
        for (const std::uint64_t id : *before) {
          const auto found = positions.find(id);
          if (found == positions.end()) {
            refuse(fmt::format("node {} depends on node {}, which does not exist", node.id(), id));
          }
          op.after_end.push_back(found->second);
        }
      }
      ops.push_back(std::move(op));
    }
    return ops;
  }

 private:
  /// Reads the next message; false at the end of the text.
  bool next(pb::io::CodedInputStream& in, pb::MessageLite& message) const {
    std::uint32_t length = 0;
    const int begin = in.CurrentPosition();
    if (!in.ReadVarint32(&length)) {
      if (static_cast<std::size_t>(begin) == text_.size()) return false;
      refuse("is cut off: the length of a message is missing");
    }
    const std::size_t left = text_.size() - static_cast<std::size_t>(in.CurrentPosition());
    if (length > left) {
      refuse(
          fmt::format("is cut off or no Chakra trace: at byte {}, a message of {} bytes is "
                      "announced, and {} follow",
                      begin, length, left));
    }
    const auto limit = in.PushLimit(static_cast<int>(length));
    if (!message.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) {
      refuse(fmt::format("is no Chakra trace: at byte {} is no message of one", begin));
    }
    in.PopLimit(limit);
    return true;
  }

  [[nodiscard]] ScheduleOp op_of(const chakra::TraceNode& node) const {
    ScheduleOp op{.peer = {}, .tag = {}, .words = {}, .work = {}};
    switch (node.type()) {
      case chakra::METADATA:
        op.processor = 1;
        return op;
      case chakra::COMP:
        op.processor = 1;
        op.work = Seconds(static_cast<double>(node.duration_micros()) * kMicrosecond);
        for (const chakra::Attribute& attribute : node.attr()) {
          if (attribute.name() == kExactDuration) op.work = Seconds(attribute.double_val());
        }
        if (!(op.work.value() >= 0) || !std::isfinite(op.work.value())) {
          refuse(fmt::format("node {}: its duration is no finite time", node.id()));
        }
        return op;
      case chakra::COMM_SEND:
      case chakra::COMM_RECV: {
        const bool sends = node.type() == chakra::COMM_SEND;
        op.kind = sends ? ScheduleOpKind::send : ScheduleOpKind::receive;
        op.words = Words((whole(node, "comm_size", std::int64_t{1} << 60) + 2) / 4);
        op.peer = Rank(
            static_cast<std::int32_t>(whole(node, sends ? "comm_dst" : "comm_src", INT32_MAX)));
        op.tag = Tag(static_cast<std::int32_t>(whole(node, "comm_tag", INT32_MAX, 0)));
        return op;
      }
      case chakra::COMM_COLL:
        refuse(
            fmt::format("node {} ('{}') is a collective; take a trace in which it is made of "
                        "sends and receives, such as those of 'thinwire export --chakra'",
                        node.id(), printable(node.name())));
      default:
        refuse(
            fmt::format("node {} ('{}') is of kind {}; those that send, receive and compute are "
                        "simulated",
                        node.id(), printable(node.name()), static_cast<int>(node.type())));
    }
  }

  /// An attribute that is a whole number from 0 to `most`.
  [[nodiscard]] std::int64_t whole(const chakra::TraceNode& node, const char* name,
                                   std::int64_t most, std::int64_t standard = -1) const {
    std::int64_t value = standard;
    for (const chakra::Attribute& attribute : node.attr()) {
      if (attribute.name() != name) continue;
      switch (attribute.value_case()) {
        case chakra::Attribute::kInt32Val:
          value = attribute.int32_val();
          break;
        case chakra::Attribute::kInt64Val:
          value = attribute.int64_val();
          break;
        case chakra::Attribute::kUint32Val:
          value = attribute.uint32_val();
          break;
        case chakra::Attribute::kUint64Val:
          value =
              static_cast<std::int64_t>(std::min<std::uint64_t>(attribute.uint64_val(), INT64_MAX));
          break;
        case chakra::Attribute::kSint32Val:
          value = attribute.sint32_val();
          break;
        case chakra::Attribute::kSint64Val:
          value = attribute.sint64_val();
          break;
        default:
          break;
      }
    }
    if (value < 0 || value > most) {
      refuse(fmt::format("node {} ('{}'): expected the attribute {}, a whole number from 0 to {}",
                         node.id(), printable(node.name()), name, most));
    }
    return value;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", origin_, what));
  }

  const std::string& text_;
  std::string origin_;
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

std::string to_chakra(const Schedule& schedule, std::size_t rank) {
  std::string text;
  {
    pb::io::StringOutputStream bytes(&text);
    pb::io::CodedOutputStream out(&bytes);
    ChakraWriter(out, schedule[rank], rank).write();
  }
  return text;
}

void write_chakra(const Schedule& schedule, const std::string& folder, const std::string& name) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw InputError(fmt::format("{}: {}", folder, failed.message()));
  const std::string next = fmt::format("{}.{}.et", name, schedule.size());
  if (std::filesystem::exists(std::filesystem::path(folder) / next, failed)) {
    throw InputError(fmt::format(
        "{}: has {}, of a schedule of more ranks; remove it and those after it, or name "
        "another folder",
        folder, next));
  }
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    write_text(fmt::format("{}/{}.{}.et", folder, name, rank), to_chakra(schedule, rank));
  }
}

Schedule read_chakra(const std::string& folder) {
  std::error_code failed;
  std::map<std::int64_t, std::string> files;
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const auto [its_name, rank] = name_and_rank(entry.path());
    if (rank < 0) continue;
    if (!files.empty() && its_name != name) {
      throw InputError(
          fmt::format("{}: has traces of two names, '{}' and '{}'; keep each in a "
                      "folder of its own",
                      folder, printable(name), printable(its_name)));
    }
    name = its_name;
    files[rank] = entry.path().string();
  }
  if (failed) throw InputError(fmt::format("{}: {}", folder, failed.message()));
  if (files.empty()) {
    throw InputError(fmt::format("{}: holds no traces; expected NAME.0.et, NAME.1.et ...", folder));
  }
  Schedule schedule;
  for (const auto& file : files) {
    if (file.first != static_cast<std::int64_t>(schedule.size())) {
      throw InputError(fmt::format("{}: the trace of rank {}, {}.{}.et, is missing", folder,
                                   schedule.size(), printable(name), schedule.size()));
    }
    schedule.push_back(ChakraReader(read_text(file.second), file.second).read());
  }
  check_schedule(schedule, folder);
  return schedule;
}

}  // namespace thinwire::schedules
