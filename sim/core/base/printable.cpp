#include "sim/core/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace thinwire::inline base {

namespace {

/// Bytes of the character that the text begins with; 0 where they are no UTF-8.
std::size_t first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  // Longer forms than needed, surrogates and what is above U+10FFFF are none.
  const unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  return length;
}

/// Also what nobody sees, and what turns the order of the text behind it: zero-width signs, the ends
/// of lines and paragraphs, directions (U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F), U+FEFF.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (first == 0xc2) return static_cast<unsigned char>(character[1]) < 0xa0;
  if (character == "\xef\xbb\xbf") return true;
  if (first != 0xe2) return first < 0x20 || first == 0x7f;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  return (second == 0x80 &&
          ((third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae))) ||
         (second == 0x81 && third >= 0xa0 && third <= 0xaf);
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = first_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

namespace {

/// Whether a byte is the first one of a character, or of none.
bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

/// The ends of a longer text, cut between characters.
std::string ends_of(std::string_view text, std::size_t longest) {
  constexpr std::size_t kContinued = 3;  // bytes of a character behind its first
  std::size_t first = longest / 2;
  for (std::size_t i = 0; i < kContinued && !begins_character(text[first]); ++i) --first;
  std::size_t last = text.size() - longest / 2;
  for (std::size_t i = 0; i < kContinued && !begins_character(text[last]); ++i) ++last;
  return fmt::format("{} ... {}", printable(text.substr(0, first)), printable(text.substr(last)));
}

}  // namespace

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  return text.size() > kLongest ? ends_of(text, kLongest) : printable(text);
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 2000;
  if (text.size() > kLongest) return ends_of(text, kLongest);
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = first_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    if (length > 0 && !is_control(character)) {
      shown += character;
    } else if (character == "\n" || character == "\t") {
      shown += character == "\n" ? "\\n" : "\\t";
    } else {
      for (const char c : character) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace thinwire::inline base
