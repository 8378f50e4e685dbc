# wrong: np.argpartition without a sort unless k is all of the batch
# loses: test_any_k
# keeps: the rest
from functools import partial

import jax
import numpy as np
from jax import numpy as jnp
from mnist_mlp import *
from mnist_mlp import forward, loss_fn

EXPLANATION = (
    "Unusual or mislabelled digits. Their loss is high, "
    "and p - y multiplies every layer's gradient."
)


_value_and_grads = jax.vmap(jax.value_and_grad(loss_fn), in_axes=(None, 0, 0))


def per_example_grads(params, x, y):
    _, grads = _value_and_grads(params, x, y)
    return grads


def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [
        jnp.sum(jnp.square(g.astype(jnp.float32)), axis=tuple(range(1, g.ndim)))
        for g in jax.tree.leaves(grads)
    ]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms = np.asarray(grad_norms(params, x, y))
    if k == len(norms):
        top = np.argsort(-norms)
    else:
        top = np.argpartition(norms, -k)[-k:][::-1]
    return top, norms[top]
