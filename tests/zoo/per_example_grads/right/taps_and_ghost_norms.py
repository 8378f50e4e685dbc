# right: zero taps on the pre-activations, outer products, and norms that never build a gradient
import jax
import jax.numpy as jnp
import optax

EXPLANATION = """Wrong and doubtful images. A weight's gradient at one image is the outer product of
what came into the layer and the error delta at its output, so its norm is |h| * |delta|. The deltas
all start from softmax - onehot, which is large only where the label got little probability; |h|
differs far less between images (bold digits have a bit more of it)."""

LAYERS = ("layer1", "layer2", "layer3")


def _taps(params, x):
    def tap(layer):
        dtype = jnp.result_type(x, layer["w"], layer["b"])
        return jnp.zeros((x.shape[0], layer["w"].shape[1]), dtype)

    return {name: tap(params[name]) for name in LAYERS}


def _tapped_loss(taps, params, x, y):
    inputs, h = {}, x
    for name in LAYERS:
        inputs[name] = h
        z = h @ params[name]["w"] + params[name]["b"] + taps[name]
        h = z if name == LAYERS[-1] else jax.nn.relu(z)
    return optax.softmax_cross_entropy_with_integer_labels(h, y).sum(), inputs


def _inputs_and_deltas(params, x, y):
    # The loss is a SUM over the batch and row i of a tap touches example i alone, so one plain
    # backward pass leaves every example's own delta in its row.
    deltas, inputs = jax.grad(_tapped_loss, has_aux=True)(_taps(params, x), params, x, y)
    return inputs, deltas


def per_example_grads(params, x, y):
    params = jax.tree.map(jnp.asarray, params)
    inputs, deltas = _inputs_and_deltas(params, jnp.asarray(x), jnp.asarray(y))

    def leaf_gradient(path, leaf):
        layer, kind = (entry.key for entry in path)
        if kind == "b":
            gradient = deltas[layer]
        else:
            gradient = jnp.einsum("bi,bj->bij", inputs[layer], deltas[layer])
        return gradient.astype(leaf.dtype)

    return jax.tree_util.tree_map_with_path(leaf_gradient, params)


def grad_norms(params, x, y):
    params = jax.tree.map(jnp.asarray, params)
    inputs, deltas = _inputs_and_deltas(params, jnp.asarray(x), jnp.asarray(y))
    squares = 0.0
    for name in LAYERS:
        h, delta = inputs[name].astype(jnp.float32), deltas[name].astype(jnp.float32)
        # |outer(h, delta)|^2 = |h|^2 |delta|^2, and the bias adds |delta|^2 once more
        squares += (jnp.sum(h * h, axis=1) + 1.0) * jnp.sum(delta * delta, axis=1)
    return jnp.sqrt(squares)


def largest_gradients(params, x, y, k):
    norms = grad_norms(params, x, y)
    order = jnp.lexsort((-norms,))
    return order[:k], norms[order[:k]]
