// The memory that there is, for work that says how much it takes before it takes it.
#pragma once

#include <cstdint>
#include <string>

namespace thinwire::inline base {

/// The bytes that this process can still take, as far as the system says: what the machine has
/// available, and what the limits of its control groups and of its address space leave. INT64_MAX
/// where nothing is known.
[[nodiscard]] std::int64_t available_memory();

/// Throws InputError if `bytes` exceed available_memory(): "WHAT: takes about 30 GiB of memory, and
/// 12 GiB are available; REMEDY".
void require_memory(double bytes, const std::string& what, const std::string& remedy);

/// "1.5 GiB", "20 MiB".
[[nodiscard]] std::string memory_text(double bytes);

/// Parts of available_memory(), of folders like /proc and /sys/fs/cgroup, for tests.
[[nodiscard]] std::int64_t available_in_machine(const std::string& meminfo);
/// The memory available in the control group `group` ("/a/b") and all groups above it, in a hierarchy of
/// version 2 or of the controller memory of version 1.
[[nodiscard]] std::int64_t available_in_group(const std::string& hierarchy, std::string group);

}  // namespace thinwire::inline base
