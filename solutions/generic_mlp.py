"""Exercise 3: an MLP of any depth.

The lesson's `forward` names its three layers one by one. Write the function that the lesson would
have liked to have: one `mlp_forward` for every depth and every choice of widths, which finds out
how deep the network is by looking at its parameters.

Why it matters in JAX. Parameters are a pytree, that is, nested containers with arrays as leaves,
and the structure of a pytree is ordinary Python data: it is known while a function is being traced,
although the numbers in it are not. So a Python loop over layers is free to depend on the depth,
also under `jax.jit`. The trap is the order. JAX visits the keys of a dict in sorted order, and the
strings 'layer1', 'layer10', 'layer11', 'layer12', 'layer2' are sorted. After a trip through
`jax.jit` or `jax.tree.map` the dict itself has that order too, whatever order it was built in.

Everywhere below `params` is

    {'layer1': {'w': (n0, n1), 'b': (n1,)}, ..., 'layerN': {'w': (n, out), 'b': (out,)}}

float32, with N >= 1 layers, and the keys of the dict may come in any order.

What to write
-------------
`num_layers(params)`
    How many layers `params` holds, as a Python `int`. Every layer owns two leaves, so
    `jax.tree.leaves` knows; counting the entries of the dict is as good.

`mlp_forward(params, x)`
    The logits of the network: `h @ w + b` layer after layer, a ReLU between two layers and none
    after the last (a network of one layer has no ReLU at all). `x` is one example `(features,)` or
    a batch `(batch, features)`; the result is `(out,)` or `(batch, out)`, float32. Layers run in
    NUMERIC order, twelve layers and a hundred too. It works under `jax.jit`, `jax.grad` and
    `jax.vmap` (over examples, over stacked parameters, over both). What its gradient is where a
    value before a ReLU is exactly 0 is up to you.

`init_mlp(key, sizes)`
    Fresh `params` for the widths `sizes = (in, hidden..., out)`: He initialisation. In every layer
    `w` is `(fan_in, fan_out)`, drawn with mean 0 and variance 2 / fan_in (normal, truncated normal
    or uniform, as you like) from a subkey of its own, and `b` is `(fan_out,)`, all zero. Everything
    is float32. `sizes` is any sequence of ints (a tuple, a list, a range) of length two or more;
    `key` is raw (`jax.random.PRNGKey`) or typed (`jax.random.key`). The same key gives the same
    parameters, another key gives others.

None of them changes, deletes or donates what its caller passed in. Arrays may be `jax.Array` or
NumPy arrays, nested lists are not arrays.

How it is graded
----------------
Logits and gradients are compared with a float64 computation, to about 1e-4 of their size, so the
order of summation does not matter. Means and variances of weights are compared within bands so wide
that chance never fails a right solution.

    python generic_mlp.py           trains networks of several depths and prints a table
    make grade X=generic_mlp        grades this file
    python -m grader hint generic_mlp
"""

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import forward, init_params, load_mnist


def num_layers(params):
    """Count the layers of an MLP.

    Args:
        params: the pytree `{'layer1': {'w', 'b'}, ..., 'layerN': {'w', 'b'}}`.

    Returns:
        N, a Python int, at least 1.
    """
    ### BEGIN SOLUTION
    return len(jax.tree.leaves(params)) // 2
    ### END SOLUTION


def mlp_forward(params, x):
    """Apply an MLP of any depth: ReLU between the layers, none after the last.

    Args:
        params: the pytree `{'layer1': {'w', 'b'}, ..., 'layerN': {'w', 'b'}}`, N >= 1, float32; the
            layers run in the order of their numbers.
        x: one example `(features,)` or a batch `(batch, features)`, float32.

    Returns:
        The logits, `(out,)` or `(batch, out)`, float32.
    """
    ### BEGIN SOLUTION
    depth = num_layers(params)
    for number in range(1, depth + 1):
        # Counting, rather than iterating over the dict, keeps layer10 after layer9.
        layer = params[f"layer{number}"]
        x = x @ layer["w"] + layer["b"]
        if number < depth:
            x = jax.nn.relu(x)
    return x
    ### END SOLUTION


def init_mlp(key, sizes):
    """Draw the parameters of an MLP with He initialisation.

    Args:
        key: a PRNG key, raw `(2,)` uint32 or typed.
        sizes: the widths `(in, hidden..., out)`, a sequence of at least two ints.

    Returns:
        `{'layer1': {'w', 'b'}, ..., 'layerN': {'w', 'b'}}` with N = len(sizes) - 1, float32: `w` is
        `(fan_in, fan_out)` with mean 0 and variance 2 / fan_in, `b` is `(fan_out,)` and zero.
    """
    ### BEGIN SOLUTION
    subkeys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for number, subkey in enumerate(subkeys, start=1):
        fan_in, fan_out = sizes[number - 1], sizes[number]
        params[f"layer{number}"] = {
            "w": jnp.sqrt(2.0 / fan_in) * jax.random.normal(subkey, (fan_in, fan_out), jnp.float32),
            "b": jnp.zeros(fan_out, jnp.float32),
        }
    return params
    ### END SOLUTION


def train_and_score(key, sizes, data, n_epochs=5, batch_size=128, learning_rate=1e-3):
    """Train an MLP of widths `sizes` with Adam; return its test accuracy, a float."""
    init_key, shuffle_key = jax.random.split(key)
    params = init_mlp(init_key, sizes)
    optimizer = optax.adam(learning_rate)
    opt_state = optimizer.init(params)

    def mean_loss(params, x, y):
        logits = mlp_forward(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    @jax.jit
    def step(params, opt_state, x, y):
        updates, opt_state = optimizer.update(jax.grad(mean_loss)(params, x, y), opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    n_batches = len(data.x_train) // batch_size
    for epoch_key in jax.random.split(shuffle_key, n_epochs):
        order = jax.random.permutation(epoch_key, len(data.x_train))[: n_batches * batch_size]
        for batch in order.reshape(n_batches, batch_size):
            params, opt_state = step(params, opt_state, data.x_train[batch], data.y_train[batch])
    return float(jnp.mean(mlp_forward(params, data.x_test).argmax(axis=-1) == data.y_test))


def main():
    """Compare with the lesson's network, then train networks of several depths."""
    key = jax.random.PRNGKey(0)
    data = load_mnist()

    params = init_params(key)
    x = data.x_test[:256]
    difference = float(jnp.max(jnp.abs(mlp_forward(params, x) - forward(params, x))))
    print(f"The lesson's network has {num_layers(params)} layers.")
    print(f"Largest difference from the lesson's forward on {len(x)} images: {difference:.1e}\n")

    print(f"{'layers':>6}  {'parameters':>10}  {'test accuracy':>13}  widths")
    for hidden in ((), (128,), (256, 128), (64,) * 5, (64,) * 11):
        sizes = (784, *hidden, 10)
        params = init_mlp(key, sizes)
        n_parameters = sum(leaf.size for leaf in jax.tree.leaves(params))
        accuracy = train_and_score(key, sizes, data)
        widths = "-".join(str(width) for width in sizes)
        print(f"{num_layers(params):>6}  {n_parameters:>10,}  {accuracy:>13.1%}  {widths}")


if __name__ == "__main__":
    main()
