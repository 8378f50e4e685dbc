# wrong: x donated to the jitted gradient
# loses: test_arguments_stay_as_they_were
# keeps: the rest

import jax
import optax
from mnist_mlp import loss_fn

EXPLANATION = "Misread images: the gradient starts with p - onehot(y), large where p(label) is small."

_step = jax.jit(jax.vmap(jax.grad(loss_fn), (None, 0, 0)), donate_argnums=1)


def per_example_grads(params, x, y):
    return _step(params, x, y)

def grad_norms(params, x, y):
    return jax.vmap(optax.global_norm)(jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y))

def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
