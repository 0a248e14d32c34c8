// thinwire topo, as a user runs it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/platforms.hpp"

namespace {

using nlohmann::json;
using thinwire::test::contains;
using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::lines_in;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

}  // namespace

TEST_CASE("help of topo and of what is under it teaches with examples") {
  for (const char* command :
       {"topo", "topo show", "topo make", "topo check", "topo make star", "topo make fat_tree",
        "topo make dragonfly", "topo make dragonfly_plus", "topo make nvlink_ib", "topo make rails",
        "topo make torus"}) {
    CAPTURE(std::string(command));
    const Ended ended = run_program(std::string(command) + " --help");
    CHECK(ended.exit_code == 0);
    CHECK(contains(ended.out, "Example"));
    CHECK(contains(ended.out, "thinwire topo "));
  }
}

TEST_CASE("topo show prints the figures of a shipped platform by its name") {
  const Ended ended = run_program("topo show gige_star");
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(contains(ended.out, "hosts                   64\n"));
  CHECK(contains(ended.out, "switches                1\n"));
  CHECK(contains(ended.out, "diameter_hops           2\n"));
  CHECK(contains(ended.out, "routes_all              yes\n"));
  CHECK(contains(ended.out, "bisection               3.782 GB/s\n"));
}

TEST_CASE("topo show holds the same figures in every format") {
  const json record = json::parse(run_program("topo show exdyna_v100 --format json").out).at(0);
  CHECK(record["hosts"] == 16);
  CHECK(record["nodes"] == 2);
  CHECK(record["switches"] == 3);
  CHECK(record["diameter_hops"] == 4);
  CHECK(record["bisection_Bps"] == 12.5e9);
  CHECK(record["bisection_per_host_Bps"] == 12.5e9 / 8);
  CHECK(record["routes"] == 240);
  CHECK(record["routes_longer"] == 0);
  CHECK(json::parse(run_program("topo show exdyna_v100 --format jsonl").out) == record);
  CHECK(lines_in(run_program("topo show exdyna_v100 --format csv").out) == 2);
}

TEST_CASE("topo show prints a route with its sums") {
  const Ended ended = run_program("topo show dragonn_v100 --route gpu-0 gpu-8 --format json");
  CHECK(ended.exit_code == 0);
  const json links = json::parse(ended.out);
  REQUIRE(links.size() == 4);
  CHECK(links[1]["link"] == "nic0_UP");
  CHECK(links[2]["link"] == "nic1_DOWN");
  CHECK(links[3]["latency_s_sum"].get<double>() == thinwire::test::approx(20.5e-6));
  // What only steers SimGrid's choice of routes is no link.
  CHECK(json::parse(run_program("topo show nvlink_ib --route gpu-0 gpu-1 --format json").out)
            .size() == 2);
  CHECK(lines_in(run_program("topo show gige_star --route host-0 host-1").out) == 3);
}

TEST_CASE("topo show prints the loads of a traffic matrix, the hottest links first") {
  const Ended table =
      run_program("topo show dragonn_v100 --traffic all_to_all --bytes 1e6 --top 2");
  CHECK(table.exit_code == 0);
  // 8 x 8 messages over each NIC, each way.
  CHECK(contains(table.out, "\nnic0_DOWN        64  6.4e+07   1.7 GB/s  37.65 ms\n"));
  CHECK(lines_in(table.out) == 5);
  const json few =
      json::parse(run_program("topo show dragonn_v100 --traffic ring -P 2 --placement round_robin "
                              "--format json")
                      .out);
  CHECK(few.size() == 8);  // there and back, four links each
  CHECK(few[0]["bytes"] == 1e6);
}

TEST_CASE("topo show exports the graph to stdout and to files") {
  const TemporaryFolder folder;
  CHECK(run_program("topo show exdyna_v100 --export dot").out.starts_with("digraph"));
  CHECK(contains(run_program("topo show exdyna_v100 --export graphml").out, "</graphml>"));
  const Ended ended = run_program("topo show exdyna_v100 --dot " + folder.path("g.dot") +
                                  " --graphml " + folder.path("g.graphml"));
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.empty());
  CHECK(text_of(folder.path("g.dot")) == run_program("topo show exdyna_v100 --export dot").out);
  CHECK(contains(text_of(folder.path("g.graphml")), "gpu-15"));
  check_refused(run_program("topo show exdyna_v100 --dot /proc/no/folder/g.dot"),
                "/proc/no/folder/g.dot: cannot be written");
}

TEST_CASE("topo make writes what topo show and topo check read") {
  const TemporaryFolder folder;
  const std::string path = folder.path("made.xml");
  CHECK(run_program("topo make fat_tree --hosts 40 --children 8,4 --oversubscription 2 -o " + path)
            .exit_code == 0);
  CHECK(json::parse(run_program("topo show " + path + " --format json").out)[0]["hosts"] == 40);
  const Ended clean = run_program("topo check " + path + " --hosts 40");
  CHECK(clean.exit_code == 0);
  CHECK(clean.out == "40 hosts, 1560 routes (all): no problems\n");
  const Ended few = run_program("topo check " + path + " --hosts 41");
  CHECK(few.exit_code == 1);
  CHECK(contains(few.out, "the platform has 40 hosts, fewer than the 41 asked for"));
}

TEST_CASE("topo make takes flags and KEY=VALUE alike, and prints without -o") {
  const std::string flags = run_program("topo make star --hosts 3 --bandwidth=1GBps").out;
  CHECK(flags.starts_with("<?xml"));
  CHECK(flags == run_program("topo make star hosts=3 bandwidth=1GBps").out);
}

TEST_CASE("topo check lists problems and warnings, in words and as records") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("p.xml", thinwire::test::platform_xml(
                                "<zone id=\"z\" routing=\"Full\">"
                                "<prop id=\"thinwire.message_gap\" value=\"1us\"/>"
                                "<host id=\"a\" speed=\"1Gf\"/>"
                                "<host id=\"b\" speed=\"1Gf\"/><host id=\"c\" speed=\"1Gf\"/>"
                                "<link id=\"l\" bandwidth=\"10Bps\" latency=\"1us\"/>"
                                "<link id=\"m\" bandwidth=\"1GBps\" latency=\"1us\"/>"
                                "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>"));
  const Ended ended = run_program("topo check " + path);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err == path + ": problems: 2, warnings: 1\n");
  CHECK(ended.out ==
        "problem: link l: a bandwidth of 10 bytes/s; likely are 1000 to 1e+14\n"
        "problem: no route to or from c\n"
        "warning: 1 of 3 links are on no route: m\n");
  const json records = json::parse(run_program("topo check " + path + " --format json").out);
  REQUIRE(records.size() == 3);
  CHECK(records[1]["severity"] == "problem");
  CHECK(records[1]["kind"] == "no_route");
}

TEST_CASE("a platform without a message gap is noted, with what to write") {
  const TemporaryFolder folder;
  std::string xml = run_program("topo make star --hosts 2").out;
  const std::string gap = "    <prop id=\"thinwire.message_gap\" value=\"2us\"/>\n";
  CHECK(contains(xml, gap));
  const std::string with = folder.write("with.xml", xml);
  xml.erase(xml.find(gap), gap.size());
  const std::string without = folder.write("without.xml", xml);
  const std::string note = "no message gap is given";
  const std::string remedy = "<prop id=\"thinwire.message_gap\" value=\"300ns\"/>";
  for (const char* command :
       {"topo check ", "run -P 2 -n 1000 --network links --platform ",
        "recommend --model vgg16 -P 2 --fast --schemes dense_ring --platform "}) {
    CAPTURE(std::string(command));
    const Ended noted = run_program(command + without);
    CHECK(noted.exit_code == 0);
    CHECK(contains(noted.out + noted.err, note));
    CHECK(contains(noted.out + noted.err, remedy));
    const Ended silent = run_program(command + with);
    CHECK(!contains(silent.out + silent.err, note));
  }
}

TEST_CASE("all that is wrong in a platform is told at once, each with its line") {
  const TemporaryFolder folder;
  const std::string zone =
      "<zone id=\"z\" routing=\"Full\">\n<prop id=\"thinwire.message_gap\" value=\"1us\"/>\n";
  const auto checked = [&](const std::string& body) {
    return run_program("topo check " + folder.write("p.xml", thinwire::test::platform_xml(
                                                                 zone + body + "</zone>")));
  };
  const std::string hosts =
      "<host id=\"a\" speed=\"1Gf\"/>\n<host id=\"b\" speed=\"1Gf\"/>\n"
      "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n";
  const Ended several = checked("<hots id=\"a\"/>\n<zone id=\"y\" routing=\"Foyd\"></zone>\n");
  CHECK(several.exit_code == 2);
  CHECK(contains(several.err, "<hots> is refused"));
  CHECK(contains(several.err, "unknown routing 'Foyd'"));
  CHECK(contains(several.err, "| <hots id=\"a\"/>"));
  // What SimGrid refuses without a line.
  const std::string route = "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n";
  const std::string back = "<route src=\"b\" dst=\"a\"><link_ctn id=\"l\"/></route>\n";
  const std::string up = "<route src=\"a\" dst=\"b\"><link_ctn id=\"up1\"/></route>\n";
  check_refused(checked(hosts + up), "| " + up + "      |                        ^");
  check_refused(checked(hosts + route + back), "| " + back + "      | ^");
  check_refused(checked(hosts + "<host id=\"a\" speed=\"2Gf\"/>\n" + route),
                "| <host id=\"a\" speed=\"2Gf\"/>\n");
}

TEST_CASE("topo check compares the compact routes of every pair when asked to") {
  const Ended ended = run_program("topo check gige_star --routes");
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.starts_with("64 hosts, 4032 routes (all): no problems\ncompact routes: 4096 "));
  CHECK(contains(ended.out, " s, all equal to SimGrid's; 64 x 64 classes of hosts, "));
  CHECK(lines_in(ended.out) == 2);
}

TEST_CASE("topo check names a route that network links cannot hold beside what else it finds") {
  constexpr int kOnRoute = 300;
  std::string links;
  std::string route;
  for (int i = 0; i < kOnRoute + 2; ++i) {
    links += fmt::format("<link id=\"l{}\" bandwidth=\"1GBps\" latency=\"1us\"/>", i);
    if (i < kOnRoute) route += fmt::format("<link_ctn id=\"l{}\"/>", i);
  }
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "long.xml", thinwire::test::platform_xml("<zone id=\"z\" routing=\"Full\">"
                                               "<prop id=\"thinwire.message_gap\" value=\"1us\"/>"
                                               "<host id=\"a\" speed=\"1Gf\"/>"
                                               "<host id=\"b\" speed=\"1Gf\"/>" +
                                               links + "<route src=\"a\" dst=\"b\">" + route +
                                               "</route></zone>"));
  // One of the 303 is the loopback that SimGrid adds.
  const std::string unused = "warning: 2 of 303 links are on no route: l300, l301\n";
  const Ended compared = run_program("topo check " + path + " --routes");
  CHECK(compared.exit_code == 1);
  CHECK(compared.err == path + ": problems: 1, warnings: 1\n");
  CHECK(compared.out == "problem: network links cannot use them: " + path +
                            ": the route from a to b has more than 255 links\n" + unused);
  const Ended plain = run_program("topo check " + path);
  CHECK(plain.exit_code == 0);
  CHECK(plain.out == unused + "2 hosts, 2 routes (all): no problems\n");
}

TEST_CASE("bad input of topo is refused in one line") {
  const TemporaryFolder folder;
  const std::string cut = folder.write("cut.xml", "<?xml version='1.0'?>\n<platform version=\"4");
  for (const char* command : {"show ", "check "}) {
    check_refused(run_program(std::string("topo ") + command + cut), "cut.xml");
    check_refused(run_program(std::string("topo ") + command + "/no/such.xml"), "/no/such.xml");
    check_refused(run_program(std::string("topo ") + command + "aries_dain"),
                  "unknown platform 'aries_dain'; did you mean 'aries_daint'?");
  }
  check_refused(run_program("topo show gige_star --route host-0 host-64"),
                "unknown host 'host-64'; its 64 hosts run from 'host-0' to 'host-63'");
  check_refused(run_program("topo show gige_star --route host-0"), "--route");
  check_refused(run_program("topo show gige_star --traffic rings"), "did you mean 'ring'?");
  check_refused(run_program("topo show gige_star --traffic ring -P 65"),
                "the platform has 64 hosts, fewer than the 65 ranks");
  check_refused(run_program("topo show gige_star --traffic ring --placement blok"),
                "did you mean 'block'?");
  check_refused(run_program("topo show gige_star --export png"), "--export");
  check_refused(run_program("topo check gige_star --hosts 0"), "--hosts");
  check_refused(run_program("topo make fattree"), "did you mean 'fat_tree'?");
  check_refused(run_program("topo make"), "unknown family ''; known are star, fat_tree");
  check_refused(run_program("topo make star hosts"), "expected KEY=VALUE");
  check_refused(run_program("topo make star host=3"), "did you mean 'hosts'?");
  check_refused(run_program("topo make star --hosts x"), "star: hosts: 'x' is not valid");
  check_refused(run_program("topo make dragonfly --groups 9999"), "more than the 1048576");
  check_refused(
      run_program("topo make star flat=1 hosts=6 switches=3"),
      "star: uplink: '' is not valid; expected the bandwidth of a cable between two of 3");
  check_refused(run_program("topo make star -o /proc/no/folder/x.xml"), "cannot be written");
  check_refused(run_program("topo"), "--help");
}
