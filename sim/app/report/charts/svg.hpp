// Formats elements of SVG.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace thinwire::report {

inline constexpr double kFontSize = 11;

using Points = std::vector<std::pair<double, double>>;

enum class Anchor : std::uint8_t { start, middle, end };

struct TextLook {
  Anchor anchor = Anchor::start;
  bool bold = false;
  bool upwards = false;  ///< rotated by 90 degrees
  const char* fill = "#222";
};

/// Escapes a text for the content or an attribute of an element; control characters become blanks.
[[nodiscard]] std::string svg_escaped(const std::string& text);

[[nodiscard]] std::string text_at(double x, double y, const std::string& text,
                                  const TextLook& look = {});
// `look`: attributes as they are written in the element.
[[nodiscard]] std::string circle_at(double x, double y, double radius, const std::string& look);
[[nodiscard]] std::string rect_at(double x, double y, double width, double height,
                                  const std::string& look);
[[nodiscard]] std::string path_of(const Points& points, const std::string& look,
                                  bool closed = false);

/// A complete document with a white background. `width` and `height` are in units of the drawing, of
/// which each is `scale` pixels.
[[nodiscard]] std::string svg_document(double width, double height, const std::string& body,
                                       double scale = 1);

}  // namespace thinwire::report
