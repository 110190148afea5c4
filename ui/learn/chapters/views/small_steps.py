"""What the chapter on vectors computes by hand: a cosine, a linear layer, softmax and sigmoid."""

from __future__ import annotations

from typing import Any

import torch

from lesson.linear import linear_layer, shares, similarity
from ui.learn.inputs import Input, Inputs, matrix
from ui.learn.wording import decimals, dot_terms, rounded, sent, short, vector

INPUTS: dict[str, Input] = {
    "two_vectors": matrix([[3, 1], [2, 4]]),
    "x": matrix([[1, 2]]),
    "weights": matrix([[1, 0], [2, -1]]),
    "bias": matrix([[0, 1]]),
    "three_scores": matrix([[2, 1, -1]]),
}


def small_steps(inputs: Inputs) -> dict[str, Any]:
    tensors = {name: torch.tensor(inputs[name], dtype=torch.double) for name in INPUTS}
    one, other = inputs["two_vectors"]
    compared = similarity(*tensors["two_vectors"])
    y = linear_layer(tensors["x"], tensors["weights"], tensors["bias"][0])
    scored = shares(tensors["three_scores"][0])
    (x,), (bias,), columns = inputs["x"], inputs["bias"], list(zip(*inputs["weights"], strict=True))
    sums = [f"{dot_terms(x, column)} + {short(b)}" for column, b in zip(columns, bias, strict=True)]
    lead = inputs["three_scores"][0][0] - inputs["three_scores"][0][1]
    return {
        "cosine_by_hand": None if compared.cosine is None else rounded(compared.cosine),
        "product_sum": f"{vector(one)} · {vector(other)} = {dot_terms(one, other)} = {short(compared.product)}",
        "cosine_sum": f"{short(compared.product)} / ({short(compared.lengths[0])} · {short(compared.lengths[1])}) = "
        f"{decimals(compared.cosine)}"
        if compared.cosine is not None
        else "undefined: a vector of zeros has no direction",
        "product": rounded(compared.product),
        "lengths": sent(compared.lengths),
        "y": sent(y),
        "layer_sum": "; ".join(f"{total} = {short(number)}" for total, number in zip(sums, y[0].tolist(), strict=True)),
        "scored": {"powers": sent(scored.powers[None]), "shares": sent(scored.shares[None])},
        "lead": short(lead),
        "sigmoid": decimals(scored.sigmoid),
    }
