# %% [markdown]
# # Exercises: build attention yourself
#
# Each exercise lacks one line, marked with `# your line`. Replace the three dots, then run the cell and the one below
# it: it checks your line with numbers from lectures and papers, and raises an error if something is still wrong. The
# last exercise puts your functions into Attend's chat model. You need Attend's folder and its requirements. The Learn
# tab of the page explains the ideas.

# %%
import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from sentencepiece import SentencePieceProcessor

rng = np.random.default_rng(0)

# %% [markdown]
# ## 1. Softmax
#
# Softmax turns scores into shares: e to the power of each score, divided by the sum of its row. Subtracting the
# largest score first changes nothing, but keeps e from overflowing.


# %%
def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)  # SOLUTION


# %%
assert np.allclose(softmax(np.array([14.0, 12.0])), [0.88, 0.12], atol=0.005), "e² is 7.39, so the shares are 7.39 : 1"
assert np.allclose(softmax(rng.normal(size=(3, 5))).sum(axis=-1), 1), "each row must add up to 1"
assert np.allclose(softmax(np.array([1000.0, 1000.0])), 0.5), "large scores must not overflow"

# %% [markdown]
# ## 2. Scores
#
# A score is the dot product of a query and a key, divided by the square root of their width. Queries and keys have
# the shapes (T, D) and (K, D); the scores have the shape (T, K).


# %%
def attention_scores(queries, keys):
    return queries @ keys.T / math.sqrt(queries.shape[-1])  # SOLUTION


# %%
query, keys = np.full((1, 64), 1.0), np.stack([np.full(64, 1.75), np.full(64, 1.5)])  # dot products 112 and 96
assert attention_scores(query, keys).shape == (1, 2)
assert np.allclose(attention_scores(query, keys), [[14, 12]]), "112 / √64 = 14 and 96 / √64 = 12"

# %% [markdown]
# ## 3. The mask
#
# In a decoder, no word may see the words after it. A mask is added to the scores: 0 where a word may look, −∞ where
# it may not, since e to the power of −∞ is 0. `np.triu(matrix, k=1)` keeps what is above the diagonal.


# %%
def look_ahead_mask(length):
    return np.triu(np.full((length, length), -np.inf), k=1)  # SOLUTION


# %%
scores = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]])
shares = [
    [1, 0, 0, 0],
    [0.37, 0.62, 0, 0],
    [0.26, 0.3, 0.43, 0],
    [0.21, 0.26, 0.26, 0.26],
]  # a lecture's, cut
assert np.allclose(softmax(scores + look_ahead_mask(4)), shares, atol=0.02)

# %% [markdown]
# ## 4. The weighted sum
#
# Every word becomes a mixture of values, in the shares of its row. Weights have the shape (T, K), values (K, D).


# %%
def attention(queries, keys, values, mask=0.0):
    weights = softmax(attention_scores(queries, keys) + mask)  # (T, K)
    return weights @ values  # SOLUTION


# %%
# “apple” between two meanings: 80 % of (5, 7) and 20 % of (0, 8) are (4, 7.2). Softmax gives these shares for
# scores that are ln 4 apart, because .8 is 4 times .2.
query, keys = np.array([[math.log(4) * math.sqrt(2), 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
assert np.allclose(attention(query, keys, np.array([[5.0, 7.0], [0.0, 8.0]])), [[4.0, 7.2]])

# %% [markdown]
# ## 5. Heads
#
# Several heads share the width: head 1 has the first D columns, head 2 the next D. Split (T, H · D) into (H, T, D);
# the second function joins the heads again. `reshape` and `transpose` are all you need.


# %%
def split_heads(x, heads):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)  # SOLUTION


def join_heads(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)  # (T, H · D)


# %%
x = rng.normal(size=(5, 12))
assert split_heads(x, 3).shape == (3, 5, 4)
assert np.array_equal(split_heads(x, 3)[1], x[:, 4:8]), "head 2 of 3 has the columns 4 to 7"
assert np.array_equal(join_heads(split_heads(x, 3)), x)

# %% [markdown]
# ## 6. The loss
#
# In training, the loss of a word is minus the logarithm of the probability that the model gave to it. The loss of a
# text is the mean over its words. `probabilities` has the shape (T, V), `targets` the id of the right word for each
# of the T places.


# %%
def loss(probabilities, targets):
    return -np.log(probabilities[np.arange(len(targets)), targets]).mean()  # SOLUTION


# %%
assert math.isclose(loss(np.full((3, 10), 0.1), [1, 2, 3]), math.log(10)), "a guess among ten words costs ln 10 = 2.30"
assert math.isclose(loss(np.array([[0.5, 0.5], [0.25, 0.75]]), [0, 0]), (math.log(2) + math.log(4)) / 2)

# %% [markdown]
# ## 7. Top-k
#
# Keep the k likeliest words and share their probabilities out anew. `np.sort(p)[-k]` is the k-th largest.


# %%
def top_k(probabilities, k):
    kept = np.where(probabilities >= np.sort(probabilities)[-k], probabilities, 0.0)  # SOLUTION
    return kept / kept.sum()


# %%
assert np.allclose(top_k(np.array([30, 15, 5, 1]) / 51, 3), [0.6, 0.3, 0.1, 0])

# %% [markdown]
# ## 8. Inside a real model
#
# Now your functions compute a layer of Attend's chat model, beside the sixty lines of `transformer_in_numpy`. Write
# the line that adds attention to the stream: the layer reads the normed stream, and its result is added to the stream
# as it was.

# %%
ROOT = next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "checkpoints").is_dir())
FOLDER = ROOT / "checkpoints" / "attend-chat"
config = json.loads((FOLDER / "config.json").read_text())
weights = {name: values.astype(np.float32) for name, values in load_file(FOLDER / "model.safetensors").items()}
pieces = SentencePieceProcessor(model_file=str(FOLDER / "tokenizer.model"))


def norm(x, gain):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + config["norm_epsilon"]) * gain


def rotate(x):  # (T, D), the positions of one head
    half = x.shape[-1] // 2
    angles = np.arange(len(x))[:, None] * config["rotary_base"] ** -(np.arange(half) / half)  # (T, D / 2)
    first, second = x[:, :half], x[:, half:]
    turned = (first * np.cos(angles) - second * np.sin(angles), second * np.cos(angles) + first * np.sin(angles))
    return np.concatenate(turned, axis=-1)  # (T, D)


def self_attention(x, block):
    parts = np.split(x @ weights[f"{block}.attention.qkv_proj.weight"].T, 3, axis=-1)  # (T, W) each
    heads = zip(*(split_heads(part, config["heads"]) for part in parts), strict=True)
    mask = look_ahead_mask(len(x))
    mixed = np.stack([attention(rotate(query), rotate(key), value, mask) for query, key, value in heads])  # (H, T, D)
    return join_heads(mixed) @ weights[f"{block}.attention.o_proj.weight"].T


def feed_forward(x, block):
    gate, up = np.split(x @ weights[f"{block}.feed_forward.up_proj.weight"].T, 2, axis=-1)  # (T, F) each
    return (gate / (1 + np.exp(-gate)) * up) @ weights[f"{block}.feed_forward.down_proj.weight"].T


def next_probabilities(text):
    stream = weights["embedding.weight"][[pieces.piece_to_id("<s>"), *pieces.encode(text)]]  # (T, W)
    for layer in range(config["layers"]):
        block = f"blocks.{layer}"
        stream = stream + self_attention(norm(stream, weights[f"{block}.attention_norm.weight"]), block)  # SOLUTION
        stream = stream + feed_forward(norm(stream, weights[f"{block}.feed_forward_norm.weight"]), block)
    return softmax(norm(stream[-1], weights["final_norm.weight"]) @ weights["embedding.weight"].T)  # (V,)


# %%
probabilities = next_probabilities("My dog is called Max. My dog is called")
likeliest = int(probabilities.argmax())
assert pieces.id_to_piece(likeliest) == "▁Max", "the model remembers the name"
assert probabilities[likeliest] > 0.4, "the page shows how sure it is: type the text into Write and click the token"
print(f"{probabilities[likeliest]:.1%} for {pieces.id_to_piece(likeliest)}: you have built a transformer.")
