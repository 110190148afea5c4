# %% [markdown]
# # A transformer in NumPy
#
# These sixty lines read Attend's chat model from its checkpoint and compute what the page shows: the probabilities of
# the next token, with nothing but NumPy. The course on the page (the Learn tab) explains every step. Run the file as
# it is, from the folder of the repository or from this one: `python docs/transformer_in_numpy.py`.
#
# Letters in the shapes: T tokens, W width of the model, H heads, D width of a head, F width of the feed-forward
# layer, V tokens in the vocabulary.

# %%
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from sentencepiece import SentencePieceProcessor

ROOT = next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "checkpoints").is_dir())
FOLDER = ROOT / "checkpoints" / "attend-chat"
config = json.loads((FOLDER / "config.json").read_text())
weights = {name: values.astype(np.float32) for name, values in load_file(FOLDER / "model.safetensors").items()}
pieces = SentencePieceProcessor(model_file=str(FOLDER / "tokenizer.model"))

# %% [markdown]
# ## The parts
#
# A norm divides every vector by its root mean square. Rotary positions turn each pair of numbers of a query or key,
# the number `i` with the number `i + D / 2`, by an angle that grows with the position. Attention mixes values by how
# well queries fit keys. The feed-forward layer looks at each token on its own.


# %%
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def norm(x, gain):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + config["norm_epsilon"]) * gain


def rotate(x):  # (H, T, D)
    half = x.shape[-1] // 2
    angles = np.arange(x.shape[1])[:, None] * config["rotary_base"] ** -(np.arange(half) / half)  # (T, D / 2)
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)  # (H, T, D)


def attention(x, block):
    tokens, heads = len(x), config["heads"]
    joint = x @ weights[f"{block}.attention.qkv_proj.weight"].T  # (T, 3 · W)
    queries, keys, values = joint.reshape(tokens, 3, heads, -1).transpose(1, 2, 0, 3)  # (H, T, D) each
    queries, keys = rotate(queries), rotate(keys)
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(keys.shape[-1])  # (H, T, T)
    scores += np.triu(np.full((tokens, tokens), -np.inf), k=1)  # no token sees a later one
    mixed = softmax(scores) @ values  # (H, T, D)
    joined = mixed.transpose(1, 0, 2).reshape(tokens, -1)  # (T, W)
    return joined @ weights[f"{block}.attention.o_proj.weight"].T


def feed_forward(x, block):
    gate, up = np.split(x @ weights[f"{block}.feed_forward.up_proj.weight"].T, 2, axis=-1)  # (T, F) each
    return (gate / (1 + np.exp(-gate)) * up) @ weights[f"{block}.feed_forward.down_proj.weight"].T  # SwiGLU


# %% [markdown]
# ## The model
#
# The stream of vectors starts with a row of the embedding matrix for each token. Every part adds to it. In the end,
# the same matrix turns the last vector into a number for every token of the vocabulary.


# %%
def logits(ids):
    stream = weights["embedding.weight"][ids]  # (T, W)
    for layer in range(config["layers"]):
        block = f"blocks.{layer}"
        stream = stream + attention(norm(stream, weights[f"{block}.attention_norm.weight"]), block)
        stream = stream + feed_forward(norm(stream, weights[f"{block}.feed_forward_norm.weight"]), block)
    return norm(stream, weights["final_norm.weight"]) @ weights["embedding.weight"].T  # (T, V)


def encode(text):
    return [pieces.piece_to_id("<s>"), *pieces.encode(text)]


# %% [markdown]
# ## What comes next
#
# Type the same text into Write on the page and click the first token that the model writes: its table has these
# numbers, before any filter.

# %%
TEXT = "My dog is called Max. My dog is called"
probabilities = softmax(logits(encode(TEXT))[-1])  # (V,)
top = probabilities.argsort()[::-1][:10]
for token in top:
    print(f"{pieces.id_to_piece(int(token))!r:16} {probabilities[token]:.4f}")

# %% [markdown]
# And a text, one token after the other, always the likeliest:

# %%
ids = encode(TEXT)
for _ in range(10):
    ids.append(int(logits(ids)[-1].argmax()))
print(pieces.decode(ids))
