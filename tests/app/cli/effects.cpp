// What no run reads is refused, or noted by 'run'; what one run of several reads is not.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/json.hpp"
#include "tests/app/cli/program.hpp"
#include "tests/support/errors.hpp"

using thinwire::test::contains;
using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;

namespace {

/// Flags that are refused alone, where the refusal points, and what gives them an effect.
struct Case {
  std::string flags;
  std::string pointer;
  std::string with;  ///< in addition or, for flags that may be given once, in their place
};

std::string option(const std::string& setting) { return " --set options." + setting; }

/// A run for which notes are errors, or another command.
Ended strictly(const std::string& command) {
  const bool notes = command.starts_with("run ") && command.find("--goal") == std::string::npos;
  return run_program(command + (notes ? " --strict" : ""));
}

void check_accepted(const std::string& command) {
  const Ended ended = strictly(command);
  INFO(command, "\n", ended.err);
  CHECK(ended.exit_code == 0);
}

}  // namespace

TEST_CASE("a flag of a run that nothing reads is noted, and the run goes on") {
  const Ended plain = run_program("run --scheme dense_ring -P 4 -n 1000 --format jsonl");
  const Ended noted =
      run_program("run --scheme dense_ring -P 4 -n 1000 -d 0.01 --packet --format jsonl");
  CHECK(noted.exit_code == 0);
  CHECK(contains(noted.err, "note: /density: it changes nothing here: dense schemes send every"));
  CHECK(contains(noted.err,
                 "note: /packets: the network alphabeta does not use this setting; smpi does"));
  const auto row = nlohmann::json::parse(noted.out);
  CHECK(row.at("unused") == nlohmann::json({"density", "packets"}));
  const auto without = nlohmann::json::parse(plain.out);
  CHECK_FALSE(without.contains("unused"));
  CHECK(row.at("result") == without.at("result"));
  CHECK(row.at("point") == without.at("point"));
  // The row can be read.
  const TemporaryFolder folder;
  CHECK(run_program("compare " + folder.write("noted.jsonl", noted.out)).exit_code == 0);
  // As a shell loop over schemes, networks and kinds of input gives them.
  const std::string loop =
      "run -P 4 -n 1000 -d 0.01 --alpha 1e-6 --overlap 0.5 --set options.tau=32 ";
  for (const char* one : {"--scheme topka", "--scheme oktopk", "--scheme dense_ring",
                          "--network counting", "--scheme topka --profile vgg16 --device p100"}) {
    CAPTURE(one);
    CHECK(run_program(loop + one).exit_code == 0);
  }
  // Of several schemes one is enough.
  CHECK(run_program("run --scheme dense_ring,topka -P 4 -n 1000 -d 0.05").err.empty());
  // What no scheme has is no flag that nothing reads but a mistake.
  check_refused(run_program("run -P 4 --set options.tua=32"), "unknown option 'tua'");
  // A config is read by nobody who would see a note.
  check_refused(run_program("run -P 4 --scheme dense_ring --config " +
                            folder.write("c.json", R"({"density": 0.02})")),
                "/density: it changes nothing here: ");
}

TEST_CASE("everything that is wrong with a request is told at once") {
  const auto told = [](const std::string& command) {
    const Ended ended = run_program(command);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    return ended.err;
  };
  const std::string wrong =
      told("run -P 4 --placement round_robin --set machine.fetch_s=1e-6 --set iterations=0");
  CHECK(contains(wrong, "thinwire: run: /placement: there is no platform"));
  CHECK(contains(wrong, "\nthinwire: run: /machine/fetch_s: no message is eager"));
  CHECK(contains(wrong, "/iterations: 0 is for a workload"));
  const std::string unknown = told("run --scheme topkaa --network linkz");
  CHECK(contains(unknown, "did you mean 'topka'?"));
  CHECK(contains(unknown, "did you mean 'links'?"));
  const std::string values = told("run --set links.routing=3 --set machine.eager=1 --set ranks=x");
  CHECK(contains(values, "/links/routing: 3 is not valid"));
  CHECK(contains(values, "/machine/eager: unknown key"));
  CHECK(contains(values, "/ranks: "));
  const std::string unread =
      told("run --strict --scheme dense_ring -P 4 -d 0.02 --overlap 0.5 --links");
  CHECK(contains(unread, "run: /density: "));
  CHECK(contains(unread, "run: /input/overlap: "));
  CHECK(contains(unread, "run: /record/links: "));
}

TEST_CASE("options that other options leave without effect are refused") {
  const std::string small = "run --network counting -n 1000 -k 50 -P 4 --scheme ";
  const std::vector<Case> cases{
      {"dragonn --set options.tensor_selection=false" + option("compress_s=0.1"), "compress_s",
       option("tensor_selection=true")},
      {"dragonn --set options.tensor_selection=false" + option("compress_s_per_entry=1e-9"),
       "compress_s_per_entry", option("tensor_selection=true")},
      {"oktopk" + option("nudge_low=0.8"), "nudge_low", option("nudge=true")},
      {"oktopk" + option("nudge_high=1.5"), "nudge_high", option("nudge=true")},
      {"oktopk" + option("nudge_factor=1.1"), "nudge_factor", option("nudge=true")},
      {"oktopk" + option("global_high=1.5"), "global_high", option("nudge=true")},
      {"oktopk" + option("global_raise=1.1"), "global_raise", option("nudge=true")},
      {"oktopk" + option("global_lower=1.1"), "global_lower", option("nudge=true")},
      {"topka+threshold_reuse" + option("nudge_low=0.8"), "nudge_low", option("nudge=true")},
      {"oktopk" + option("balancing=false") + option("trigger=2"), "trigger",
       option("balancing=true")},
      {"oktopk" + option("balanced_split=false") + option("tau=8"), "tau",
       option("balanced_split=true")},
      {"oktopk" + option("bucket=1") + option("sliding=false"), "sliding", option("bucket=2")},
      {"oktopk" + option("published=true") + option("sliding=false"), "sliding",
       option("published=false")},
      {"exdyna" + option("blocks=8") + option("blk_move=1024"), "blk_move", option("blk_move=2")},
      {"exdyna" + option("blk_move=0") + option("imbalance=1.5"), "imbalance",
       option("blk_move=1")},
      {"exdyna" + option("blk_move=0") + option("min_blk=2"), "min_blk", option("blk_move=1")},
      {"dgc" + option("resample_above=2"), "resample_above", option("resample=true")},
      {"gaussiank" + option("rounds=3"), "rounds", option("corrected=true")},
      {"gaussiank" + option("factor=1.1"), "factor", option("corrected=true")},
  };
  for (const Case& one : cases) {
    const Ended refused = strictly(small + one.flags);
    check_refused(refused, "run: /options/" + one.pointer + ": it changes nothing here: ");
    // A key is given once: what gives the effect replaces another value of its key.
    std::string flags = one.flags;
    const std::string key = one.with.substr(0, one.with.find('=') + 1);
    if (const std::size_t at = flags.find(key); at != std::string::npos) {
      flags.erase(at, flags.find(' ', at + key.size()) - at);
    }
    check_accepted(small + flags + one.with);
  }
  check_refused(strictly(small + "oktopk" + option("tau=8") + option("tau=16")),
                "--set options.tau=16: options.tau is given twice");
  // Defaults ask for nothing.
  check_accepted(small + "oktopk" + option("nudge_high=1.25") + option("sliding=true"));
  // Both have an effect of their own: static partitions, and partitions that cannot give.
  check_accepted(small + "exdyna" + option("blk_move=0"));
  check_accepted(small + "exdyna" + option("min_blk=1000"));
  check_refused(strictly(small + "oktopk" + option("nudge_low=0.8")),
                "nudge is false; set options.nudge=true, or leave it out");
}

TEST_CASE("prices of what no scheme of a run pays are refused") {
  const std::string small = "run -n 1000 -P 4 --scheme ";
  const std::string gathered = small + "allgather_ring --set machine.";
  const std::string copied = small + "dense_ring_segmented --set machine.";
  check_refused(strictly(gathered + "copy_s_per_word=1e-9"), "/machine/copy_s_per_word");
  check_refused(strictly(gathered + "page_s=1e-6"), "/machine/page_s");
  check_refused(strictly(gathered + "gamma_beyond_cache_s_per_word=1 --set machine.cache_bytes=1"),
                "/machine/gamma_beyond_cache_s_per_word");
  check_accepted(copied + "copy_s_per_word=1e-9");
  check_refused(strictly(copied + "registration_s=1e-6"), "/machine/registration_s");
  check_accepted(small + "topka,dense_ring -k 10 --set machine.page_s=1e-6");
  check_refused(strictly(small + "dense_ring --network counting --set machine.call_s=1"),
                "the network has no clock");
  const TemporaryFolder folder;
  const std::string goal = folder.write("two.goal", "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n");
  check_refused(strictly("run --goal " + goal + " -k 5"), "-k: a schedule does not read it");
  check_refused(strictly("run --goal " + goal + " --set machine.call_s=1"),
                "a schedule does not read it");
}

TEST_CASE("few destinations that are all are refused") {
  const std::string on_eight = "run -n 1000 -P 8 --scheme alltoall_linear --eager 4096 ";
  const std::string limit = "--set machine.destinations=";
  const std::string beyond = " --set machine.destinations_beyond=";
  // The formulas know of no such limit.
  CHECK(contains(run_program(on_eight + limit + "6 --format csv").out, ",,,-,"));
  check_accepted(on_eight + limit + "2" + beyond + "7");
  check_refused(strictly(on_eight + limit + "7"), "every rank reaches all others at once");
  CHECK(contains(strictly(on_eight + limit + "2" + beyond + "8").err,
                 "/machine/destinations_beyond: "));
  check_refused(strictly(on_eight + limit + "4294967297"), "at most 1048576");
  check_refused(strictly("run -P 8 --network counting --scheme topka " + limit + "1"),
                "the network counting does not use this setting");
  check_accepted("run -P 8,16 -n 1000 --scheme alltoall_linear --eager 4096 " + limit + "8");
  const TemporaryFolder folder;
  const std::string goal =
      folder.write("three.goal",
                   "num_ranks 3\nrank 0 {\nl1: send 8b to 1\nl2: send 8b to 2\n}\n"
                   "rank 1 {\nl1: recv 8b from 0\n}\nrank 2 {\nl1: recv 8b from 0\n}\n");
  check_accepted("run --goal " + goal + " --eager 64 " + limit + "1");
}

TEST_CASE("limits that recommend would not heed are refused") {
  const std::string fast = "recommend --model resnet50 --device a100 -P 4 --fast ";
  check_refused(strictly(fast + "--schemes topka --most-seconds 1"), "--most-seconds: ");
  check_refused(strictly(fast + "--most-ranks 8"), "--most-ranks: ");
}

TEST_CASE("an option of one of several schemes goes to this one") {
  const std::string several = "run --scheme topka,oktopk -n 1000 -k 50 -P 4";
  check_accepted(several + option("tau=2"));
  check_refused(strictly(several + option("nothing=2")), "unknown option 'nothing'");
  check_refused(strictly("run --scheme topka -n 1000 -k 50 -P 4" + option("tau=2")),
                "/options/tau: it changes nothing here: no scheme here has this option");
  const TemporaryFolder folder;
  const std::string sweep = folder.write("one.json", R"({"name": "one",
    "base": {"ranks": 4, "components": 1000, "k": 50, "options": {"tau": 2}},
    "grid": {"scheme": ["topka", "oktopk"]}})");
  check_accepted("sweep " + sweep + " -o " + folder.path("one.jsonl"));
}

TEST_CASE("combinations with exdyna's partitions, and empty selections, run") {
  for (const char* sparsifier : {"hard_threshold", "gaussian", "random_k", "threshold_reuse"}) {
    for (const char* scheme : {"exdyna", "micro"}) {
      check_accepted(std::string("run -P 4 -n 5000 -k 50 --scheme ") + scheme + "+" + sparsifier);
    }
  }
  for (const char* scheme : {"sidco", "hard_threshold", "exdyna", "micro", "topka", "oktopk"}) {
    check_accepted(std::string("run -P 8 --profile bert --statistical -k 0 --scheme ") + scheme);
  }
}

TEST_CASE("the end of a band is refused where no sparsifier has the band") {
  const std::string nudged = "run --network counting -n 1000 -k 50 -P 4" + option("nudge=true") +
                             option("nudge_high=1.5") + " --scheme ";
  for (const char* scheme : {"oktopk+dgc", "hierarchical_oktopk+exact_topk --set options.node=2"}) {
    check_refused(strictly(nudged + scheme),
                  "run: /options/nudge_high: it changes nothing here: this sparsifier reuses no "
                  "thresholds");
  }
  for (const char* scheme :
       {"oktopk", "oktopk+threshold_reuse", "topka+threshold_reuse", "oktopk+dgc,oktopk"}) {
    check_accepted(nudged + scheme);
  }
}

TEST_CASE("the first query of powersgd is refused where no value counts") {
  const std::string run = "run -n 1000 -P 4 --scheme powersgd" + option("warm_start=false");
  check_refused(strictly(run), "run: /options/warm_start: it changes nothing here: without error");
  check_accepted(run + " --set error_feedback=true");
}

TEST_CASE("a start-up has nothing that has settled to begin with or without") {
  for (const std::string scheme : {"exdyna", "micro"}) {
    const std::string run =
        "run -P 4 --profile lstm --statistical --scheme " + scheme + option("settled=false");
    check_refused(strictly(run + " --set input.start_up=true"),
                  "run: /options/settled: it changes nothing here: with input.start_up");
    check_accepted(run);
  }
}

TEST_CASE("the scale of gradients is refused where no scheme keeps a threshold") {
  const std::string profile =
      "run -P 4 -n 20000 --profile lstm --statistical --set input.start_up=true --scheme ";
  const std::string drifting =
      "run -P 4 -n 1000 -k 50 --set input.scale_drift=0.5 --iterations 3 --scheme ";
  for (const std::string& run : {profile, drifting}) {
    for (const char* scheme : {"topka", "dgc", "gaussiank,zen", "dsar_split_allgather"}) {
      check_refused(strictly(run + scheme), "it changes nothing here: it moves the scale");
    }
    for (const char* scheme : {"oktopk", "hard_threshold", "exdyna", "topka,micro"}) {
      check_accepted(run + scheme);
    }
  }
  check_accepted(drifting + "topka --set error_feedback=true");
}

TEST_CASE("a seed is refused with a trace where no sparsifier draws") {
  const std::string run = "run --trace lstm_all --iterations 2 --format csv --seed ";
  // What is said of a row's point, and the time.
  const auto results = [&](int seed, const std::string& scheme) {
    const Ended ended = run_program(run + std::to_string(seed) + " --scheme " + scheme);
    INFO(ended.err);
    REQUIRE(ended.exit_code == 0);
    return ended.out;
  };
  for (const char* scheme : {"topka", "oktopk", "deft", "zen", "hard_threshold", "sidco",
                             "dsar_split_allgather", "spardl", "dense_ring,gaussiank"}) {
    check_refused(strictly(run + "2 --scheme " + scheme), "run: /seed: it changes nothing here");
  }
  for (const char* scheme : {"dgc", "random_k", "exdyna"}) {
    CAPTURE(std::string(scheme));
    CHECK(results(2, scheme) != results(3, scheme));
  }
  check_accepted(run + "2 --scheme topka --set machine.noise_s=1e-6");
  check_accepted(run + "2 --scheme topka,micro");
}

TEST_CASE(
    "settings that a scheme, a network or another setting leaves without effect are refused") {
  const std::string run = "run -P 8 -n 1000 --scheme ";
  check_refused(strictly(run + "qsgd,signsgd,quantised_alltoall --value-bits 16"),
                "/gradient/value_bits: it changes nothing here");
  check_accepted(run + "qsgd,dense_ring --value-bits 16");
  check_refused(strictly(run + "alltoall_bruck --set machine.registration_s=1"),
                "/machine/registration_s: it changes nothing here");
  check_accepted(run + "alltoall_bruck --set machine.page_s=1e-6");
  check_refused(strictly(run + "topka --set machine.handshake=true"),
                "it takes latencies, and there are none");
  check_accepted(run + "topka --set machine.handshake=true --set machine.latency_s=1e-6");
  const std::string fetching = run + "topka --eager 4096 --set machine.fetch_s=1e-6 ";
  check_refused(strictly(fetching + "--set machine.fetch_beyond_bytes=4096"),
                "/machine/fetch_beyond_bytes: no eager message is longer");
  check_accepted(fetching + "--set machine.fetch_beyond_bytes=4095");
  const std::string slow = run + "topka --gamma 1e-9 --set stragglers.ranks=2 ";
  check_refused(strictly(slow + "--set stragglers.factor=1"), "as fast as the others");
  check_accepted(slow + "--set stragglers.factor=1.5");
  check_refused(strictly("run -b 1M -f 4 -P 4 --scheme dense_ring"), "-f: there is one size");
  check_refused(strictly("list --schema --costs"), "--costs: is about schemes");
  check_refused(strictly("topo show gige_star --export dot --format json"),
                "--format: a graph has a form of its own");
  check_refused(strictly("recommend --model vgg16 -P 4 --set record.ranks=true"),
                "/record: nothing shows what is recorded");
  const std::string selection = "trace selection vgg16 --iterations 4 --ranks 2 ";
  check_refused(strictly(selection + "--series --from 2"), "--from: a series has all");
  check_refused(strictly(selection + "--sparsifier threshold_reuse:nudge_low=0.5"),
                "nudge_low changes nothing here: nudge is false");
  check_accepted(selection + "--from 1 --sparsifier threshold_reuse:nudge_low=0.5,nudge=true");
}

TEST_CASE("a sweep's options of a scheme are given once, and to a scheme that it runs") {
  const TemporaryFolder folder;
  const auto sweep = [&](const std::string& more) {
    const std::string file = folder.write("one.json", R"({"name": "one", )" + more + "}");
    return run_program("sweep " + file + " --dry-run");
  };
  const std::string of_oktopk = R"("options_of": {"oktopk": {"tau": 9}})";
  const std::string both = R"("grid": {"scheme": ["topka", "oktopk"]})";
  const std::string without = R"("except": [{"scheme": ["oktopk"]}])";
  CHECK(sweep(R"("base": {"ranks": 4}, )" + both + ", " + of_oktopk).exit_code == 0);
  check_refused(sweep(R"("base": {"options": {"tau": 4}}, )" + both + ", " + of_oktopk),
                "/options_of/oktopk/tau: the base gives it too");
  check_refused(
      sweep(R"("base": {"scheme": "oktopk"}, "grid": {"options.tau": [3, 5]}, )" + of_oktopk),
      "/options_of/oktopk/tau: the grid gives it too");
  check_refused(sweep(R"("base": {}, )" + both + ", " + of_oktopk + ", " + without),
                "/options_of/oktopk: is no scheme of the sweep");
  check_refused(sweep(R"("base": {"options": {"tau": 9}}, )" + both + ", " + without),
                "/base/options/tau: it changes nothing here: no scheme here has this option");
}

TEST_CASE("a tolerance that judges no training says so") {
  const TemporaryFolder folder;
  const Ended training = run_program("run --scheme topka -P 4 --model vgg16 --format jsonl");
  REQUIRE(training.exit_code == 0);
  const Ended ended =
      run_program("compare --tolerance 1 " + folder.write("training.jsonl", training.out));
  CHECK(ended.exit_code == 1);
  CHECK(contains(ended.err,
                 "1 of 1 results cannot be compared: an iteration of a training takes longer"));
}

TEST_CASE("jobs that run together share the network, and no work of their ranks") {
  const std::string jobs =
      "concurrent --platform gige_star -n 1000 --job scheme=dense_ring,ranks=4,";
  for (const char* own :
       {"machine.gamma_s_per_word=1e-9", "machine.copy_s_per_word=1e-9", "machine.page_s=1e-7",
        "machine.registration_s=1e-7", "machine.registration_s_per_word=1e-9",
        "machine.call_s=1e-6", "placement=random:1", "record.ranks=false"}) {
    check_accepted(jobs + own + " --job scheme=dense_ring,ranks=4");
  }
  for (const char* shared : {"machine.eager_bytes=1024", "machine.overhead_s=1e-6",
                             "latency_factor=2", "links.background_share=0.1"}) {
    check_refused(run_program(jobs + shared + " --job scheme=dense_ring,ranks=4"),
                  "which all jobs share");
  }
}

TEST_CASE("jobs that run together have one seed of what the network draws") {
  const std::string jobs =
      "concurrent --platform gige_star -n 1000 --job scheme=topka,ranks=4,seed=1 ";
  const std::string noise = "--set machine.noise_s=1e-5 ";
  check_refused(strictly(jobs + noise + "--job scheme=dense_ring,ranks=4,seed=7"),
                "the seed of what the network draws");
  check_accepted(jobs + "--job scheme=topka,ranks=4,seed=7");
  check_refused(strictly(jobs + "--job scheme=topka,ranks=4,seed=1,start_s=1e5"),
                "expected at most 10000 seconds");
  const TemporaryFolder folder;
  const std::string config = folder.write("jobs.json", R"({
    "base": {"platform": "gige_star", "components": 1000, "ranks": 9, "options": {"tau": 3}},
    "jobs": [{"ranks": 4, "scheme": "oktopk"}, {"ranks": 5, "scheme": "oktopk"}]})");
  check_refused(strictly("concurrent --config " + config),
                "/base/ranks: every job has one of its own");
}

TEST_CASE("settings of selections are refused where all schemes are dense") {
  const std::string dense = "run --network alphabeta -n 1000 -P 4 --scheme dense_ring,qsgd ";
  const std::string either = "run --network alphabeta -n 1000 -P 4 --scheme dense_ring,topka ";
  for (const auto& [flags, pointer] :
       std::vector<std::pair<std::string, std::string>>{{"-d 0.1", "/density"},
                                                        {"-k 10", "/k"},
                                                        {"--overlap 0.5", "/input/overlap"},
                                                        {"--skew 1", "/input/skew"},
                                                        {"--set input.drift=0.5", "/input/drift"},
                                                        {"--set input.tail=0.5", "/input/tail"},
                                                        {"--index-bits 64", "/gradient/index_bits"},
                                                        {"--seed 7", "/seed"},
                                                        {"--seed 7,8", "/seed"}}) {
    check_refused(strictly(dense + flags), "run: " + pointer + ": it changes nothing here: ");
    check_accepted(either + flags);
  }
  check_refused(strictly(dense + "--set input.scale_drift=0.5"), "run: /input/scale_drift: ");
  check_refused(strictly(dense + "-d 0.1"), "leave it out, or add a sparse scheme");
  check_accepted(dense + "--seed 1 --overlap 0.2");  // the defaults
  // What a seed draws beside gradients.
  check_accepted(dense + "--seed 7 --set machine.noise_s=1e-6");
  check_accepted(dense + "--seed 7 --gamma 1e-9 --set stragglers.ranks=1");
  const std::string links = "run --network links --platform fat_tree -n 1000 -P 4 --seed 7 ";
  check_refused(strictly(links + "--scheme dense_ring"), "run: /seed: ");
  check_refused(strictly(links + "--scheme dense_ring --placement random:1"), "run: /seed: ");
  check_accepted(links + "--scheme dense_ring --routing ecmp");
  check_accepted(links + "--scheme dense_ring --background-flows 0.1");
  // Residuals of approximate values depend on the values.
  const std::string carried = "run -n 1000 -P 4 --set error_feedback=true --scheme ";
  check_refused(strictly(carried + "dense_ring"), "run: /error_feedback: ");
  check_accepted(carried + "qsgd -d 0.1 --seed 7 --overlap 0.5");

  const std::string model = "run -P 4 --model vgg16 --set workload.feedback=momentum --scheme ";
  check_refused(strictly(model + "dense_ovlp,qsgd"), "run: /workload/feedback: ");
  check_accepted(model + "dense_ovlp,topka");
  check_accepted(model + "powersgd");
}

TEST_CASE("the price of sums is refused where no sum takes time") {
  const std::string gamma = "run -n 1000 -P 4 --gamma 1e-9 --scheme ";
  const std::string pointer = "/machine/gamma_s_per_word: it changes nothing here: ";
  check_refused(strictly(gamma + "alltoall_linear,allgather_ring"), pointer);
  check_refused(strictly(gamma + "topka --network counting"), pointer);
  check_accepted(gamma + "alltoall_linear,reduce_scatter_ring");
  check_accepted(gamma + "topka");
}

TEST_CASE("tensors are refused where no scheme looks at them") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("point.json", R"({"components": 1000, "k": 50, "tensors": [600, 400]})");
  const std::string run = "run -P 4 --config " + config + " --scheme ";
  check_refused(strictly(run + "topka,oktopk"), config + ": /tensors: it changes nothing here: ");
  for (const char* scheme : {"dragonn", "deft", "powersgd,topka", "topk_allreduce+deft"}) {
    check_accepted(run + scheme);
  }
}

TEST_CASE("A sweep, jobs and candidates are refused what changes none of them") {
  const TemporaryFolder folder;
  const auto sweep = [&](const std::string& text) {
    return run_program("sweep " + folder.write("sweep.json", text) + " --dry-run");
  };
  check_refused(sweep(R"({"name":"x","base":{"density":0.1,"ranks":4},
                          "grid":{"scheme":["dense_ring","qsgd"]}})"),
                "/base/density: it changes nothing here: ");
  check_refused(sweep(R"({"name":"x","base":{"scheme":"dense_ring"},"grid":{"seed":[1,2]}})"),
                "/grid/seed: it changes nothing here: ");
  check_refused(sweep(R"({"name":"x","base":{"options":{"bucket":1}},
                          "grid":{"options.sliding":[true,false]}})"),
                "/grid/options.sliding: it changes nothing here: ");
  check_refused(sweep(R"({"name":"x","grid":{"scheme":["topka","oktopk"]},
                          "options_of":{"oktopk":{"nudge_low":0.8}}})"),
                "/options_of: options.nudge_low: it changes nothing here: ");
  const Ended accepted = sweep(R"({"name":"x","base":{"density":0.1,"ranks":4},
      "grid":{"scheme":["dense_ring","oktopk"],"seed":[1,2]}})");
  CHECK(accepted.exit_code == 0);
  CHECK(sweep(R"({"name":"x","grid":{"options.sliding":[true,false],"options.bucket":[1,4]}})")
            .exit_code == 0);

  const std::string jobs = "concurrent --platform fat_tree --overlap 0.5 --job ranks=4,scheme=";
  check_refused(strictly(jobs + "dense_ring --job ranks=4,scheme=qsgd"),
                "concurrent: /input/overlap: ");
  check_accepted(jobs + "dense_ring --job ranks=4,scheme=topka");

  const std::string recommend = "recommend --model vgg16 -P 4 --fast --schemes ";
  check_refused(strictly(recommend + "dense_ring,dense_ovlp -d 0.1"), "recommend: /density: ");
  check_refused(strictly(recommend + "topka,dense_ring --set options.tau=8"),
                "recommend: /options/tau: it changes nothing here: no scheme here has this option");
  check_accepted(recommend + "topka,dense_ovlp -d 0.1 --set options.bucket_words=1M");
  check_accepted(recommend + "topka,oktopk --set options.tau=64");  // the default of one
}

TEST_CASE("the point of a row runs again as it is") {
  const TemporaryFolder folder;
  const std::string row = run_program("run --scheme dense_ring -P 4 --format jsonl").out;
  const std::string config =
      folder.write("point.json", thinwire::Json::parse(row).at("point").dump());
  check_accepted("run --config " + config);
  check_accepted("run --config " + config + " -P 8");
  check_refused(strictly("run --config " + config + " --overlap 0.5"), "/input/overlap: ");
}

TEST_CASE("there is a warning if messages of any length are eager") {
  const std::string run = "run --scheme dense_ring -P 4 -n 1000 --eager ";
  const Ended warned = run_program(run + "1G");
  CHECK(warned.exit_code == 0);
  CHECK(warned.err.find("--eager (machine.eager_bytes) is above 1 MiB") != std::string::npos);
  CHECK(run_program(run + "1MiB").err.empty());
  CHECK(run_program(run + "64KiB").err.empty());
}
