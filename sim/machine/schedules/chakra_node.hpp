// A node of a Chakra trace, read in place: protoc's classes copy each string and spend longer on a trace
// than the simulation of it does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <chakra.pb.h>

namespace thinwire::schedules {

/// An attribute of a node. Its strings are parts of the trace.
struct NodeAttribute {
  std::string_view name;
  chakra::Attribute::ValueCase kind = chakra::Attribute::VALUE_NOT_SET;
  std::int64_t whole = 0;  ///< of the kinds that are whole numbers; larger ones as INT64_MAX
  double number = 0;       ///< double_val and float_val
  bool flag = false;       ///< bool_val; bool_list: whether all are true
  std::string_view text;   ///< string_val
};

/// The fields of chakra::TraceNode that are used. Its strings are parts of the trace.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string_view name;
  std::uint64_t type = 0;  ///< chakra::NodeKind
  std::uint64_t duration_micros = 0;
  std::string_view inputs;  ///< the values of its inputs
  std::vector<std::uint64_t> data_deps;
  std::vector<NodeAttribute> attributes;

  /// Reads a message; false if it is none. The vectors keep their memory.
  bool read(std::string_view message);
};

}  // namespace thinwire::schedules
