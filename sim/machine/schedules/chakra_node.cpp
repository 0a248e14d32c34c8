#include "sim/machine/schedules/chakra_node.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>

namespace thinwire::schedules {

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Attribute = chakra::Attribute;
using Node = chakra::TraceNode;

constexpr std::uint32_t tag(int field, WireFormatLite::WireType type) {
  return static_cast<std::uint32_t>(field) << 3U | static_cast<std::uint32_t>(type);
}
constexpr std::uint32_t varint(int field) { return tag(field, WireFormatLite::WIRETYPE_VARINT); }
constexpr std::uint32_t delimited(int field) {
  return tag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

/// The fields of a message, one after another.
class Fields {
 public:
  explicit Fields(std::string_view message)
      : in_(reinterpret_cast<const std::uint8_t*>(message.data()),
            static_cast<int>(message.size())) {}

  /// The tag of the next field; 0 at the end, or where the message is broken.
  std::uint32_t next() { return broken_ ? 0 : in_.ReadTag(); }
  /// Whether all were read, and whole.
  [[nodiscard]] bool ended() { return !broken_ && in_.ConsumedEntireMessage(); }
  void skip(std::uint32_t field) { expect(WireFormatLite::SkipField(&in_, field)); }

  std::uint64_t whole() { return read(&CodedInputStream::ReadVarint64); }
  std::uint64_t fixed64() { return read(&CodedInputStream::ReadLittleEndian64); }
  std::uint32_t fixed32() { return read(&CodedInputStream::ReadLittleEndian32); }
  /// A string, or a message within this one.
  std::string_view text() {
    const std::uint32_t length = read(&CodedInputStream::ReadVarint32);
    const void* begin = nullptr;
    int left = 0;
    in_.GetDirectBufferPointerInline(&begin, &left);
    expect(length <= static_cast<std::uint32_t>(left));
    if (broken_) return {};
    in_.Skip(static_cast<int>(length));
    return {static_cast<const char*>(begin), length};
  }
  void expect(bool right) { broken_ = broken_ || !right; }

 private:
  template <typename Value>
  Value read(bool (CodedInputStream::*take)(Value*)) {
    Value value = 0;
    expect((in_.*take)(&value));
    return value;
  }

  CodedInputStream in_;
  bool broken_ = false;
};

/// Takes the whole numbers of a list that is one field.
template <typename Take>
bool read_packed(std::string_view list, const Take& take) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(list.data()),
                      static_cast<int>(list.size()));
  while (in.CurrentPosition() < static_cast<int>(list.size())) {
    std::uint64_t value = 0;
    if (!in.ReadVarint64(&value)) return false;
    take(value);
  }
  return true;
}

bool read_flags(std::string_view message, bool& all) {
  Fields fields(message);
  const auto take = [&all](std::uint64_t value) { all = all && value != 0; };
  while (const std::uint32_t field = fields.next()) {
    switch (field) {
      case varint(chakra::BoolList::kValuesFieldNumber):
        take(fields.whole());
        break;
      case delimited(chakra::BoolList::kValuesFieldNumber):
        fields.expect(read_packed(fields.text(), take));
        break;
      default:
        fields.skip(field);
    }
  }
  return fields.ended();
}

bool read_attribute(std::string_view message, NodeAttribute& attribute) {
  Fields fields(message);
  const auto take = [&attribute](Attribute::ValueCase kind, std::int64_t value) {
    attribute.kind = kind;
    attribute.whole = value;
  };
  while (const std::uint32_t field = fields.next()) {
    switch (field) {
      case delimited(Attribute::kNameFieldNumber):
        attribute.name = fields.text();
        break;
      case tag(Attribute::kDoubleValFieldNumber, WireFormatLite::WIRETYPE_FIXED64):
        attribute.kind = Attribute::kDoubleVal;
        attribute.number = std::bit_cast<double>(fields.fixed64());
        break;
      case tag(Attribute::kFloatValFieldNumber, WireFormatLite::WIRETYPE_FIXED32):
        attribute.kind = Attribute::kFloatVal;
        attribute.number = std::bit_cast<float>(fields.fixed32());
        break;
      case varint(Attribute::kInt32ValFieldNumber):
        take(Attribute::kInt32Val, static_cast<std::int32_t>(fields.whole()));
        break;
      case varint(Attribute::kInt64ValFieldNumber):
        take(Attribute::kInt64Val, static_cast<std::int64_t>(fields.whole()));
        break;
      case varint(Attribute::kUint32ValFieldNumber):
        take(Attribute::kUint32Val, static_cast<std::uint32_t>(fields.whole()));
        break;
      case varint(Attribute::kUint64ValFieldNumber):
        take(Attribute::kUint64Val,
             static_cast<std::int64_t>(std::min<std::uint64_t>(fields.whole(), INT64_MAX)));
        break;
      case varint(Attribute::kSint32ValFieldNumber):
        take(Attribute::kSint32Val,
             WireFormatLite::ZigZagDecode32(static_cast<std::uint32_t>(fields.whole())));
        break;
      case varint(Attribute::kSint64ValFieldNumber):
        take(Attribute::kSint64Val, WireFormatLite::ZigZagDecode64(fields.whole()));
        break;
      case varint(Attribute::kBoolValFieldNumber):
        attribute.kind = Attribute::kBoolVal;
        attribute.flag = fields.whole() != 0;
        break;
      case delimited(Attribute::kBoolListFieldNumber):
        // Parts of a list that comes in parts are one list.
        if (attribute.kind != Attribute::kBoolList) attribute.flag = true;
        attribute.kind = Attribute::kBoolList;
        fields.expect(read_flags(fields.text(), attribute.flag));
        break;
      case delimited(Attribute::kStringValFieldNumber):
        attribute.kind = Attribute::kStringVal;
        attribute.text = fields.text();
        break;
      default:
        fields.skip(field);
    }
  }
  return fields.ended();
}

bool read_inputs(std::string_view message, std::string_view& values) {
  Fields fields(message);
  while (const std::uint32_t field = fields.next()) {
    if (field == delimited(chakra::TraceValues::kValuesFieldNumber)) {
      values = fields.text();
    } else {
      fields.skip(field);
    }
  }
  return fields.ended();
}

}  // namespace

bool ChakraNode::read(std::string_view message) {
  id = type = duration_micros = 0;
  name = inputs = {};
  data_deps.clear();
  attributes.clear();
  Fields fields(message);
  while (const std::uint32_t field = fields.next()) {
    switch (field) {
      case varint(Node::kIdFieldNumber):
        id = fields.whole();
        break;
      case delimited(Node::kNameFieldNumber):
        name = fields.text();
        break;
      case varint(Node::kTypeFieldNumber):
        type = fields.whole();
        break;
      case varint(Node::kDataDepsFieldNumber):
        data_deps.push_back(fields.whole());
        break;
      case delimited(Node::kDataDepsFieldNumber):
        fields.expect(
            read_packed(fields.text(), [this](std::uint64_t dep) { data_deps.push_back(dep); }));
        break;
      case varint(Node::kDurationMicrosFieldNumber):
        duration_micros = fields.whole();
        break;
      case delimited(Node::kInputsFieldNumber):
        fields.expect(read_inputs(fields.text(), inputs));
        break;
      case delimited(Node::kAttrFieldNumber):
        fields.expect(read_attribute(fields.text(), attributes.emplace_back()));
        break;
      default:
        fields.skip(field);
    }
  }
  return fields.ended();
}

}  // namespace thinwire::schedules
