#include "sim/app/report/charts/rendering.hpp"

#include <cairo-pdf.h>
#include <fmt/format.h>
#include <fontconfig/fontconfig.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>

#include "sim/app/report/charts/svg.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

struct Unref {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
  void operator()(GError* error) const { g_error_free(error); }
};

template <typename T>
using Owned = std::unique_ptr<T, Unref>;

[[noreturn]] void fail(const std::string& reason) {
  throw SimulationError("the drawing could not be converted: " + reason);
}

[[noreturn]] void fail(GError* error) {
  const Owned<GError> owned(error);
  fail(owned ? std::string(owned->message) : "librsvg gives no reason");
}

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) fail(cairo_status_to_string(status));
}

cairo_status_t append(void* text, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

std::string drawn(const std::string& svg, bool pdf, double scale) {
  GError* error = nullptr;
  const auto* const bytes = reinterpret_cast<const guint8*>(svg.data());
  const Owned<RsvgHandle> handle(rsvg_handle_new_from_data(bytes, svg.size(), &error));
  if (!handle) fail(error);
  double width = 0;
  double height = 0;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height) == 0) {
    fail("it has no size");
  }
  std::string image;
  const Owned<cairo_surface_t> surface(
      pdf ? cairo_pdf_surface_create_for_stream(append, &image, width * scale, height * scale)
          : cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                       static_cast<int>(std::ceil(width * scale)),
                                       static_cast<int>(std::ceil(height * scale))));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  cairo_scale(context.get(), scale, scale);
  const RsvgRectangle all{.x = 0, .y = 0, .width = width, .height = height};
  if (rsvg_handle_render_document(handle.get(), context.get(), &all, &error) == 0) fail(error);
  if (pdf) {
    cairo_surface_finish(surface.get());
    check(cairo_surface_status(surface.get()));
  } else {
    check(cairo_surface_write_to_png_stream(surface.get(), append, &image));
  }
  return image;
}

constexpr unsigned kMeasuredCharacters =
    0x400;  // Latin and Greek; "…" and other characters beyond count as one em

/// The advance width of each measured character, first regular, then bold.
std::string advances() {
  const Owned<cairo_surface_t> surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  const Owned<cairo_font_options_t> options(cairo_font_options_create());
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(context.get(), options.get());
  cairo_set_font_size(context.get(), kFontSize);
  std::string numbers;
  for (const auto weight : {CAIRO_FONT_WEIGHT_NORMAL, CAIRO_FONT_WEIGHT_BOLD}) {
    cairo_select_font_face(context.get(), font_family().c_str(), CAIRO_FONT_SLANT_NORMAL, weight);
    for (unsigned character = 0; character < kMeasuredCharacters; ++character) {
      std::array<char, 3> utf8{static_cast<char>(character)};
      if (character >= 0x80U) {
        utf8 = {static_cast<char>(0xC0U | character >> 6U),
                static_cast<char>(0x80U | (character & 0x3FU))};
      }
      cairo_text_extents_t extents{};
      cairo_text_extents(context.get(), utf8.data(), &extents);
      numbers += fmt::format("{} ", extents.x_advance);
    }
  }
  return numbers;
}

std::string& chosen_family() {
  static std::string family = "DejaVu Sans";
  return family;
}

/// Whether fontconfig has a font of this name; otherwise cairo would take another one in its place.
bool is_installed(const std::string& family) {
  const auto found = [&family] {
    FcPattern* const pattern = FcPatternCreate();
    FcPatternAddString(pattern, FC_FAMILY, reinterpret_cast<const FcChar8*>(family.c_str()));
    FcObjectSet* const nothing = FcObjectSetCreate();
    FcFontSet* const fonts = FcFontList(nullptr, pattern, nothing);
    return std::string(fonts != nullptr && fonts->nfont > 0 ? "yes" : "no");
  };
  return in_child_process({.run = found}).text == "yes";
}

}  // namespace

const std::string& font_family() { return chosen_family(); }

void set_font_family(const std::string& family) {
  if (!is_installed(family)) {
    throw InputError("--font: no font '{}' is installed; 'fc-list : family' lists them", family);
  }
  chosen_family() = family;
}

double text_width(const std::string& text, bool bold) {
  // The memory that fontconfig and others never release is freed with the child.
  static std::map<std::string, std::vector<double>> of_families;
  std::vector<double>& widths = of_families[font_family()];
  if (widths.empty()) {
    std::istringstream numbers(in_child_process({.run = advances}).text);
    widths.assign(std::istream_iterator<double>(numbers), {});
  }
  double width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) == 0x80U) continue;  // continuation byte of a character
    unsigned character = byte < 0x80U ? byte : kMeasuredCharacters;
    if ((byte & 0xE0U) == 0xC0U && i + 1 < text.size()) {
      character = (byte & 0x1FU) << 6U | (static_cast<unsigned char>(text[i + 1]) & 0x3FU);
    }
    width += character < kMeasuredCharacters
                 ? widths.at(character + (bold ? kMeasuredCharacters : 0))
                 : kFontSize;
  }
  return width;
}

std::string shortened(const std::string& text, double room, bool bold) {
  std::string kept(text);
  while (!kept.empty() && text_width(kept == text ? text : kept + "…", bold) > room) {
    while ((static_cast<unsigned char>(kept.back()) & 0xC0U) == 0x80U) kept.pop_back();
    kept.pop_back();
  }
  return kept == text ? text : kept + "…";
}

const std::vector<std::string>& image_formats() {
  static const std::vector<std::string> kFormats{"svg", "png", "pdf"};
  return kFormats;
}

std::string image_of(const std::string& svg, const std::string& format, double scale) {
  if (format == "svg") return svg;
  constexpr double kPoint = 0.75;  // points per pixel of 1/96 inch
  const bool pdf = format == "pdf";
  return in_child_process({.run = [&] { return drawn(svg, pdf, pdf ? kPoint : scale); }}).text;
}

std::string format_of_name(const std::string& name, const std::vector<std::string>& formats) {
  const std::string extension = std::filesystem::path(name).extension().string();
  if (extension.empty()) return {};
  std::string format = extension.substr(1);
  for (char& c : format) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (format == "htm") format = "html";
  if (std::ranges::find(formats, format) != formats.end()) return format;
  throw InputError("{}: nothing is drawn as '{}'; expected a name that ends in .{}", name,
                   extension, fmt::join(formats, ", ."));
}

}  // namespace thinwire::report
