"""A long made conversation, the same each time: everyday messages, and now and then something worth keeping."""

import tomllib
from functools import cache
from itertools import count
from pathlib import Path

_DATA = Path(__file__).with_name("recall") / "data" / "es.toml"
_TELLING_EVERY = 6
_TOLD = [
    "Me llamo Maya.",
    "Vivo en Valencia desde el otoño.",
    "Trabajo de enfermera en el hospital.",
    *(
        f"Me encanta {thing}, sobre todo los domingos."
        for thing in (
            "el ajedrez",
            "nadar en el mar",
            "la guitarra",
            "el queso curado",
            "leer novelas negras",
            "caminar por la sierra",
            "el jazz",
            "cocinar arroz",
            "la fotografía",
            "pintar con acuarela",
            "el ciclismo",
            "bailar tango",
            "el cine mudo",
            "la jardinería",
            "el té verde",
            "hacer pan",
            "la astronomía",
            "remar",
            "el teatro",
            "coleccionar mapas",
            "patinar",
            "el chocolate negro",
            "hacer cerámica",
            "los trenes",
        )
    ),
]


def exchange(number: int) -> tuple[str, str]:
    """What the person says in turn `number` (from 0) and what the agent answers."""
    said, replied = _lines()
    told = number % _TELLING_EVERY == 2
    text = _TOLD[number // _TELLING_EVERY % len(_TOLD)] if told else said[number * 7 % len(said)]
    answer = [replied[(number * step + step) % len(replied)] for step in (5, 11, 17, 23)]
    return f"{text} {said[number * 3 % len(said)]}", " ".join(answer)


@cache
def _lines() -> tuple[list[str], list[str]]:
    table = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    said: list[str] = []
    replied: list[str] = []
    for number, theme in zip(count(), table["theme"], strict=False):
        values = [column[number % len(column)] for column in theme["values"]]
        said += [_filled(text, values) for text in theme["said"]]
        replied += [_filled(text, values) for text in theme["replied"]]
    for question, answer in [*table["filler"]["talk"], *table["hearsay"]["talk"]]:
        said.append(question)
        replied.append(answer)
    return said, replied


def _filled(text: str, values: list[str]) -> str:
    for place, value in enumerate(values):
        text = text.replace("{" + str(place) + "}", value)
    return text
