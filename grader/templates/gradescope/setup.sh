#!/usr/bin/env bash
# Runs once, as root, when Gradescope builds the autograder's image.
set -eu
cd /autograder/source
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends bubblewrap
for version in 3.13 3.12 3.11; do
    if apt-get install -y --no-install-recommends "python$version" "python$version-venv"; then
        break
    fi
done
"python$version" -m venv /autograder/venv
/autograder/venv/bin/python -m pip install --quiet --require-hashes -r requirements.lock
# Digits and fonts, so that no submission waits for them. Programs are not compiled ahead: that
# takes the solutions, which are not here.
JAXLINGS_CACHE=/autograder/cache /autograder/venv/bin/python -m grader warm || true
