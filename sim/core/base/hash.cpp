#include "sim/core/base/hash.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <vector>

namespace thinwire::inline base {

namespace {

class Fnv1a {
 public:
  Fnv1a& add(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return *this;
  }
  [[nodiscard]] std::string digits() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace

std::string hash_of_text(std::string_view text) { return Fnv1a().add(text).digits(); }

std::string hash_of_file(const std::string& path) {
  struct Known {
    std::filesystem::file_time_type changed;
    std::uintmax_t size = 0;
    std::string hash;
  };
  static std::map<std::string, Known> all;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return {};
  const auto changed = std::filesystem::last_write_time(path, failed);
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) return {};
  Known& known = all[path];
  if (known.hash.empty() || known.changed != changed || known.size != size) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> piece(1 << 20);
    Fnv1a hash;
    while (file.read(piece.data(), std::ssize(piece)) || file.gcount() > 0) {
      hash.add({piece.data(), static_cast<std::size_t>(file.gcount())});
    }
    known = {changed, size, hash.digits()};
  }
  return known.hash;
}

}  // namespace thinwire::inline base
