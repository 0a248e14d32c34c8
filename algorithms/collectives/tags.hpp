// One tag per kind of message. Messages with the same sender, receiver and tag keep their order,
// and all ranks call the same collectives in the same order, so no more tags are needed.
#pragma once

#include "sim/core/base/units.hpp"

namespace thinwire::algorithms {

inline constexpr Tag kAllgatherTag(0);
inline constexpr Tag kAllreduceTag(1);
inline constexpr Tag kBroadcastTag(2);
inline constexpr Tag kExchangeTag(3);
inline constexpr Tag kBalanceTag(4);
inline constexpr Tag kReduceTag(5);
inline constexpr Tag kSecondTreeTag(6);
inline constexpr Tag kReduceScatterTag(7);
inline constexpr Tag kAlltoallTag(8);
inline constexpr Tag kFoldingTag(9);
inline constexpr Tag kPingPongTag(10);
/// The first of the tags of channels, one for each ring or tree; the last of the tags.
inline constexpr Tag kFirstChannelTag(11);

}  // namespace thinwire::algorithms
