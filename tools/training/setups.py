"""What tools/training_study trains: the set-ups, the variants of each, and the command of a training."""
from __future__ import annotations

from dataclasses import dataclass

PLACES = ("fast", "slow")
PLATFORM = "--network links --platform aries_daint"
# Gigabit Ethernet: gige_star end to end.
SLOW = "--also-on machine.alpha_s=2.96e-5,machine.beta_s_per_word=3.384e-8"
TIMES = f"--as-model vgg16 --device p100 {PLATFORM} {SLOW} --evaluate-every 20 --rows-every 20"

VARIANTS = {
    "dense_ring": "--scheme dense_ring",
    "topka": "--scheme topka",
    "topka, no error feedback": "--scheme topka --set error_feedback=false",
    "oktopk": "--scheme oktopk",
    "gtopk": "--scheme gtopk",
    "gaussiank": "--scheme gaussiank",
    "exdyna": "--scheme exdyna",
    "sidco": "--scheme sidco",
    "dgc": "--scheme dgc",
    "dragonn": "--scheme dragonn --set options.tensor_selection=false",
    "random_k": "--scheme random_k",
    "cltk": "--scheme cltk",
    "hard_threshold": "--scheme hard_threshold",
    "hard_threshold, published": "--scheme hard_threshold --set options.published=true",
}
FIRST = tuple(VARIANTS)
NEWER = ("micro", "deft", "spardl", "sparseloco")
# They add up what topka does, in another order, or what oktopk does.
SAME = ("topkdsa", "ssar_recursive_double", "ssar_split_allgather", "dsar_recursive_double", "dsar_split_allgather",
        "ring_sparse", "hierarchical_split_allgather", "topk_allreduce", "topk_exact", "zen", "omnireduce",
        "hierarchical_oktopk")
VARIANTS |= {name: f"--scheme {name}" for name in NEWER + SAME}
# Chunks have to hold whole granules, of 139 components each.
VARIANTS["sparseloco"] += " --set options.bucket_components=4170"


@dataclass(frozen=True)
class Setup:
    """Trainings that differ in the variant and the seed alone."""
    name: str
    title: str
    model: str
    ranks: int
    density: str
    iterations: int
    decay_every: int  # the learning rate is quartered once
    batch: int  # of a worker
    learning_rate: str
    seeds: int
    variants: tuple[str, ...]

    def flags(self, variant: str, seed: int) -> str:
        text = (f"--model {self.model} -d {self.density} --learning-rate {self.learning_rate} --decay 0.25 "
                f"--decay-every {self.decay_every} {TIMES} -P {self.ranks} --iterations {self.iterations} "
                f"--seed {seed} {VARIANTS[variant]}")
        return text if self.batch == 8 else f"{text} --batch {self.batch}"


MOST = ("dense_ring", "topka", "oktopk", "exdyna", "dgc", "dragonn", "cltk", "random_k", "gaussiank", "gtopk", "sidco",
        "hard_threshold")


def cnn(name: str, ranks: int, density: str, iterations: int, decay_every: int, seeds: int,
        variants: tuple[str, ...]) -> Setup:
    percent = f"{100 * float(density):g}%"
    return Setup(name=name, title=f"P = {ranks}, density {percent}, {iterations} iterations", model="cnn", ranks=ranks,
                 density=density, iterations=iterations, decay_every=decay_every, batch=64 // ranks,
                 learning_rate="0.3", seeds=seeds, variants=variants)


SETUPS = {setup.name: setup for setup in (
    cnn("p8", 8, "0.01", 600, 450, 5, MOST + NEWER + SAME),
    cnn("p16", 16, "0.01", 400, 300, 5, MOST + NEWER + SAME),
    cnn("p32", 32, "0.01", 400, 300, 5, MOST + NEWER + SAME),
    cnn("short", 8, "0.002", 400, 300, 5, FIRST))}
