#include "sim/app/report/charts/drawing.hpp"

#include <cairo-pdf.h>
#include <fmt/format.h>
#include <fontconfig/fontconfig.h>
#include <librsvg/rsvg.h>

#include <array>
#include <cmath>
#include <memory>

#include "sim/app/report/charts/svg.hpp"
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
  cairo_set_source_rgb(context.get(), 1, 1, 1);  // also the last pixel, of which it fills a part
  cairo_paint(context.get());
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

std::string advances(const std::string& family) {
  const Owned<cairo_surface_t> surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  const Owned<cairo_font_options_t> options(cairo_font_options_create());
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(context.get(), options.get());
  cairo_set_font_size(context.get(), kFontSize);
  std::string numbers;
  for (const auto weight : {CAIRO_FONT_WEIGHT_NORMAL, CAIRO_FONT_WEIGHT_BOLD}) {
    cairo_select_font_face(context.get(), family.c_str(), CAIRO_FONT_SLANT_NORMAL, weight);
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

/// Whether fontconfig has a font of this name; otherwise cairo would take another one in its place.
bool is_installed(const std::string& family) {
  FcPattern* const pattern = FcPatternCreate();
  FcPatternAddString(pattern, FC_FAMILY, reinterpret_cast<const FcChar8*>(family.c_str()));
  FcObjectSet* const nothing = FcObjectSetCreate();
  const FcFontSet* const fonts = FcFontList(nullptr, pattern, nothing);
  return fonts != nullptr && fonts->nfont > 0;
}

}  // namespace

}  // namespace thinwire::report

extern "C" const thinwire::report::DrawingFunctions thinwire_drawing{
    .drawn = thinwire::report::drawn,
    .advances = thinwire::report::advances,
    .is_installed = thinwire::report::is_installed};
