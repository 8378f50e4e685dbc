# wrong: a loop over examples in NumPy behind pure_callback
# loses: test_python_does_not_loop
# keeps: the rest
import jax
import jax.numpy as jnp
import numpy as np
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def _host(params, x, y):
    out = []
    for xi, yi in zip(np.asarray(x), np.asarray(y)):
        p = [(np.asarray(params[f"layer{i}"]["w"]), np.asarray(params[f"layer{i}"]["b"])) for i in (1, 2, 3)]
        acts = [xi]
        for i, (w, b) in enumerate(p):
            z = acts[-1] @ w + b
            acts.append(np.maximum(z, 0) if i < 2 else z)
        e = np.exp(acts[-1] - acts[-1].max())
        d = e / e.sum()
        d[yi] -= 1
        g = {}
        for i in (2, 1, 0):
            g[f"layer{i + 1}"] = {"w": np.outer(acts[i], d), "b": d}
            d = (p[i][0] @ d) * (acts[i] > 0)
        out.append(g)
    return jax.tree.map(lambda p, *g: np.stack(g).astype(p.dtype), params, *out)


def per_example_grads(params, x, y):
    shapes = jax.tree.map(lambda p: jax.ShapeDtypeStruct((x.shape[0], *p.shape), p.dtype), params)
    return jax.pure_callback(_host, shapes, params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
