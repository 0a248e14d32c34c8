// Platforms as a user gives them to the program: good ones, bad ones, and what a run tells of them.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/shipped_platforms.hpp"

namespace {

using namespace thinwire;
using testing::check_refused;
using testing::Ended;
using testing::exec_program;
using testing::lines_in;
using testing::run_program;
using testing::TemporaryFolder;
using testing::text_of;
using testing::without_notes;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Sees to it that the program leaves no process and no file behind.
class Cleanly {
 public:
  Cleanly() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the program become ours
    const char* before = std::getenv("TMPDIR");
    if (before != nullptr) before_ = before;
    setenv("TMPDIR", folder_.path("").c_str(), 1);
  }
  Cleanly(const Cleanly&) = delete;
  Cleanly& operator=(const Cleanly&) = delete;
  ~Cleanly() {
    CHECK(std::filesystem::is_empty(folder_.path("")));
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

 private:
  TemporaryFolder folder_;
  std::string before_;
};

/// One line on stderr, nothing on stdout, exit code 2.
std::string refusal(const std::string& arguments) {
  Ended ended;
  {
    const Cleanly cleanly;
    ended = run_program(arguments);
  }
  CAPTURE(arguments);
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  const std::string refused = without_notes(ended.err);
  CHECK(lines_in(refused) == 1);
  CHECK(refused.size() < 1000);
  return refused;
}

std::string run_on(const std::string& platform, int ranks, const std::string& more = "") {
  return "run --scheme topka --network smpi -n 1000 --platform " + platform + " -P " +
         std::to_string(ranks) + " " + more;
}

std::string zone(const std::string& body) {
  return test::platform_xml("<zone id=\"world\" routing=\"Full\">" + body + "</zone>");
}

std::string cluster(const std::string& attributes) {
  return test::platform_xml(
      "<cluster id=\"c\" prefix=\"h-\" radical=\"0-7\" suffix=\"\" speed=\"1Gf\" " + attributes +
      "/>");
}

constexpr const char* kHosts = "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>";

}  // namespace

TEST_CASE("a platform that is no XML is refused with file and line") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("bad.xml", test::platform_xml("<zone id=\"w\" routing=\"Full\">\n</zon>"));
  CHECK(contains(refusal(run_on(path, 2)), path + ":5: "));
  const std::string empty = folder.write("empty.xml", "");
  CHECK(contains(refusal(run_on(empty, 2)), empty + ":1: this is not well-formed XML: no element"));
  const std::string routing =
      folder.write("routing.xml", test::platform_xml("<zone id=\"w\" routing=\"Ful\"/>"));
  CHECK(contains(refusal(run_on(routing, 2)),
                 routing + ":4: zone w: unknown routing 'Ful'; a zone may have Full, Floyd"));
  const std::string element = folder.write(
      "element.xml", test::platform_xml("<zone id=\"w\" routing=\"Full\"><hst id=\"a\"/></zone>"));
  CHECK(contains(refusal(run_on(element, 2)), "<hst> is refused"));
  CHECK(contains(refusal(run_on(element, 2)), "did you mean 'host'?"));
  const std::string route = folder.write(
      "route.xml",
      test::platform_xml(std::string("<zone id=\"w\" routing=\"Full\">") + kHosts +
                         "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/><route src=\"a\" "
                         "dst=\"q\"><link_ctn id=\"l\"/></route></zone>"));
  const std::string error = refusal(run_on(route, 2));
  CHECK(contains(error, "route.xml:4: Route dst='q' names no host, router or zone."));
  CHECK_FALSE(contains(error, "Parse error"));
  const std::string attribute = folder.write(
      "attribute.xml", cluster("bw=\"fast\" lat=\"1us\" sharing_policy=\"SPLITDUPLEX\""));
  CHECK(contains(refusal(run_on(attribute, 2)), attribute + ":4: cannot parse number:fast"));
}

TEST_CASE("a platform that is not there, or no file, is refused") {
  const TemporaryFolder folder;
  CHECK(contains(refusal(run_on("no-such.xml", 2)),
                 "no-such.xml: cannot be read: there is no such file; check the path, or"));
  CHECK(contains(refusal(run_on(folder.path("."), 2)), "is no file; name a platform XML"));
  CHECK(
      contains(refusal(run_on("alphabetta", 2)),
               "/platform: unknown platform 'alphabetta'; did you mean 'alphabeta'? (the name of"));
}

TEST_CASE("fewer hosts than ranks are refused with both numbers, on either network") {
  const TemporaryFolder folder;
  const std::string path = folder.write("star.xml", test::star_xml(4));
  const std::string what = "has 4 hosts, fewer than the 5 ranks";
  CHECK(contains(refusal(run_on(path, 5)), what));
  CHECK(contains(refusal("run --network alphabeta -P 5 --platform " + path), what));
}

TEST_CASE("Of several points of a run, those with fewer hosts than ranks are skipped") {
  const TemporaryFolder folder;
  const std::string path = folder.write("star.xml", test::star_xml(4));
  for (const char* network : {"smpi", "links"}) {
    CAPTURE(network);
    const Ended ended = run_program(fmt::format(
        "run --network {} -P 2,5,4 -n 1000 --platform {} --format jsonl", network, path));
    CHECK(ended.exit_code == 0);
    CHECK(contains(ended.err, "skipped: "));
    CHECK(contains(ended.err, "has 4 hosts, fewer than the 5 ranks"));
    REQUIRE(lines_in(ended.out) == 3);
    std::istringstream lines(ended.out);
    std::vector<std::string> states;
    for (std::string line; std::getline(lines, line);) {
      states.push_back(nlohmann::json::parse(line)["status"]);
    }
    CHECK(states == std::vector<std::string>{"ok", "skipped", "ok"});
  }
}

TEST_CASE("a thousand ranks on smpi keep only the stacks that they use in memory") {
  if (test::kSanitized) return;
  const Ended ended = run_program(
      "run --scheme dense_recursive_doubling --network smpi --platform fat_tree -P 1024 -n 1000 "
      "--iterations 1 -j 1 --format jsonl");
  REQUIRE(ended.exit_code == 0);
  // Their stacks have 256 KiB each.
  CHECK(nlohmann::json::parse(ended.out)["peak_rss_bytes"] < 160'000'000);
}

TEST_CASE("a platform on which SimGrid aborts is refused with SimGrid's reason") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("dragonfly.xml", cluster("bw=\"1GBps\" lat=\"1us\" topology=\"DRAGONFLY\" "
                                            "topo_parameters=\"3,4;3,2;3,1;2\""));
  const std::string error = refusal(run_on(path, 2));
  CHECK(contains(error, path + ": cannot be used: "));
  CHECK(contains(error, "Insufficient number of radicals available"));
  CHECK(contains(refusal("run --network alphabeta -P 2 --platform " + path), "radicals"));
}

TEST_CASE("a pair of hosts without a route is named") {
  const TemporaryFolder folder;
  const std::string path = folder.write("apart.xml", zone(kHosts));
  CHECK(contains(refusal(run_on(path, 2)), path + ": there is no route from a to b"));
  std::string floyd = zone(kHosts);
  floyd.replace(floyd.find("Full"), 4, "Floyd");
  const std::string throws = folder.write("floyd.xml", floyd);
  CHECK(contains(refusal(run_on(throws, 2)), throws + ": there is no route from a to b"));
  const std::string one_way = folder.write(
      "one-way.xml",
      zone(std::string(kHosts) +
           "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>"
           "<route src=\"a\" dst=\"b\" symmetrical=\"NO\"><link_ctn id=\"l\"/></route>"));
  CHECK(contains(refusal(run_on(one_way, 2)), one_way + ": there is no route from b to a"));
}

TEST_CASE("what a platform says to Thinwire and makes no sense is named") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& key, const std::string& value) {
    return refusal(
        run_on(folder.write("p.xml", test::two_hosts_xml({}, test::property(key, value))), 2));
  };
  CHECK(contains(refused("thinwire.mesage_gap", "1us"),
                 "p.xml: unknown property 'thinwire.mesage_gap'; known are thinwire.message_gap"));
  for (const char* value : {"long", "-1us", "", "inf"}) {
    CHECK(contains(refused("thinwire.message_gap", value), "property thinwire.message_gap: '"));
  }
  for (const char* value : {"", "1GBps", "1GBps 1parsec", "fast 1us", "0 1us", "1GBps -1us"}) {
    CHECK(contains(refused("thinwire.link.cable", value), "property thinwire.link.cable: '"));
  }
  for (const char* value : {"", "4096B", "0B 64B", "4096B -1B", "much 64B"}) {
    CHECK(contains(refused("thinwire.packet", value), "property thinwire.packet: '"));
  }
  CHECK(contains(refused("thinwire.stored", "late"), "property thinwire.stored: '"));
  CHECK(contains(refused("thinwire.link.rope", "1GBps 1us"), "no link has a name that starts so"));
  const std::string inner = test::property("thinwire.message_gap", "1us");
  CHECK(contains(
      refusal(run_on(folder.write("inner.xml", zone("<zone id=\"inner\" routing=\"Full\">" + inner +
                                                    kHosts + "</zone>")),
                     2)),
      "zone inner: property 'thinwire.message_gap' is read on the outermost zone alone"));
}

TEST_CASE("headers take their share of links, and each switch on the way stores a packet") {
  const TemporaryFolder folder;
  const auto times = [&](const std::string& xml, const std::string& network) {
    const Ended ended =
        run_program("run --scheme dense_recursive_doubling -P 2 -n 1000000 --network " + network +
                    " --format jsonl --platform " + folder.write("p.xml", xml));
    REQUIRE(ended.exit_code == 0);
    return nlohmann::json::parse(ended.out).at("result").at("time_s").get<double>();
  };
  const test::Cable cable{"1GBps", "1us"};
  const std::string both =
      test::property("thinwire.packet", "4096B 1024B") + test::property("thinwire.stored", "5000B");
  for (const char* network : {"links", "smpi"}) {
    CAPTURE(network);
    // 4 MB at 0.8 GB/s. Of two cables with a switch between them, and of one.
    CHECK(times(test::star_xml(2, cable, both), network) ==
          test::approx(5e-3 + 2e-6 + 6.25e-6).epsilon(1e-5));
    CHECK(times(test::two_hosts_xml(cable, both), network) ==
          test::approx(5e-3 + 1e-6).epsilon(1e-5));
  }
}

TEST_CASE("with the headers of TCP, recursive doubling takes the time of ns-3's packets") {
  const TemporaryFolder folder;
  std::string xml = text_of(std::string(THINWIRE_SOURCE_DIR) + "/platforms/gige_star.xml");
  const std::string gap = "<prop id=\"thinwire.message_gap\"";
  xml.insert(xml.find(gap), test::property("thinwire.packet", "536B 54B"));
  const std::string run =
      "run --scheme dense_recursive_doubling -n 1000000 --network links "
      "--format jsonl --platform " +
      folder.write("p.xml", xml) + " -P ";
  // results/packets has these times; without headers links takes a tenth less.
  for (const auto& [ranks, of_packets] :
       {std::pair{"4", 0.0747133}, {"8", 0.11207}, {"16", 0.149427}}) {
    const Ended ended = run_program(run + ranks);
    REQUIRE(ended.exit_code == 0);
    CHECK(nlohmann::json::parse(ended.out).at("result").at("time_s").get<double>() ==
          test::approx(of_packets).epsilon(0.003));
  }
}

TEST_CASE("links that can carry nothing are named") {
  const TemporaryFolder folder;
  for (const test::Cable& cable :
       {test::Cable{"0", "1us"}, test::Cable{"1GBps", "-1us"}, test::Cable{"-1GBps", "0"}}) {
    const std::string path = folder.write("p.xml", test::two_hosts_xml(cable));
    CHECK(contains(refusal(run_on(path, 2)), "p.xml: link cable_UP: "));
    CHECK(contains(refusal("run -P 2 --platform " + path), "p.xml: link cable_UP: "));
  }
}

TEST_CASE("a wrong configuration in a platform is refused, in a line of bounded length") {
  const TemporaryFolder folder;
  const auto configured = [&](const std::string& key, const std::string& value) {
    return folder.write("p.xml", test::platform_xml("<config>" + test::property(key, value) +
                                                    "</config><zone id=\"w\" routing=\"Full\"/>"));
  };
  CHECK(contains(refusal(run_on(configured("network/modell", "CM02"), 2)),
                 "the configuration network/modell is refused"));
  CHECK(contains(refusal(run_on(configured("network/model", "CM02"), 2)),
                 "a platform may set network/loopback-bw, "));
}

TEST_CASE("in a sweep a bad platform fails its point, a small one skips it, others are kept") {
  const TemporaryFolder folder;
  const std::string good = folder.write("good.xml", test::star_xml(4));
  const std::string bad = folder.write("bad.xml", "<platform>");
  const std::string small = folder.write("small.xml", test::star_xml(2));
  const std::string abort = folder.write(
      "abort.xml",
      cluster("bw=\"1GBps\" lat=\"1us\" topology=\"TORUS\" topo_parameters=\"3,3,3\""));
  const nlohmann::json config{
      {"name", "mixed"},
      {"base", {{"network", "smpi"}, {"scheme", "topka"}, {"components", 1000}, {"ranks", 4}}},
      {"grid", {{"platform", {bad, good, small, abort, folder.path("none.xml"), "alphabeta"}}}}};
  const std::string out = folder.path("out.jsonl");
  const std::string command =
      "sweep " + folder.write("mixed.json", config.dump()) + " --format json -o " + out;
  Ended ended;
  {
    const Cleanly cleanly;
    ended = run_program(command);
  }
  CHECK(ended.exit_code == 1);
  const auto records = nlohmann::json::parse(ended.out);
  REQUIRE(records.size() == 6);
  CHECK(lines_in(text_of(out)) == 6);
  const std::vector<std::string> reasons{"bad.xml:1: ",
                                         "",
                                         "has 2 hosts, fewer than the 4 ranks",
                                         "abort.xml: cannot be used: ",
                                         "none.xml: cannot be read",
                                         ""};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    CAPTURE(i);
    const bool fine = reasons[i].empty();
    const bool small_one = contains(reasons[i], "fewer");
    CHECK(records[i]["status"] == (fine ? "ok" : small_one ? "skipped" : "failed"));
    if (!fine) CHECK(contains(records[i]["reason"].get<std::string>(), reasons[i]));
    if (!fine) CHECK(contains(ended.err, reasons[i]));
  }
}

TEST_CASE("SimGrid's log is on stderr when asked for, and nowhere else") {
  const TemporaryFolder folder;
  const std::string command = run_on(folder.write("p.xml", test::star_xml(4)), 4);
  const Ended quiet = run_program(command);
  CHECK(quiet.exit_code == 0);
  CHECK(without_notes(quiet.err).empty());
  const Ended verbose = run_program(command + "--verbose");
  CHECK(verbose.exit_code == 0);
  CHECK(contains(verbose.err, "smpi"));
  CHECK(verbose.out == quiet.out);
}

TEST_CASE("a run on a platform tells of it, and of the links, phases and ranks when asked") {
  const TemporaryFolder folder;
  const std::string command = run_on(folder.write("p.xml", test::star_xml(8)), 8);
  const std::string plain = run_program(command).out;
  CHECK(lines_in(plain) == 2);
  for (const char* heading : {"network", "platform", "congestion"}) {
    CHECK(contains(plain, heading));
  }
  CHECK_FALSE(contains(plain, "placement"));
  CHECK(contains(run_program(command + "--placement random:3").out, "random:3"));

  const std::string phases = run_program(command + "--phases").out;
  CHECK(phases.starts_with(plain));
  CHECK(contains(phases, "messages_received_max"));

  const std::string ranks = run_program(command + "--by-rank").out;
  CHECK(ranks.starts_with(plain));
  CHECK(lines_in(ranks) == 2 + 2 + 8);  // the table, a blank line and headings, one phase a rank

  const std::string links = run_program(command + "--links").out;
  CHECK(links.starts_with(plain));
  CHECK(lines_in(links) == 2 + 2 + 10 + 1);  // ten of the 16 ports, and how many more there are
  CHECK(contains(links, "star_link_0_UP"));
  CHECK(contains(links, "(6 more links carried something"));
}

TEST_CASE("the data of a run on a platform hold what was recorded") {
  const TemporaryFolder folder;
  const std::string command =
      run_on(folder.write("p.xml", test::star_xml(8)), 8, "-k 10 --format jsonl ");
  const auto bare = nlohmann::json::parse(run_program(command).out)["result"];
  CHECK(bare["links"].is_null());
  CHECK(bare["by_rank"].is_null());
  CHECK(bare["alpha_s"].get<double>() == test::approx(2e-6).epsilon(1e-12));
  CHECK(bare["beta_s_per_word"].get<double>() == test::approx(4e-9).epsilon(1e-12));
  CHECK(bare["congestion_factor"].get<double>() ==
        test::approx(bare["time_s"].get<double>() / bare["alphabeta_time_s"].get<double>()));

  const auto full = nlohmann::json::parse(run_program(command + "--links --by-rank").out)["result"];
  CHECK(full["time_s"] == bare["time_s"]);
  REQUIRE(full["links"].size() == 16);
  CHECK(full["by_rank"].size() == 8);
  // topka by recursive doubling: 10, 20 and 40 entries of 2 words, out and in.
  for (const auto& link : full["links"]) {
    CHECK(link["bytes"] == 4 * 140);
    CHECK(link["utilisation_peak"].get<double>() == test::approx(1));
    CHECK(link["utilisation_mean"].get<double>() ==
          test::approx(560 / (1e9 * full["time_s"].get<double>())));
  }
  for (const auto& rank : full["by_rank"]) {
    CHECK(rank["words_sent"] == 140);
    CHECK(rank["messages_received"] == 3);
  }
}

TEST_CASE("what a network or a platform cannot mean is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.write("p.xml", test::star_xml(4));
  CHECK(contains(refusal(run_on(path, 4, "--strict --alpha 1e-6")),
                 "/machine/alpha_s: the network smpi does not use this setting"));
  CHECK(contains(refusal("run --network alphabeta --beta 1e-9 -P 4 --platform " + path),
                 "/machine/beta_s_per_word: comes from the platform"));
  CHECK(contains(refusal("run --strict --network counting -P 4 --platform " + path),
                 "/platform: the network counting does not use this setting"));
  CHECK(contains(refusal("run --strict --packet"),
                 "/packets: the network alphabeta does not use this setting"));
  CHECK(contains(refusal("run --strict --network counting --packet"),
                 "/packets: the network counting does not use this setting; smpi does"));
  const std::string packets = "run --network smpi --platform gige_star -P 4 --packet ";
  CHECK(contains(refusal(packets + "--links"), "/record/links: packets have"));
  CHECK(contains(refusal(packets + "--time-resolution 1e-6"), "/time_resolution_s: packets have"));
  CHECK(contains(refusal("run --strict --flows-per-port 1"),
                 "/flows_per_port: the network alphabeta does not use this setting; smpi does"));
  CHECK(contains(refusal("run --strict --time-resolution 1e-6"),
                 "/time_resolution_s: the network alphabeta"));
  CHECK(contains(refusal("run --strict --links"),
                 "/record/links: the network alphabeta does not use this setting; links, smpi do"));
  CHECK(contains(refusal("run --placement round_robin"), "/placement: there is no platform; give"));
  CHECK(contains(refusal(run_on(path, 4, "--placement roundrobin")),
                 "/placement: unknown placement 'roundrobin'; did you mean 'round_robin'?"));
  CHECK(contains(refusal(run_on(path, 4, "--placement ./no-such")), "./no-such: cannot be read"));
}

TEST_CASE("packets take a little longer than flows, also in messages above ns-3's buffers") {
  if (test::kSanitized) return;  // ns-3 leaks
  const auto time_of = [](const std::string& more) {
    const Ended ended = exec_program(
        "run --network smpi --scheme dense_ring -n 500000 -P 4 --iterations 1 --format jsonl " +
        more);
    CAPTURE(ended.err);
    REQUIRE(ended.exit_code == 0);
    return nlohmann::json::parse(ended.out)["result"]["time_s"].get<double>();
  };
  const double flows = time_of("--platform gige_star");
  const double packets = time_of("--platform gige_star --packet");
  CHECK(packets > flows);
  CHECK(packets < 1.5 * flows);
  CHECK(time_of("--platform gige_star --packet") == packets);
  CHECK(contains(exec_program("run --network smpi --platform alphabeta -P 4 --packet").err,
                 "ns-3 takes one zone of hosts"));
}

TEST_CASE("alphabeta takes its machine from a platform, end to end") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "p.xml", test::star_xml(4, {"2GBps", "3us"}, test::property("thinwire.message_gap", "4us")));
  const auto row = nlohmann::json::parse(
      run_program("run --scheme topka -n 1000 -k 10 -P 4 --format jsonl --platform " + path).out);
  CHECK(row["result"]["alpha_s"].get<double>() == test::approx(10e-6).epsilon(1e-12));
  CHECK(row["result"]["beta_s_per_word"].get<double>() == test::approx(2e-9).epsilon(1e-12));
  CHECK(row["result"]["time_s"].get<double>() == test::approx(2 * 10e-6 + 60 * 2e-9).epsilon(1e-9));
}

TEST_CASE("list names the platforms, and the network that takes them") {
  const Ended table = run_program("list platforms");
  CHECK(table.exit_code == 0);
  const std::vector<std::string> names = test::platforms_in_folder();
  REQUIRE(!names.empty());
  for (const std::string& name : names) {
    CHECK(contains(table.out, name + " "));
    CHECK(contains(table.out, name + ".xml"));
  }
  const auto records = nlohmann::json::parse(run_program("list platforms --format json").out);
  for (const auto& record : records) CHECK(record["kind"] == "platform");
  CHECK(contains(run_program("list networks").out, "smpi"));
}

TEST_CASE("a torus of Tofu's six dimensions takes the same time on links and smpi within 1%") {
  const TemporaryFolder folder;
  const std::string platform = folder.path("tofu.xml");
  REQUIRE(run_program("topo make torus --dims 2,2,1,2,3,2 -o " + platform).exit_code == 0);
  const Ended ended = run_program(
      "run --scheme dense_ring,dense_rabenseifner,topka -P 48 -n 100000 --network links,smpi "
      "--format json --platform " +
      platform);
  REQUIRE(ended.exit_code == 0);
  const auto rows = nlohmann::json::parse(ended.out);
  REQUIRE(rows.size() == 6);
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    CHECK(rows[i]["scheme"] == rows[i + 1]["scheme"]);
    CHECK(rows[i]["time_s"].get<double>() ==
          test::approx(rows[i + 1]["time_s"].get<double>()).epsilon(1e-2));
  }
}

TEST_CASE(
    "a measured placement puts ranks on a wired platform, or is refused with line and column") {
  const TemporaryFolder folder;
  const std::string platform = folder.path("p.xml");
  REQUIRE(run_program("topo make dragonfly_plus --cells 2 --leaves 2 --spines 2 --nodes 2 "
                      "--global-cables 2 -o " +
                      platform)
              .exit_code == 0);
  const auto time_on = [&](const std::string& network, const std::string& table) {
    const std::string file = folder.write("job.csv", "rank,node,group,switch\n" + table);
    const Ended ended = run_program(
        "run --scheme topka -n 1000 -k 100 --iterations 1 --format jsonl "
        "--network " +
        network + " -P 4 --platform " + platform + " --placement " + file);
    CAPTURE(ended.err);
    REQUIRE(ended.exit_code == 0);
    return nlohmann::json::parse(ended.out)["result"]["time_s"].get<double>();
  };
  const std::string together = "0,a,1,x\n1,b,1,x\n2,c,1,y\n3,d,1,y\n";
  const std::string apart = "0,a,1,x\n1,b,2,x\n2,c,1,y\n3,d,2,y\n";
  const std::string by_name = "0,nid-0,1,x\n1,nid-4,1,x\n2,nid-2,1,y\n3,nid-6,1,y\n";
  CHECK(time_on("links", together) < time_on("links", apart));
  CHECK(time_on("links", apart) == time_on("links", by_name));
  CHECK(time_on("links", apart) == test::approx(time_on("smpi", apart)).epsilon(1e-9));

  const auto refused = [&](const std::string& table, const std::string& why) {
    const std::string file = folder.write("bad.csv", "rank,node,group,switch\n" + table);
    CAPTURE(table);
    for (const char* network : {"links", "smpi", "alphabeta"}) {
      check_refused(run_program(std::string("run -P 4 --network ") + network + " --platform " +
                                platform + " --placement " + file),
                    file + why);
    }
  };
  refused("0,a,1,x\n1,b,1,x\n", ":3:1: places 2 ranks, fewer than the 4 of the run");
  refused("0,a,1,x\n1,b,2,x\n2,c,3,x\n3,d,3,x\n", ":4:5: group '3' is one too many");
  refused("0,nid-0,1,x\n1,nid-1,1,x\n2,nid_2,1,x\n3,nid-3,1,x\n",
          ":4:3: unknown host 'nid_2'; did you mean 'nid-2'?");
}

TEST_CASE("a point's key follows what is in the files that it names") {
  const TemporaryFolder folder;
  const std::string platform = folder.write("p.xml", test::star_xml(4));
  const std::string hosts = folder.write("hosts.txt", "h-0\nh-1\nh-2\nh-3\n");
  const auto key = [&] {
    const std::string command = run_on(platform, 4, "--format jsonl --placement " + hosts);
    return nlohmann::json::parse(run_program(command).out)["key"].get<std::string>();
  };
  const std::string before = key();
  CHECK(key() == before);
  (void)folder.write("p.xml", test::star_xml(4, {"2GBps", "1us"}));
  const std::string faster = key();
  CHECK(faster != before);
  (void)folder.write("hosts.txt", "h-3\nh-1\nh-2\nh-0\n");
  CHECK(key() != faster);
  (void)folder.write("hosts.txt", "h-0\nh-1\nh-2\nh-3\n");
  (void)folder.write("p.xml", test::star_xml(4));
  CHECK(key() == before);
}

TEST_CASE("a sweep runs a point again when its platform has changed") {
  const TemporaryFolder folder;
  const std::string platform = folder.write("p.xml", test::star_xml(4));
  const nlohmann::json config{{"name", "s"},
                              {"base",
                               {{"network", "smpi"},
                                {"scheme", "topka"},
                                {"components", 1000},
                                {"ranks", 4},
                                {"platform", platform}}}};
  const std::string out = folder.path("out.jsonl");
  const std::string command = "sweep " + folder.write("s.json", config.dump()) + " -o " + out;
  const Ended first = run_program(command);
  CHECK(first.exit_code == 0);
  const bool uncertain = contains(run_program("--version").out, "-dirty");
  if (!uncertain) CHECK(contains(run_program(command).err, "1 of them were there already"));
  (void)folder.write("p.xml", test::star_xml(4, {"2GBps", "1us"}));
  const Ended changed = run_program(command);
  CHECK(contains(changed.err, "0 of them were there already"));
  CHECK(changed.out != first.out);
  CHECK(lines_in(text_of(out)) == 1);
}

TEST_CASE("run takes several networks and platforms") {
  const TemporaryFolder folder;
  const std::string one = folder.write("one.xml", test::star_xml(4));
  const std::string other = folder.write("other.xml", test::star_xml(4, {"2GBps", "3us"}));
  const std::string command =
      "run --network alphabeta,links --platform " + one + "," + other +
      " --scheme topka,oktopk -P 4 -n 1000 -k 50 --placement random:1 --format json ";
  const auto rows = [&](const std::string& flags) {
    const Ended ended = run_program(command + flags);
    REQUIRE(ended.exit_code == 0);
    CHECK_FALSE(contains(ended.err, "changes nothing"));
    return nlohmann::json::parse(ended.out);
  };
  const auto all = rows("");
  REQUIRE(all.size() == 8);
  CHECK(all[0]["network"] == "alphabeta");
  CHECK(all[1]["network"] == "links");
  CHECK(all[0]["machine.alpha_s"] == all[1]["machine.alpha_s"]);
  CHECK(all[0]["machine.alpha_s"] != all[2]["machine.alpha_s"]);
  CHECK(all[3]["platform"] == other);
  CHECK(all[0]["time_s"].get<double>() == all[0]["formula_low_s"].get<double>());
  // An α that is given is for alphabeta; the platforms are for links.
  const auto own = rows("--alpha 5us");
  REQUIRE(own.size() == 6);
  CHECK(own[0]["machine.alpha_s"] == 5e-6);
  CHECK(own[0]["platform"].is_null());
  CHECK(own[1]["platform"] == one);
  CHECK(own[2]["platform"] == other);
}
