// The traces and profiles that come with Thinwire and need no path.
#pragma once

#include "sim/core/base/shipped_files.hpp"

namespace thinwire::traces {

inline constexpr ShippedFiles kTraces{
    .what = "trace", .extension = ".h5", .in_source = "traces/recorded", .in_share = "traces"};

inline constexpr ShippedFiles kProfiles{.what = "profile",
                                        .extension = ".json",
                                        .in_source = "traces/profiles",
                                        .in_share = "profiles"};

}  // namespace thinwire::traces
