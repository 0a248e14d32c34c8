// A platform of each kind of SimGrid's zones: both networks and topo check take it alike, or refuse it
// alike, and the routes of network links are SimGrid's, in latency and bandwidth too.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/platforms.hpp"
#include "tests/topologies/loading.hpp"

namespace {

using namespace thinwire;
using test::contains;
using test::platform_xml;
using test::property;
using testing::check_refused;
using testing::Ended;
using testing::run_program;
using testing::TemporaryFolder;

const std::filesystem::path kFolder =
    std::filesystem::path(THINWIRE_SOURCE_DIR) / "tests/topologies/platforms";

/// Files that neither network takes, and why.
const std::map<std::string, std::string> kRefused{{"wifi", "WIFI is refused"},
                                                  {"none_of_two", "there is no route from a to b"}};

std::string run_on(const std::string& network, const std::string& path, int ranks) {
  return fmt::format(
      "run --scheme topka -n 1000 -k 100 --iterations 1 --format jsonl --network {} -P {} "
      "--platform {} ",
      network, ranks, path);
}

double time_on(const std::string& network, const std::string& path, int ranks) {
  const Ended ended = run_program(run_on(network, path, ranks));
  CAPTURE(network);
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  return nlohmann::json::parse(ended.out)["result"]["time_s"].get<double>();
}

/// Refused by both networks and by topo check, with the same words.
void check_refused_by_all(const std::string& xml, const std::string& why) {
  const TemporaryFolder folder;
  const std::string path = folder.write("p.xml", xml);
  CAPTURE(why);
  check_refused(run_program(run_on("links", path, 2)), why);
  check_refused(run_program(run_on("smpi", path, 2)), why);
  check_refused(run_program("topo check " + path), why);
}

std::string configured(const std::string& key, const std::string& value) {
  return platform_xml("<config>" + property(key, value) +
                      "</config><cluster id=\"c\" prefix=\"h-\" suffix=\"\" radical=\"0-1\" "
                      "speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/>");
}

/// Two hosts whose link, and whatever else, is written out.
std::string with_link(const std::string& link, const std::string& more = "") {
  return platform_xml(
      "<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/>"
      "<host id=\"b\" speed=\"1Gf\" " +
      more + "/><link id=\"l\" " + link +
      "/><route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>");
}

std::string cluster(const std::string& attributes) {
  return platform_xml(
      "<cluster id=\"c\" prefix=\"h-\" suffix=\"\" speed=\"1Gf\" bw=\"1GBps\" "
      "lat=\"1us\" " +
      attributes + "/>");
}

std::string zone_of(const std::string& routing, int hosts) {
  std::string body;
  for (int host = 0; host < hosts; ++host) {
    body += fmt::format("<host id=\"h{}\" speed=\"1Gf\"/>", host);
  }
  return platform_xml("<zone id=\"z\" routing=\"" + routing + "\">" + body + "</zone>");
}

}  // namespace

TEST_CASE(
    "each kind of zone has SimGrid's routes on network links, and smpi's times, or is refused" *
    doctest::test_suite("large")) {
  int taken = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    const auto refused = kRefused.find(entry.path().stem().string());
    if (refused != kRefused.end()) {
      for (const char* network : {"links", "smpi"}) {
        // Maybe for several reasons, each of which is told.
        const Ended ended = run_program(run_on(network, path, 2));
        CAPTURE(ended.err);
        CHECK(ended.exit_code == 2);
        CHECK(ended.out.empty());
        CHECK(contains(ended.err, refused->second));
      }
      continue;
    }
    ++taken;
    const Ended checked = run_program("topo check --routes " + path);
    CAPTURE(checked.out);
    CHECK(checked.exit_code == 0);
    CHECK(contains(checked.out, "all equal to SimGrid's"));
    const std::string hosts = test::on_platform(path, [](const topologies::Platform& platform) {
      return std::to_string(platform.hosts().size());
    });
    const int ranks = std::min(4, std::stoi(hosts));
    CHECK(time_on("links", path, ranks) ==
          test::approx(time_on("smpi", path, ranks)).epsilon(1e-9));
  }
  CHECK(taken == 25);
}

TEST_CASE("SimGrid's own example files are taken alike by links and smpi, or refused alike" *
          doctest::test_suite("large")) {
  std::vector<std::string> folders{"/usr/share/doc/libsimgrid-dev/examples/platforms",
                                   "/usr/share/simgrid/examples/platforms"};
  if (const char* given = std::getenv("SIMGRID_EXAMPLES")) folders.emplace_back(given);
  int files = 0;
  for (const std::string& folder : folders) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
      if (entry.path().extension() != ".xml") continue;
      ++files;
      const std::string path = entry.path().string();
      CAPTURE(path);
      const Ended links = run_program(run_on("links", path, 2));
      const Ended smpi = run_program(run_on("smpi", path, 2));
      CAPTURE(links.err);
      CAPTURE(smpi.err);
      REQUIRE(links.exit_code == smpi.exit_code);
      if (links.exit_code != 0) continue;
      CHECK(time_on("links", path, 2) == test::approx(time_on("smpi", path, 2)).epsilon(1e-9));
    }
  }
  if (files == 0) {
    MESSAGE("skipped: no example files of SimGrid here; SIMGRID_EXAMPLES may name their folder");
  }
}

TEST_CASE("network links has the latency of the distances in a Vivaldi zone, to the last digit") {
  for (const char* name : {"vivaldi", "vivaldi_peers"}) {
    const std::string text = test::on_platform(
        (kFolder / name).string() + ".xml", [](const topologies::Platform& platform) {
          return fmt::format("{:.17g}", platform.route(0, 1).latency.value());
        });
    const double distance = std::sqrt(38.2 * 38.2 + 19.3 * 19.3) + 1.4 + 2.1;
    CHECK(std::stod(text) == test::approx(distance / 1000).epsilon(1e-14));
  }
  const std::string path = (kFolder / "vivaldi_peers.xml").string();
  const Ended shown = run_program("topo show " + path + " --route a b --format json");
  const auto last = nlohmann::json::parse(shown.out).back();
  CHECK(last["link"] == "(distance)");
  CHECK(last["latency_s_sum"].get<double>() == test::approx(0.0463).epsilon(0.001));
  const auto row = nlohmann::json::parse(run_program(run_on("links", path, 3)).out)["result"];
  const double mean = (0.0462987 + 0.057303 + 0.036826) / 3;  // of the three distances
  CHECK(row["alpha_s"].get<double>() == test::approx(mean).epsilon(1e-4));
}

TEST_CASE("a platform configures nothing but what both networks honour" *
          doctest::test_suite("large")) {
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"path", "/tmp"},
                                          {"plugin", "link_energy"},
                                          {"network/model", "IB"},
                                          {"network/TCP-gamma", "1e4"},
                                          {"network/crosstraffic", "yes"},
                                          {"network/bandwidth-factor", "0.9"},
                                          {"cpu/model", "Cas01"},
                                          {"host/model", "ptask_L07"},
                                          {"maxmin/concurrency-limit", "2"},
                                          {"smpi/async-small-thresh", "1000"},
                                          {"smpi/lat-factor", "1:1"},
                                          {"smpi/os", "0:1:2"},
                                          {"no/such/key", "1"}}) {
    check_refused_by_all(configured(key, value),
                         "p.xml:4: the configuration " + key + " is refused");
  }
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"network/crosstraffic", "no"}, {"network/loopback-bw", "1e9"}}) {
    const TemporaryFolder folder;
    const std::string path = folder.write("p.xml", configured(key, value));
    CHECK(time_on("links", path, 2) == test::approx(time_on("smpi", path, 2)).epsilon(1e-6));
  }
}

TEST_CASE("a configuration that changes no message's time is passed over, with a note") {
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"tracing", "yes"},
                                          {"tracing/filename", "/tmp/no-such.trace"},
                                          {"contexts/nthreads", "100000"},
                                          {"contexts/stack-size", "1"},
                                          {"debug/breakpoint", "0"},
                                          {"maxmin/precision", "1"},
                                          {"surf/precision", "0"},
                                          {"precision/timing", "1"},
                                          {"model-check", "yes"},
                                          {"smpi/host-speed", "no number"},
                                          {"smpi/simulate-computation", "no"},
                                          {"smpi/coll-selector", "mpich"}}) {
    CAPTURE(key);
    const TemporaryFolder folder;
    const std::string path = folder.write("p.xml", configured(key, value));
    const std::string plain = folder.write("plain.xml", configured("network/crosstraffic", "no"));
    const std::string note =
        "the configuration " + key + " is passed over: it changes no message's";
    const Ended checked = run_program("topo check " + path);
    CHECK(checked.exit_code == 0);
    CHECK(contains(checked.out, "warning: " + note));
    const Ended run = run_program(run_on("links", path, 2));
    CHECK(contains(run.err, path + ": " + note));
    for (const char* network : {"links", "smpi"}) {
      CHECK(time_on(network, path, 2) == time_on(network, plain, 2));
    }
  }
  // What SimGrid says of the file is about the file, on the line that is wrong there.
  std::string wrong = configured("tracing", "yes");
  wrong.replace(wrong.find("bw=\"1GBps\""), 10, "bw=\"1Gxps\"");
  const TemporaryFolder folder;
  check_refused(run_program("topo check " + folder.write("p.xml", wrong)),
                "p.xml:4: unknown unit: Gxps");
}

TEST_CASE("XML that SimGrid does not read, or reads as something else, is refused with a remedy") {
  const std::string plain = cluster("radical=\"0-1\"");
  check_refused_by_all("\xef\xbb\xbf" + plain, "begins with a byte order mark");
  check_refused_by_all("\xff\xfe<", "convert it to UTF-8");
  check_refused_by_all(
      cluster("radical=\"0\u22121\""),
      "cluster c: radical: '0\u22121' has a '\u2212', which SimGrid does not read as "
      "a '-'; type the hyphen of the keyboard there");
  check_refused_by_all(cluster("radical=\"0\u20131\""), "has a '\u2013'");
  check_refused_by_all(with_link("bandwidth=\"1GBps\" latency=\"2e\u22125\""), "link l: latency");
  check_refused_by_all(platform_xml("<zone id=\"\xe9\" routing=\"Full\"/>"),
                       "is not ASCII, in a file that is not UTF-8");
  check_refused_by_all(platform_xml("<!-- a --->"),
                       "p.xml:4: the comment has no end: SimGrid takes hyphens in pairs");
  check_refused_by_all(platform_xml("<zone id=\"z\" routing=\"Star\"/>"), "unknown routing 'Star'");
}

TEST_CASE("a platform writes no file, whatever hides its configuration") {
  const TemporaryFolder folder;
  const std::string trace = folder.path("PWNED.trace");
  const std::string plain = "<config>" + property("tracing", "yes") +
                            property("tracing/filename", trace) + "</config>" +
                            "<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/></zone>";
  std::string coded = plain;
  coded.replace(coded.find("tracing"), 1, "&#116;");
  const std::string twice =
      "<config><prop id=\"network/loopback-bw\" value=\"1e9\" id=\"tracing\" "
      "value=\"yes\"/></config>" +
      plain.substr(plain.find("<zone"));
  const std::string behind_nul = std::string("<!-- ") + '\0' + " -->" + plain;
  const std::string dtd = "<?xml version='1.0'?>\n<!DOCTYPE platform [<!ENTITY e \"" +
                          std::string("tracing") + "\">]>\n<platform version=\"4.1\">" + plain +
                          "</platform>";
  const std::string behind_instruction = "<?tracing <!-- ?>" +
                                         plain.substr(0, plain.find("<zone")) + "<!-- -->" +
                                         plain.substr(plain.find("<zone"));
  int number = 0;
  for (const std::string& xml :
       {platform_xml(plain), platform_xml(coded), platform_xml(behind_instruction),
        platform_xml(twice), platform_xml(behind_nul), dtd}) {
    const std::string path = folder.write(fmt::format("p{}.xml", number++), xml);
    CAPTURE(path);
    for (const char* command : {"topo check ", "topo show ", "run -P 1 --platform "}) {
      CHECK(run_program(command + path).exit_code == (number <= 3 ? 0 : 2));
    }
    CHECK_FALSE(std::filesystem::exists(trace));
  }
}

TEST_CASE("a platform reads no other file and starts nothing") {
  for (const char* attribute : {"bandwidth_file", "latency_file", "state_file"}) {
    check_refused_by_all(
        with_link("bandwidth=\"1GBps\" " + std::string(attribute) + "=\"/etc/passwd\""),
        "link l: " + std::string(attribute) + " is refused");
  }
  for (const char* attribute : {"availability_file", "speed_file", "state_file"}) {
    check_refused_by_all(
        with_link("bandwidth=\"1GBps\"", std::string(attribute) + "=\"/etc/passwd\""),
        "host b: " + std::string(attribute) + " is refused");
  }
  const std::string zone = "<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/></zone>";
  check_refused_by_all(platform_xml("<include file=\"/etc/passwd\"/>" + zone),
                       "<include> is refused");
  check_refused_by_all(platform_xml("<trace id=\"t\" periodicity=\"1\">0 1</trace>" + zone),
                       "<trace> is refused");
  check_refused_by_all(platform_xml("<trace_connect trace=\"t\" element=\"a\"/>" + zone),
                       "<trace_connect> is refused");
  check_refused_by_all(platform_xml(zone + "<actor host=\"a\" function=\"f\"/>"),
                       "<actor> is refused");
  check_refused_by_all(with_link("bandwidth=\"1GBps\" sharing_policy=\"WIFI\""),
                       "link l: WIFI is refused");
}

TEST_CASE("a cluster whose topology SimGrid cannot make is refused with what is wrong") {
  const auto of = [](const char* topology, const char* parameters) {
    return cluster(fmt::format("radical=\"0-15\" topology=\"{}\" topo_parameters=\"{}\"", topology,
                               parameters));
  };
  for (const auto& [topology, parameters] : {std::pair{"FAT_TREE", "2;4,4;1,-2;1,1"},
                                             {"FAT_TREE", "2;-4,-4;1,2;1,1"},
                                             {"TORUS", "-4,-4"},
                                             {"TORUS", "4,abc"},
                                             {"TORUS", "4,0"},
                                             {"TORUS", "4,"},
                                             {"TORUS", ""},
                                             {"DRAGONFLY", "2,-1;2,1;2,1;2"},
                                             {"DRAGONFLY", "-2,1;2,1;2,1;2"}}) {
    CAPTURE(parameters);
    check_refused_by_all(of(topology, parameters),
                         fmt::format("topo_parameters: '{}' is not valid; expected whole numbers "
                                     "from 1",
                                     parameters));
  }
  // The cable to a group ends on the router of that number of a chassis.
  check_refused_by_all(of("DRAGONFLY", "3,1;4,1;2,1;1"),
                       "there are 3 groups, and 2 routers in a chassis");
}

TEST_CASE("a route that a Dijkstra zone has already is refused with its line") {
  const auto zone_with = [](const char* routing, const std::string& routes) {
    std::string hosts;
    for (const char* host : {"a", "b"})
      hosts += fmt::format("<host id=\"{}\" speed=\"1Gf\"/>", host);
    return platform_xml(
        fmt::format("<zone id=\"z\" routing=\"{}\">{}<link id=\"l\" "
                    "bandwidth=\"1GBps\" latency=\"1us\"/>{}</zone>",
                    routing, hosts, routes));
  };
  const auto route = [](const char* from, const char* to, bool both) {
    return fmt::format("<route src=\"{}\" dst=\"{}\"{}><link_ctn id=\"l\"/></route>", from, to,
                       both ? "" : " symmetrical=\"no\"");
  };
  for (const char* routing : {"Dijkstra", "DijkstraCache"}) {
    CAPTURE(routing);
    const std::string refusal = "zone z: there is a route between ";
    check_refused_by_all(zone_with(routing, route("a", "b", true) + route("a", "b", true)),
                         refusal + "a and b already");
    check_refused_by_all(zone_with(routing, route("a", "b", true) + route("b", "a", false)),
                         refusal + "b and a already");
    check_refused_by_all(zone_with(routing, route("a", "b", true) + route("a", "a", true)),
                         refusal + "a and a already");
    const TemporaryFolder folder;
    const std::string path =
        folder.write("p.xml", zone_with(routing, route("a", "b", false) + route("b", "a", false)));
    CHECK(run_program("topo check " + path).exit_code == 0);
  }
}

TEST_CASE("a Dijkstra zone whose paths SimGrid cannot follow is refused, and Floyd's is taken") {
  // Two zones of a host each, joined through the core by gateways of its own for each.
  const auto of = [](const char* routing, const char* second_gateway) {
    std::string zones;
    for (const int i : {0, 1}) {
      zones += fmt::format(
          "<zone id=\"z{0}\" routing=\"Full\"><host id=\"h{0}\" speed=\"1Gf\"/>"
          "<router id=\"g{0}\"/><link id=\"l{0}\" bandwidth=\"1GBps\" latency=\"1us\"/>"
          "<route src=\"h{0}\" dst=\"g{0}\"><link_ctn id=\"l{0}\"/></route></zone>"
          "<link id=\"x{0}\" bandwidth=\"1GBps\" latency=\"2us\"/>",
          i);
    }
    return platform_xml(fmt::format(
        "<zone id=\"w\" routing=\"{}\">{}<zone id=\"core\" routing=\"Full\"><router id=\"c0\"/>"
        "<router id=\"c1\"/><link id=\"c\" bandwidth=\"1GBps\" latency=\"4us\"/>"
        "<route src=\"c0\" dst=\"c1\"><link_ctn id=\"c\"/></route></zone>"
        "<zoneRoute src=\"z0\" dst=\"core\" gw_src=\"g0\" gw_dst=\"c0\"><link_ctn "
        "id=\"x0\"/></zoneRoute>"
        "<zoneRoute src=\"z1\" dst=\"core\" gw_src=\"g1\" gw_dst=\"{}\"><link_ctn "
        "id=\"x1\"/></zoneRoute>"
        "</zone>",
        routing, zones, second_gateway));
  };
  for (const char* routing : {"Dijkstra", "DijkstraCache"}) {
    check_refused_by_all(of(routing, "c1"),
                         "zone w: a shortest path enters a zone by its gateway c0 and leaves it by "
                         "c1");
  }
  for (const auto& [routing, gateway] :
       {std::pair{"Floyd", "c1"}, {"Floyd", "c0"}, {"Dijkstra", "c0"}}) {
    CAPTURE(routing);
    CAPTURE(gateway);
    const TemporaryFolder folder;
    const std::string path = folder.write("p.xml", of(routing, gateway));
    const Ended route = run_program("topo show " + path + " --route h0 h1 --format json");
    CHECK(route.exit_code == 0);
    CHECK(nlohmann::json::parse(route.out).size() == (std::string(gateway) == "c1" ? 5 : 4));
    CHECK(run_program("topo check " + path).exit_code == 0);
  }
}

TEST_CASE("a platform that is too large is refused before it is built, with both numbers") {
  check_refused_by_all(cluster("radical=\"0-2147483647\""),
                       "up to here there are 2147483648 hosts; a platform may have 2000000");
  check_refused_by_all(cluster("radical=\"0-99999999999\""),
                       "radical: '0-99999999999' is not valid");
  check_refused_by_all(cluster("radical=\"0-7\" topology=\"DRAGONFLY\" "
                               "topo_parameters=\"1,1;20000,1;20,1;1\""),
                       "make 4004000000 cables; a platform may have 20000000");
  check_refused_by_all(cluster("radical=\"0-7\" topology=\"FAT_TREE\" "
                               "topo_parameters=\"2;1000,4;1000,1000000;1,1\""),
                       "make 4004000000 cables");
  check_refused_by_all(cluster("radical=\"0-7\" topology=\"TORUS\" topo_parameters=\"2000,2000\""),
                       "there are 4000000 hosts");
  check_refused_by_all(
      zone_of("Floyd", 20'000),
      "zone z: there are 20000 hosts, routers and zones; a Floyd zone may have 5000");
  std::string deep;
  for (int zone = 0; zone < 100'000; ++zone) {
    deep += fmt::format("<zone id=\"z{}\" routing=\"Full\">", zone);
  }
  check_refused_by_all(platform_xml(deep), "elements are nested more than 100 deep");
}

TEST_CASE("figures without end are refused by name, on both networks and by topo check") {
  for (const char* bandwidth : {"infGBps", "1e308GBps", "nanBps", "1e300Bps"}) {
    check_refused_by_all(with_link(fmt::format("bandwidth=\"{}\" latency=\"1us\"", bandwidth)),
                         "p.xml: link l: ");
  }
  for (const char* latency : {"infs", "1e308w", "nans"}) {
    check_refused_by_all(with_link(fmt::format("bandwidth=\"1GBps\" latency=\"{}\"", latency)),
                         "p.xml: link l: ");
  }
  check_refused_by_all(platform_xml("<cluster id=\"c\" prefix=\"h-\" suffix=\"\" radical=\"0-1\" "
                                    "speed=\"1Gf\" bw=\"infBps\" lat=\"1us\"/>"),
                       "p.xml: link c_link_0_DOWN: ");
  for (const char* coordinates : {"inf 0 0", "nan 0 0", "1e308 0 0", "1 2", "a b c"}) {
    check_refused_by_all(
        platform_xml(fmt::format("<zone id=\"z\" routing=\"Vivaldi\"><host id=\"a\" speed=\"1Gf\" "
                                 "coordinates=\"{}\"/></zone>",
                                 coordinates)),
        fmt::format("host a: coordinates: '{}' is not valid", coordinates));
  }
}

TEST_CASE("what SimGrid aborts on is told in its own words, without the signal") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "p.xml", cluster("radical=\"0-7\" topology=\"DRAGONFLY\" topo_parameters=\"3,4;3,2;3,1;2\""));
  const Ended ended = run_program("topo check " + path);
  check_refused(ended, "Insufficient number of radicals");
  CHECK_FALSE(contains(ended.err, "signal"));
  check_refused_by_all(
      platform_xml("<zone id=\"w\" routing=\"Full\"><cluster id=\"c\" prefix=\"h-\" suffix=\"\" "
                   "radical=\"0-1\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" router_id=\"r\"/>"
                   "<zoneRoute src=\"c\" dst=\"c\" gw_src=\"r\" gw_dst=\"r\"/></zone>"),
      "zoneRoute from c to itself: SimGrid knows no such route");
}

TEST_CASE("a routing that a platform does not know is refused, with those that it knows") {
  const auto routed = [](const std::string& routing, const std::string& file) {
    return run_program(run_on("links", (kFolder / file).string() + ".xml", 2) + " --routing " +
                       routing);
  };
  check_refused(routed("ecmp", "dragonfly"), "which knows minimal, valiant, ugal;");
  check_refused(routed("valiant", "fat_tree"), "which knows minimal, ecmp;");
  check_refused(routed("ugal", "star"), "/links/routing: 'ugal' means nothing on ");
  check_refused(routed("ugal", "star"), "which knows minimal;");
  for (const auto& [routing, file] : std::map<std::string, std::string>{{"valiant", "dragonfly"},
                                                                        {"ugal", "dragonfly"},
                                                                        {"ecmp", "fat_tree"},
                                                                        {"minimal", "star"}}) {
    CAPTURE(routing);
    CHECK(routed(routing, file).exit_code == 0);
  }
}
