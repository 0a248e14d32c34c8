#include "algorithms/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

/// A recursive descent parser with one function per precedence level.
class Reader {
 public:
  Reader(const std::string& formula, const Symbols& symbols) : text_(formula), symbols_(symbols) {}

  double whole() {
    const double value = sum();
    if (next() != '\0') fail("an operator or the end");
    return value;
  }

 private:
  /// The next character that is not a space; NUL at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }
  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError("formula '{}': expected {} at position {}", text_, expected, at_ + 1);
  }
  static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
  static bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  double sum() {
    double value = product();
    while (true) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = factor();
    while (true) {
      const char c = next();
      if (take('/')) {
        value /= factor();
      } else if (take('*') || c == '(' || is_digit(c) || is_letter(c)) {
        value *= factor();
      } else {
        return value;
      }
    }
  }

  double factor() {
    const char c = next();
    if (take('(')) {
      const double value = sum();
      expect(')');
      return value;
    }
    if (is_digit(c)) {
      const char* const begin = text_.c_str() + at_;
      char* end = nullptr;
      const double value = std::strtod(begin, &end);
      at_ += static_cast<std::size_t>(end - begin);
      return value;
    }
    if (!is_letter(c)) fail("a number, a symbol or '('");
    return named();
  }

  double named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    if (name == "log") return std::log2(factor());
    if (name == "sqrt") return std::sqrt(factor());
    if (name == "ceil") return std::ceil(factor());
    if (name == "floor") return std::floor(factor());
    if (name == "min" || name == "max") {
      expect('(');
      const double a = sum();
      expect(',');
      const double b = sum();
      expect(')');
      return name == "min" ? std::min(a, b) : std::max(a, b);
    }
    const auto symbol = symbols_.find(name);
    if (symbol != symbols_.end()) return symbol->second;
    at_ = begin;
    fail(fmt::format("a known symbol instead of '{}'", name));
  }

  const std::string& text_;
  const Symbols& symbols_;
  std::size_t at_ = 0;
};

}  // namespace

double evaluate(const std::string& formula, const Symbols& symbols) {
  return Reader(formula, symbols).whole();
}

}  // namespace thinwire::algorithms
