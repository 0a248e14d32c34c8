#include "sim/core/base/hash.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <vector>

namespace thinwire::inline base {

namespace {

constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325U;
constexpr std::uint64_t kPrime = 0x100000001b3U;

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kOffsetBasis) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

std::string digits(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string hash_of_stream(std::istream& stream) {
  std::vector<char> piece(1 << 20);
  std::uint64_t hash = kOffsetBasis;
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         stream.gcount() > 0) {
    hash = fnv1a({piece.data(), static_cast<std::size_t>(stream.gcount())}, hash);
  }
  return digits(hash);
}

}  // namespace

std::string hash_of_text(std::string_view text) { return digits(fnv1a(text)); }

std::string hash_of_file(const std::string& path) {
  struct Known {
    std::filesystem::file_time_type changed;
    std::uintmax_t size;
    std::string hash;
  };
  static std::map<std::string, Known> all;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return {};
  const auto changed = std::filesystem::last_write_time(path, failed);
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) return {};
  auto known = all.find(path);
  if (known == all.end() || known->second.changed != changed || known->second.size != size) {
    std::ifstream file(path, std::ios::binary);
    known = all.insert_or_assign(path, Known{changed, size, hash_of_stream(file)}).first;
  }
  return known->second.hash;
}

}  // namespace thinwire::inline base
