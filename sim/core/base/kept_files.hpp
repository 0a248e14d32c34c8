// Keeps what was read from files that are asked for again and again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "sim/core/base/files.hpp"

namespace thinwire::inline base {

/// What `read` makes of files, by path. A file is read again when its text is no longer the same.
/// Threads may share it.
template <class T>
class KeptFiles {
 public:
  using Read = T (*)(const std::string& path);

  explicit KeptFiles(Read read) : read_(read) {}

  /// Throws what `read` throws.
  [[nodiscard]] std::shared_ptr<const T> at(const std::string& path) {
    std::string text = read_text_if_any(path);  // a pipe can be read once only, and is not kept
    const std::lock_guard lock(mutex_);
    Kept& kept = kept_[path];
    if (text.empty() || !kept.value || kept.text != text) {
      kept = {.text = std::move(text), .value = std::make_shared<const T>(read_(path))};
    }
    return kept.value;
  }

 private:
  struct Kept {
    std::string text;
    std::shared_ptr<const T> value;
  };

  Read read_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

}  // namespace thinwire::inline base
