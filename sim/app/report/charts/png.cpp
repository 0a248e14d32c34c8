#include "sim/app/report/charts/png.hpp"

#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>

#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

struct Unref {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(GError* error) const { g_error_free(error); }
};

template <typename T>
using Owned = std::unique_ptr<T, Unref>;

[[noreturn]] void fail(const std::string& reason) {
  throw SimulationError("the PNG could not be drawn: " + reason);
}

[[noreturn]] void fail(GError* error) {
  const Owned<GError> owned(error);
  fail(owned ? std::string(owned->message) : "librsvg gives no reason");
}

cairo_status_t append(void* text, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

std::string drawn(const std::string& svg, double scale) {
  GError* error = nullptr;
  const auto* const bytes = reinterpret_cast<const guint8*>(svg.data());
  const Owned<RsvgHandle> handle(rsvg_handle_new_from_data(bytes, svg.size(), &error));
  if (!handle) fail(error);
  double width = 0;
  double height = 0;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height) == 0) {
    fail("it has no size");
  }
  const Owned<cairo_surface_t> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width * scale)),
                                 static_cast<int>(std::ceil(height * scale))));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  cairo_scale(context.get(), scale, scale);
  const RsvgRectangle all{.x = 0, .y = 0, .width = width, .height = height};
  if (rsvg_handle_render_document(handle.get(), context.get(), &all, &error) == 0) fail(error);
  std::string png;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  if (status != CAIRO_STATUS_SUCCESS) fail(cairo_status_to_string(status));
  return png;
}

}  // namespace

std::string png_of(const std::string& svg, double scale) {
  // What fontconfig and its like keep until the end ends with the child.
  return in_child_process({.run = [&] { return drawn(svg, scale); }}).text;
}

}  // namespace thinwire::report
