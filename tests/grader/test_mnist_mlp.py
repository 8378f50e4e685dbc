"""The network that students are given, and the digits it reads."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

EXERCISES = Path(__file__).parents[2] / "exercises"


@pytest.fixture
def mnist_mlp(monkeypatch, tmp_path):
    """The module, with a cache folder of its own."""
    monkeypatch.syspath_prepend(str(EXERCISES))
    monkeypatch.setenv("JAXLINGS_CACHE", str(tmp_path / "cache"))
    import mnist_mlp

    return mnist_mlp


@pytest.fixture
def digits(mnist_mlp):
    return mnist_mlp.Data(*map(np.asarray, mnist_mlp.load_mnist(full=False)))


# The model


@pytest.fixture
def params(mnist_mlp):
    """Parameters whose biases are not zero."""
    rng = np.random.default_rng(0)
    shapes = {"layer1": (784, 256), "layer2": (256, 128), "layer3": (128, 10)}
    return {
        name: {
            "w": rng.normal(0, (2 / shape[0]) ** 0.5, shape).astype(np.float32),
            "b": rng.normal(size=shape[1]).astype(np.float32),
        }
        for name, shape in shapes.items()
    }


def numpy_logits(params, x):
    hidden = x.astype(np.float64)
    for name in ("layer1", "layer2"):
        hidden = np.maximum(hidden @ params[name]["w"] + params[name]["b"], 0)
    return hidden @ params["layer3"]["w"] + params["layer3"]["b"]


def numpy_loss(params, x, y):
    logits = numpy_logits(params, x)
    return np.mean(np.log(np.exp(logits).sum(axis=-1)) - logits[np.arange(len(y)), y])


def test_forward_is_three_layers_with_relu_between(mnist_mlp, params, digits):
    x = digits.x_test[:20]
    logits = mnist_mlp.forward(params, x)
    assert logits.dtype == np.float32
    np.testing.assert_allclose(logits, numpy_logits(params, x), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(mnist_mlp.forward(params, x[0]), logits[0], rtol=1e-4, atol=1e-4)


def test_loss_is_the_mean_cross_entropy_of_a_batch_or_of_one(mnist_mlp, params, digits):
    x, y = digits.x_test[:20], digits.y_test[:20]
    loss = mnist_mlp.loss_fn(params, x, y)
    assert loss.shape == ()
    assert loss.dtype == np.float32
    np.testing.assert_allclose(loss, numpy_loss(params, x, y), rtol=1e-4)
    one = mnist_mlp.loss_fn(params, x[3], y[3])
    np.testing.assert_allclose(one, numpy_loss(params, x[3:4], y[3:4]), rtol=1e-4)


def test_accuracy_is_the_share_of_right_answers(mnist_mlp, params, digits):
    x = digits.x_test[:20]
    answers = numpy_logits(params, x).argmax(axis=1)
    assert mnist_mlp.accuracy(params, x, answers) == 1
    answers[:5] = (answers[:5] + 1) % 10
    assert mnist_mlp.accuracy(params, x, answers) == 0.75


def test_init_is_he_with_a_subkey_a_layer(mnist_mlp):
    import jax

    params = mnist_mlp.init_params(jax.random.key(3))
    assert sorted(params) == ["layer1", "layer2", "layer3"]
    for name, (fan_in, fan_out) in {
        "layer1": (784, 256),
        "layer2": (256, 128),
        "layer3": (128, 10),
    }.items():
        w, b = params[name]["w"], params[name]["b"]
        assert (w.shape, w.dtype) == ((fan_in, fan_out), np.float32)
        assert (b.shape, b.dtype) == ((fan_out,), np.float32)
        assert not b.any()
        np.testing.assert_allclose(np.std(w), (2 / fan_in) ** 0.5, rtol=0.1)
    first, second = (np.asarray(params[name]["w"]).ravel() for name in ("layer1", "layer2"))
    assert abs(np.corrcoef(first[:1000], second[:1000])[0, 1]) < 0.2


# Training


def test_training_learns_and_reports_each_epoch(mnist_mlp):
    import jax
    import optax

    data = mnist_mlp.load_mnist(full=False)
    params, history = mnist_mlp.train(jax.random.key(0), data, optax.adam(1e-3), n_epochs=2)
    assert [row.epoch for row in history] == [1, 2]
    assert history[1].loss < history[0].loss
    assert history[1].test_accuracy > 0.85
    assert history[1].test_accuracy == mnist_mlp.accuracy(params, data.x_test, data.y_test)


def test_training_starts_from_given_params_and_leaves_them_alone(mnist_mlp, params, digits):
    import jax
    import optax

    given = jax.tree.map(np.copy, params)
    same, history = mnist_mlp.train(
        jax.random.key(0), digits, optax.sgd(0.1), n_epochs=0, params=params
    )
    assert history == []
    assert jax.tree.all(jax.tree.map(np.array_equal, same, given))
    few = digits._replace(x_train=digits.x_train[:10], y_train=digits.y_train[:10])
    trained, history = mnist_mlp.train(
        jax.random.key(0), few, optax.sgd(0.1), n_epochs=1, batch_size=128, params=params
    )
    # One batch of all ten: the loss is the one before the update.
    np.testing.assert_allclose(
        history[0].loss, numpy_loss(given, few.x_train, few.y_train), rtol=1e-4
    )
    assert not np.array_equal(trained["layer3"]["b"], given["layer3"]["b"])
    assert jax.tree.all(jax.tree.map(np.array_equal, params, given))


# The digits


def test_the_embedded_split_is_stratified_disjoint_and_scaled(digits):
    assert digits.x_train.shape == (4000, 784)
    assert digits.x_test.shape == (1000, 784)
    assert {images.dtype for images in (digits.x_train, digits.x_test)} == {np.dtype("float32")}
    assert {labels.dtype for labels in (digits.y_train, digits.y_test)} == {np.dtype("int32")}
    assert digits.x_train.min() == 0
    assert digits.x_train.max() == 1
    assert np.bincount(digits.y_train).tolist() == [400] * 10
    assert np.bincount(digits.y_test).tolist() == [100] * 10
    train_images = {image.tobytes() for image in digits.x_train}
    assert not any(image.tobytes() in train_images for image in digits.x_test)


def test_the_split_is_the_same_on_every_machine_and_day(digits):
    joined = b"".join(array.astype("<f4").tobytes() for array in digits)
    assert hashlib.sha256(joined).hexdigest()[:16] == "36ce767266878940"


def test_any_ten_images_in_a_row_show_every_digit(digits):
    assert sorted(digits.y_train[30:40]) == list(range(10))


def test_the_embedded_digits_need_no_slow_import_and_come_quickly(mnist_mlp):
    mnist_mlp.load_mnist(full=False)
    start = time.perf_counter()
    mnist_mlp.load_mnist(full=False)
    assert time.perf_counter() - start < 0.5
    code = "import sys, mnist_mlp; mnist_mlp.load_mnist(); print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], cwd=EXERCISES, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "jax" in modules
    assert not {"mlxtend", "sklearn", "pandas", "matplotlib", "rich"} & set(modules)


def test_a_damaged_cache_is_read_anew(mnist_mlp, digits, tmp_path):
    cached = tmp_path / "cache" / "mnist_5k.npy"
    whole = cached.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1], b"\x80\x04N."):
        cached.write_bytes(damaged)
        again = mnist_mlp.load_mnist(full=False)
        assert np.array_equal(again.x_test, digits.x_test)
        assert cached.read_bytes() == whole
    assert [path.name for path in cached.parent.iterdir()] == [cached.name]


def test_without_a_place_to_cache_the_digits_still_come(mnist_mlp, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("JAXLINGS_CACHE", str(tmp_path / "file"))
    assert len(mnist_mlp.load_mnist(full=False).x_train) == 4000


# The full set, as OpenML would send it


@pytest.fixture
def openml(mnist_mlp, monkeypatch):
    """Stands in for OpenML: 70,000 black images with the right labels, or what `answer` says."""
    right_labels = np.concatenate(
        [
            np.repeat(np.arange(10), counts)
            for counts in (mnist_mlp._TRAIN_COUNTS, mnist_mlp._TEST_COUNTS)
        ]
    )

    class OpenML:
        pixels = np.zeros((70_000, 784), np.int64)
        labels = right_labels.astype(str).astype(object)
        error = None

        def fetch(self, *args, **kwargs):
            if self.error:
                raise self.error
            return self.pixels, self.labels

    answer = OpenML()
    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer.fetch)
    return answer


def test_the_full_set_is_kept_and_then_preferred(mnist_mlp, openml):
    assert len(mnist_mlp.load_mnist().x_train) == 4000
    downloaded = mnist_mlp.load_mnist(full=True)
    assert downloaded.x_train.shape == (60_000, 784)
    assert downloaded.x_test.shape == (10_000, 784)
    assert np.bincount(downloaded.y_test)[0] == 980
    openml.error = URLError("no second download")
    assert len(mnist_mlp.load_mnist().x_train) == 60_000
    assert len(mnist_mlp.load_mnist(full=False).x_train) == 4000


def test_a_failed_download_says_so_and_changes_nothing(mnist_mlp, openml, tmp_path):
    openml.error = URLError("Name or service\nnot known")
    with pytest.raises(RuntimeError) as raised:
        mnist_mlp.load_mnist(full=True)
    assert str(raised.value) == (
        "Could not download MNIST, nothing changed: Name or service not known"
    )
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("spoil", ["truncated", "relabelled", "shuffled"])
def test_what_is_not_mnist_is_not_kept(mnist_mlp, openml, tmp_path, spoil):
    if spoil == "truncated":
        openml.pixels, openml.labels = openml.pixels[:-1], openml.labels[:-1]
    elif spoil == "relabelled":
        openml.labels[0] = "9"
    else:
        openml.labels = openml.labels[::-1]
    with pytest.raises(RuntimeError, match="nothing changed: what came is not MNIST"):
        mnist_mlp.load_mnist(full=True)
    assert not (tmp_path / "cache").exists()


# The script


def run_script(*arguments, **environment):
    return subprocess.run(
        [sys.executable, EXERCISES / "mnist_mlp.py", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_prints_the_lessons_table(tmp_path):
    result = run_script(JAXLINGS_CACHE=str(tmp_path))
    assert result.returncode == 0, result.stderr
    first, header, *rows = result.stdout.splitlines()
    assert first == "4,000 training and 1,000 test images"
    assert header.split() == ["epoch", "loss", "train", "test"]
    assert [row.split()[0] for row in rows] == [str(epoch) for epoch in range(1, 11)]
    assert float(rows[-1].split()[-1].rstrip("%")) > 90


def test_the_script_says_a_failed_download_in_one_line(tmp_path):
    # A proxy where nothing listens: no network, wherever this runs.
    nowhere = "http://127.0.0.1:9"
    result = run_script(
        "--download", JAXLINGS_CACHE=str(tmp_path), https_proxy=nowhere, http_proxy=nowhere
    )
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Could not download MNIST, nothing changed: ")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
