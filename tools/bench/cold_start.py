"""What a fresh process does before its first event: modules loaded, and CPU time beside what cannot be avoided.

Each program runs in a fresh interpreter that is told nothing of this one: handlers on the layers as they are
deployed, built for this machine; the baselines on the same packages with botocore as pip installs it. Nothing
else that is installed here is seen: openai, for one, takes along what it finds. A time is the CPU time of that
process from after the interpreter's own start. Only ratios within one round are kept: the programs
of a round run one after another, so that a busy machine slows all of them.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.bench import changes, packages
from tools.bench.aws_stub import aws_stub

NAME = "cold_start"

ROOT = packages.ROOT
ROUNDS = 9
ROUNDS_WITHOUT_BYTECODE = 3
LIMITS = {"ingest": 1.3, "reply": 1.2}
"""Most that importing and building may take, as a multiple of the baseline."""

SQS = "boto3 and one client"
OPENAI = "boto3, openai and one client of each"
BASELINES = {
    SQS: 'import boto3; boto3.client("sqs")',
    OPENAI: 'import boto3; boto3.client("dynamodb"); import openai; openai.OpenAI(api_key="none")',
}
BASELINE_OF = {"ingest": SQS, "erase": SQS, "reply": OPENAI, "compact": OPENAI}
NAMES = (*BASELINES, *BASELINE_OF)

_MEASURE = """
import json, sys, time
before = set(sys.modules)
began = time.process_time()
{program}
ended = time.process_time()
print(json.dumps([globals().get("imported", ended) - began, ended - began, sorted(set(sys.modules) - before)]))
"""
# A handler builds its clients, and reads the secrets that it needs for that, at its first event.
_HANDLER = """
import importlib.util
spec = importlib.util.spec_from_file_location("app", {path!r})
app = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
imported = time.process_time()
app._function()
"""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of one program: CPU seconds until imported, until built, and the modules that it loaded."""

    imported: float
    built: float
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts programs in fresh interpreters.

    Attributes:
        layers: Built layers, for the handlers.
        sources: The same without bytecode.
        plain: The same with the whole of botocore, for the baselines.
        endpoint: Answers for AWS.
    """

    layers: Path
    sources: Path
    plain: Path
    endpoint: str

    def start(self, name: str, *, bytecode: bool = True) -> Start:
        """Runs a baseline, or a function's handler until it is ready for its first event."""
        program = BASELINES.get(name) or _HANDLER.format(path=str(ROOT / "functions" / name / "app.py"))
        answer = self._run(name, ["-c", _MEASURE.format(program=program)], bytecode=bytecode)
        imported, built, modules = json.loads(answer.stdout)
        return Start(imported, built, tuple(modules))

    def import_times(self, name: str) -> Iterator[tuple[str, int]]:
        """Microseconds of importing a handler by module, each without what it imports."""
        answer = self._run(name, ["-X", "importtime", str(ROOT / "functions" / name / "app.py")])
        for line in answer.stderr.splitlines():
            own, _, module = line.removeprefix("import time:").partition("|")
            if own.strip().isdecimal():
                yield module.partition("|")[2].strip(), int(own)

    def _run(
        self, name: str, arguments: list[str], *, bytecode: bool = True
    ) -> subprocess.CompletedProcess[str]:
        folder = self.layers if bytecode else self.sources
        attached = packages.ATTACHED.get(name)
        if attached is None:
            folder, attached = self.plain, ("CoreLayer", "ModelSdkLayer")
        functions = json.loads((ROOT / "events" / "env.json").read_text("utf-8"))
        environment = {
            **functions.get(f"{name.capitalize()}Function", {}),
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": os.pathsep.join(str(folder / layer / "python") for layer in attached),
            "PYTHONHASHSEED": "0",
            # Layers lie on a file system that nobody writes to.
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(
            [sys.executable, "-S", *arguments], env=environment, capture_output=True, text=True, check=True
        )


@contextmanager
def starter(folder: Path) -> Iterator[Starter]:
    """A starter on layers that are built in `folder` unless they are there."""
    layers = packages.built_layers(folder, "x86_64", native=True)
    with tempfile.TemporaryDirectory(prefix="cold-start-") as scratch, aws_stub() as endpoint:
        yield Starter(
            layers,
            packages.without_bytecode(layers, Path(scratch, "sources")),
            packages.with_all_of_botocore(layers, Path(scratch, "plain")),
            endpoint,
        )


def package_of(module: str) -> str:
    """`application` for our own, the top-level name of a third party, or `standard library`."""
    top = module.split(".", maxsplit=1)[0]
    if top in {"whatsapp_agent", "agent_profiles"}:
        return "application"
    return "standard library" if top in sys.stdlib_module_names or top.startswith("_") else top


def measure() -> dict[str, Any]:
    """Figures by function, and the sizes of what is deployed. A minute or two."""
    folder = ROOT / ".local" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    with starter(folder) as process:
        # The first round finds nothing in the memory of the machine, and is not counted.
        modules = {name: process.start(name).modules for name in NAMES}
        warm = [{name: process.start(name) for name in NAMES} for _ in range(ROUNDS)]
        spent = {name: _by_package(dict(process.import_times(name)) for _ in range(3)) for name in BASELINE_OF}
        cold = [
            {name: process.start(name, bytecode=False) for name in BASELINE_OF}
            for _ in range(ROUNDS_WITHOUT_BYTECODE)
        ]
    functions = {
        name: {
            "baseline": baseline,
            "modules": len(modules[name]),
            "modules_of_baseline": len(modules[baseline]),
            "own_modules": sum(package_of(module) == "application" for module in modules[name]),
            "import_ratio": _median(each[name].imported / each[baseline].built for each in warm),
            "import_and_build_ratio": _median(each[name].built / each[baseline].built for each in warm),
            "limit_ratio": LIMITS.get(name),
            "without_bytecode_ratio": _without_bytecode(name, warm, cold),
            "import_share_percent": _shares(spent[name]),
        }
        for name, baseline in BASELINE_OF.items()
    }
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "rounds": ROUNDS,
        "functions": functions,
        "packages": packages.measure(folder),
    }


def check(figures: Mapping[str, Any]) -> None:
    """Raises AssertionError, with the figure, where a function takes longer than its limit."""
    for name, row in figures["functions"].items():
        limit, ready = row["limit_ratio"], row["import_and_build_ratio"]
        assert limit is None or ready <= limit, f"{name}: ready after {ready} × the baseline, {limit} at most"


def _without_bytecode(
    name: str, warm: Sequence[Mapping[str, Start]], cold: Sequence[Mapping[str, Start]]
) -> float:
    """How many times longer a start takes where all but the standard library is compiled first."""
    usual = statistics.median(each[name].built for each in warm)
    return _median(each[name].built / usual for each in cold)


def _by_package(runs: Iterable[Mapping[str, int]]) -> Counter[str]:
    """The least of several runs of each module: what else the machine does only adds to it."""
    least: dict[str, int] = {}
    for run in runs:
        least |= {module: min(own, least.get(module, own)) for module, own in run.items()}
    spent: Counter[str] = Counter()
    for module, own in least.items():
        spent[package_of(module)] += own
    return spent


def _median(ratios: Iterable[float]) -> float:
    return round(statistics.median(ratios), 2)


def _shares(spent: Counter[str], least: int = 3) -> dict[str, int]:
    """In percent, largest first, without those below `least`."""
    total = sum(spent.values())
    shares = {name: round(100 * own / total) for name, own in spent.most_common()}
    return {name: share for name, share in shares.items() if share >= least}


def page(figures: Mapping[str, Any]) -> str:
    """The section of the results' page."""
    lines = [
        "## Cold start",
        "",
        "CPU time until a function is ready for its first event, importing and building its clients, as a "
        "multiple of the baseline in the same round (medians of "
        f"{figures['rounds']} rounds of fresh interpreters, Python {figures['python']}); modules loaded; and "
        "how many times longer it takes where a layer holds no bytecode.",
        "",
        "| function | baseline | imported | ready | limit | modules | of them ours | baseline's | "
        "without bytecode |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in figures["functions"].items():
        cells = [
            name,
            row["baseline"],
            f"{row['import_ratio']:.2f}",
            f"**{row['import_and_build_ratio']:.2f}**",
            f"{row['limit_ratio'] or '–'}",
            row["modules"],
            row["own_modules"],
            row["modules_of_baseline"],
            f"× {row['without_bytecode_ratio']:.1f}",
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "Where importing goes, in percent of its time:", ""]
    for name, row in figures["functions"].items():
        shares = ", ".join(f"{package} {share}" for package, share in row["import_share_percent"].items())
        lines.append(f"- {name}: {shares}")
    return "\n".join([*lines, "", *_sizes(figures["packages"]), "", *changes.table(changes.of(NAME))])


def _sizes(sizes: Mapping[str, Any]) -> list[str]:
    kind = "with bytecode" if sizes["bytecode"] else "without bytecode: no Python 3.13 was on the PATH"
    lines = [
        f"What is deployed for arm64 ({kind}); Lambda takes 250 MB unpacked:",
        "",
        "| | zipped | unpacked |",
        "|---|---:|---:|",
    ]
    for name, size in {**sizes["layers"], **sizes["functions"]}.items():
        lines.append(
            f"| {name} | {size['zipped_bytes'] / 1e6:.2f} MB | {size['unpacked_bytes'] / 1e6:.2f} MB |"
        )
    return lines
