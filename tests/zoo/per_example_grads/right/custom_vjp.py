# right: a custom_vjp loss with a backward pass by hand
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.custom_vjp
def cross_entropy(logits, label):
    return jax.nn.logsumexp(logits) - logits[label]


def _fwd(logits, label):
    return cross_entropy(logits, label), (logits, label)


def _bwd(saved, g):
    logits, label = saved
    return g * jax.nn.softmax(logits).at[label].add(-1.0), None


cross_entropy.defvjp(_fwd, _bwd)


def per_example_grads(params, x, y):
    one = jax.grad(lambda p, xi, yi: cross_entropy(forward(p, xi), yi))
    return jax.vmap(one, in_axes=(None, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
