"""README's table of cost is the one that the figures of the last benchmark give."""

import pytest

from tools.bench import readme
from whatsapp_agent.prices import AS_OF


def test_readmes_table_of_cost_is_that_of_the_results() -> None:
    assert readme.between_marks(readme.README.read_text("utf-8")) == readme.table(readme.recorded())


def test_the_total_is_the_sum_of_the_parts() -> None:
    money = readme.recorded()
    assert money["total_dollars"] == pytest.approx(sum(line["dollars"] for line in money["lines"]), abs=0.01)


def test_the_figures_go_by_the_prices_of_today() -> None:
    assert readme.recorded()["prices_as_of"] == AS_OF.isoformat()


def test_only_what_lies_between_the_marks_is_written(tmp_path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n", "utf-8")
    readme.write(readme.recorded(), path)
    expected = f"before\n{readme.BEGIN}\n{readme.table(readme.recorded())}\n{readme.END}\nafter\n"
    assert path.read_text("utf-8") == expected
