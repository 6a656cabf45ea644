# /// script
# dependencies = ["torch==2.13.0", "jax==0.10.2", "flax==0.12.8", "dm-haiku==0.0.17"]
# ///
"""How JAX, Flax and Haiku look up a row, and what their one-hot rows make of the same ids."""

import haiku as hk
import jax
import numpy as np
from crossing_questions import TABLE, ask, attempt, describe_spread
from flax import linen
from jax import numpy as jnp

table = jnp.asarray(TABLE.numpy())


def with_flax(ids, weight):
    """Return the rows of Flax's layer."""
    return linen.Embed(*weight.shape).apply({"params": {"embedding": weight}}, jnp.asarray(ids))


def with_haiku(style):
    """Return a lookup by Haiku's layer in one of its styles."""

    def lookup(ids, weight):
        layer = hk.transform(lambda x: hk.Embed(*weight.shape, lookup_style=style)(x))
        return layer.apply({"embed": {"embeddings": weight}}, None, jnp.asarray(ids))

    return lookup


def gradient(ids, lookup):
    """Return the gradient of the first column of the table, of a sum of rows."""
    return attempt(lambda: jax.grad(lambda w: lookup(jnp.array(ids), w).sum())(table)[:, 0])


def one_hot(ids, weight):
    """Return the product with JAX's one-hot rows."""
    return jax.nn.one_hot(ids, len(weight)) @ weight


def index(ids, weight):
    """Return the rows by an index."""
    return jnp.asarray(weight)[ids]


def take(ids, weight):
    """Return the rows by jnp.take."""
    return jnp.take(jnp.asarray(weight), ids, axis=0)


fresh = linen.Embed(5_000, 64).init(jax.random.key(0), jnp.array([0]))
results = {
    "index": ask(index, one_hot),
    "take": ask(take, one_hot),
    "flax": ask(with_flax, one_hot),
    "haiku": ask(with_haiku("ARRAY_INDEX"), with_haiku("ONE_HOT")),
    "gradient": {str(ids): gradient(ids, index) for ids in ([2, 2, 1], [-1], [-6], [5])},
    "first numbers": describe_spread(fresh["params"]["embedding"]),
    "id 2**32 + 1": attempt(lambda: take(np.array([2**32 + 1]), table)),
}
