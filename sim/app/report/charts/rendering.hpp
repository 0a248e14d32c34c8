// What librsvg and cairo do: how wide a text is, and drawings as PNG and PDF.
#pragma once

#include <string>
#include <vector>

namespace thinwire::report {

/// In units of the drawing, in the font of all drawings.
[[nodiscard]] double text_width(const std::string& text, bool bold = false);
/// The text, or its beginning and "…" where there is no room for all of it.
[[nodiscard]] std::string shortened(const std::string& text, double room, bool bold = false);

/// svg, png and pdf.
[[nodiscard]] const std::vector<std::string>& image_formats();
/// The bytes of an SVG in one of these formats, drawn by librsvg in a child process; in a PNG each
/// of its units is `scale` pixels. Throws SimulationError where that fails.
[[nodiscard]] std::string image_of(const std::string& svg, const std::string& format,
                                   double scale = 2);
/// The one of `formats` that a file's name ends in; empty where the name has no extension. Throws
/// InputError that begins with the name where it ends in anything else.
[[nodiscard]] std::string format_of_name(const std::string& name,
                                         const std::vector<std::string>& formats = image_formats());

}  // namespace thinwire::report
