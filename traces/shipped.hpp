// The traces and profiles that come with Thinwire and need no path: NAME is traces/recorded/NAME.h5
// or traces/profiles/NAME.json.
#pragma once

#include <string>
#include <vector>

namespace thinwire::traces {

/// The names of the shipped traces, sorted.
[[nodiscard]] std::vector<std::string> shipped_traces();

/// The path of a trace. A text that has a '/' or ends in ".h5" is a path and is returned unchanged;
/// any other is the name of a shipped trace. Throws InputError with the nearest name.
[[nodiscard]] std::string trace_file(const std::string& name_or_path);

/// The same for profiles, whose files end in ".json".
[[nodiscard]] std::vector<std::string> shipped_profiles();
[[nodiscard]] std::string profile_file(const std::string& name_or_path);

}  // namespace thinwire::traces
