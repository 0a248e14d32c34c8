#include "sim/app/report/charts/figure_svg.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "sim/app/report/charts/palette.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"

using namespace thinwire;
using namespace thinwire::report;

namespace {

struct Box {
  std::string text;
  double left;
  double right;
  double top;
  double bottom;

  [[nodiscard]] bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

std::string unescaped(std::string text) {
  for (const auto& [from, to] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
    text = std::regex_replace(text, std::regex(from), to);
  }
  return text;
}

/// Where the texts of a drawing are.
std::vector<Box> texts_of(const std::string& svg) {
  static const std::regex kText(
      R"re(<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)"([^>]*)>(.*)</text>)re");
  static const std::regex kGroup(R"re(<g transform="translate\(([-\d.]+) ([-\d.]+)\)">)re");
  std::vector<Box> boxes;
  double dx = 0;
  double dy = 0;
  std::istringstream lines(svg);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kGroup)) {
      dx = std::stod(match[1]);
      dy = std::stod(match[2]);
    } else if (line == "</g>") {
      dx = dy = 0;
    } else if (std::regex_match(line, match, kText)) {
      const std::string look = match[4];
      const std::string text = unescaped(match[5]);
      const double width = text_width(text, look.find("bold") != std::string::npos);
      const double x = dx + std::stod(match[1]);
      const double y = dy + std::stod(match[2]);
      const double before = match[3] == "start" ? 0 : match[3] == "end" ? width : width / 2;
      if (look.find("rotate") == std::string::npos) {
        boxes.push_back({text, x - before, x - before + width, y - 8, y + 2});
      } else {
        boxes.push_back({text, x - 8, x + 2, y + before - width, y + before});
      }
    }
  }
  return boxes;
}

std::pair<double, double> size_of(const std::string& svg) {
  static const std::regex kSize(R"re(viewBox="0 0 ([\d.]+) ([\d.]+)")re");
  std::smatch match;
  REQUIRE(std::regex_search(svg, match, kSize));
  return {std::stod(match[1]), std::stod(match[2])};
}

/// Fails if a text of a drawing is cut off, or stands on another one.
void check_texts(const std::string& svg) {
  const auto [width, height] = size_of(svg);
  const std::vector<Box> boxes = texts_of(svg);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    CAPTURE(boxes[i].text);
    CHECK(boxes[i].left >= 0);
    CHECK(boxes[i].right <= width);
    CHECK(boxes[i].top >= 0);
    CHECK(boxes[i].bottom <= height);
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(boxes[j].text);
      CHECK(!boxes[i].overlaps(boxes[j]));
    }
  }
}

/// Where the lowest and the highest horizontal line of a drawing are, in its first panel.
std::pair<double, double> ends_of_y(const std::string& svg) {
  static const std::regex kLine(R"re(<path d="M[\d.]+ ([\d.]+)L[\d.]+ ([\d.]+)")re");
  std::vector<double> all;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kLine), end; at != end; ++at) {
    if ((*at)[1] == (*at)[2] && std::stod((*at)[1]) > 0) all.push_back(std::stod((*at)[1]));
  }
  REQUIRE(!all.empty());
  return {std::ranges::max(all), std::ranges::min(all)};
}

/// In how many columns the panels of a drawing are.
std::size_t lefts_of_panels(const std::string& svg) {
  static const std::regex kPanel(R"re(<g transform="translate\(([-\d.]+) [-\d.]+\)">\n)re");
  std::set<std::string> lefts;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kPanel), end; at != end; ++at) {
    lefts.insert((*at)[1]);
  }
  return lefts.size();
}

/// Many schemes with long names in two places, over ranks from 1 to 2^20.
Figures crowded() {
  Figures figures;
  figures.places = {"a platform of a rather long name with its placement=round_robin and routing",
                    "b"};
  figures.settings = {""};
  figures.common = "n = 133.5M components, density 0.01, α 2 µs, β 0.4 ns";
  for (std::size_t label = 0; label < 28; ++label) {
    figures.labels.push_back(
        fmt::format("scheme_{}_<with>_options buckets={}", label, label * 100));
    for (std::size_t place = 0; place < 2; ++place) {
      Curve& curve = figures.curves.emplace_back();
      curve.label = label;
      curve.place = place;
      curve.density = 0.01;
      for (int ranks = 1; ranks <= 1 << 20; ranks *= 2) {
        const double time = 1e-6 * ranks * static_cast<double>(label + 1);
        CurvePoint& point = curve.points.emplace_back();
        point.ranks = ranks;
        point.time_s = time;
        point.words = 1e9 * time;
        point.congestion_factor = 1 + time;
        point.parts = {{"selection", time / 3}, {"the rest of the allreduce", time / 2}};
        if (label > 4) continue;
        figures.cells.push_back({place,
                                 0,
                                 ranks,
                                 0.01 * static_cast<double>(label + 1),
                                 {{label, time}, {label + 1, 2 * time}}});
      }
    }
  }
  return figures;
}

}  // namespace

TEST_CASE("no text of a figure is cut off or stands on another one") {
  const Figures figures = crowded();
  for (const char* kind : {"time", "volume", "breakdown", "congestion", "crossover"}) {
    for (const double width : {320.0, 420.0, 680.0, 952.0, 1400.0}) {
      CAPTURE(kind);
      CAPTURE(width);
      const std::string svg = figure_svg(kind, figures, {}, {.title = "A title", .width = width});
      check_texts(svg);
      CHECK(size_of(svg).first == width);
      const std::vector<Box> boxes = texts_of(svg);
      REQUIRE(boxes.size() > 35);
      CHECK(boxes.front().text == "A title");
    }
  }
}

TEST_CASE("figures in the columns of a paper have room for their curves") {
  constexpr double kMillimetre = 96 / 25.4;
  constexpr double kFont = 8 * 96.0 / 72;
  Figures figures = crowded();
  figures.places = {"alphabeta"};
  std::erase_if(figures.curves, [](const Curve& curve) { return curve.place > 0; });
  figures.curves.resize(8);
  for (std::size_t label = 0; label < 8; ++label) {
    figures.labels[label] = fmt::format("scheme_{}", label);
  }
  const FigureStyle column{
      .width = 85 * kMillimetre, .height = 70 * kMillimetre, .font_size = kFont};
  const std::string one = figure_svg("time", figures, {}, column);
  check_texts(one);
  const auto [bottom, top] = ends_of_y(one);
  CHECK(bottom - top > 0.45 * size_of(one).second);  // between the outermost ticks
  // Of its panels, as many as the width has room for are beside each other, in full rows.
  const std::vector<Curve> curves = figures.curves;
  for (const auto& [panels, columns] :
       {std::pair<std::size_t, std::size_t>{2, 2}, {3, 3}, {4, 2}, {5, 3}, {6, 3}}) {
    CAPTURE(panels);
    figures.places.clear();
    figures.curves.clear();
    for (std::size_t place = 0; place < panels; ++place) {
      figures.places.push_back(fmt::format("platform_{}", place));
      for (Curve curve : curves) {
        curve.place = place;
        figures.curves.push_back(curve);
      }
    }
    FigureStyle page{.width = 180 * kMillimetre, .font_size = kFont};
    const std::string svg = figure_svg("time", figures, {}, page);
    check_texts(svg);
    CHECK(lefts_of_panels(svg) == columns);
    page.columns = 1;
    CHECK(lefts_of_panels(figure_svg("time", figures, {}, page)) == 1);
  }
}

TEST_CASE("a caption is one line of whole parts, and the description has all") {
  CHECK(caption_of({"n = 1, density 0.01", "", "points: a; lines: b"}, 1e9) ==
        "n = 1, density 0.01; points: a; lines: b");
  CHECK(caption_of({"n = 1, density 0.01", "points: a; lines: b"},
                   text_width("n = 1, density 0.01; points: a; li")) ==
        "n = 1, density 0.01; points: a");
  CHECK(caption_of({"n = 1, density 0.01"}, text_width("n = 1, dens")) == "n = 1");
  CHECK(caption_of({"components"}, text_width("compo…")) == "compo…");
  CHECK(caption_of({}, 100).empty());
  CHECK(figure_svg("time", crowded(), {}, {.width = 320}).find("dashed: no formula</desc>") !=
        std::string::npos);
}

TEST_CASE("the names and ratios of a crossover map are there if they have room") {
  Figures figures;
  figures.places = {"alphabeta"};
  figures.settings = {""};
  figures.labels = {"dgc", "deft", "dense_recursive_doubling"};
  for (std::size_t label = 0; label < 3; ++label) {
    Cell& cell = figures.cells.emplace_back();
    cell.ranks = 4 << label;
    cell.candidates = {{.label = label, .time_s = 1}, {.label = 0, .time_s = 1}};
  }
  std::multiset<std::string> texts;
  for (const Box& box : texts_of(figure_svg("crossover", figures, {}, {.width = 280}))) {
    texts.insert(box.text);
  }
  CHECK(texts.count("dgc") == 2);  // in the legend and in the cell
  CHECK(texts.count("deft") == 2);
  CHECK(texts.count("1×") == 3);
}

TEST_CASE("a mark on which others lie is seen around them") {
  const auto marks_of = [](double value) {
    const std::vector<Series> series{{.index = 0, .marks = {{1, 1}}},
                                     {.index = 8, .marks = {{1, value}}}};
    const Panel panel = chart_panel("", linear_axis("", 0, 2), linear_axis("", 0, 2), series, 200);
    return panel.draw(200, 200).body;
  };
  const auto larger = R"(r="5.3")";
  CHECK(marks_of(1).find(larger) != std::string::npos);
  CHECK(marks_of(2).find(larger) == std::string::npos);
}

TEST_CASE("a size that is too small is told in the unit that was given") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(figure_svg("time", crowded(), {},
                                   {.width = 320, .height = 100, .unit = "mm", .unit_pixels = 4})),
      doctest::Contains(" mm at least"), InputError);
}

TEST_CASE("figures of schemes show the leading ones, and say so") {
  Figures figures = crowded();
  figures.leading = {0, 1, 4};
  for (const char* kind : {"time", "volume", "congestion", "breakdown"}) {
    CAPTURE(kind);
    std::set<std::string> schemes;
    bool said = false;
    for (const Box& box : texts_of(figure_svg(kind, figures, {}))) {
      if (box.text.starts_with("scheme_")) {
        schemes.insert(box.text.substr(0, box.text.find('_', std::string("scheme_").size())));
      }
      if (box.text.find("the 3 fastest of 28 schemes") != std::string::npos) said = true;
    }
    CHECK(schemes == std::set<std::string>{"scheme_0", "scheme_1", "scheme_4"});
    CHECK(said);
  }
}

TEST_CASE("values that hardly differ have an axis") {
  Figures figures = crowded();
  figures.curves.resize(1);
  for (CurvePoint& point : figures.curves[0].points) {
    point.time_s = 1;
    point.congestion_factor = 1 + 2e-16;
  }
  for (const char* kind : {"time", "congestion"}) {
    CAPTURE(kind);
    CHECK(texts_of(figure_svg(kind, figures, {})).size() > 10);
  }
}

TEST_CASE("measured times are points, and simulated ones lines, in a panel for each run") {
  const auto row = [](const char* run, const char* algorithm, int elements, double measured) {
    return Json{{"kind", "row"},        {"machine", "lumi"},      {"run", run},
                {"test", "0"},          {"gpu", false},           {"collective", "allreduce"},
                {"ranks", 16},          {"basis", "predicted"},   {"algorithm", algorithm},
                {"elements", elements}, {"measured_s", measured}, {"simulated_s", 2 * measured}};
  };
  const std::string svg = figure_svg("measured", {}, {}, {},
                                     {row("a", "ring", 1 << 20, 1e-2),
                                      row("a", "ring", 1 << 8, 1e-4),
                                      row("a", "tree", 1 << 8, 1e-5),
                                      row("b", "ring", 1 << 8, 1e-4),
                                      {{"kind", "summary"}}});
  std::set<std::string> texts;
  for (const Box& box : texts_of(svg)) texts.insert(box.text);
  for (const char* text :
       {"lumi, allreduce, 16 ranks, a 0, predicted", "lumi, allreduce, 16 ranks, b 0, predicted",
        "ring", "tree", "1 KiB", "32 KiB", "1 MiB", "points: measured; lines: simulated"}) {
    CAPTURE(text);
    CHECK(texts.contains(text));
  }
  CHECK(!contains(svg, "stroke-dasharray"));
  Json with_formula = row("a", "ring", 1 << 20, 1e-2);
  with_formula["formula_s"] = 3e-2;
  const std::string dashed =
      figure_svg("measured", {}, {}, {}, {row("a", "ring", 8, 1e-4), with_formula});
  CHECK(contains(dashed, "dashed: plain formula"));
  CHECK(contains(dashed, "stroke-dasharray"));
  CHECK_THROWS_WITH_AS(static_cast<void>(figure_svg("measured", {}, {})),
                       "report: nothing was measured and simulated; give the validation.jsonl of "
                       "'validate -o', or rows of 'measure -o' and of simulations of the same "
                       "points",
                       InputError);
}

TEST_CASE("80 series differ in their colour or in their symbol, and all symbols are filled") {
  std::set<std::string> different;
  for (std::size_t series = 0; series < 80; ++series) different.insert(symbol_at(series, 0, 0));
  CHECK(different.size() == 80);
  for (const std::string& symbol : different) CHECK(symbol.find("fill=\"#") != std::string::npos);
}

TEST_CASE("series of one colour differ in their lines and in the cells of the crossover map") {
  const auto line = [](std::size_t series) {
    return legend_of({.index = series, .line = {{0, 0}, {1, 1}}}, "").mark;
  };
  std::set<std::string> lines;
  for (std::size_t series = 0; series < 40; ++series) lines.insert(line(series));
  CHECK(lines.size() == 40);
  CHECK(line(9).find("dasharray") == std::string::npos);
  CHECK(line(10).find("stroke-dasharray=\"9 2 1.5 2\"") != std::string::npos);

  Figures figures;
  figures.places = {"alphabeta"};
  figures.settings = {""};
  for (const std::size_t label : {3U, 13U, 23U}) {
    figures.labels.resize(label + 1, "scheme");
    Cell& cell = figures.cells.emplace_back();
    cell.ranks = static_cast<int>(label);
    cell.candidates = {{.label = label, .time_s = 1}};
  }
  const std::string svg = figure_svg("crossover", figures, {});
  for (const std::size_t label : {13U, 23U}) {
    CAPTURE(label);
    CHECK(svg.find(symbol_in_cell(label, 0, 0)) != std::string::npos);  // in the legend
  }
  CHECK(symbol_in_cell(13, 0, 0) != symbol_in_cell(23, 0, 0));
  CHECK(symbol_in_cell(3, 0, 0).empty());
}

TEST_CASE("a text is as wide as its letters, and what has no room is shortened") {
  CHECK(text_width("") == 0);
  CHECK(text_width("WWWW") > 2 * text_width("iiii"));
  CHECK(text_width("time", true) > text_width("time"));
  CHECK(shortened("scheme", 1000) == "scheme");
  const std::string cut = shortened("αβγ αβγ αβγ", 40);
  CHECK(cut.ends_with("…"));
  CHECK(text_width(cut) <= 40);
  CHECK(text_width(cut) > 28);
}

TEST_CASE("a drawing is written as SVG, PNG and PDF, and every other name is refused") {
  const std::string svg = figure_svg("time", crowded(), {});
  CHECK(image_of(svg, "svg") == svg);
  CHECK(image_of(svg, "png").starts_with("\x89PNG\r\n"));
  CHECK(image_of(svg, "pdf").starts_with("%PDF-1."));
  CHECK_THROWS_AS(static_cast<void>(image_of("<svg", "pdf")), SimulationError);
  CHECK(format_of_name("a.b/x.pdf") == "pdf");
  CHECK(format_of_name("x.PDF") == "pdf");
  CHECK(format_of_name("r.htm", {"svg", "html"}) == "html");
  CHECK(format_of_name("/dev/full").empty());
  CHECK_THROWS_WITH_AS(static_cast<void>(format_of_name("x.jpg")),
                       "x.jpg: nothing is drawn as '.jpg'; expected a name that ends in .svg, "
                       ".png, .pdf",
                       InputError);
}

TEST_CASE("a figure has the size, the font and the size of font that were chosen") {
  const std::regex size(
      R"re(<svg [^>]*width="([\d.]+)" height="([\d.]+)" font-family="([^,]*),)re");
  const Figures figures = crowded();
  const FigureStyle style{.title = "A title", .width = 640, .height = 2000, .font_size = 14};
  std::smatch match;
  const std::string svg = figure_svg("time", figures, {}, style);
  REQUIRE(std::regex_search(svg, match, size));
  CHECK(std::stod(match[1]) == test::approx(640).epsilon(1e-4));
  CHECK(std::stod(match[2]) == test::approx(2000).epsilon(1e-4));
  CHECK(match[3] == "DejaVu Sans");
  CHECK_THROWS_WITH_AS(static_cast<void>(figure_svg("time", figures, {},
                                                    {.title = {}, .width = 640, .height = 100})),
                       doctest::Contains("--height: this figure needs"), InputError);
  CHECK_THROWS_WITH_AS(static_cast<void>(figure_svg("breakdown", figures, {},
                                                    {.title = {}, .width = 640, .height = 900})),
                       doctest::Contains("follows from what it shows"), InputError);
  CHECK_THROWS_WITH_AS(set_font_family("no such font"),
                       doctest::Contains("no font 'no such font' is installed"), InputError);
  CHECK(font_family() == "DejaVu Sans");
}

TEST_CASE("a figure of curves is written as a program for matplotlib, and no other one") {
  const std::string program = figure_python("time", crowded(), {.title = "A \"title\""});
  const std::size_t begin = program.find('{');
  const std::size_t end = program.find("\n\"\"\"", begin);
  const Json data = Json::parse(program.substr(begin, end - begin));
  CHECK(data.at("title") == "A \"title\"");
  CHECK(data.at("panels").size() == 2);
  CHECK(data.at("series").size() == 28);
  CHECK(data.at("series").at("3").at("colour") == colour_of(3));
  CHECK(data.at("caption").get<std::string>().starts_with("n = 133.5M components, density 0.01"));
  // Scheme 1 at 2 ranks.
  CHECK(data.at("panels").at(0).at("series").at(3).at("marks").at(1) == Json({2, 4e-6}));
  for (const char* other : {"breakdown", "crossover", "links"}) {
    CHECK_THROWS_AS(static_cast<void>(figure_python(other, crowded())), InputError);
  }
}

TEST_CASE("Claims are drawn with the paper's numbers open and the simulated ones filled") {
  const Json holds = {
      {"claim", "a.b"},        {"what", "16 GPUs <x>"}, {"source", "A paper, Figure 1"},
      {"basis", "calibrated"}, {"paper", 10.0},         {"simulated", 12.0},
      {"verdict", "holds"},    {"unit", "min"}};
  Json misses = holds;
  misses.update({{"what", "32 GPUs"},
                 {"basis", "predicted"},
                 {"simulated", 90.0},
                 {"verdict", "misses"},
                 {"source", "A paper, Figure 2"}});
  Json order = holds;
  order.update({{"what", "an order"}, {"paper", nullptr}, {"simulated", nullptr}});
  const std::string svg = figure_svg("claims", {}, {}, {}, {holds, order, misses});
  for (const char* text : {"16 GPUs &lt;x&gt; *", "12 / 10 min", "90 / 10 min", "A paper, Figure 1",
                           "A paper, Figure 2", "the paper", "simulated, misses"}) {
    CAPTURE(std::string(text));
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(svg.find("an order") == std::string::npos);
  CHECK_THROWS_WITH_AS(static_cast<void>(figure_svg("claims", {}, {}, {}, {order})),
                       doctest::Contains("no claim with numbers"), InputError);
}
