#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/cli/shared.hpp"
#include "sim/app/report/charts/figure_svg.hpp"
#include "sim/app/report/charts/page.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/app/report/tables/beside_measured.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/app/report/tables/groups.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/report/tables/training_curves.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/results/results_file.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::cli {

namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::vector<std::string> where;
  std::string output;
  std::string format;  ///< empty: determined by the name of the output
  std::string figure;
  report::FigureStyle style;
  std::string width;  ///< as parse_length reads it
  std::string height;
  std::string panels_per_row;
  std::string font;
  std::string font_size;
};

/// The rows of all results files, and the claims.
struct Read {
  std::vector<results::Row> rows;
  std::vector<Json> claims;
  std::vector<Json> validation;         ///< records of `validate`, and curves of trainings
  std::vector<std::string> empty = {};  ///< files of results without any
};

/// What a file holds, as its first line shows.
enum class Content : std::uint8_t { rows, claims, validation, trainings };

Content content_of(const std::string& path) {
  const Json json = Json::parse(read_first_line(path), nullptr, false);
  if (!json.is_object()) return Content::rows;
  if (json.contains("claim")) return Content::claims;
  if (report::is_of_training(json)) return Content::trainings;
  const auto schema = json.find("schema");  // not copied: it may be nested without end
  return schema != json.end() && *schema == "validation/1" ? Content::validation : Content::rows;
}

void note_truncated(const std::string& path) {
  say("{}: the last line is not complete and is left out", path);
}

/// Hands on each line of a file, with its place.
void for_each_record(const std::string& path,
                     const std::function<void(Json record, const std::string& at)>& take) {
  std::istringstream file(read_text(path));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const bool complete = !file.eof();
    const std::string at = fmt::format("{}:{}", path, number);
    Json record;
    try {
      record = parse_json(line, at);
    } catch (const Json::parse_error&) {
      if (complete) throw InputError(at + ": not JSON");
      note_truncated(path);
      return;
    }
    take(std::move(record), at);
  }
}

/// Throws InputError unless the record is an object with these texts and numbers.
void require_keys(const Json& record, const std::string& at, const char* command,
                  const std::vector<const char*>& texts, const std::vector<const char*>& numbers) {
  const auto refuse_without = [&](const char* key) {
    throw InputError("{}: not a line of 'thinwire {} --format jsonl': no {}", at, command, key);
  };
  for (const char* key : texts) {
    const bool there = record.is_object() && record.contains(key) && record.at(key).is_string();
    if (!there) refuse_without(key);
  }
  for (const char* key : numbers) {
    if (!record.contains(key) || !record.at(key).is_number()) refuse_without(key);
  }
}

void read_claims(const std::string& path, std::vector<Json>& claims) {
  for_each_record(path, [&](Json claim, const std::string& at) {
    require_keys(claim, at, "claims", {"claim", "what", "source", "basis", "verdict"}, {});
    // The page counts by itself, also over several files.
    if (claim.value("kind", "") != "count") claims.push_back(std::move(claim));
  });
}

/// The figures show the rows and the summaries.
void read_validation(const std::string& path, std::vector<Json>& validation) {
  for_each_record(path, [&](Json record, const std::string& at) {
    require_keys(record, at, "validate", {"kind", "machine"}, {});
    const std::string kind = record.at("kind").get<std::string>();
    if (kind == "row") {
      require_keys(record, at, "validate", {"run", "test", "collective", "algorithm", "basis"},
                   {"ranks", "elements", "measured_s", "simulated_s"});
      if (!record.contains("gpu") || !record.at("gpu").is_boolean()) {
        throw InputError(at + ": not a line of 'thinwire validate --format jsonl': no gpu");
      }
    }
    if (kind == "row" || kind == "summary") validation.push_back(std::move(record));
  });
}

Read read_all(const std::vector<std::string>& paths) {
  Read read;
  report::TrainingLines trainings;
  for (const std::string& path : paths) {
    const Content content = content_of(path);
    if (content == Content::trainings) {
      for_each_record(path,
                      [&](const Json& line, const std::string& at) { trainings.add(line, at); });
    }
    if (content == Content::claims) read_claims(path, read.claims);
    if (content == Content::validation) read_validation(path, read.validation);
    if (content != Content::rows) continue;
    results::RowsFile file = results::read_rows(path);
    if (file.truncated) note_truncated(path);
    if (file.rows.empty()) read.empty.push_back(path);
    std::ranges::move(file.rows, std::back_inserter(read.rows));
  }
  std::ranges::move(trainings.curves(), std::back_inserter(read.validation));
  return read;
}

/// Selects by --where what has the column; claims, measured times or results without it stay as they
/// are. Throws InputError if nothing has it, or nothing remains of what does.
void select(Read& read, const std::vector<std::string>& where) {
  for (const std::string& text : where) {
    const Condition condition(text);
    const auto has_column = [&](const Json& record) {
      return report::find_key(condition.name, report::columns_of({record})).has_value();
    };
    std::vector<Json> others;
    bool known = false;
    for (std::vector<Json>* const records : {&read.claims, &read.validation}) {
      std::ranges::copy(*records, std::back_inserter(others));
      if (std::ranges::none_of(*records, has_column)) continue;
      known = true;
      const std::vector<bool> holds = condition.among(*records);
      std::vector<Json> chosen;
      for (std::size_t i = 0; i < holds.size(); ++i) {
        if (holds[i]) chosen.push_back(std::move((*records)[i]));
      }
      *records = std::move(chosen);
      if (records->empty()) throw InputError("--where: no result has {}", text);
    }
    const bool of_rows = std::ranges::any_of(read.rows, [&](const results::Row& row) {
      return has_column(report::record_of(row, compare(row, kExactTolerance)));
    });
    if (of_rows || (!known && !read.rows.empty())) {
      read.rows = rows_where(std::move(read.rows), {text});
    } else if (!known) {
      static_cast<void>(report::key_of_name("--where", condition.name, report::columns_of(others)));
    }
  }
}

/// Refuses a file whose name says that it has another format. Other names may hold any.
void check_name_of_format(const std::string& output, const std::string& format,
                          const std::vector<std::string>& formats) {
  std::string named;
  try {
    named = report::format_of_name(output, formats);
  } catch (const InputError&) {
    return;
  }
  if (named.empty() || named == format) return;
  throw InputError("{}: the name says {}, and --format {}; leave one out or make them agree",
                   output, named, format);
}

struct LengthUnit {
  std::string name = "pixels";
  double pixels = 1;
};

/// That of "85mm", "8.5cm", "3.4in" or "9pt"; pixels of 1/96 inch for other texts.
LengthUnit unit_of(const std::string& text) {
  constexpr double kInch = 96;
  for (const LengthUnit& unit : {LengthUnit{"mm", kInch / 25.4}, LengthUnit{"cm", kInch / 2.54},
                                 LengthUnit{"in", kInch}, LengthUnit{"pt", kInch / 72}}) {
    if (text.ends_with(unit.name)) return unit;
  }
  return {};
}

/// A length in pixels; 0 for an empty text.
double pixels_of(const std::string& flag, const std::string& text, double least, double most) {
  if (text.empty()) return 0;
  const LengthUnit unit = unit_of(text);
  const std::string number = unit.pixels == 1 ? text : text.substr(0, text.size() - 2);
  const std::optional<double> value = parse_number<double>(number);
  if (!value || !(*value * unit.pixels >= least && *value * unit.pixels <= most)) {
    throw InputError(
        "{}: '{}' is not valid; expected {:.3g} to {:.4g} {}, or a length with a unit: 85mm, "
        "8.5cm, 3.4in, 9pt",
        flag, excerpt(text), least / unit.pixels, most / unit.pixels, unit.name);
  }
  return *value * unit.pixels;
}

report::FigureStyle style_of(const ReportFlags& flags) {
  report::FigureStyle style = flags.style;
  style.width = pixels_of("--width", flags.width, 200, 4000);
  style.height = pixels_of("--height", flags.height, 100, 8000);
  if (!flags.panels_per_row.empty()) {
    const std::optional<int> columns = parse_number<int>(flags.panels_per_row);
    if (!columns || *columns < 1) {
      throw InputError("--panels-per-row: '{}' is not valid; expected a number from 1",
                       excerpt(flags.panels_per_row));
    }
    style.columns = *columns;
  }
  if (!flags.font_size.empty()) style.font_size = pixels_of("--font-size", flags.font_size, 4, 72);
  const LengthUnit unit = unit_of(flags.height.empty() ? flags.width : flags.height);
  style.unit = unit.name;
  style.unit_pixels = unit.pixels;
  if (!flags.font.empty()) report::set_font_family(flags.font);
  return style;
}

std::string format_of(const ReportFlags& flags) {
  std::vector<std::string> formats(report::image_formats());
  formats.emplace_back("html");
  formats.emplace_back("py");
  std::string format = flags.format;
  if (format.empty()) {
    format = report::format_of_name(flags.output, formats);
  } else {
    check_name_of_format(flags.output, format, formats);
  }
  if (format.empty()) format = flags.figure.empty() ? "html" : "svg";
  if (format == "html" && !flags.figure.empty()) {
    throw InputError(
        "--figure: a page has all figures; a name that ends in .svg, .png, .pdf or .py has one");
  }
  if (format != "html" && flags.figure.empty()) {
    throw InputError("{}: which figure? --figure {}",
                     flags.format.empty() ? flags.output : "--format " + format,
                     fmt::join(report::figure_names(), "|"));
  }
  return format;
}

void write_out(const std::string& path, const std::string& text) {
  if (path.empty()) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
    return;
  }
  write_text(path, text);
}

/// A single figure in a format of images.
std::string image_of(const ReportFlags& flags, const report::Report& report,
                     const std::vector<Json>& lines, const std::string& format) {
  const std::string note = report::note_of_leading(report.figures);
  const bool of_curves = flags.figure != "crossover" && flags.figure != "links";
  if (!note.empty() && of_curves) say("{}; --where scheme=A,B chooses others", note);
  report::FigureStyle style = style_of(flags);
  // A PNG is drawn with two pixels per unit, so that texts are sharp; of a length on paper it has
  // 300 per inch.
  constexpr double kPaper = 300.0 / 96;
  constexpr double kScreen = 2;
  const bool on_paper = style.width > 0 && style.unit_pixels != 1;
  if (format == "png" && style.width > 0 && !on_paper) {
    if (style.width < 400) throw InputError("--width: a PNG has 400 pixels at least");
    style.width /= kScreen;
    style.height /= kScreen;
  }
  const std::string svg =
      report::figure_svg(flags.figure, report.figures, report.links, style, lines);
  return report::image_of(svg, format, on_paper ? kPaper : kScreen);
}

/// The style of a single figure is none of a page's.
void refuse_style(const ReportFlags& flags) {
  for (const auto& [flag, value] : {std::pair{"--width", &flags.width},
                                    {"--height", &flags.height},
                                    {"--panels-per-row", &flags.panels_per_row},
                                    {"--font", &flags.font},
                                    {"--font-size", &flags.font_size}}) {
    if (value->empty()) continue;
    throw InputError(
        "{}: a page has the size and the fonts of its window; a single figure (--figure) takes "
        "it",
        flag);
  }
}

int run(const ReportFlags& flags) {
  check_output(flags.output, flags.results);
  const std::string format = format_of(flags);
  if (flags.output.empty() && report::is_terminal()) {
    throw InputError("report: a figure is no text for a terminal; give -o FILE");
  }
  const report::FigureStyle style = style_of(flags);
  const bool page = format == "html";
  if (page) refuse_style(flags);
  Read read = read_all(flags.results);
  select(read, flags.where);
  std::ranges::move(report::measured_curves(read.rows), std::back_inserter(read.validation));
  const bool of_claims = flags.figure == "claims";
  const bool records = !read.validation.empty() &&
                       (page || flags.figure == "measured" || flags.figure == "accuracy");
  if (read.rows.empty() && !records && (read.claims.empty() || !(page || of_claims))) {
    throw InputError("report: no results in {}", fmt::join(flags.results, ", "));
  }
  for (const std::string& path : read.empty) say("{}: holds no results", path);
  report::Report report{.title = flags.style.title,
                        .sources = flags.results,
                        .rows = read.rows.size(),
                        .figures = report::figures_of(read.rows),
                        .links = {},
                        .claims = std::move(read.claims),
                        .validation = std::move(read.validation)};
  if (page || flags.figure == "links") report.links = report::link_maps(read.rows);
  const std::vector<Json>& lines = of_claims ? report.claims : report.validation;
  if (page) {
    write_out(flags.output, report::report_page(report));
  } else if (format == "py") {
    write_out(flags.output, report::figure_python(flags.figure, report.figures, style, lines));
  } else {
    write_out(flags.output, image_of(flags, report, lines, format));
  }
  return 0;
}

}  // namespace

void add_report(Command& app) {
  auto flags = std::make_shared<ReportFlags>();
  Command command = app.add_subcommand(
      "report", "Draw results: a page with all figures, or one figure as SVG, PNG or PDF");
  command
      .add_option("results", flags->results,
                  "results of sweeps, of run --format jsonl, of measure -o, of claims, of validate "
                  "-o and of "
                  "thinwire-train -o")
      .required()
      .value_text("RESULTS.jsonl ...");
  command.add_option("-o,--output", flags->output, "the file to write").value_text("FILE [stdout]");
  command
      .add_option("--format", flags->format,
                  "html, svg, png, pdf, or py for a matplotlib program; default the extension of "
                  "the output, else html")
      .choices({"html", "svg", "png", "pdf", "py"})
      .value_text("FORMAT");
  command
      .add_option(
          "--figure", flags->figure,
          "for svg, png, pdf and py: time, volume, breakdown, congestion, crossover, links, "
          "measured, accuracy or claims")
      .value_text("FIGURE");
  command.add_option("--title", flags->style.title, "title of the page, or above the figure")
      .value_text("TEXT");
  command
      .add_option("--width", flags->width,
                  "width of a single figure, in pixels of 1/96 inch or as 85mm (a column of a "
                  "paper), 180mm (a page), 8.5cm, 3.4in; a PNG has two pixels for each of these, "
                  "1904 by default, or 300 per inch of a length on paper")
      .value_text("LENGTH [952]");
  command
      .add_option("--height", flags->height,
                  "height of a single figure of curves; by default panels have 280 pixels")
      .value_text("LENGTH");
  command
      .add_option("--panels-per-row", flags->panels_per_row,
                  "panels beside each other; default as many as the width has room for")
      .value_text("NUMBER");
  command.add_option("--font", flags->font, "font of a single figure, one that is installed")
      .value_text("FAMILY [DejaVu Sans]");
  command
      .add_option("--font-size", flags->font_size,
                  "size of all texts of a single figure; lines and symbols grow with it")
      .value_text("LENGTH [11]");
  command
      .add_option("--where", flags->where,
                  "use only results, claims and measured times with these values in a column; may "
                  "be repeated")
      .value_text("KEY=VALUE[,VALUE]");
  command.footer(
      "The page is one file that needs no network: schemes and platforms are chosen in it, and so\n"
      "are settings and densities in which results differ. Link maps need results that recorded\n"
      "their links (run --links).\n"
      "Examples:\n"
      "  thinwire report table1.jsonl -o report.html\n"
      "  thinwire report platforms.jsonl claims.jsonl -o report.html\n"
      "  thinwire report platforms.jsonl --where platform=fat_tree --figure time -o time.pdf\n"
      "  thinwire report table1.jsonl --figure time --width 85mm --font-size 8pt -o time.pdf\n"
      "  thinwire report platforms.jsonl --figure time --width 180mm --font-size 8pt -o time.pdf");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
