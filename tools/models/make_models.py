#!/usr/bin/env python3
"""Makes the shipped models: make_models.py FOLDER writes one JSON for each.

A layer holds its parameter tensors, in the order of the model, and the operations of one sample's
forward pass in convolutions, matrices and attention, two for a multiply-add.
"""
import json
import sys
from pathlib import Path

# Seconds of an iteration on one device: input, forward and backward pass, update. To be calibrated.
# model: [(device, batch, seconds, source)]
VIT_RATE = ("292.3 images/s of DeiT-B's forward pass in FP32 (DeiT, Touvron et al., ICML 2021, Table 5; "
            "facebookresearch/deit issue 38), three times the operations: 10.3 TFLOP/s")
VIT_ALIKE = ("assumed: ViT's operations a second, 10.3 TFLOP/s, in matrix products alike; "
             + VIT_RATE)
COMPUTE = {
    "vgg16": [("p100", 16, 0.06469, "calibrated from claim oktopk.vgg.minutes (16 GPUs, oktopk)")],
    "lstm_an4": [("p100", 2, 0.1712, "calibrated from claim oktopk.lstm.minutes (32 GPUs, oktopk)")],
    "bert": [("p100", 8, 0.3374, "calibrated from claim oktopk.bert.32.hours (oktopk)")],
    "resnet50": [("p100", 4, 0.3912, "calibrated from claim sparcml.resnet50 (dense)")],
    "vit": [("v100", 32, 0.3284, VIT_RATE)],
    "mlp_mixer": [("v100", 32, 0.2356, VIT_ALIKE)],
    "bert_squad": [("v100", 8, 0.0522, VIT_ALIKE)],
    "xml": [("v100", 256, 0.025, "DRAGONN (ICML 2022), section 5.2: 25 ms")],
    "webspam": [("xc50_cpu", 1000, 0.01, "assumed")],
    "url": [("xc50_cpu", 1000, 0.01, "assumed")],
}

# Seconds on an H100 follow from the operations. model: (batch, share of the peak); both assumed.
H100_PEAK = 989e12  # dense BF16, NVIDIA's data sheet of the H100 SXM
H100 = {"vgg16": (256, 0.1), "resnet50": (256, 0.1), "bert": (32, 0.4), "llama_7b": (2, 0.4)}

# The same shares are assumed of other GPUs with matrix units. device: (peak, what the data sheet says)
OTHERS = {"a100": (312e12, "312 TFLOP/s (dense BF16)"), "h200": (989e12, "989 TFLOP/s (dense BF16)"),
          "b200": (2250e12, "2250 TFLOP/s (dense BF16)")}

# The same on a P100 with its 9.3 TFLOP/s: ResNet-50 reaches 0.58 with 64 images, 220 a second.
P100_PEAK = 9.3e12
P100 = {"wide_resnet18": (4, 0.5), "wide_resnet34": (4, 0.5)}

# Seconds on a V100 in FP32 follow from the operations, at the rate of a public training. The rest
# (input, host, small kernels) is not in them. model: batch
V100_IMAGES = 363.1  # ResNet-50 images per second, PyTorch, one V100
V100_SOURCE = ("NVIDIA/DeepLearningExamples, PyTorch/Classification/RN50v1.5, FP32, at 363.1 "
               "ResNet-50 images per second")
V100 = {"resnet50": 64, "resnet152": 32, "inception_v4": 32, "lstm_wikitext2": 32}

COUNTED = "2 operations per multiply-add; backward counts twice the forward"
ALIKE = "assumed: alike"


class Matrix(int):
    """The number of components of a matrix, whose rows are kept."""

    def __new__(cls, rows, columns):
        matrix = super().__new__(cls, rows * columns)
        matrix.rows = rows
        return matrix


def layer(name, tensors, flops=0):
    """Tensors are matrices as PyTorch has them, a row for each output, or vectors."""
    rows = [getattr(tensor, "rows", 1) for tensor in tensors]
    return {"name": name, "tensors": tensors, "rows": rows, "forward_flops": flops}


def summed(entry, components, when):
    """A layer after whose pass, "forward" or "backward", tensor-parallel ranks sum activations: two
    sums in each pass of a transformer's layer (Megatron-LM, Shoeybi et al., 2019, Figure 4)."""
    return entry | {f"{when}_sum": components}


def linear(name, inputs, outputs, rows=1, before=(), after=(), bias=True, extra=0):
    """A matrix over `rows` vectors, with the norms before and after it and extra operations."""
    tensors = [*before, Matrix(outputs, inputs), *([outputs] if bias else []), *after]
    return layer(name, tensors, 2 * rows * inputs * outputs + extra)


def conv(name, inputs, outputs, kernel, height, width=None, bias=False):
    """A convolution with batch normalisation. kernel: (height, width); height, width: outputs."""
    weights = Matrix(outputs, kernel[0] * kernel[1] * inputs)
    return layer(name, [weights, *([outputs] if bias else []), outputs, outputs],
                 2 * weights * height * (width or height))


def vgg16():
    layers = []
    inputs, size = 3, 32
    for block, (count, outputs) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        for i in range(1, count + 1):
            layers.append(conv(f"conv{block}_{i}", inputs, outputs, (3, 3), size, bias=True))
            inputs = outputs
        size //= 2
    return layers + [linear("classifier", 512, 10)]


def lstm_an4():
    steps = 150  # 3 s of 10 ms a frame, of which the first convolution keeps every second
    layers = [conv("conv1", 1, 32, (41, 11), 81, steps, bias=True),
              conv("conv2", 32, 32, (21, 11), 41, steps, bias=True)]
    hidden = 800
    for i in range(1, 6):
        inputs = 32 * 41 if i == 1 else hidden
        norm = [] if i == 1 else [hidden, hidden]
        matrices = [Matrix(4 * hidden, inputs), Matrix(4 * hidden, hidden)]
        layers.append(layer(f"lstm{i}", norm + matrices + [4 * hidden] * 2,
                            2 * steps * sum(matrices)))
    layers.append(layer("lookahead", [Matrix(hidden, 21)], 2 * steps * hidden * 21))
    return layers + [linear("classifier", hidden, 29, steps, before=(hidden, hidden), bias=False)]


def bert_encoder():
    width, words, length = 768, 30522, 128
    norm = (width, width)
    sums = length * width
    layers = [layer("embeddings", [Matrix(words, width), Matrix(512, width), Matrix(2, width), *norm])]
    for i in range(1, 13):
        layers += [summed(linear(f"encoder{i}_query", width, width, length), sums, "backward"),
                   linear(f"encoder{i}_key", width, width, length),
                   linear(f"encoder{i}_value", width, width, length),
                   summed(linear(f"encoder{i}_attention", width, width, length, after=norm,
                                 extra=4 * length * length * width), sums, "forward"),
                   summed(linear(f"encoder{i}_intermediate", width, 4 * width, length),
                          sums, "backward"),
                   summed(linear(f"encoder{i}_output", 4 * width, width, length, after=norm),
                          sums, "forward")]
    return layers


def bert():
    width, words, length = 768, 30522, 128
    # The words' bias comes first among the parameters of the predictions.
    return bert_encoder() + [
        linear("pooler", width, width),
        linear("transform", width, width, length, before=(words,), after=(width, width)),
        linear("decoder", width, words, length, bias=False),
        linear("next_sentence", width, 2)]


def bert_squad():
    return bert_encoder() + [linear("answer", 768, 2, 128)]


def resnet(stem_kernel, stem_size, size, blocks, classes):
    """Bottleneck blocks; size: of the images in the first stage."""
    layers = [conv("conv1", 3, 64, (stem_kernel, stem_kernel), stem_size)]
    inputs = 64
    for stage, count in enumerate(blocks, 1):
        width = 32 << stage
        for block in range(1, count + 1):
            name = f"stage{stage}_{block}_"
            before = size
            if block == 1 and stage > 1:
                size //= 2  # in the 3 x 3 convolution
            layers += [conv(name + "conv1", inputs, width, (1, 1), before),
                       conv(name + "conv2", width, width, (3, 3), size),
                       conv(name + "conv3", width, 4 * width, (1, 1), size)]
            if block == 1:
                layers.append(conv(name + "shortcut", inputs, 4 * width, (1, 1), size))
            inputs = 4 * width
    return layers + [linear("classifier", inputs, classes)]


def wide_resnet(blocks, factor=4):
    """Basic blocks of two convolutions of 3 x 3, with `factor` times the channels, on 224 x 224."""
    inputs, size = 64 * factor, 56
    layers = [conv("conv1", 3, inputs, (7, 7), 112)]
    for stage, count in enumerate(blocks, 1):
        width = factor * (32 << stage)
        for block in range(1, count + 1):
            name = f"stage{stage}_{block}_"
            if block == 1 and stage > 1:
                size //= 2
            layers += [conv(name + "conv1", inputs, width, (3, 3), size),
                       conv(name + "conv2", width, width, (3, 3), size)]
            if inputs != width:
                layers.append(conv(name + "shortcut", inputs, width, (1, 1), size))
            inputs = width
    return layers + [linear("classifier", inputs, 1000)]


def inception_v4():
    layers = []

    def block(name, inputs, size, branches, last=None):
        """Each branch lists (height, width, outputs). last: the size after its last convolution."""
        for i, branch in enumerate(branches, 1):
            channels = inputs
            for j, (height, width, outputs) in enumerate(branch, 1):
                grid = last if last and j == len(branch) else size
                layers.append(conv(f"{name}_{i}_{j}", channels, outputs, (height, width), grid))
                channels = outputs

    block("stem1", 3, 30, [[(3, 3, 32), (3, 3, 32), (3, 3, 64)]])
    block("stem2", 64, 30, [[(3, 3, 96)]])  # beside a pooling: 160 channels
    block("stem3", 160, 30, [[(1, 1, 64), (3, 3, 96)],
                             [(1, 1, 64), (7, 1, 64), (1, 7, 64), (3, 3, 96)]])
    block("stem4", 192, 30, [[(3, 3, 192)]])  # beside a pooling: 384 channels
    for i in range(1, 5):
        block(f"a{i}", 384, 30, [[(1, 1, 96)], [(1, 1, 96)], [(1, 1, 64), (3, 3, 96)],
                                 [(1, 1, 64), (3, 3, 96), (3, 3, 96)]])
    block("reduction_a", 384, 30, [[(3, 3, 384)], [(1, 1, 192), (3, 3, 224), (3, 3, 256)]], last=14)
    for i in range(1, 8):
        block(f"b{i}", 1024, 14, [
            [(1, 1, 128)], [(1, 1, 384)], [(1, 1, 192), (1, 7, 224), (7, 1, 256)],
            [(1, 1, 192), (1, 7, 192), (7, 1, 224), (1, 7, 224), (7, 1, 256)]])
    block("reduction_b", 1024, 14, [[(1, 1, 192), (3, 3, 192)],
                                    [(1, 1, 256), (1, 7, 256), (7, 1, 320), (3, 3, 320)]], last=7)
    for i in range(1, 4):
        block(f"c{i}", 1536, 7, [[(1, 1, 256)], [(1, 1, 256)], [(1, 1, 384)]])
        block(f"c{i}_3_fork", 384, 7, [[(1, 3, 256)], [(3, 1, 256)]])
        block(f"c{i}_4", 1536, 7, [[(1, 1, 384), (1, 3, 448), (3, 1, 512)]])
        block(f"c{i}_4_fork", 512, 7, [[(3, 1, 256)], [(1, 3, 256)]])
    return layers + [linear("classifier", 1536, 100)]


def lstm_wikitext2():
    words, width, depth, length = 28869, 650, 3, 35
    layers = [layer("embedding", [Matrix(words, width)])]
    for i in range(1, depth + 1):
        matrix = Matrix(4 * width, width)
        layers.append(layer(f"lstm{i}", [matrix, matrix, 4 * width, 4 * width],
                            2 * length * 2 * matrix))
    # The decoder's matrix is the embedding's, whose gradient is ready last.
    return layers + [layer("decoder", [words], 2 * length * width * words)]


PATCHES = 14 * 14  # of 16 x 16 in an image of 224 x 224


def vit():
    width, tokens = 768, PATCHES + 1
    norm = (width, width)
    layers = [layer("class_token", [width]), layer("position", [Matrix(tokens, width)]),
              linear("patches", 3 * 16 * 16, width, PATCHES)]
    sums = tokens * width
    for i in range(1, 13):
        layers += [summed(linear(f"block{i}_qkv", width, 3 * width, tokens, before=norm),
                          sums, "backward"),
                   summed(linear(f"block{i}_attention", width, width, tokens,
                                 extra=4 * tokens * tokens * width), sums, "forward"),
                   summed(linear(f"block{i}_mlp1", width, 4 * width, tokens, before=norm),
                          sums, "backward"),
                   summed(linear(f"block{i}_mlp2", 4 * width, width, tokens), sums, "forward")]
    return layers + [linear("head", width, 10, before=norm)]


def mlp_mixer():
    width = 768
    norm = (width, width)
    layers = [linear("patches", 3 * 16 * 16, width, PATCHES)]
    for i in range(1, 13):
        layers += [linear(f"block{i}_tokens1", PATCHES, 384, width, before=norm),
                   linear(f"block{i}_tokens2", 384, PATCHES, width),
                   linear(f"block{i}_channels1", width, 4 * width, PATCHES, before=norm),
                   linear(f"block{i}_channels2", 4 * width, width, PATCHES)]
    return layers + [linear("head", width, 10, before=norm)]


def llama_7b():
    width, inner, words, length = 4096, 11008, 32000, 2048

    def part(name, inputs, outputs, **more):
        return linear(name, inputs, outputs, length, bias=False, **more)

    sums = length * width
    layers = [layer("embedding", [Matrix(words, width)])]
    for i in range(1, 33):
        name = f"layer{i}_"
        layers += [summed(part(name + "query", width, width, before=(width,)), sums, "backward"),
                   part(name + "key", width, width),
                   part(name + "value", width, width),
                   summed(part(name + "attention", width, width,
                               extra=4 * length * length * width), sums, "forward"),
                   summed(part(name + "gate", width, inner, before=(width,)), sums, "backward"),
                   part(name + "up", width, inner),
                   summed(part(name + "down", inner, width), sums, "forward")]
    return layers + [part("output", width, words, before=(width,))]


def model(summary, source, components, profile, density, sample, layers_source, layers,
          options=None):
    """profile: (name, source), or only the name of the most alike; density: (value, source);
    options: (values, source) of schemes that have them."""
    name, origin = (profile, ALIKE) if isinstance(profile, str) else profile
    given = {"options": {"values": options[0], "source": options[1]}} if options else {}
    return {
        "summary": summary,
        "source": source,
        "components": components,
        "gradients": {"profile": name, "source": origin},
        "density": {"value": density[0], "source": density[1]},
        **given,
        "sample": sample,
        "layers_source": f"{layers_source}; {COUNTED}",
        "layers": layers,
    }


OKTOPK = "Ok-Topk (PPoPP 2022), Table 2"
EXDYNA = "ExDyna (2024), Table II"
DRAGONN = "DRAGONN (ICML 2022), section 5"
SPARCML = "SparCML (SC 2019), Table 1"
EXDYNA_DENSITY = (0.001, "ExDyna (2024), Figure 5")
DRAGONN_DENSITY = (0.001, "assumed: as for ViT in DRAGONN (ICML 2022), section 2.4")

MODELS = {
    "vgg16": model(
        "VGG-16 on CIFAR-10", OKTOPK, 14_728_266, ("vgg16", "the profile of this model"),
        (0.02, "Ok-Topk (PPoPP 2022), section 5.4"), "image",
        "13 convolutions of 3 x 3 with bias and batch normalisation, and a linear classifier, on "
        "32 x 32 pixels: they sum to the components of the paper",
        vgg16()),
    "lstm_an4": model(
        "LSTM (DeepSpeech, five layers of 800) on AN4", OKTOPK, 27_569_568,
        ("lstm", "the profile of this model"),
        (0.02, "Ok-Topk (PPoPP 2022), section 5.4"), "utterance",
        "two convolutions, five unidirectional LSTM layers of 800, a lookahead of 20 and 29 "
        "labels: the paper names no sizes, but these sum to its components; an utterance of 3 s is "
        "assumed",
        lstm_an4()),
    "bert": model(
        "BERT-base, pre-training on Wikipedia", OKTOPK, 133_547_324,
        ("bert", "the profile of this model"),
        (0.01, "Ok-Topk (PPoPP 2022), section 5.4"), "sequence",
        "BERT-base with both heads of pre-training, whose decoder is a matrix of its own beside "
        "the word embeddings: they sum to the components of the paper; sequences of 128, all of "
        "whose positions are decoded",
        bert(), ({"tau_prime": 128}, "Ok-Topk (PPoPP 2022), section 5.2")),
    "bert_squad": model(
        "BERT-base, fine-tuning on SQuAD 1.1", DRAGONN, 108_893_186,
        "bert", (0.001, "DRAGONN (ICML 2022), Appendix D"), "sequence",
        "BERT-base with the beginning and the end of the answer as outputs; 1,024 tokens a batch are "
        "taken to be 8 sequences of 128: the paper does not tell the length",
        bert_squad()),
    "resnet152": model(
        "ResNet-152 on CIFAR-10", EXDYNA, 58_156_618, "vgg16", EXDYNA_DENSITY, "image",
        "ResNet-152 (He et al., 2016) with 10 classes; assumed: for 32 x 32 pixels it begins with "
        "a 3 x 3 convolution of stride 1 and no pooling",
        resnet(3, 32, 32, (3, 8, 36, 3), 10)),
    "inception_v4": model(
        "Inception-v4 on CIFAR-100", EXDYNA, 41_296_516, "vgg16", EXDYNA_DENSITY, "image",
        "Inception-v4 (Szegedy et al., 2017), Figures 3 to 9, with 100 classes; assumed: for 32 x "
        "32 pixels the stem has stride 1 and only its first convolution no padding, so that the "
        "grids are of 30, 14 and 7",
        inception_v4()),
    "lstm_wikitext2": model(
        "LSTM (three layers of 650, tied) on WikiText-2", EXDYNA, 28_949_319, "lstm",
        EXDYNA_DENSITY, "sequence",
        "28,869 words, three layers of 650 and a decoder that shares the embedding's matrix: the "
        "paper names no sizes, but these sum to the components in its published scripts; sequences "
        "of 35 are assumed",
        lstm_wikitext2()),
    "resnet50": model(
        "ResNet-50 on ImageNet", DRAGONN, 25_557_032, "vgg16", DRAGONN_DENSITY, "image",
        "ResNet-50 (He et al., 2016) with 1000 classes, on 224 x 224 pixels, with the stride in "
        "the 3 x 3 convolutions as in torchvision",
        resnet(7, 112, 56, (3, 4, 6, 3), 1000)),
    **{f"wide_resnet{depth}": model(
        f"ResNet-{depth} with four times the channels, on ImageNet", "SparCML (SC 2019), section 8.4",
        sum(sum(each["tensors"]) for each in wide_resnet(blocks)), "vgg16",
        (1 / 512, "SparCML (SC 2019), section 8.4"), "image",
        f"ResNet-{depth} (He et al., 2016) with 1000 classes and four times the channels in all "
        "convolutions, on 224 x 224 pixels",
        wide_resnet(blocks)) for depth, blocks in ((18, (2, 2, 2, 2)), (34, (3, 4, 6, 3)))},
    "vit": model(
        "ViT-B/16 on CIFAR-10", DRAGONN, 85_806_346, "bert",
        (0.001, "DRAGONN (ICML 2022), section 2.4"), "image",
        "ViT-B/16 (Dosovitskiy et al., 2021) with 10 classes, on 224 x 224 pixels; assumed: the "
        "paper does not tell which size",
        vit()),
    "mlp_mixer": model(
        "MLP-Mixer-B/16 on CIFAR-10", DRAGONN, 59_119_162, "bert", DRAGONN_DENSITY, "image",
        "Mixer-B/16 (Tolstikhin et al., 2021) with 10 classes, on 224 x 224 pixels; assumed: the "
        "paper does not tell which size",
        mlp_mixer()),
    "xml": model(
        "Extreme classification, last layer, on Wiki10-31K", DRAGONN, 126_722_048, "bert",
        (0.001, "DRAGONN (ICML 2022), Figure 7"), "document",
        "DRAGONN (ICML 2022), section 5: one matrix of 4096 x 30938, no bias",
        [linear("classifier", 4096, 30938, bias=False)]),
    # Linear classifiers work on the non-zero features of a sample only.
    "webspam": model(
        "Linear classifier on Webspam", SPARCML, 16_609_143, "bert",
        (0.01, "assumed: the share of non-zero features in a batch of 1,000 documents, as in "
               "section 8.2"), "document",
        "SparCML (SC 2019), Table 1: one tensor; some 3,700 non-zero features a document are "
        "assumed",
        [layer("weights", [16_609_143], 2 * 3700)]),
    "url": model(
        "Linear classifier on URL", SPARCML, 3_231_961, "bert",
        (0.003, "assumed: the share of non-zero features in a batch of 1,000 URLs, as in section "
                "8.2"), "URL",
        "SparCML (SC 2019), Table 1: one tensor; some 115 non-zero features a URL are assumed",
        [layer("weights", [3_231_961], 2 * 115)]),
    "llama_7b": model(
        "LLaMA-7B, pre-training", "LLaMA (Touvron et al., 2023), Table 2", 6_738_415_616, "bert",
        (0.01, "assumed"), "sequence",
        "LLaMA-7B: 32 layers of 4096, 11008 in the feed-forward parts, 32000 words; sequences of "
        "2048, whose attention is counted in full, without use of the causal mask",
        llama_7b()),
}


def operations(layers):
    """Of the training of one sample."""
    return 3 * sum(each["forward_flops"] for each in layers)


def compute(name, layers):
    entries = [{"device": device, "batch": batch, "seconds": seconds, "source": source}
               for device, batch, seconds, source in COMPUTE.get(name, [])]
    if name in V100:
        rate = V100_IMAGES * operations(MODELS["resnet50"]["layers"])
        entries.append({
            "device": "v100", "batch": V100[name],
            "seconds": float(f"{V100[name] * operations(layers) / rate:.4g}"),
            "source": f"three times the forward operations at {rate / 1e12:.3g} TFLOP/s: "
                      f"{V100_SOURCE}"})
    for device, shares, peak, sheet in (("p100", P100, P100_PEAK, "9.3 TFLOP/s (FP32)"),
                                        ("h100", H100, H100_PEAK, "989 TFLOP/s (dense BF16)"),
                                        *((other, H100, *of) for other, of in OTHERS.items())):
        if name not in shares:
            continue
        batch, share = shares[name]
        flops = batch * operations(layers)
        entries.append({
            "device": device, "batch": batch,
            "seconds": float(f"{flops / (share * peak):.3g}"),
            "source": f"assumed: {share:.0%} of the {sheet} of NVIDIA's data "
                      "sheet, for three times the forward operations"})
    return entries


def text_of(whole):
    """JSON with one line for each key, and one for each entry of a list."""
    lines = []
    for key, value in whole.items():
        if isinstance(value, list):
            value = "[\n" + ",\n".join(f"    {json.dumps(entry)}" for entry in value) + "\n  ]"
        else:
            value = json.dumps(value)
        lines.append(f"  {json.dumps(key)}: {value}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_models.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in MODELS.items():
        components = sum(sum(each["tensors"]) for each in body["layers"])
        assert components == body["components"], f"{name}: the tensors sum to {components}"
        whole = {"format": 1, "name": name, **body, "compute": compute(name, body["layers"])}
        (folder / f"{name}.json").write_text(text_of(whole), encoding="utf-8")


if __name__ == "__main__":
    main()
