#include "sim/app/report/charts/page.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/app/report/charts/palette.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/version.hpp"

#ifdef THINWIRE_PAGE_FILE
// The assembler embeds the bundled page, which is too long for a string literal.
asm(R"(.pushsection .rodata
.global thinwire_page_begin
.global thinwire_page_end
thinwire_page_begin:
.incbin ")" THINWIRE_PAGE_FILE R"("
thinwire_page_end:
.byte 0
.popsection)");
extern "C" const char thinwire_page_begin[];  // NOLINT(readability-identifier-naming)
extern "C" const char thinwire_page_end[];    // NOLINT(readability-identifier-naming)
#endif

namespace thinwire::report {

namespace {

std::string_view page_template() {
#ifdef THINWIRE_PAGE_FILE
  const char* const begin = thinwire_page_begin;
  const char* const end = thinwire_page_end;
  return {begin, static_cast<std::size_t>(end - begin)};
#else
  throw InputError(
      "report: this program was built without the page (THINWIRE_REPORT_PAGE=OFF); --figure draws "
      "single ones");
#endif
}

/// Makes JSON safe for a script element: no text in it ends the element or opens a comment. Invalid
/// UTF-8 (file names can be any bytes) becomes U+FFFD.
std::string for_script(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string report_page(const Report& report) {
  constexpr std::string_view kPlace = "/*DATA*/";
  const std::string_view page = page_template();
  Json data = to_json(report.figures);
  data["title"] = report.title;
  data["palette"] = palette_json();
  data["version"] = version();
  data["sources"] = report.sources;
  data["rows"] = report.rows;
  data["claims"] = report.claims;
  data["validation"] = report.validation;
  data["links"] = Json::array();
  for (const LinkMap& map : report.links) data["links"].push_back(to_json(map));
  const std::size_t at = page.find(kPlace);
  std::string text(page.substr(0, at));
  text += for_script(data);
  text += page.substr(at + kPlace.size());
  return text;
}

}  // namespace thinwire::report
