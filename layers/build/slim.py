"""Takes out of a built layer what botocore brings for services that nobody here calls.

botocore describes every service of AWS: some 400 folders, 25 MB. A process that makes its first client lists
all of them, parses one file with the addresses of all of them, and for each client unpacks and parses the
service's description with all of its documentation. Together that is a good part of a cold start.
"""

import gzip
import json
import shutil
import sys
from pathlib import Path
from typing import Any

SERVICES = frozenset({"dynamodb", "s3", "secretsmanager", "sqs"})
"""What `whatsapp_agent.bootstrap` makes clients of. A client of another service raises UnknownServiceError."""


def main(layer: str) -> int:
    """Slims the botocore under `layer`; returns the exit code."""
    data = Path(layer, "botocore", "data")
    if not data.is_dir():
        sys.stderr.write(f"{data} is missing: is botocore laid out in another way now?\n")
        return 1
    for folder in data.iterdir():
        if folder.is_dir() and folder.name not in SERVICES:
            shutil.rmtree(folder)
    for packed in data.glob("*/*/*.json.gz"):
        if not packed.name.startswith("examples"):
            _write(packed.with_suffix(""), _undocumented(json.loads(gzip.decompress(packed.read_bytes()))))
        packed.unlink()
    addresses = json.loads((data / "endpoints.json").read_text("utf-8"))
    for partition in addresses["partitions"]:
        partition["services"] = {
            name: service for name, service in partition["services"].items() if name in SERVICES
        }
    _write(data / "endpoints.json", addresses)
    return 0


def _undocumented(described: Any) -> Any:
    """A description without its documentation. A structure may have a member of that name, whose value is no
    text.
    """
    if isinstance(described, dict):
        return {
            name: _undocumented(value)
            for name, value in described.items()
            if name != "documentation" or not isinstance(value, str)
        }
    return [_undocumented(each) for each in described] if isinstance(described, list) else described


def _write(path: Path, value: Any) -> None:
    # In the order in which it came: botocore looks at the order of members.
    path.write_text(json.dumps(value, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
