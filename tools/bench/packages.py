"""What is deployed: the layers, built as `sam build` builds them, and their sizes."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import botocore

ROOT = Path(__file__).resolve().parents[2]
LAYERS = {"CoreLayer": "core", "ModelSdkLayer": "model_sdk", "AgentsLayer": "agents"}
ATTACHED = {
    "ingest": ("CoreLayer",),
    "reply": tuple(LAYERS),
    "compact": tuple(LAYERS),
    "erase": ("CoreLayer",),
}
"""As template.yaml attaches them; tests hold the two together."""


def built_layers(folder: Path, architecture: str, *, native: bool = False) -> Path:
    """A folder with one folder per layer, built now unless the same was built before.

    Args:
        folder: Where builds are kept.
        architecture: `arm64` or `x86_64`.
        native: For the Python that runs this and its machine, instead of for Lambda.
    """
    sources = [path for name in LAYERS.values() for path in _files(ROOT / "layers" / name)]
    sources += _files(ROOT / "layers" / "build")
    stamp = hashlib.sha256(f"{sys.version} {architecture} {native}".encode())
    for path in sources:
        stamp.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    made = folder / f"{'native' if native else architecture}-{stamp.hexdigest()[:16]}"
    if made.is_dir():
        return made
    unfinished = made.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    for layer, source in LAYERS.items():
        recipe = ROOT / "layers" / "build" / architecture / "Makefile"
        subprocess.run(
            ["make", "--silent", "--file", recipe, f"build-{layer}", f"ARTIFACTS_DIR={unfinished / layer}"],
            cwd=ROOT / "layers" / source,
            env={**os.environ, **({"LOCAL_BUILD": "native", "PYTHON": sys.executable} if native else {})},
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return unfinished.rename(made)


def measure(folder: Path) -> dict[str, Any]:
    """Bytes of each layer and of what each function gets, zipped and unpacked, for arm64."""
    layers = built_layers(folder, "arm64")
    sizes = {layer: _sizes(layers / layer, folder) for layer in LAYERS}
    functions = {}
    for name, attached in ATTACHED.items():
        parts = [_sizes(ROOT / "functions" / name, folder), *(sizes[layer] for layer in attached)]
        functions[name] = {key: sum(part[key] for part in parts) for key in parts[0]}
    return {
        "layers": sizes,
        "functions": functions,
        "bytecode": any(layers.rglob("*.pyc")),
    }


def _sizes(folder: Path, scratch: Path) -> dict[str, int]:
    archive = scratch / "size.zip"
    paths = _files(folder)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in paths:
            zipped.write(path, path.relative_to(folder))
    size = archive.stat().st_size
    archive.unlink()
    return {"zipped_bytes": size, "unpacked_bytes": sum(path.stat().st_size for path in paths)}


def without_bytecode(layers: Path, copy: Path) -> Path:
    """A copy of built layers that holds sources only."""
    return Path(shutil.copytree(layers, copy, ignore=shutil.ignore_patterns("__pycache__")))


def with_all_of_botocore(layers: Path, copy: Path) -> Path:
    """A copy of built layers in which botocore is as pip installs it."""
    shutil.copytree(layers, copy)
    data = copy / "CoreLayer" / "python" / "botocore" / "data"
    shutil.rmtree(data)
    shutil.copytree(Path(botocore.__file__).parent / "data", data)
    return copy


def _files(folder: Path) -> list[Path]:
    found: Iterable[Path] = folder.rglob("*")
    kept = (path for path in found if path.is_file())
    if folder.is_relative_to(ROOT / ".local"):
        return sorted(kept)
    return sorted(path for path in kept if "__pycache__" not in path.parts)
