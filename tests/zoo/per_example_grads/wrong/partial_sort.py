# wrong: np.argpartition without a sort: the k largest, in whatever order the code leaves them
# loses: test_any_k
# keeps: the rest

import jax
import numpy as np
import optax
from mnist_mlp import loss_fn

EXPLANATION = "Misread images: the gradient starts with p - onehot(y), large where p(label) is small."

def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)

def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    return jax.vmap(optax.global_norm)(grads)

def largest_gradients(params, x, y, k):
    norms = grad_norms(params, x, y)
    n = np.asarray(norms)
    order = np.argpartition(-n, k - 1)[:k]
    return order, n[order]
