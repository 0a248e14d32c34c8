#include "sim/app/plan/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/setting_members.hpp"
#include "sim/app/plan/sparsity.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/machine/workloads/device.hpp"

namespace thinwire::plan {

namespace {

using enum NetworkId;

/// The networks that take a platform, those on which hosts cost time, and those with a clock.
constexpr NetworkSet kOnPlatforms{links, smpi, alphabeta};
constexpr NetworkSet kWithHosts{links, alphabeta};
constexpr NetworkSet kClocks{links, smpi, alphabeta};
constexpr NetworkSet kSimulated{links, smpi, alphabeta, counting};

bool without_platform(const Point& point) { return point.platform.empty(); }
bool has_slow_ranks(const Point& point) { return point.stragglers.ranks > 0; }
bool with_overhead(const Point& point) {
  return kWithHosts.has(point.network->id) &&
         (point.platform.empty() || point.machine.host.overhead > Seconds(0));
}

Settings declared() {
  using A = Aspect;
  return {
      with({.path = "scheme",
            .aspect = A::scheme,
            .flag = "--scheme",
            .help = "a scheme, or SCHEME+SPARSIFIER, see 'thinwire list schemes'"},
           THINWIRE_MEMBER(scheme)),
      {.path = "options",
       .kind = SettingKind::options,
       .aspect = A::scheme,
       .help = "options of the scheme, see 'thinwire list schemes'",
       .get = options_of,
       .set = take_options},
      with({.path = "network",
            .aspect = A::place,
            .flag = "--network",
            .help = "alphabeta, links, smpi, counting or mpi, see 'thinwire list networks'"},
           THINWIRE_MEMBER(network)),
      with({.path = "platform",
            .aspect = A::place,
            .flag = "--platform",
            .networks = kOnPlatforms,
            .standard = std::string(kDefaultPlatform) + " for links and smpi, none for alphabeta",
            .help = "a shipped platform, see 'thinwire list platforms', or the path of a platform "
                    "XML, or of a machine's description (.json), which has a platform and settings "
                    "for it; alphabeta takes its end-to-end α and β from it"},
           THINWIRE_MEMBER(platform)),
      with({.path = "placement",
            .aspect = A::place,
            .flag = "--placement",
            .networks = kOnPlatforms,
            .when = {&kWithPlatform},
            .help = "placement of ranks on hosts: block, round_robin, per_node:RANKS, random:SEED, "
                    "or a file with one host per line, or a CSV with columns rank and node"},
           THINWIRE_MEMBER(placement)),
      with({.path = "latency_factor",
            .aspect = A::place,
            .least = 1e-6,
            .most = 1e6,
            .networks = kOnPlatforms,
            .when = {&kWithPlatform, &kWithoutPackets},
            .standard = "1",
            .help = "factor on all latencies of the platform and on its message gap"},
           THINWIRE_MEMBER(latency_factor), Written::if_set),
      with({.path = "bandwidth_factor",
            .aspect = A::place,
            .least = 1e-6,
            .most = 1e6,
            .networks = kOnPlatforms,
            .when = {&kWithPlatform, &kWithoutPackets},
            .standard = "1",
            .help = "factor on all bandwidths of the platform"},
           THINWIRE_MEMBER(bandwidth_factor), Written::if_set),
      with({.path = "packets",
            .aspect = A::place,
            .flag = "--packet",
            .networks = {smpi},
            .help = "ns-3's packets instead of flows; for small P on flat platforms"},
           THINWIRE_MEMBER(packets)),
      with({.path = "time_resolution_s",
            .aspect = A::place,
            .flag = "--time-resolution",
            .most = 0.001,
            .networks = {smpi},
            .when = {&kWithoutPackets},
            .help = "events that are no further apart than this happen together; 0 is exact, 1e-6 "
                    "is several times faster on congested platforms"},
           THINWIRE_MEMBER(time_resolution)),
      with({.path = "flows_per_port",
            .aspect = A::place,
            .flag = "--flows-per-port",
            .least = 0,
            .most = 1'000'000,
            .networks = {smpi},
            .when = {&kWithoutPackets},
            .help = "messages that the port of a host serves at once while others wait; 0: all "
                    "share it. 1 is faster with many messages in flight, but changes the times"},
           THINWIRE_MEMBER(flows_per_port)),
      with({.path = "machine.gamma_s_per_word",
            .flag = "--gamma",
            .when = {&kWithoutModel, &kOfTime, &kOfSums},
            .in_formulas = true,
            .help = "γ: time per word that is reduced"},
           THINWIRE_MEMBER(machine.gamma_per_word)),
      with({.path = "machine.gamma_beyond_cache_s_per_word",
            .when = {&kWithoutModel, &kOfTime, &kOfSums},
            .in_formulas = true,
            .help = "γ of words that do not fit into 'cache_bytes'; 0: the same γ"},
           THINWIRE_MEMBER(machine.gamma_beyond_cache), Written::if_set),
      with({.path = "machine.cache_bytes",
            .in_formulas = true,
            .help = "a rank's share of the last-level cache, which its gradient and the sum fill; "
                    "0: as large as any vector"},
           THINWIRE_MEMBER(machine.cache), Written::if_set),
      with({.path = "machine.alpha_s",
            .flag = "--alpha",
            .networks = {alphabeta, mpi},
            .when = {&kWithoutPlatform},
            .in_formulas = true,
            .help = "α (LogGP's g): time that a message keeps a port busy"},
           THINWIRE_MEMBER(machine.alpha), without_platform),
      with({.path = "machine.beta_s_per_word",
            .flag = "--beta",
            .networks = {alphabeta, mpi},
            .when = {&kWithoutPlatform},
            .in_formulas = true,
            .help = "β (LogGP's G): time per word of 4 bytes"},
           THINWIRE_MEMBER(machine.beta_per_word), without_platform),
      with({.path = "machine.latency_s",
            .networks = {alphabeta},
            .when = {&kWithoutPlatform},
            .help = "LogGP's L: time from port to port"},
           THINWIRE_MEMBER(machine.latency), without_platform),
      with({.path = "machine.overhead_s",
            .networks = kWithHosts,
            .help = "LogGP's o: processor time per message, on each side"},
           THINWIRE_MEMBER(machine.host.overhead), with_overhead),
      with({.path = "machine.host_latency_s",
            .networks = kWithHosts,
            .help =
                "time of a message between processor and NIC, on both sides together, in addition "
                "to the latency of its route; several messages spend it at the same time"},
           THINWIRE_MEMBER(machine.host.latency), Written::if_read_and_set),
      with(
          {.path = "machine.call_s",
           .when = {&kWithoutModel, &kOfTime, &kOfCalls},
           .help = "time before the first message of an iteration: the call of the collective, and "
                   "ranks that do not begin at the same moment"},
          THINWIRE_MEMBER(machine.call), Written::if_set),
      with({.path = "machine.eager_bytes",
            .flag = "--eager",
            .networks = kWithHosts,
            .help = "messages up to this size begin before their receive is posted, as short ones "
                    "do in MPI libraries; with 0 none do, as on smpi. With a large limit a port "
                    "may be busy with messages that nobody waits for yet: beyond 1 MiB there is a "
                    "warning"},
           THINWIRE_MEMBER(machine.host.eager), Written::if_read),
      with({.path = "machine.eager_copy_s_per_word",
            .networks = kWithHosts,
            .when = {&kWithEager},
            .help = "processor time to copy a word of a message up to 'eager_bytes', on each side"},
           THINWIRE_MEMBER(machine.host.eager_copy_per_word), Written::if_read_and_set),
      with({.path = "machine.eager_copy_beyond_cache_s_per_word",
            .networks = kWithHosts,
            .when = {&kWithEager},
            .help = "the same for gradients that do not fit into 'cache_bytes'; 0: no difference"},
           THINWIRE_MEMBER(machine.eager_copy_beyond_cache), Written::if_read_and_set),
      with({.path = "machine.eager_s_per_word",
            .networks = kWithHosts,
            .when = {&kWithEager},
            .help = "time that a word of a message up to 'eager_bytes' stays in buffers on its "
                    "way; messages of a rank stay there at the same time, but are copied "
                    "('eager_copy_s_per_word') one after another"},
           THINWIRE_MEMBER(machine.host.eager_per_word), Written::if_read_and_set),
      with({.path = "machine.fetch_s",
            .networks = kWithHosts,
            .when = {&kWithEager},
            .help = "time in which the NIC fetches an eager message from the host's memory, if it "
                    "is longer than 'fetch_beyond_bytes'"},
           THINWIRE_MEMBER(machine.host.fetch), Written::if_read_and_set),
      with({.path = "machine.fetch_beyond_bytes",
            .networks = kWithHosts,
            .when = {&kWithFetching},
            .help = "messages up to this size reach the NIC with the request to send them, so that "
                    "they cost no 'fetch_s'"},
           THINWIRE_MEMBER(machine.host.fetched_beyond), Written::if_read_and_set),
      with({.path = "machine.buffered_bytes",
            .networks = kWithHosts,
            .when = {&kWithEager},
            .help = "eager messages up to this size are complete at their sender as soon as they "
                    "are copied, as in MPI libraries over TCP; the next messages of the rank share "
                    "the port with them"},
           THINWIRE_MEMBER(machine.host.buffered), Written::if_read_and_set),
      with({.path = "machine.queued_bytes",
            .networks = kWithHosts,
            .when = {&kWithEager},
            .help = "eager messages up to this size leave their rank one after the other, as the "
                    "packets in the queue of a device do; longer ones share the port. It matters "
                    "where a link behind the port is slower than the ports that use it"},
           THINWIRE_MEMBER(machine.host.queued), Written::if_read_and_set),
      with({.path = "machine.inline_bytes",
            .networks = kWithHosts,
            .when = {&kWithEager},
            .help = "eager messages beyond this size are complete at their sender when they are "
                    "acknowledged, a latency after their arrival; with 0, when they have left. "
                    "This does not hold for messages up to 'buffered_bytes'"},
           THINWIRE_MEMBER(machine.host.inlined), Written::if_read_and_set),
      with({.path = "machine.handshake",
            .networks = kWithHosts,
            .help = "messages beyond 'eager_bytes' are announced first, which takes two latencies "
                    "of their route; without a handshake, as on smpi, announcing is free"},
           THINWIRE_MEMBER(machine.host.handshake), Written::if_read_and_set),
      with({.path = "machine.handshake_s",
            .networks = kWithHosts,
            .help = "time to prepare the memory of both ends of a message beyond 'eager_bytes', in "
                    "addition to the latencies of 'handshake'"},
           THINWIRE_MEMBER(machine.host.handshake_time), Written::if_read_and_set),
      with({.path = "machine.one_way_bytes",
            .networks = kWithHosts,
            .help = "messages beyond this size, and beyond 'eager_bytes', that two ranks send to "
                    "each other do not pass each other: one waits for the other; 0: all pass"},
           THINWIRE_MEMBER(machine.host.one_way), Written::if_read_and_set),
      with({.path = "machine.destinations",
            .least = 0,
            .most = 1 << 20,
            .networks = kWithHosts,
            .when = {&kWithEager, &kOfDestinations},
            .help = "the most ranks to which eager messages of one rank are under way at once; a "
                    "message to a further rank waits until all messages to one of them are "
                    "acknowledged, a latency after their arrival, as with InfiniBand's Dynamically "
                    "Connected transport; 0: any"},
           THINWIRE_MEMBER(machine.host.destinations), Written::if_read_and_set),
      with({.path = "machine.destinations_beyond",
            .least = 0,
            .most = 1 << 20,
            .networks = kWithHosts,
            .when = {&kWithFewDestinations, &kOfDestinations},
            .help = "runs of up to this many ranks have no limit of 'destinations', as each rank "
                    "has a connection to every other"},
           THINWIRE_MEMBER(machine.host.destinations_beyond), Written::if_read_and_set),
      with({.path = "machine.gap_s_per_word",
            .networks = {links},
            .help = "time per word that a rank needs to send, and to receive, where that is more "
                    "than its NIC needs; 0: its NIC alone limits it"},
           THINWIRE_MEMBER(machine.host.gap_per_word), Written::if_read_and_set),
      with({.path = "machine.copy_s_per_word",
            .when = {&kWithoutModel, &kOfTime, &kOfCopies},
            .help = "time to copy a word from one buffer of a rank to another, where a collective "
                    "of MPI does: " +
                    schemes_with(kOfCopies)},
           THINWIRE_MEMBER(machine.copy_per_word), Written::if_set),
      with({.path = "machine.copy_beyond_cache_s_per_word",
            .when = {&kWithoutModel, &kOfTime, &kOfCopies},
            .help = "the same for gradients that do not fit into 'cache_bytes'; 0: no difference"},
           THINWIRE_MEMBER(machine.copy_beyond_cache), Written::if_set),
      with({.path = "machine.page_s",
            .when = {&kWithoutModel, &kOfTime, &kOfBuffers},
            .help = "time of the first access to a page of 4 KiB, in each buffer beyond "
                    "'fresh_beyond_bytes' that a collective of Open MPI allocates in each call: " +
                    schemes_with(kOfBuffers)},
           THINWIRE_MEMBER(machine.fresh.page), Written::if_set),
      with({.path = "machine.registration_s",
            .when = {&kWithoutModel, &kOfTime, &kOfRegistration},
            .help = "time to register a piece of such a buffer with the NIC, once for each piece "
                    "that is sent or received"},
           THINWIRE_MEMBER(machine.fresh.registration), Written::if_set),
      with({.path = "machine.registration_s_per_word",
            .when = {&kWithoutModel, &kOfTime, &kOfRegistration},
            .help = "the same for each word of the piece"},
           THINWIRE_MEMBER(machine.fresh.registration_per_word), Written::if_set),
      with({.path = "machine.fresh_beyond_bytes",
            .when = {&kWithPricedBuffers, &kWithoutModel, &kOfTime, &kOfBuffers},
            .help =
                "the longest buffer that the C library keeps for the next call: 32 MiB with glibc"},
           THINWIRE_MEMBER(machine.fresh.beyond), Written::if_set),
      with({.path = "machine.fresh_pairs_beyond_bytes",
            .when = {&kWithPricedBuffers, &kWithoutModel, &kOfTime, &kOfBuffers},
            .help = "the same where a collective frees two buffers of one length together, as "
                    "reduce_scatter_recursive_halving does: glibc returns a free end of the heap "
                    "that is twice as long as the longest buffer; 0: as for one"},
           THINWIRE_MEMBER(machine.fresh.pairs_beyond), Written::if_set),
      with({.path = "machine.noise_s",
            .networks = kWithHosts,
            .help = "mean of a random delay of each message at its sender, distributed "
                    "exponentially; 'seed' draws it, so several seeds give an interval"},
           THINWIRE_MEMBER(machine.host.noise), Written::if_read_and_set),
      with({.path = "record.links",
            .flag = "--links",
            .networks = {links, smpi},
            .when = {&kWithoutPackets},
            .help = "record what crosses each link of the platform; 'run' prints the ten hottest"},
           THINWIRE_MEMBER(record.links)),
      with({.path = "record.ranks",
            .flag = "--by-rank",
            .help = "record what each phase cost every rank; 'run' prints it"},
           THINWIRE_MEMBER(record.ranks)),
      with({.path = "ranks",
            .aspect = A::size,
            .flag = "-P,--ranks",
            .least = 1,
            .most = 1 << 20,
            .help = "ranks P, any number from 1"},
           THINWIRE_MEMBER(ranks)),
      with({.path = "parallel",
            .flag = "--parallel",
            .standard = "all ranks are one data-parallel group",
            .help = "groups of ranks, as in tp=8,dp=32: 8 tensor-parallel ranks with consecutive "
                    "numbers share the layers of a model, and the scheme runs among the 32 ranks "
                    "that have the same share, in all 8 such groups at the same time; with "
                    "dp=32,tp=8 the ranks that a scheme runs among have consecutive numbers; or a "
                    "file with one group per line, as in tp 0 1 4 5"},
           THINWIRE_MEMBER(parallel), Written::if_set),
      with({.path = "tensor_scheme",
            .flag = "--tensor-scheme",
            .when = {&kWithTensorGroups},
            .help = "the dense scheme by which tensor-parallel ranks sum activations"},
           THINWIRE_MEMBER(tensor_scheme), Written::if_read),
      with({.path = "approximate",
            .flag = "--approximate",
            .least = 0,
            .most = 1 << 20,
            .networks = kSimulated,
            .standard = "all ranks run, and all chunks are sent",
            .help = "a shortcut: this many ranks stand for all ranks, where all do the same; with "
                    "statistical values, and a divisor of P. In dense schemes that send chunks "
                    "through trees, this many chunks stand for all chunks"},
           THINWIRE_MEMBER(approximate), Written::if_set),
      with({.path = "components",
            .flag = "-n,--components",
            .least = 1,
            .most = 1e12,
            .help = "components n of the gradient"},
           THINWIRE_MEMBER(space.components)),
      with({.path = "tensors",
            .least = 1,
            .when = {&kOfTensors},
            .standard = "one tensor",
            .help = "components of each of the model's tensors, which make up the gradient; looked "
                    "at by " +
                    schemes_with(kOfTensors)},
           THINWIRE_MEMBER(tensors)),
      {.path = "density",
       .kind = SettingKind::number,
       .aspect = A::size,
       .flag = "-d,--density",
       .least = 0,
       .most = 1,
       .when = {&kOfValues},
       .standard = fmt::format("{:g}, or the profile's", kDensity),
       .help = "k/n, the share of the components that each rank selects"},
      with({.path = "k",
            .aspect = A::size,
            .flag = "-k",
            .least = 0,
            .when = {&kOfValues},
            .standard = "by density",
            .help = "components that each rank selects, instead of density"},
           THINWIRE_MEMBER(k)),
      with({.path = "granule",
            .aspect = A::record,
            .least = 1,
            .choices = {"auto"},
            .standard = "auto",
            .help = "components that a carried coordinate stands for, or \"auto\""},
           THINWIRE_MEMBER(space.granule)),
      with({.path = "gradient.value_bits",
            .flag = "--value-bits",
            .least = 8,
            .most = 64,
            .networks = kSimulated,
            .when = {&kOfValueBits},
            .standard = "32",
            .help = "bits of a value on the wire: 16 for BF16. Messages are rounded up to words of "
                    "4 bytes. Quantised values have the bits of their scheme"},
           THINWIRE_MEMBER(space.precision.value_bits), Written::if_set),
      with({.path = "gradient.index_bits",
            .flag = "--index-bits",
            .least = 32,
            .most = 64,
            .networks = kSimulated,
            .when = {&kOfIndexes},
            .standard = "32",
            .help = "bits of an index on the wire: 64 for gradients of more than 4 billion "
                    "components that are one tensor. Sizes and counts are words of 4 bytes"},
           THINWIRE_MEMBER(space.precision.index_bits), Written::if_set),
      with({.path = "iterations",
            .flag = "--iterations",
            .least = 0,
            .most = 1'000'000,
            .standard = "2; with a model 0",
            .help = "iterations to run; the last one is reported. With a model all count alike, "
                    "and 0 runs each kind of iteration that the scheme goes through and weights "
                    "them"},
           THINWIRE_MEMBER(iterations)),
      with({.path = "error_feedback",
            .when = {&kOfGradients, &kOfResiduals},
            .help = "add what did not contribute to a sum to the gradient of the next iteration"},
           THINWIRE_MEMBER(error_feedback)),
      with({.path = "seed",
            .flag = "--seed",
            .least = 0,
            .when = {&kOfDraws},
            .help = "seed of all random draws"},
           THINWIRE_MEMBER(seed)),
      with({.path = "input.trace",
            .flag = "--trace",
            .standard = "synthetic gradients",
            .help = "a shipped trace of a real training or the path of one (.h5); ranks, "
                    "components and k are its own. Iteration i takes its i-th recorded iteration, "
                    "and starts over at its end"},
           THINWIRE_MEMBER(input.trace), Written::if_set),
      with({.path = "input.profile",
            .flag = "--profile",
            .standard = "synthetic gradients",
            .help = "gradients as a profile describes them: vgg16, lstm, bert or the path of one; "
                    "components and density are its own by default"},
           THINWIRE_MEMBER(input.profile), Written::if_set),
      with({.path = "input.family",
            .choices = {"copula", "beta"},
            .when = {&kWithProfile, &kOfValues},
            .help = "how the profile's popularity is spread"},
           THINWIRE_MEMBER(input.family), Written::if_read),
      with({.path = "input.statistical",
            .flag = "--statistical",
            .when = {&kWithProfile},
            .help = "counts instead of entries, for thousands of ranks"},
           THINWIRE_MEMBER(input.statistical), Written::if_read),
      with({.path = "input.start_up",
            .when = {&kWithProfile, &kOfValues, &kOfScale},
            .help = "iterations are the first ones of a training"},
           THINWIRE_MEMBER(input.start_up), Written::if_read),
      with({.path = "input.reach",
            .least = 0,
            .when = {&kWithProfile, &kOfValues, &kOfEntries},
            .help = "an accumulator holds as many entries as this times k; 0: all coordinates"},
           THINWIRE_MEMBER(input.reach), Written::if_read),
      with({.path = "input.overlap",
            .flag = "--overlap",
            .least = 0,
            .most = 1,
            .when = {&kSynthetic, &kOfValues},
            .help = "share of the selection that all ranks have in common"},
           THINWIRE_MEMBER(input.overlap), Written::if_read),
      with({.path = "input.skew",
            .flag = "--skew",
            .least = 0,
            .most = 64,
            .when = {&kSynthetic, &kOfValues},
            .help = "0: selected entries are spread evenly; s: stratum j of k ends at (j/k)^(1+s) "
                    "of the space"},
           THINWIRE_MEMBER(input.skew), Written::if_read),
      with({.path = "input.drift",
            .least = 0,
            .most = 1,
            .when = {&kSynthetic, &kOfValues},
            .help = "share of the selection that moves from one iteration to the next"},
           THINWIRE_MEMBER(input.drift), Written::if_read),
      with({.path = "input.tail",
            .least = 0,
            .most = 4,
            .when = {&kSynthetic, &kOfValues},
            .help = "magnitudes above the threshold are exp(tail * Exponential)"},
           THINWIRE_MEMBER(input.tail), Written::if_read),
      with({.path = "input.scale_drift",
            .least = 0,
            .most = 2,
            .when = {&kSynthetic, &kOfValues, &kOfScale},
            .help = "standard deviation of ln(scale of the magnitudes) over iterations"},
           THINWIRE_MEMBER(input.scale_drift), Written::if_read),
      with({.path = "links.routing",
            .flag = "--routing",
            .choices = {networks::kLinkRoutings.begin(), networks::kLinkRoutings.end()},
            .networks = {links},
            .help = "minimal: SimGrid's routes; valiant and ugal are for dragonflies, ecmp is for "
                    "fat trees"},
           THINWIRE_MEMBER(links.routing), Written::if_read),
      with({.path = "links.background_share",
            .flag = "--background-share",
            .least = 0,
            .most = 0.99,
            .networks = {links},
            .help = "share of every link, except the ports, that others use"},
           THINWIRE_MEMBER(links.background_share), Written::if_read),
      with({.path = "links.background_flows",
            .flag = "--background-flows",
            .least = 0,
            .most = 1,
            .networks = {links},
            .help = "every host without a rank sends to another one, at random, with this share of "
                    "its port"},
           THINWIRE_MEMBER(links.background_flows), Written::if_read),
      with({.path = "links.slow_links",
            .networks = {links},
            .standard = "none",
            .help = "links that have lost capacity, and the share that is left: NAME=0.5,...; the "
                    "name of a cable stands for both directions"},
           THINWIRE_MEMBER(links.slow_links), Written::if_read_and_set),
      with({.path = "stragglers.ranks",
            .least = 0,
            .most = 1 << 20,
            .networks = kClocks,
            .when = {&kWithWork, &kSlowsRanks},
            .help = "ranks whose local work takes 'factor' times as long; 'seed' draws them"},
           THINWIRE_MEMBER(stragglers.ranks), Written::if_set),
      with({.path = "stragglers.factor",
            .least = 1,
            .most = 1e6,
            .networks = kClocks,
            .when = {&kWithSlowRanks},
            .help = "how many times as long local work takes on the ranks of 'ranks'"},
           THINWIRE_MEMBER(stragglers.factor), has_slow_ranks),
      with({.path = "stragglers.spread",
            .least = 0,
            .most = 4,
            .networks = kClocks,
            .when = {&kWithWork},
            .help = "local work of each rank takes exp(spread * N) times as long, with one normal "
                    "draw N for each rank"},
           THINWIRE_MEMBER(stragglers.spread), Written::if_set),
      with({.path = "stragglers.jitter",
            .least = 0,
            .most = 4,
            .networks = kClocks,
            .when = {&kWithWork},
            .help = "the same with one draw for each rank and iteration"},
           THINWIRE_MEMBER(stragglers.jitter), Written::if_set),
      with({.path = "workload.model",
            .flag = "--model",
            .standard = "the allreduce alone",
            .help = "simulate a whole iteration of the training of a shipped model, see 'thinwire "
                    "list models', or of the path of one; brings components, density and profile"},
           THINWIRE_MEMBER(workload.model), Written::if_set),
      with({.path = "workload.device",
            .flag = "--device",
            .when = {&kWithModel},
            .standard = "the model's first",
            .help = fmt::format("a shipped device ({}) or the path of one",
                                fmt::join(workloads::kDevices.names(), ", "))},
           THINWIRE_MEMBER(workload.device), Written::if_read),
      with({.path = "workload.batch",
            .flag = "--batch",
            .least = 0,
            .most = 1e9,
            .when = {&kWithModel},
            .standard = "the model's own on the device",
            .help = "samples per rank; computing takes time in proportion"},
           THINWIRE_MEMBER(workload.batch), Written::if_read),
      with({.path = "workload.staging",
            .flag = "--staging",
            .when = {&kWithModel},
            .help = "messages are sent from the host's memory, so that gradients are copied and "
                    "sums made there"},
           THINWIRE_MEMBER(workload.staging), Written::if_read),
      with({.path = "workload.by_layer",
            .flag = "--by-layer",
            .when = {&kWithModel},
            .help = "the sparse scheme starts on a layer as soon as the backward pass has made its "
                    "gradient, and runs concurrently with the rest of it"},
           THINWIRE_MEMBER(workload.by_layer), Written::if_read),
      with({.path = "workload.feedback",
            .choices = {kFeedbacks.begin(), kFeedbacks.end()},
            .when = {&kWithModel, &kOfPaidResiduals},
            .help = "what sparse schemes keep of the gradients that they do not send, and pay for "
                    "at the device's prices: the residual (error feedback), or velocity and "
                    "accumulator of DGC's momentum correction"},
           THINWIRE_MEMBER(workload.feedback), Written::if_read),
      with(
          {.path = "workload.local_steps",
           .flag = "--local-steps",
           .least = 1,
           .most = 1e6,
           .when = {&kWithModel},
           .help = "iterations that a rank trains by itself between two exchanges; times are means "
                   "of one iteration, words and messages belong to an exchange"},
          THINWIRE_MEMBER(workload.local_steps), Written::if_read_and_set),
  };
}

/// A name ends in the unit of its value, which is at least 0; machine and links are of the place.
void take_what_names_say(Setting& setting) {
  const std::string name = setting.name();
  const std::string group = setting.group();
  setting.unit = name.ends_with("_s_per_word") ? "s/word"
                 : name.ends_with("_s")        ? "s"
                 : name.ends_with("_bytes")    ? "bytes"
                                               : "";
  if (!setting.unit.empty()) setting.least = 0;
  if (group == "machine" || group == "links") setting.aspect = Aspect::place;
  if (group == "record") setting.aspect = Aspect::record;
}

/// A point to which the setting applies, with the defaults of everything else.
Point fresh_point_for(const Setting& setting) {
  Point point;
  if (setting.path.starts_with("links.")) point.network = "links";
  const auto needs = [&](const Circumstance& circumstance) {
    return std::ranges::find(setting.when, &circumstance) != setting.when.end();
  };
  if (needs(kWithProfile)) point.input.profile = "-";
  if (needs(kWithTensorGroups)) point.parallel.tensor = 2;
  if (setting.path.starts_with("workload.") || needs(kWithTensorGroups)) {
    point.workload.model = "-";
  }
  return point;
}

}  // namespace

std::string Setting::name() const { return path.substr(path.rfind('.') + 1); }

std::string Setting::group() const {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string Setting::readers() const {
  std::string text;
  if (!networks.all()) text = fmt::format("{}", fmt::join(names_of(networks), ", "));
  for (const Circumstance* const circumstance : when) {
    const std::string_view of_runs = circumstance->readers;
    if (of_runs.empty()) continue;
    return text.empty() ? std::string(of_runs) : fmt::format("{} {}", text, of_runs);
  }
  return text;
}

std::string Setting::wanted() const {
  std::string text;
  switch (kind) {
    case SettingKind::boolean:
      return "true or false";
    case SettingKind::integer:
      text = "integer";
      break;
    case SettingKind::number:
      text = "number";
      break;
    case SettingKind::text:
      return choices.empty() ? "text" : fmt::format("one of {}", fmt::join(choices, ", "));
    case SettingKind::integers:
      text = "list of integers";
      break;
    case SettingKind::options:
      return "object of numbers and booleans";
  }
  if (least) text += fmt::format(", at least {}", *least);
  if (most) text += fmt::format(", at most {}", *most);
  for (const std::string& word : choices) text += fmt::format(", or {}", word);
  return text;
}

std::string Setting::flag_name() const {
  const std::size_t name = flag.find("--");
  return flag.substr(name == std::string::npos ? 0 : name);
}

std::string Setting::default_text() const {
  if (!standard.empty() || !get) return standard;
  const std::optional<Json> value = get(fresh_point_for(*this));
  if (!value || value->is_object() || value->is_array()) return "";
  if (value->is_boolean()) return *value == true ? "on" : "off";
  return value->is_string() ? value->get<std::string>() : fmt::format("{}", value->get<double>());
}

const Settings& point_settings() {
  static const Settings all = [] {
    Settings settings = declared();
    for (Setting& setting : settings) take_what_names_say(setting);
    return settings;
  }();
  return all;
}

std::string settings_read_on(const NetworkInfo& network) {
  std::vector<std::string> paths;
  for (const Setting& setting : point_settings()) {
    if (!setting.networks.all() && setting.networks.has(network.id)) paths.push_back(setting.path);
  }
  return paths.empty() ? "none" : fmt::format("{}", fmt::join(paths, ", "));
}

bool is_default(const Setting& setting, const Json& value) {
  return setting.get && setting.get(fresh_point_for(setting)) == value;
}

const Setting& setting_at(const std::string& path, const Settings& settings) {
  std::vector<std::string> paths;
  for (const Setting& setting : settings) {
    if (setting.path == path) return setting;
    paths.push_back(setting.path);
  }
  throw InputError(fmt::format("unknown setting '{}'{}", excerpt(path), did_you_mean(path, paths)));
}

}  // namespace thinwire::plan
