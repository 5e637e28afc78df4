"""Agents' files: the two that come along, and every mistake that a developer can make in their own."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from whatsapp_agent.agents import load_agent, load_agents
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.memory.allowance import Limits

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "layers" / "agents"
GOOD = 'name = "Ana"\nlanguage = "en"\n'


def write(folder: Path, toml: str = GOOD, *, agent: str = "shop", persona: str = "You are Ana.") -> Path:
    (folder / agent).mkdir(parents=True, exist_ok=True)
    (folder / agent / "agent.toml").write_text(toml, encoding="utf-8")
    (folder / agent / "persona.md").write_text(persona, encoding="utf-8")
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_agents(folder)
    return str(caught.value)


@pytest.mark.parametrize(
    ("agent", "language", "keys"),
    [
        (
            "companion",
            "es",
            {"name", "family", "job", "preferences", "plans", "mood", "city", "important_dates"},
        ),
        (
            "sales",
            "en",
            {"name", "company", "role", "plan", "pain_point", "budget", "last_call_date", "interests"},
        ),
    ],
)
def test_the_agents_that_come_along_load_and_know_their_facts(
    agent: str, language: str, keys: set[str]
) -> None:
    profile = load_agents(SHIPPED)[agent]

    assert profile.language == language
    assert profile.fact_keys.keys() >= keys | {"note"}
    assert profile.fact_keys["mood"].lifetime == timedelta(days=7)
    assert len(profile.persona) > 500


def test_a_small_file_is_enough(tmp_path: Path) -> None:
    profile = load_agent(write(tmp_path), "shop")

    assert (profile.name, profile.time_zone, profile.persona) == ("Ana", "UTC", "You are Ana.")
    assert set(profile.fact_keys) == {"note"}


def test_numbers_of_an_agent_are_made_canonical(tmp_path: Path) -> None:
    assert load_agent(write(tmp_path, f'{GOOD}numbers = ["+34 600 11 12 22"]'), "shop").numbers == (
        "+34600111222",
    )


def test_an_agent_of_a_language_without_phrases_writes_its_own(tmp_path: Path) -> None:
    assert "language: 'eo' has no built-in phrases" in refusal(
        write(tmp_path, 'name = "Ana"\nlanguage = "eo"\n')
    )


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('language = "en"\n', "name: is missing; it must be a text"),
        ('name = "Ana"\n', "language: is missing; it must be a text"),
        ("name = 3\nlanguage = 'en'\n", "name: is 3; it must be a text"),
        (f'{GOOD}naem = "x"', "naem: is not known here"),
        (f'{GOOD}time_zone = "Madrid"', "time_zone: 'Madrid' is no IANA time zone"),
        (f'{GOOD}numbers = "+34600111222"', "numbers: is '+34600111222'; it must be a list"),
        (f'{GOOD}numbers = ["call me"]', "numbers: 'call me'"),
        (f'{GOOD}stop_words = [""]', "stop_words: must be a list of texts, none of them empty"),
        (f'{GOOD}[facts.Job]\ndescription = "x"', "facts.Job: a key has lower-case letters"),
        (f'{GOOD}[facts]\njob = "x"', "facts.job: must be a table with a description"),
        (f"{GOOD}[facts.job]", "facts.job.description: is missing"),
        (
            f'{GOOD}[facts.job]\ndescription = "x"\nkind = "set"',
            "facts.job.kind: is 'set'; it must be single or list",
        ),
        (
            f'{GOOD}[facts.job]\ndescription = "x"\nlifetime = 7',
            "facts.job.lifetime: is 7; it must be a number and a",
        ),
        (f'{GOOD}[facts.job]\ndescription = "x"\nlifetime = "0d"', "facts.job.lifetime: is '0d'"),
        (f'{GOOD}[facts.job]\ndescription = "x"\nmax_items = 51', "facts.job.max_items: must be from 1 to 50"),
        (
            f'{GOOD}[facts.job]\ndescription = "x"\npinned = 1',
            "facts.job.pinned: is 1; it must be true or false",
        ),
        (f'{GOOD}[facts.job]\ndescription = "x"\nnote = "y"', "facts.job.note: is not known"),
        (f"{GOOD}[tools]\nremember_facts = true", "tools.remember_facts: is not known"),
        (f'{GOOD}[tools]\nforget_fact = "yes"', "tools.forget_fact: is 'yes'; it must be true or false"),
        (f'{GOOD}[phrases]\nhello = "x"', "phrases.hello: is not known"),
        (f'{GOOD}[phrases]\napology = ""', "phrases.apology: must be a text that is not empty"),
        (f"{GOOD}recall.count = {'9' * 5000}", "holds a number of thousands of digits"),
        (f"{GOOD}pause_hours = 0x{'f' * 9999}", "pause_hours: is a number of thousands of digits; it must be"),
        (f"{GOOD}labels = {'[' * 5000}", "is nested too deeply"),
        (f"labels.{'a.' * 2000}b = 1\n{GOOD}", "labels: is nested too deeply; it must be a list"),
        (f'{GOOD}labels = "{"x" * 999}"', "xx…; it must be a list"),
        (f'{GOOD}erase_words = ["forget me", "!!!"]', "erase_words: '!!!' has no letter and no digit"),
        (f'{GOOD}stop_words = ["\u200b🙏"]', "stop_words: "),
        ('name = "Ana', "agent.toml: "),
    ],
)
def test_a_mistake_names_the_file_the_key_and_what_is_expected(toml: str, said: str, tmp_path: Path) -> None:
    message = refusal(write(tmp_path, toml))

    assert message.startswith("agents/shop/agent.toml: ")
    assert said in message


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    profile = load_agent(write(tmp_path, f"\ufeff{GOOD}", persona="\ufeffYou are Ana."), "shop")

    assert (profile.name, profile.persona) == ("Ana", "You are Ana.")


def test_the_tools_that_a_person_would_miss_are_on_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    assert load_agent(write(tmp_path), "shop").tools >= {"remember_fact", "forget_fact"}
    toml = f"{GOOD}[tools]\nforget_fact = false\nremember_fact = false\nmark_obsolete = true"
    assert load_agent(write(tmp_path, toml), "shop").tools == {"mark_obsolete"}


def test_an_empty_persona_is_refused(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, persona=" \n")).startswith("agents/shop/persona.md is empty")


@pytest.mark.parametrize("file", ["agent.toml", "persona.md"])
def test_a_file_that_is_no_utf_8_is_named(file: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "shop" / file).write_bytes(GOOD.encode() + b"# ni\xf1o")

    assert refusal(tmp_path).startswith(f"agents/shop/{file}: 'utf-8' codec can't decode")


def test_a_missing_persona_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "shop" / "persona.md").unlink()

    assert "no persona.md in agents/shop" in refusal(tmp_path)


def test_two_agents_cannot_answer_on_one_number(tmp_path: Path) -> None:
    toml = f'{GOOD}numbers = ["+34600111222"]'
    write(tmp_path, toml, agent="first")

    assert "+34600111222 already belongs to first" in refusal(write(tmp_path, toml, agent="second"))


def test_a_folder_without_agents_is_refused(tmp_path: Path) -> None:
    assert "no agent found" in refusal(tmp_path)


@pytest.mark.parametrize("agent_id", ["", "../shop", "Shop", "a" * 41])
def test_an_agent_id_is_no_path(agent_id: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="agent id"):
        load_agent(tmp_path, agent_id)


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs what the build of the agents' layer runs."""
    return subprocess.run(
        [sys.executable, ROOT / "layers" / "build" / "check_agents.py", folder],
        env={"PYTHONPATH": str(ROOT / "layers" / "core"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_build_of_the_layer_ends_with_one_line_about_the_mistake(tmp_path: Path) -> None:
    answer = check(write(tmp_path, f'{GOOD}naem = "x"'))

    assert answer.returncode == 1
    assert answer.stderr.startswith("layers/agents/shop/agent.toml: naem: is not known here")
    assert answer.stderr.count("\n") == 1


def test_the_build_of_the_layer_takes_the_agents_that_come_along() -> None:
    answer = check(SHIPPED)

    assert (answer.returncode, answer.stderr) == (0, "")


def test_limits_labels_erase_words_and_the_pause_come_from_the_file(tmp_path: Path) -> None:
    toml = (
        f'{GOOD}labels = [" support "]\nerase_words = ["forget me"]\npause_hours = 3\n'
        'transcription_model = "whisper-1"\n[limits]\nturns = 5\nmedia = 0\n'
    )
    profile = load_agents(write(tmp_path, toml))["shop"]

    assert (profile.labels, profile.erase_words) == (("support",), ("forget me",))
    assert profile.pause == timedelta(hours=3)
    assert profile.transcription_model == "whisper-1"
    assert profile.limits == Limits(turns=5, media=0)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[limits]\nmessages = 5", "limits.messages: is not known; known are burst, characters, media, turns"),
        ("[limits]\nturns = -1", "limits.turns: is -1; it must be from 0 to 1000000"),
        ('[limits]\nturns = "5"', "limits.turns: is '5'; it must be a whole number"),
        ("limits = 5", "limits: is 5; it must be a table"),
        ("pause_hours = 721", "pause_hours: is 721; it must be from 0 to 720"),
        ("pause_hours = 1.5", "pause_hours: is 1.5; it must be a whole number"),
        ('erase_words = [""]', "erase_words: must be a list of texts"),
        ("labels = [5]", "labels: must be a list of texts"),
    ],
)
def test_a_mistake_in_them_is_named(toml: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(write(tmp_path, GOOD + toml))


def test_two_agents_cannot_have_one_label(tmp_path: Path) -> None:
    toml = f'{GOOD}labels = ["support"]'
    write(tmp_path, toml, agent="first")

    assert "labels: support already belongs to first" in refusal(write(tmp_path, toml, agent="second"))
