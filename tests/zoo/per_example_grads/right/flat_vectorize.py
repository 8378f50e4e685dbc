# right: ravel_pytree and jnp.vectorize with a signature; norms are row norms of one flat matrix
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from mnist_mlp import loss_fn

EXPLANATION = """Die groessten Gradienten haben falsch erkannte und undeutliche Ziffern: dort ist
softmax(logits) - onehot(label), der Anfang jedes Gradienten, weit von null entfernt. Sicher und
richtig erkannte Bilder haben fast keinen Gradienten, sie koennen das Netz nichts mehr lehren."""


def _flat_gradients(params, x, y):
    """(batch, number of parameters), and the way back to a pytree for a single row."""
    flat, unravel = ravel_pytree(params)

    def flat_loss(flat, image, label):
        return loss_fn(unravel(flat), image, label)

    gradient = jnp.vectorize(jax.grad(flat_loss), excluded={0}, signature="(f),()->(p)")
    return gradient(flat, jnp.asarray(x), jnp.asarray(y)), unravel


def per_example_grads(params, x, y):
    rows, unravel = _flat_gradients(params, x, y)
    return jax.vmap(unravel)(rows)


def grad_norms(params, x, y):
    rows, _ = _flat_gradients(params, x, y)
    return jnp.linalg.norm(rows.astype(jnp.float32), axis=1)


def largest_gradients(params, x, y, k):
    norms = grad_norms(params, x, y)
    # lax.sort carries the positions along with the negated norms
    negated, indices = jax.lax.sort(
        (-norms, jnp.arange(norms.shape[0], dtype=jnp.int32)), num_keys=1
    )
    return indices[:k], -negated[:k]
