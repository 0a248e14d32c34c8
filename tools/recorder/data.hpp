// Reads real data that Debian packages ship: images of digits and a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace thinwire::recorder {

struct Digit {
  static constexpr int kSide = 8;
  std::array<float, std::size_t{kSide} * kSide> pixels{};  ///< 0 to 1, row by row
  std::int64_t label = 0;                                  ///< 0 to 9
};

inline constexpr const char* kDigitsFile =
    "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz";

/// The 1,797 images of python3-sklearn. Throws InputError if the file is missing or differs.
[[nodiscard]] std::vector<Digit> read_digits(const std::string& path = kDigitsFile);

/// Verses as sequences of character indices.
struct Text {
  std::string alphabet;  ///< the characters that occur, in order
  /// Each ends with a line feed; the numbers are positions in the alphabet.
  std::vector<std::vector<std::int64_t>> verses;
};

inline constexpr const char* kTextCommand = "bible -f Gen1:1-Rev22:21";

/// The 31,102 verses of bible-kjv-text as `command` prints them, one per line after its reference.
/// Throws InputError if it does not.
[[nodiscard]] Text read_text(const std::string& command = kTextCommand);

}  // namespace thinwire::recorder
