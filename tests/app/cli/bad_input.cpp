#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "tests/app/cli/program.hpp"

using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;

TEST_CASE("bad flags are refused in one line that says what would be right") {
  const std::array<std::pair<const char*, const char*>, 106> cases{{
      {"run --scheme okto", "unknown scheme 'okto'; did you mean 'oktopk'?"},
      {"run --scheme ''", "unknown scheme ''"},
      {"run --network alphabeth", "did you mean 'alphabeta'?"},
      {"run -P 0", "/ranks: 0 is not valid; expected integer, at least 1"},
      {"run -P -3", "/ranks: -3 is not valid"},
      {"run -P 2.5", "--ranks"},
      {"run -P abc", "--ranks"},
      {"run -d 1.5", "/density: 1.5 is not valid; expected number, at least 0, at most 1"},
      {"run -d -0.1", "/density"},
      {"run -d nan", "/density: nan is not a finite number"},
      {"run --alpha inf", "/machine/alpha_s: inf is not a finite number"},
      {"run --alpha -1", "/machine/alpha_s"},
      {"concurrent --job scheme=topka --job start_s=nan", "nan is not a finite number"},
      {"run -n 100 -k 101", "/k: 101 is more than the 100 components"},
      {"run --set input.overlp=0.5",
       "/input/overlp: unknown key 'overlp'; did you mean 'overlap'?"},
      {"run --set options.tua=3", "unknown option 'tua'; did you mean 'tau'?"},
      {"run --set options.tau=true", "option 'tau' must be a whole number"},
      {"run --set options.tau=0", "option 'tau' must be at least 1"},
      {"run --scheme topka+random_k --set options.shared=3",
       "option 'shared' must be true or false: it is random_k's"},
      {"run --set P=8", "unknown key 'P'; did you mean 'ranks'?"},
      {"run --set n=1000", "unknown key 'n'; did you mean 'components'?"},
      {"run --set alpha=1e-6", "unknown key 'alpha'; did you mean 'machine.alpha_s'?"},
      {"run --scheme dense_ring_segmented -P 2 -n 5e9 --set options.segment_bytes=4",
       "2500000000 pieces of each of 2 parts of a message are more than can be numbered"},
      {"run --scheme dense_double_tree -P 4 -n 5e9 --set options.chunk_words=1",
       "give longer ones, by segment_bytes or chunk_words"},
      {"run --scheme nccl_ring -P 4 -n 3e9 --set options.chunk_words=1", "pieces of each of"},
      {"run --scheme nccl_tree -P 4 -n 5e9 --set options.chunk_words=1", "pieces of each of"},
      {"run --scheme exdyna --set options.step=1.2", "option 'step' must be at most 0.5"},
      {"run --set nonsense", "expected KEY=VALUE"},
      {"run --format yaml", "--format"},
      {"run --frobnicate", "--frobnicate"},
      {"runn", "'runn' is no command; did you mean 'run'?"},
      {"topo shw aries_daint", "'shw' is no command; did you mean 'show'?"},
      {"topo", "which command? show, make, check"},
      {"topo show fat_tree --top 3", "--top is for --traffic: give that too, or leave --top out"},
      {"topo show fat_tree --route a b --traffic shift",
       "--route and --traffic do not go together: leave one of them out"},
      {"run -P 4 -P 8", "--ranks is given more than once"},
      {"run --platfrom fat_tree", "'--platfrom' is no option of"},
      {"run --platfrom=fat_tree", "did you mean '--platform'?"},
      {"run -P 8,x", "--ranks: 'x' is not valid"},
      {"run -P 8,16 --timeline t.json", "--timeline: one run has one timeline"},
      {"recommend --model bert -P 25,5", "--ranks: '25,5' is not valid; expected one value"},
      {"list schemes --costs -n 1.5", "--components: '1.5' is not valid; expected a whole number"},
      {"list schemes --costs -d 2us", "--density: '2us' is not valid; expected a number, as in"},
      {"list schemes --costs -P 0", "expected a whole number from 1 to 1048576"},
      {"sweep table1 --dry-run --memory-limit 2G", "expected a whole number, as in 2048 or 2GiB"},
      {"recommend --model bert --most-ranks 3G", "is not valid; expected at most 2147483647"},
      {"trace synth bert -o x.h5 --seed -1", "is not valid; expected a whole number from 0"},
      {"list profile", "'profile' is not known; did you mean 'profiles'?"},
      {"run --format yaml",
       "--format: 'yaml' is not known; known are table, markdown, csv, json, jsonl"},
      {"-n 5", "'-n' is no option of 'thinwire'"},
      {"run --scheme oktopk -P 8 --set ranks=4", "a flag already gives ranks"},
      {"run --scheme topka --set ranks=8 --set ranks=16", "--set ranks=16: ranks is given twice"},
      {"run --alpha 2us --set machine={}", "a flag already gives machine.alpha_s"},
      {"recommend --model bert -P 4 --fast --set ranks=8", "a flag already gives ranks"},
      {"recommend --model bert --nodes 4", "--nodes: of how many GPUs each? give --gpus too"},
      {"recommend --model bert --gpus 4", "--gpus: on how many nodes? give --nodes too"},
      {"recommend --model bert --gpus 4 --nodes 2 -P 8", "--ranks gives the number of ranks"},
      {"recommend --model bert --nodse 4", "did you mean '--nodes'?"},
      {"run --np 4", "did you mean '--ranks'?"},
      {"topo make fat_tree --bandwith 25Gbps",
       "'--bandwith' is no option of 'thinwire topo make fat_tree'; did you mean '--bandwidth'?"},
      {"topo make leaf-spine --racks 2", "fat_tree: racks alone does not tell the hosts"},
      {"topo make leafspine", "did you mean 'leaf_spine'?"},
      {"recommend --model bert -P 4 --fast --set workload.model=url",
       "a flag already gives workload.model"},
      {"concurrent --platform gige_star -d 0.1 --set density=0.2 --job ranks=4",
       "a flag already gives density"},
      {"concurrent --platform gige_star -P 8 --job ranks=4", "every job has a ranks of its own"},
      {"concurrent --platform gige_star --set seed=2 --job ranks=4,seed=1 --job ranks=4,seed=3",
       "--set seed=2: every job has a seed of its own"},
      {"run --network links --platform gige_star -P 4 --set links.slow_links=a=0.5,a=0.5",
       "'a=0.5': a is given twice"},
      {"list schemes --markdown --format csv", "--markdown has a form of its own"},
      {"run --scheme dense_ring -P 2 --sizes 4:1G:1.0001", "sizes are too many"},
      {"run --scheme dense_ring -P 16 --approximate 4", "exact values differ"},
      {"run --scheme topka --time-unit 1us", "--time-unit is for --goal: give that too"},
      {"run --scheme topka --timeline t.json -j 2", "-j: one process records a timeline"},
      {"run -j 0", "--jobs"},
      {"trace selection vgg16 --iterations 50", "no iteration from 100 on"},
      {"trace selection lstm_oktopk --seed 3", "--seed: a trace has its own"},
      {"trace selection vgg16 --residual-rule all", "a profile has one residual a rank"},
      {"trace fill-in bert --never 0.995", "from 0 to 0.99"},
      {"concurrent --platform gige_star --links --job ranks=4", "jobs record nothing"},
      {"export --scheme topka -P 3 --goal s.goal --by-rank", "a schedule has no place for it"},
      {"recommend --model vgg16 --schemes topka,gtopk --fast --most-ranks 64", "--fast leaves out"},
      {"recommend --model vgg16 --set scheme=topka", "--schemes names the schemes"},
      {"list platforms -P 4", "-P: only --costs"},
      {"list schemes --schema", "--schema is about settings"},
      {"list platforms --markdown", "--markdown is not about platforms"},
      {"topo make star --nodes 4", "'--nodes' is no option of 'thinwire topo make star'"},
      {"run -x", "'-x' is no option of 'thinwire run'"},
      {"run -d -0.1 --formt csv", "'--formt' is no option of 'thinwire run'; did you mean"},
      {"run foo", "'foo' is one argument too many for 'thinwire run'"},
      {"sweep", "CONFIG.json is missing: JSON file with the sweep"},
      {"compare", "RESULTS.jsonl... is missing: results of sweeps"},
      {"recommend", "--model is missing: model to train, see 'thinwire list models'"},
      {"run --scheme", "--scheme: expected NAME after it"},
      {"topo show fat_tree --route a", "--route: expected HOST HOST after it"},
      {"run --strict --device v100",
       "/workload/device: is for runs with a model; give workload.model (--model)"},
      {"topo help shw", "'shw' is no command; did you mean 'show'?"},
      {"run --platform fat_tre",
       "unknown platform 'fat_tre'; did you mean 'fat_tree'? (the name of a file ends in .xml"},
      {"run --model bert --device h1000", "did you mean 'h100'?"},
      {"claims sparcml --quick", "--quick: is a choice of claims; leave it out, or the ids"},
      {"recommend --model vgg16 -P 4 --schemes topka,dense_ring --most-ranks 7",
       "--most-ranks: 7 is less than twice the 4 ranks; give 8 at least"},
      {"recommend --nccl-tuner r --ompi-rules r -P 4", "--ompi-rules: --nccl-tuner writes that"},
      {"topo make star hosts=9 hosts=8", "hosts is given twice"},
      {"topo show gige_star --dot y --graphml y", "--graphml: --dot writes that file"},
      {"run --scheme oktopk -P 4 --profile bert --statistical --set input.reach=4 --strict",
       "/input/reach: it changes nothing here: statistical values hold no entries"},
      {"claims --list --format json", "--list: prints ids and runs no claim"},
      {"list settings --schema --markdown", "leave one of them out"},
      {"help runn", "'runn' is no command; did you mean 'run'?"},
  }};
  for (const auto& [arguments, what] : cases) {
    CAPTURE(arguments);
    check_refused(run_program(arguments), what);
  }
}

TEST_CASE(
    "a config's wrong key or value is named with its JSON pointer and the nearest right key") {
  const TemporaryFolder folder;
  const std::array<std::pair<const char*, const char*>, 16> cases{{
      {R"({"name":"x","ranks":[4,8]})", "/ranks: unknown key 'ranks'; did you mean 'grid.ranks'?"},
      {R"({"name":"x","machine":{"alpha_s":1}})",
       "unknown key 'machine'; did you mean 'base.machine'?"},
      {R"({"name":"x","P":4})", "/P: unknown key 'P'; did you mean 'base.ranks'?"},
      {R"({"name":"x","base":{"rank":4}})",
       "/base/rank: unknown key 'rank'; did you mean 'ranks'?"},
      {R"({"name":"x","bas":{}})", "/bas: unknown key 'bas'; did you mean 'base'?"},
      {R"({"name":"x","grid":{"ranks":[4,"many"]}})", "json: /grid/ranks/1: \"many\" is not valid"},
      {R"({"name":"x","grid":{"ranks":[]}})", "/grid/ranks: [] is not valid"},
      {R"({"name":"x","base":{"ranks":8},"grid":{"ranks":[4]}})",
       "json: /base/ranks: the grid gives it too, so this value is not used; leave it out"},
      {R"({"name":"x","base":{"input":{"skew":0.5}},"grid":{"input.skew":[0.1]}})",
       "json: /base/input/skew: the grid gives it too"},
      {R"({"name":"x","grid":{"input.skw":[1]}})",
       "json: /grid/input.skw/0: unknown key 'skw'; did you mean 'skew'?"},
      {R"({"name":"x","grid":{"input":[{"skew":0},{"skew":99}]}})",
       "json: /grid/input/1/skew: 99 is not valid"},
      {R"({"name":"x","base":{"machine":{"alpha_s":"fast"}}})", "/base/machine/alpha_s: \"fast\""},
      {R"({"base":{}})", "the key 'name' is missing"},
      {R"({"name":"x","grid":{"scheme":["topka","topkb"]}})",
       "/grid/scheme/1: unknown scheme 'topkb'; did you mean 'topka'?"},
      {R"({"name":"x","base":{"k":3,"density":0.1}})",
       "'k' (-k) or 'density' (--density), not both"},
      {"[1, 2]", "[1,2] is not valid"},
  }};
  for (const auto& [config, what] : cases) {
    CAPTURE(config);
    const std::string path = folder.write("config.json", config);
    const Ended ended = run_program("sweep " + path + " -o " + folder.path("out.jsonl"));
    check_refused(ended, what);
    CHECK(ended.err.find(path) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.path("out.jsonl")));
  }
}

TEST_CASE("a config that is no JSON is refused with line and column") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("config.json", "{\n  \"name\": \"x\",\n  \"base\": {,}\n}\n");
  check_refused(run_program("sweep " + path), path + ":3:12: not JSON");
}

TEST_CASE("missing files are named") {
  check_refused(run_program("sweep no-such.json"), "no-such.json: cannot be read");
  check_refused(run_program("compare no-such.jsonl"), "no-such.jsonl: cannot be read");
  check_refused(run_program("run --config no-such.json"), "no-such.json: cannot be read");
}

TEST_CASE("an output that cannot be written is found before the first point runs") {
  const TemporaryFolder folder;
  const std::string config = folder.write("config.json", R"({"name":"x"})");
  const std::string file = folder.write("file", "");
  check_refused(run_program("sweep " + config + " -o " + file + "/out.jsonl"), "cannot be written");
  check_refused(run_program("sweep " + config + " -o " + folder.path("")), "is not a regular file");
}

TEST_CASE("an output that is an input is refused before it is lost") {
  const TemporaryFolder folder;
  const std::string results =
      folder.write("r.html", run_program("run --scheme topka -P 2 -n 100 --format jsonl").out);
  const std::string model = folder.write("m.json", "{}");
  const std::string trace = folder.path("t.h5");
  REQUIRE(run_program("trace synth bert -n 1000 -P 2 --iterations 2 -o " + trace).exit_code == 0);
  const auto kept = [](const std::string& path, const std::string& command) {
    const std::string before = thinwire::testing::text_of(path);
    check_refused(run_program(command), path + ": it is read, and would be lost");
    CHECK(thinwire::testing::text_of(path) == before);
  };
  kept(results, "report " + results + " -o " + results);
  kept(trace, "trace fit " + trace + " -o " + trace);
  const std::string star = folder.path("star.xml");
  REQUIRE(run_program("topo make star --hosts 4 -o " + star).exit_code == 0);
  const std::string run = " --scheme topka -P 2 -n 100 --network links --platform " + star;
  kept(star, "run" + run + " --timeline " + star);
  kept(star, "export" + run + " --goal " + star);
  kept(star, "topo show " + star + " --dot " + star);
  kept(star, "recommend --ompi-rules " + star + " -P 2 -b 1K -e 1K --platform " + star);
  const std::string note = folder.write("note.txt", "of a test");
  kept(note, "topo make star notes=" + note + " -o " + note);
  const std::string point = folder.write("p.json", R"({"scheme": "topka", "ranks": 2})");
  kept(point, "run --config " + point + " --timeline " + point);
}

TEST_CASE("results of another schema, or no results at all, are refused with their line") {
  const TemporaryFolder folder;
  check_refused(run_program("compare " + folder.write("a", "{\"schema\":99}\n")),
                ":1: /schema: this version reads rows of schema 2");
  check_refused(run_program("compare " + folder.write("b", "{\"x\":1}\n")),
                ":1: this is not a row of results");
  check_refused(run_program("compare " + folder.write("c", "hello\n")), ":1: not JSON");
  check_refused(run_program("compare " + folder.write("d", "")), "holds no results");
  const std::string row = run_program("run -n 1000 --format jsonl").out;
  check_refused(run_program("compare " + folder.write("e", row) + " --tolerance -1"),
                "--tolerance");
}
