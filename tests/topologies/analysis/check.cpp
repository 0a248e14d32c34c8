#include "topologies/analysis/check.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/network.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::topologies {

namespace {

using test::contains;
using test::error_of;
using test::Network;

std::vector<Finding> findings(const RouteTable& table, std::optional<int> hosts = {}) {
  return findings_of(table, graph_of(table), hosts);
}

/// "kind: text" of each.
std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.kind + ": " + finding.text + "\n";
  return text;
}

/// Without the finding that the platform gives no gap.
PlatformCheck check_xml(const std::string& xml) {
  const test::TemporaryFolder folder;
  PlatformCheck check = check_platform(folder.write("p.xml", xml));
  std::erase_if(check.findings,
                [](const Finding& finding) { return finding.kind == "no_message_gap"; });
  return check;
}

Network star() { return {4, 1, {{0, 4}, {1, 4}, {2, 4}, {3, 4}}}; }

constexpr const char* kOneRouteMissing =
    "<zone id=\"z\" routing=\"{}\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>"
    "<host id=\"c\" speed=\"1Gf\"/><link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>"
    "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>";
constexpr const char* kOneZoneApart =
    "<zone id=\"z\" routing=\"Dijkstra\">"
    "<zone id=\"y\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/></zone>"
    "<zone id=\"x\" routing=\"Full\"><host id=\"b\" speed=\"1Gf\"/></zone>"
    "<zone id=\"w\" routing=\"Full\"><host id=\"c\" speed=\"1Gf\"/></zone>"
    "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>"
    "<zoneRoute src=\"y\" dst=\"x\" gw_src=\"a\" gw_dst=\"b\"><link_ctn id=\"l\"/></zoneRoute>"
    "</zone>";

}  // namespace

TEST_CASE("nothing is found on a sound network") {
  CHECK(findings(star().table(), 4).empty());
  CHECK(findings(test::random_network(5, 9, 6, 4, true).table()).size() <= 1);
  for (const char* name : {"gige_star", "exdyna_v100", "dragonn_v100"}) {
    const PlatformCheck check = check_platform(kPlatforms.file(name));
    CHECK(check.findings.empty());
    CHECK(check.all_pairs);
    CHECK(check.pairs == check.hosts * (check.hosts - 1));
  }
}

TEST_CASE("fewer hosts than asked for are a problem with both numbers") {
  const std::vector<Finding> found = findings(star().table(), 5);
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Finding::Severity::problem);
  CHECK(found[0].text == "the platform has 4 hosts, fewer than the 5 asked for");
}

TEST_CASE("bandwidths and latencies that no wire has are found, each with its link") {
  Network network = star();
  network.links()[0].bandwidth = 0;
  network.links()[1].bandwidth = 1e15;
  network.links()[2].latency = Seconds(-1);
  network.links()[3].latency = Seconds(3600);
  const std::string text = text_of(findings(network.table()));
  CHECK(contains(text, "bandwidth: link c0_UP: a bandwidth of 0 bytes/s"));
  CHECK(contains(text, "bandwidth: link c0_DOWN: a bandwidth of 1e+15 bytes/s"));
  CHECK(contains(text, "latency: link c1_UP: a latency of -1 s"));
  CHECK(contains(text, "latency: link c1_DOWN: a latency of 3600 s"));
}

TEST_CASE(
    "a link that is faster than any is a warning, and a loopback may be as fast as it likes") {
  const PlatformCheck check = check_xml(test::platform_xml(
      "<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" "
      "speed=\"1Gf\"/><link id=\"loop\" bandwidth=\"1000EBps\" latency=\"0us\"/>"
      "<link id=\"l\" bandwidth=\"500EBps\" latency=\"1us\"/>"
      "<route src=\"a\" dst=\"a\"><link_ctn id=\"loop\"/></route>"
      "<route src=\"b\" dst=\"b\"><link_ctn id=\"loop\"/></route>"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>"));
  REQUIRE(check.findings.size() == 1);
  CHECK(check.findings[0].severity == Finding::Severity::warning);
  CHECK(contains(check.findings[0].text, "link l: a bandwidth of 5e+20 bytes/s"));
}

TEST_CASE("isolated hosts are named once, and single routes that are missing by their ends") {
  const Network isolated(4, 1, {{0, 4}, {1, 4}, {2, 4}});
  const std::vector<Finding> alone = findings(isolated.table());
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].text == "no route to or from h3");
  const Network network = star();
  RouteTable table = network.table();
  table.route = [&](HostIndex from, HostIndex to) -> std::optional<Route> {
    if (from == 2 && to == 1) return std::nullopt;
    return network.route(from, to);
  };
  CHECK(text_of(findings(table)) == "no_route: no route from h2 to h1\n");
}

TEST_CASE("many findings of one kind are counted, not listed") {
  const std::string text = text_of(findings(Network(9, 0, {}).table()));
  CHECK(text == "no_route: no route to or from h0, h1, h2, h3, h4 and 4 more\n");
}

TEST_CASE("ways there and back that differ, and links on no route, are warnings") {
  // Two ways between the switches: there by the one, back by the other.
  const Network network(2, 3, {{0, 2}, {1, 4}, {2, 4}, {2, 3}, {3, 4}});
  RouteTable table = network.table();
  table.route = [&](HostIndex from, HostIndex to) -> std::optional<Route> {
    if (from == 0 || to == 1) return network.route(from, to);
    return Route{{2, 9, 7, 1}, Seconds(4e-6)};
  };
  const std::vector<Finding> found = findings(table);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == "asymmetric");
  CHECK(contains(found[0].text, "h0 and h1 (3 links, 3e-06 s; back 4 links, 4e-06 s)"));
  CHECK(found[1].kind == "never_used");
  CHECK(contains(found[1].text, "3 of 10 links are on no route: c2_DOWN, c3_UP, c4_UP"));
  for (const Finding& finding : found) CHECK(finding.severity == Finding::Severity::warning);
}

TEST_CASE("a missing route is found in every zone of SimGrid, even where SimGrid dies of it") {
  for (const char* routing : {"Full", "Floyd", "Dijkstra", "DijkstraCache"}) {
    const PlatformCheck check =
        check_xml(test::platform_xml(fmt::format(fmt::runtime(kOneRouteMissing), routing)));
    CHECK(text_of(check.findings) == "no_route: no route to or from c\n");
  }
  // Dijkstra zones of zones are SimGrid's own.
  const PlatformCheck check = check_xml(test::platform_xml(kOneZoneApart));
  REQUIRE(check.findings.size() == 1);
  CHECK(check.findings[0].kind == "crash");
  CHECK(contains(check.findings[0].text, "SimGrid crashes on the route from a to c"));
  // The platform was loaded: it is not refused as one that cannot be.
  CHECK(!contains(check.findings[0].text, "cannot be used"));
}

TEST_CASE("compact routes are compared on every pair, where no route is missing") {
  const PlatformCheck check =
      check_platform(kPlatforms.file("dragonn_v100"), {.compact_routes = true});
  CHECK(check.findings.empty());
  REQUIRE(check.compact_routes);
  CHECK(check.compact_routes->pairs == 256);
  CHECK(check.compact_routes->rows == 16);
  CHECK(check.compact_routes->bytes > 0);
  CHECK(!check_platform(kPlatforms.file("dragonn_v100")).compact_routes);
  const test::TemporaryFolder folder;
  const PlatformCheck missing = check_platform(
      folder.write("p.xml",
                   test::platform_xml(fmt::format(fmt::runtime(kOneRouteMissing), "Full"))),
      {.compact_routes = true});
  CHECK(contains(text_of(missing.findings), "no_route: no route to or from c\n"));
  CHECK(!missing.compact_routes);
}

TEST_CASE("what cannot be loaded is no finding but bad input") {
  const auto refusal = [](const std::string& xml) {
    return error_of<InputError>([&] { (void)check_xml(xml); });
  };
  CHECK(
      contains(refusal("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                       "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n<zone "),
               "p.xml:4"));
  CHECK(contains(refusal(""), "p.xml"));
  CHECK(
      contains(error_of<InputError>([] { (void)check_platform("/no/such.xml"); }), "/no/such.xml"));
}

TEST_CASE("a platform without a message gap is warned of, with the line to write") {
  const std::string cluster =
      "<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" bw=\"1GBps\" "
      "lat=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>";
  const test::TemporaryFolder folder;
  const PlatformCheck check = check_platform(folder.write("p.xml", test::platform_xml(cluster)));
  REQUIRE(check.findings.size() == 1);
  CHECK(check.findings[0].kind == "no_message_gap");
  CHECK(contains(check.findings[0].text, "<prop id=\"thinwire.message_gap\""));
}

TEST_CASE("one host and two hosts can be checked") {
  const auto cluster = [](const char* radical) {
    return check_xml(test::platform_xml(fmt::format(
        "<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"{}\" speed=\"1Gf\" bw=\"1GBps\" "
        "lat=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>",
        radical)));
  };
  CHECK(cluster("0-0").findings.empty());
  CHECK(cluster("0-0").hosts == 1);
  CHECK(cluster("0-1").findings.empty());
  CHECK(cluster("0-1").pairs == 2);
}

}  // namespace thinwire::topologies
