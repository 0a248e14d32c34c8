// Uses librsvg and cairo to measure texts and to convert drawings to PNG and PDF.
#pragma once

#include <string>
#include <vector>

namespace thinwire::report {

/// The font of all drawings; by default DejaVu Sans.
[[nodiscard]] const std::string& font_family();
/// Chooses another one. Throws InputError if it is not installed.
void set_font_family(const std::string& family);

/// The width of a text in units of the drawing, in the font of all drawings.
[[nodiscard]] double text_width(const std::string& text, bool bold = false);
/// The text, or its beginning and "…" if there is not enough room.
[[nodiscard]] std::string shortened(const std::string& text, double room, bool bold = false);

/// The formats: svg, png and pdf.
[[nodiscard]] const std::vector<std::string>& image_formats();
/// Converts an SVG to one of these formats with librsvg in a child process; in a PNG, one unit of
/// the SVG is `scale` pixels. Throws SimulationError if that fails.
[[nodiscard]] std::string image_of(const std::string& svg, const std::string& format,
                                   double scale = 2);
/// The format of `formats` that matches the extension of a file name, in any case; empty if the name
/// has none.
/// Throws InputError that begins with the name for any other extension.
[[nodiscard]] std::string format_of_name(const std::string& name,
                                         const std::vector<std::string>& formats = image_formats());

}  // namespace thinwire::report
