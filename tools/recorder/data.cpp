#include "tools/recorder/data.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::recorder {

namespace {

constexpr std::size_t kDigits = 1797;
constexpr std::size_t kVerses = 31102;

std::string read_gzip(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) {
    throw InputError("{} cannot be opened; it is part of Debian's package python3-sklearn", path);
  }
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  int size = 0;
  while ((size = gzread(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  if (size < 0) throw InputError("{} is no whole gzip file", path);
  return text;
}

/// Removes the text up to the next `end` from the front and returns it.
std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

int number_in(std::string_view field, int largest, const std::string& where) {
  int number = -1;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc{} || end != field.data() + field.size() || number < 0 ||
      number > largest) {
    throw InputError("{}: '{}' is no whole number from 0 to {}", where, field, largest);
  }
  return number;
}

std::string output_of(const std::string& command) {
  // NOLINTNEXTLINE(cert-env33-c): the package ships its text compressed, and a program to read it.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      popen((command + " 2>/dev/null").c_str(), "r"), pclose);
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  while (pipe) {
    const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe.get());
    if (size == 0) break;
    text.append(buffer.data(), size);
  }
  return text;
}

}  // namespace

std::vector<Digit> read_digits(const std::string& path) {
  const std::string text = read_gzip(path);
  std::vector<Digit> digits;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = take_until(rest, '\n');
    const std::string where = fmt::format("{}, line {}", path, digits.size() + 1);
    Digit digit;
    for (float& pixel : digit.pixels) {
      pixel = static_cast<float>(number_in(take_until(line, ','), 16, where)) / 16.0F;
    }
    digit.label = number_in(line, 9, where);
    digits.push_back(digit);
  }
  if (digits.size() != kDigits) {
    throw InputError("{} holds {} images, but the digits of python3-sklearn are {}", path,
                     digits.size(), kDigits);
  }
  return digits;
}

Text read_text(const std::string& command) {
  const std::string printed = output_of(command);
  std::vector<std::string> verses;
  for (std::string_view rest = printed; !rest.empty();) {
    std::string_view line = take_until(rest, '\n');
    take_until(line, ' ');  // the reference: Ge1:1
    if (!line.empty()) verses.push_back(std::string(line) + '\n');
  }
  if (verses.size() != kVerses) {
    throw InputError(
        "'{}' printed {} verses instead of {}; it takes Debian's packages bible-kjv and "
        "bible-kjv-text",
        command, verses.size(), kVerses);
  }
  std::array<bool, 256> occurs{};
  for (const std::string& verse : verses) {
    for (const char c : verse) occurs.at(static_cast<unsigned char>(c)) = true;
  }
  Text text;
  std::array<std::int64_t, 256> position{};
  for (std::size_t c = 0; c < occurs.size(); ++c) {
    if (!occurs.at(c)) continue;
    position.at(c) = static_cast<std::int64_t>(text.alphabet.size());
    text.alphabet += static_cast<char>(c);
  }
  for (const std::string& verse : verses) {
    std::vector<std::int64_t>& numbers = text.verses.emplace_back(verse.size());
    std::ranges::transform(verse, numbers.begin(),
                           [&](char c) { return position.at(static_cast<unsigned char>(c)); });
  }
  return text;
}

}  // namespace thinwire::recorder
