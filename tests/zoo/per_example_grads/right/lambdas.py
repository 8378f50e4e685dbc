# right: every function a lambda
import jax, jax.numpy as jnp
from mnist_mlp import loss_fn
per_example_grads = jax.vmap(jax.grad(loss_fn), (None, 0, 0))
grad_norms = lambda params, x, y: jax.vmap(
    lambda g: jnp.linalg.norm(jnp.array([jnp.linalg.norm(l) for l in jax.tree.leaves(g)]))
)(per_example_grads(params, x, y))
largest_gradients = lambda params, x, y, k: (
    lambda n: (lambda i: (i, n[i]))(jnp.argsort(n)[::-1][:k])
)(grad_norms(params, x, y))
EXPLANATION = "?!"
