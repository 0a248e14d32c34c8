// What a loaded platform says, found out in a child process.
#pragma once

#include <functional>
#include <string>

#include "sim/core/child_process.hpp"
#include "sim/core/errors.hpp"
#include "topologies/platform.hpp"

namespace thinwire::test {

/// What `read` says of a platform. Throws InputError where the platform cannot be loaded.
[[nodiscard]] inline std::string on_platform(
    const std::string& path, const std::function<std::string(const Platform&)>& read) {
  std::string text;
  return in_child_process({.subject = path,
                           .prepare =
                               [&] {
                                 const Platform platform(path);
                                 text = read(platform);
                               },
                           .run = [&] { return text; }})
      .text;
}

/// A host by its name.
[[nodiscard]] inline HostIndex host_of(const Platform& platform, const std::string& name) {
  for (HostIndex host = 0; host < platform.hosts().size(); ++host) {
    if (platform.hosts()[host].name == name) return host;
  }
  throw InputError("no host " + name);
}

}  // namespace thinwire::test
