# wrong: grad_norms remembers its result by the identity of params
# loses: test_every_call_answers_for_its_own_arguments
# keeps: the rest
from functools import partial

import jax
import numpy as np
from jax import numpy as jnp
from mnist_mlp import *
from mnist_mlp import forward, loss_fn

EXPLANATION = "The images the network gets wrong: the gradient at the logits is softmax minus one-hot."


def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)


_last = (None, None, None)


def grad_norms(params, x, y):
    global _last
    if _last[0] is params and _last[1] == x.shape:
        return _last[2]
    squares = jax.tree.map(
        lambda g: jnp.sum(g.astype(jnp.float32).reshape(len(x), -1) ** 2, axis=1),
        per_example_grads(params, x, y),
    )
    norms = jnp.sqrt(sum(jax.tree.leaves(squares)))
    _last = (params, x.shape, norms)
    return norms


def largest_gradients(params, x, y, k):
    norms = grad_norms(params, x, y)
    order = jnp.argsort(-norms)[:k]
    return order, norms[order]
