// Keeps what was read from files that are asked for again and again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "sim/core/base/files.hpp"

namespace thinwire::inline base {

/// What `read` makes of files, by path. A file is read again when its text, or what `identity` says of
/// it, is no longer the same. Threads may share it.
template <class T>
class KeptFiles {
 public:
  using Read = T (*)(const std::string& path);
  using Identity = std::string (*)(const std::string& path);

  /// `identity`: an empty text stands for a file that is not kept, such as a pipe, which can be read
  /// once only.
  explicit KeptFiles(
      Read read, Identity identity = [](const std::string& path) { return read_text_if_any(path); })
      : read_(read), identity_(identity) {}

  /// Throws what `read` throws.
  [[nodiscard]] std::shared_ptr<const T> at(const std::string& path) {
    std::string identity = identity_(path);
    const std::lock_guard lock(mutex_);
    Kept& kept = kept_[path];
    if (identity.empty() || !kept.value || kept.identity != identity) {
      kept = {.identity = std::move(identity), .value = std::make_shared<const T>(read_(path))};
    }
    return kept.value;
  }

 private:
  struct Kept {
    std::string identity;
    std::shared_ptr<const T> value;
  };

  Read read_;
  Identity identity_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

}  // namespace thinwire::inline base
