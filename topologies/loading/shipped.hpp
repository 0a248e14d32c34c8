// The platforms that come with Thinwire, which need no path: aries_daint is
// platforms/aries_daint.xml.
#pragma once

#include "sim/core/base/shipped_files.hpp"

namespace thinwire::topologies {

inline constexpr ShippedFiles kPlatforms{
    .what = "platform", .extension = ".xml", .in_source = "platforms", .in_share = "platforms"};

}  // namespace thinwire::topologies
