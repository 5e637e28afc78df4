"""The charts beside the page: the same figures give the same bytes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = ("#1f6f54", "#b5473c", "#3c6fb5", "#8a6d1f", "#777777")
_STYLE = {
    "svg.hashsalt": "whatsapp-agent",
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": "#bbbbbb",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#eeeeee",
    "axes.axisbelow": True,
    "font.size": 9,
    "lines.linewidth": 1.8,
}


def database(figures: Mapping[str, Any], folder: Path) -> None:
    """Units and bytes of a turn by the length of the history."""
    rows = {"this agent": figures["histories"]}
    rows |= {name: peer["histories"] for name, peer in figures["peers"].items()}
    with mpl.rc_context(_STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        panels = (("write_units", "units written per turn"), ("read_units", "units read per turn"))
        for axis, (name, title) in zip(axes, panels, strict=True):
            for colour, (label, row) in zip(COLOURS, rows.items(), strict=False):
                points = [(int(history), each[name]) for history, each in row.items() if name in each]
                axis.plot(*zip(*points, strict=True), marker="o", color=colour, label=label)
                if len(points) < len(row):
                    axis.plot(*points[-1], marker="x", markersize=11, color=colour)
            below = "messages before (× : the next is refused)"
            axis.set(xscale="log", yscale="log", xlabel=below, title=title)
        axes[0].legend(frameon=False, fontsize=8)
        _save(figure, folder / "database.svg")


def prompt(figures: Mapping[str, Any], folder: Path) -> None:
    """Size of the prompt, and what it shares with the one before, turn by turn."""
    with mpl.rc_context(_STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        for colour, name in zip(COLOURS, figures["series"], strict=False):
            axes[0].plot(figures["series"][name], color=colour, label=name)
            axes[1].plot([100 * share for share in figures["shared_series"][name]], color=colour, label=name)
        axes[0].set(xlabel="turn", title="characters of the prompt")
        axes[1].set(xlabel="turn", title="% shared with the prompt before", ylim=(0, 101))
        axes[0].legend(frameon=False, fontsize=8)
        _save(figure, folder / "prompt.svg")


def money(figures: Mapping[str, Any], folder: Path) -> None:
    """Dollars per million messages by part."""
    lines = [line for line in figures["lines"] if line["dollars"] >= 0.5]
    with mpl.rc_context(_STYLE):
        figure, axis = plt.subplots(figsize=(9, 0.34 * len(lines) + 0.9), layout="constrained")
        parts = list(dict.fromkeys(line["part"] for line in lines))
        labels = [f"{line['part']}: {line['what']}" for line in lines]
        colours = [COLOURS[parts.index(line["part"]) % len(COLOURS)] for line in lines]
        bars = axis.barh(labels, [line["dollars"] for line in lines], color=colours)
        axis.bar_label(bars, fmt="%.1f", padding=3)
        axis.invert_yaxis()
        _title(axis, f"$ per million messages: {figures['total_dollars']:,.0f}")
        _save(figure, folder / "money.svg")


def _title(axis: Axes, text: str) -> None:
    axis.set_title(text)
    axis.grid(visible=False, axis="y")


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
