#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/app/cli/program.hpp"

namespace {

using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

std::string results(const std::string& name) {
  return std::string(THINWIRE_SOURCE_DIR) + "/results/" + name + "/" + name + ".jsonl";
}

/// Whether this program was built with its page.
bool has_page() {
  return run_program("report " + results("table1")).err.find("THINWIRE_REPORT_PAGE") ==
         std::string::npos;
}

nlohmann::json data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

std::string links_of(const TemporaryFolder& folder, const std::string& platform) {
  const Ended ended = run_program(
      "run --scheme topka -P 12 -n 20000 --network smpi --links --format jsonl --platform " +
      platform);
  CHECK(ended.exit_code == 0);
  return folder.write(platform + ".jsonl", ended.out);
}

}  // namespace

TEST_CASE("report writes a page of results, of claims, and of both") {
  if (!has_page()) return;
  const TemporaryFolder folder;
  const std::string path = folder.path("r.html");
  const Ended ended =
      run_program("report " + results("platforms") + " " + results("claims") + " -o " + path);
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.empty());
  CHECK(ended.err.empty());
  const nlohmann::json data = data_of(text_of(path));
  CHECK(data.at("rows") == 280);
  std::size_t claims = 0;
  std::istringstream lines(text_of(results("claims")));
  for (std::string line; std::getline(lines, line);) {
    if (nlohmann::json::parse(line).at("kind") != "count") ++claims;
  }
  CHECK(claims > 200);
  CHECK(data.at("claims").size() == claims);
  std::size_t results_in = data.at("troubles").size();
  for (const auto& curve : data.at("curves")) results_in += curve.at("points").size();
  CHECK(results_in == 280);
  CHECK(std::filesystem::file_size(path) < 3'000'000);
  CHECK(data_of(run_program("report " + results("claims")).out).at("rows") == 0);
}

TEST_CASE("a page contains the licences of the packages in it") {
  if (!has_page()) return;
  const std::string page = run_program("report " + results("claims")).out;
  for (const char* words : {"@observablehq/plot:", "Observable, Inc.", "d3, d3-array",
                            "Mike Bostock", "this permission notice appear in all copies"}) {
    CHECK_MESSAGE(page.find(words) != std::string::npos, words);
  }
}

TEST_CASE("every figure is written as SVG, PNG and PDF, by the output's name or --format" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string links = links_of(folder, "fat_tree");
  for (const char* figure : {"time", "volume", "breakdown", "congestion", "crossover", "links"}) {
    CAPTURE(figure);
    const std::string given = "report " + links + " --figure " + figure;
    CHECK(run_program(given + " -o " + folder.path("f.svg")).exit_code == 0);
    const std::string svg = text_of(folder.path("f.svg"));
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(run_program(given).out == svg);
    CHECK(run_program(given + " --format png").out.starts_with("\x89PNG"));
    CHECK(run_program(given + " -o " + folder.path("f.pdf")).exit_code == 0);
    CHECK(text_of(folder.path("f.pdf")).starts_with("%PDF"));
  }
}

TEST_CASE("a figure has the title and the width that the user gives") {
  const Ended ended = run_program("report " + results("table1") +
                                  " --figure time --width 420 --title 'Ok-Topk, Table 1'");
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.find("viewBox=\"0 0 420 ") != std::string::npos);
  CHECK(ended.out.find(">Ok-Topk, Table 1</text>") != std::string::npos);
  CHECK(ended.out.find("n = 133.5M") != std::string::npos);
}

TEST_CASE("a PNG has as many pixels as the user asks for" * doctest::test_suite("large")) {
  const auto width = [](const std::string& flags) {
    const std::string png =
        run_program("report " + results("table1") + " --figure time --format png " + flags).out;
    REQUIRE(png.size() > 24);
    int pixels = 0;  // bytes 16 to 19 of a PNG
    for (std::size_t i = 16; i < 20; ++i)
      pixels = pixels * 256 + static_cast<unsigned char>(png[i]);
    return pixels;
  };
  CHECK(width("--width 1400") == 1400);
  CHECK(width("--width 900") == 900);
  CHECK(width("--width 85mm --font-size 8pt") == 1004);  // 300 per inch
}

TEST_CASE("the name of the output and --format do not contradict each other" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string figure = "report " + results("table1") + " --figure time -o ";
  check_refused(run_program(figure + folder.path("r.png") + " --format pdf"),
                "the name says png, and --format pdf");
  CHECK_FALSE(std::filesystem::exists(folder.path("r.png")));
  CHECK(run_program(figure + folder.path("R.PDF")).exit_code == 0);
  CHECK(text_of(folder.path("R.PDF")).starts_with("%PDF"));
  CHECK(run_program(figure + folder.path("figure") + " --format pdf").exit_code == 0);
  CHECK(text_of(folder.path("figure")).starts_with("%PDF"));
  CHECK(run_program(figure + folder.path("plain")).exit_code == 0);
  CHECK(text_of(folder.path("plain")).starts_with("<svg"));
  if (!has_page()) return;
  CHECK(run_program("report " + results("table1") + " -o " + folder.path("r.HTM")).exit_code == 0);
  check_refused(run_program("report " + results("table1") + " --width 600"), "--width: a page");
}

TEST_CASE("--where selects measured times and claims too, and refuses what nothing has") {
  const std::string measured =
      std::string(THINWIRE_SOURCE_DIR) + "/results/measured/validation.jsonl";
  const std::string figure = "report " + measured + " --format svg --figure measured";
  const auto panels_of = [](const std::string& svg, const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = svg.find(text); at != std::string::npos; at = svg.find(text, at + 1)) {
      ++count;
    }
    return count;
  };
  const std::string all = run_program(figure).out;
  const std::string some =
      run_program(figure + " --where machine=leonardo --where collective=allreduce").out;
  CHECK(panels_of(all, "lumi, ") > 0);
  CHECK(panels_of(all, "leonardo, allgather") > 0);
  CHECK(panels_of(some, "lumi, ") == 0);
  CHECK(panels_of(some, "leonardo, allgather") == 0);
  CHECK(panels_of(some, "leonardo, allreduce") == panels_of(all, "leonardo, allreduce"));
  check_refused(run_program(figure + " --where machin=lumi"), "no column is called 'machin'");
  check_refused(run_program(figure + " --where machine=lumy"),
                "--where: no result has machine=lumy");
  if (!has_page()) return;
  // Results have no column `claim`, and claims none `ranks`: each is selected by what it has.
  const nlohmann::json data =
      data_of(run_program("report " + results("table1") + " " + results("claims") +
                          " --where ranks=256 --where claim=oktopk.table1")
                  .out);
  CHECK(data.at("rows") == 8);
  for (const auto& claim : data.at("claims")) CHECK(claim.at("claim") == "oktopk.table1");
  CHECK_FALSE(data.at("claims").empty());
}

TEST_CASE("a page has the title that the user gives") {
  if (!has_page()) return;
  const Ended ended = run_program("report " + results("table1") + " --title 'A & B'");
  CHECK(data_of(ended.out).at("title") == "A & B");
}

TEST_CASE("link maps are drawn of every kind of platform" * doctest::test_suite("large")) {
  const TemporaryFolder folder;
  for (const char* platform : {"fat_tree", "nvlink_ib", "gige_star", "aries_daint"}) {
    CAPTURE(platform);
    const Ended ended =
        run_program("report " + links_of(folder, platform) + " --figure links --format svg");
    CHECK(ended.exit_code == 0);
    CHECK(std::ranges::count(ended.out, '\n') > 24);
  }
}

TEST_CASE("a platform that is gone costs its map, not the report") {
  if (!has_page()) return;
  const TemporaryFolder folder;
  auto row = nlohmann::ordered_json::parse(text_of(links_of(folder, "gige_star")));
  row["point"]["platform"] = folder.path("gone.xml");
  const std::string path = folder.write("gone.jsonl", row.dump() + "\n");
  const Ended page = run_program("report " + path);
  CHECK(page.exit_code == 0);
  const std::string note = data_of(page.out).at("links").at(0).at("note");
  CHECK(note.find("gone.xml") != std::string::npos);
  CHECK(data_of(page.out).at("links").at(0).at("hottest").size() == 10);
  check_refused(run_program("report " + path + " --figure links"), "gone.xml");
}

TEST_CASE("a last line that is not complete is noted and left out") {
  const TemporaryFolder folder;
  const std::string whole = text_of(results("table1"));
  const std::string rows = folder.write("cut.jsonl", whole.substr(0, whole.size() - 100));
  const Ended ended = run_program("report --figure time " + rows);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err == rows + ": the last line is not complete and is left out\n");
  CHECK(ended.out.starts_with("<svg "));
  if (!has_page()) return;
  const std::string all = text_of(results("claims"));
  std::size_t end = 0;
  for (int line = 0; line < 10; ++line) end = all.find('\n', end) + 1;
  const std::string claims = folder.write("claims.jsonl", all.substr(0, end - 10));
  const Ended cut = run_program("report " + claims);
  CHECK(cut.exit_code == 0);
  CHECK(cut.err == claims + ": the last line is not complete and is left out\n");
  CHECK(data_of(cut.out).at("claims").size() == 9);
}

TEST_CASE("report refuses what it cannot draw in one line") {
  const TemporaryFolder folder;
  const std::string good = results("table1");
  std::string text = text_of(good);
  const std::string newer =
      folder.write("newer.jsonl", text.replace(text.find("\"schema\":2"), 10, "\"schema\":9"));
  const std::string empty = folder.write("empty.jsonl", "");
  check_refused(run_program("report --figure time " + newer), "newer.jsonl:1: /schema: ");
  check_refused(run_program("report --figure time " + folder.write("x.jsonl", "{\n{}\n")),
                "x.jsonl:1: not JSON");
  check_refused(run_program("report --figure time " + folder.path("none.jsonl")), "none.jsonl");
  check_refused(run_program("report --figure time " + folder.path("")), "cannot be read");
  check_refused(run_program("report --figure time " + folder.write("c.jsonl", "{\"claim\":1}\n")),
                "c.jsonl:1: not a line of");
  check_refused(run_program("report --figure tiem " + good), "did you mean 'time'?");
  check_refused(run_program("report --figure congestion " + good), "congestion factor");
  check_refused(run_program("report --figure links " + good), "--links");
  check_refused(run_program("report --figure time " + results("claims")), "no results in");
  check_refused(run_program("report --format svg " + good), "which figure?");
  check_refused(run_program("report --format html --figure time " + good), "--figure");
  check_refused(run_program("report --format pdf " + good), "--format");
  check_refused(run_program("report --format jpg " + good), "--format");
  check_refused(run_program("report " + good + " -o " + folder.path("r.pdf")), "which figure?");
  check_refused(run_program("report --figure time " + good + " -o " + folder.path("r.jpg")),
                "ends in .svg, .png, .pdf");
  check_refused(run_program("report --figure time --width 10 " + good), "--width");
  check_refused(run_program("report --figure time --width 10mm " + good), "52.9 to 1058 mm");
  check_refused(run_program("report --figure time --height 30mm " + good), " mm at least");
  check_refused(run_program("report --figure time --panels-per-row 0 " + good), "a number from 1");
  check_refused(run_program("report"), "results");
  check_refused(run_program("report --where scheme=none --figure time " + good), "no result has");
  check_refused(run_program("report --where rank=16 --figure time " + good), "'ranks'");
  for (const char* output : {"/proc/nowhere/r.svg", "/dev/full", "/tmp"}) {
    CAPTURE(output);
    check_refused(run_program("report --format svg --figure time " + good + " -o " + output),
                  "cannot be written");
  }
  check_refused(run_program("report --figure time " + empty), "no results in");
}
