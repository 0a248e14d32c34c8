// Writes figures as Python programs that draw with matplotlib.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/report/charts/chart.hpp"
#include "sim/app/report/charts/palette.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

/// By symbol_of.
constexpr std::array<const char*, 8> kMarkers{"o", "s", "^", "D", "P", "*", "v", "X"};

constexpr const char* kProgram = R"py(

def main():
    output = sys.argv[1] if len(sys.argv) > 1 else "figure.pdf"
    plt.rcParams.update({"font.family": FIGURE["font"], "font.size": FIGURE["font_size"]})
    panels = FIGURE["panels"]
    columns = FIGURE["columns"]
    rows = -(-len(panels) // columns)
    figure = plt.figure(figsize=FIGURE["inches"], layout="constrained")
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=[0.01] + [1] * rows)
    for number, panel in enumerate(panels):
        at = figure.add_subplot(grid[1 + number // columns, number % columns])
        letters = int(72 * FIGURE["inches"][0] / columns / (0.7 * FIGURE["font_size"]))
        at.set_title(textwrap.fill(panel["title"], max(10, letters)), fontsize="medium")
        at.set_xlabel(panel["x"]["label"])
        at.set_ylabel(panel["y"]["label"])
        at.set_xscale("log" if panel["x"]["log"] else "linear")
        at.set_yscale("log" if panel["y"]["log"] else "linear")
        at.set_xticks(panel["x"]["ticks"], panel["x"]["texts"])
        points = 72 * FIGURE["inches"][1] / (rows + 1)
        step = max(1, -(-int(1.8 * FIGURE["font_size"] * len(panel["y"]["ticks"])) // int(points)))
        at.set_yticks(panel["y"]["ticks"][::step], panel["y"]["texts"][::step])
        at.minorticks_off()
        at.grid(axis="y", color="#e2e2e2")
        if panel["rule"] is not None:
            at.axhline(panel["rule"], color="#777777", linestyle="--", linewidth=0.8)
        for one in panel["series"]:
            series = FIGURE["series"][one["series"]]
            if one["line"]:
                at.plot(*zip(*one["line"]), color=series["colour"], linestyle=one["style"],
                        linewidth=1)
            if one["low"]:
                at.fill_between([x for x, _ in one["low"]], [y for _, y in one["low"]],
                                [y for _, y in one["high"]], color=series["colour"], alpha=0.16,
                                linewidth=0)
            if one["marks"]:
                at.plot(*zip(*one["marks"]), color=series["colour"], marker=series["marker"],
                        linestyle="none", markersize=4)
    handles = [plt.Line2D([], [], color=series["colour"], marker=series["marker"],
                          linestyle="none", label=series["name"])
               for series in FIGURE["series"].values() if series["name"]]
    above = figure.add_subplot(grid[0, :])  # the legend hides no curve there
    above.set_axis_off()
    if handles:
        longest = max(len(handle.get_label()) for handle in handles)
        fit = int(72 * FIGURE["inches"][0] / FIGURE["font_size"] / (0.6 * longest + 4))
        above.legend(handles=handles, loc="center", ncol=max(1, min(len(handles), fit)),
                     fontsize="small", frameon=False, borderaxespad=0)
    if FIGURE["title"]:
        figure.suptitle(FIGURE["title"])
    figure.supxlabel(FIGURE["caption"], fontsize="small")
    figure.savefig(output)
    print(output)


if __name__ == "__main__":
    main()
)py";

std::string style_of(LineLook look) {
  constexpr std::array kNames{"-", ":", "--"};
  return kNames.at(static_cast<std::size_t>(look));
}

Json axis_json(const Axis& axis) {
  Json texts = Json::array();
  for (const double mark : axis.marks) texts.push_back(axis.text(mark));
  return {{"label", axis.label}, {"log", axis.log}, {"ticks", axis.marks}, {"texts", texts}};
}

/// The panels and their series as the program reads them.
struct PanelsJson {
  Json panels = Json::array();
  Json series = Json::object();

  explicit PanelsJson(const Figure& figure) {
    for (const Panel& panel : figure.panels) add(panel);
    for (const LegendEntry& entry : figure.legend) {
      series[number(entry.series)]["name"] = entry.text;
    }
  }

 private:
  std::string number(std::size_t index) {
    std::string name = std::to_string(index);
    if (!series.contains(name)) {
      series[name] = {
          {"name", ""}, {"colour", colour_of(index)}, {"marker", kMarkers.at(symbol_of(index))}};
    }
    return name;
  }

  void add(const Panel& panel) {
    if (!panel.chart) {
      throw InputError(
          "--format py: only figures of curves can be written as Python: time, volume, "
          "congestion, measured and accuracy");
    }
    Json all = Json::array();
    for (const Series& one : panel.chart->series) {
      all.push_back({{"series", number(one.index)},
                     {"marks", one.marks},
                     {"line", one.line},
                     {"style", style_of(one.look)},
                     {"low", one.low},
                     {"high", one.high}});
    }
    panels.push_back({{"title", panel.title},
                      {"x", axis_json(panel.chart->x)},
                      {"y", axis_json(panel.chart->y)},
                      {"rule", panel.chart->rule ? Json(*panel.chart->rule) : Json()},
                      {"series", all}});
  }
};

}  // namespace

std::string matplotlib_of(const Figure& figure, const FigureStyle& style) {
  const PanelsJson of_figure(figure);
  constexpr double kPixels = 96;  // an inch
  constexpr double kPoints = 0.75;
  FigureStyle inner = style;
  inner.width /= style.font_size / kFontSize;
  const auto columns = static_cast<double>(columns_of(figure, inner));
  const double rows = std::ceil(static_cast<double>(figure.panels.size()) / columns);
  const double width = style.width > 0 ? style.width : columns * figure.panel_width;
  const double height = style.height > 0 ? style.height : rows * figure.panel_width * 0.8;
  const Json data{{"title", style.title},
                  {"caption", caption_of(figure.notes, width * kFontSize / style.font_size)},
                  {"font", Json::array({font_family(), "DejaVu Sans"})},
                  {"font_size", style.font_size * kPoints},
                  {"inches", {width / kPixels, height / kPixels}},
                  {"columns", static_cast<int>(columns)},
                  {"series", of_figure.series},
                  {"panels", of_figure.panels}};
  return fmt::format(
      "#!/usr/bin/env python3\n"
      "\"\"\"A figure of 'thinwire report'. Usage: python3 THIS_FILE [OUTPUT.pdf|.svg|.png]\"\"\"\n"
      "import json\n"
      "import sys\n"
      "import textwrap\n\n"
      "import matplotlib\n\n"
      "matplotlib.use(\"Agg\")\n"
      "import matplotlib.pyplot as plt\n\n"
      "FIGURE = json.loads(r\"\"\"\n{}\n\"\"\")\n{}",
      data.dump(1, ' ', true, Json::error_handler_t::replace), kProgram);
}

}  // namespace thinwire::report
