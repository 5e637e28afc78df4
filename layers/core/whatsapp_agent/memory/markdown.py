"""Turns a model's Markdown into WhatsApp's own marks: *bold*, _italic_, ~struck~, `code`, ```block```.

Written by hand and cautious, instead of on a CommonMark parser: CommonMark makes `2*3*4` and `__init__`
emphasis, and what a model writes is chat with some Markdown in it. What is not clearly Markdown stays as it is.
"""

import re

# Noncharacters of Unicode stand for marks and protected pieces while the text is worked on.
_BOLD, _ITALIC, _STRIKE, _PIECE, _END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4"
_MARKS = {_BOLD: "*", _ITALIC: "_", _STRIKE: "~"}
_FENCE_TEXT = "```"
_RESERVED = re.compile("[\ufdd0-\ufdef]")

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*[^`\n]*$")
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(?P<text>.+)$")
_RULE = re.compile(r"^[ ]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_BULLET = re.compile(r"^(?P<indent>[ \t]*)(?:[*-]|\+(?=[ \t]+[^\W\d]))[ \t]+(?P<box>\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"^[ ]{0,3}>[ \t]?")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")

_INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?<!`)(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>(?:\\.|[^\[\]\\]|\[[^\[\]]*\])*)\]\(\s*<?(?P<target>(?:[^\s()<>]|\([^\s()]*\))*)>?"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
    r"|<(?P<auto>(?:https?://|mailto:|tel:)[^\s<>]+)>"
    r"|(?P<url>(?:https?://|www\.)[^\s<>*~]+)"
    r"|(?P<br><br\s*/?>)",
    re.IGNORECASE,
)
# A mark opens after a gap or opening punctuation and closes before a gap or punctuation: not between digits,
# not between brackets, so arithmetic stays. Scripts without spaces have no gaps to look for.
_UNSPACED = r"\u0e00-\u0eff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
_BEFORE = rf"(?:(?<=[\s{_UNSPACED}\[({{\"'«“‘¿¡,;:.!?/|>–—…{_BOLD}{_ITALIC}{_STRIKE}{_END}-])|^)"
_AFTER = rf"(?=[\s{_UNSPACED}\])}}\"'»”’,;:.!?/|<–—…{_BOLD}{_ITALIC}{_STRIKE}{_PIECE}-]|$)"


def _marked(mark: str, inner: str) -> re.Pattern[str]:
    return re.compile(
        rf"{_BEFORE}{mark}(?=[^\s*~])(?P<text>{inner}?)(?<=[^\s])(?<!\\){mark}{_AFTER}", re.MULTILINE
    )


_BOTH = _marked(r"\*\*\*", r"[^\n*]+")
_STRONG = _marked(r"\*\*", r"(?:[^\n*]|\*(?!\*))+")
_STRONG_UNDERSCORES = _marked("__", r"[^\n_]+")
_STRUCK = _marked("~~", r"[^\n~]+")
_EMPHASIS = _marked(r"\*", r"[^\n*]+")
_IDENTIFIER = re.compile(r"[a-z0-9]+")


def to_whatsapp(markdown: str) -> str:
    """The text with WhatsApp's marks instead of Markdown's.

    Headings become bold lines, bullets `- `, tables one line per row, links `label (address)`. Code keeps its
    characters. A text that consists of nothing but Markdown's decoration stays as it is.
    """
    lines = _RESERVED.sub("", markdown.replace("\r\n", "\n")).split("\n")
    out: list[str] = []
    index = 0
    while index < len(lines):
        if match := _FENCE.match(lines[index]):
            index = _code_block(lines, index, match["mark"], out)
        elif index + 1 < len(lines) and "|" in lines[index] and _is_table_rule(lines[index + 1]):
            index = _table(lines, index, out)
        else:
            out.append(_line(lines[index]))
            index += 1
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out)) if _FENCE_TEXT not in out else "\n".join(out)
    return text.strip("\n") if text.strip() else markdown


def _code_block(lines: list[str], index: int, mark: str, out: list[str]) -> int:
    """Copies a fenced block; one that is never closed ends with the text. Returns the next line's index."""
    closing = re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    body = []
    index += 1
    while index < len(lines) and not closing.match(lines[index]):
        body.append(lines[index].replace(_FENCE_TEXT, "'''"))
        index += 1
    if any(line.strip() for line in body):
        out += [_FENCE_TEXT, *body, _FENCE_TEXT]
    return index + 1


def _is_table_rule(line: str) -> bool:
    return "|" in line and bool(_TABLE_RULE.match(line))


def _table(lines: list[str], index: int, out: list[str]) -> int:
    """Writes a table as one list item per row, each cell behind its column's name."""
    names = [_plain(cell) for cell in _cells(lines[index])]
    index += 2
    while index < len(lines) and "|" in lines[index] and lines[index].strip():
        cells = _cells(lines[index])
        first = _plain(cells[0])
        named = [
            f"{names[i]}: {_inline(cell)}" if i < len(names) and names[i] else _inline(cell)
            for i, cell in enumerate(cells[1:], start=1)
            if cell
        ]
        out.append("- " + " | ".join([*([f"*{first}*"] if first else []), *named]))
        index += 1
    return index


def _cells(line: str) -> list[str]:
    inner = re.sub(r"^\||(?<!\\)\|$", "", line.strip())
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _line(line: str) -> str:
    quoted = ""
    # Not by recursion: a model may write a thousand of them.
    while match := _QUOTE.match(line):
        quoted, line = quoted + "> ", line[match.end() :]
    return quoted + _unquoted(line)


def _unquoted(line: str) -> str:
    if _RULE.match(line):
        return ""
    if match := _HEADING.match(line):
        return _heading(match["text"].rstrip())
    if match := _BULLET.match(line):
        box = {"": "", "[ ]": "☐ "}.get((match["box"] or "").strip(), "☑ ")
        return f"{match['indent']}- {box}{_inline(line[match.end() :])}"
    return _inline(line)


def _heading(text: str) -> str:
    opened = text.rstrip("#")
    # `# Title ##` closes its heading, `# C#` does not.
    title = _plain(opened if opened.endswith((" ", "\t")) else text)
    return f"*{title}*" if title else ""


def _plain(text: str) -> str:
    """A heading's or a table cell's text without marks of its own, as it is marked as a whole."""
    return _inline(text, bold="").strip()


def _inline(text: str, bold: str = "*") -> str:
    pieces: list[str] = []

    def protect(match: re.Match[str]) -> str:
        pieces.append(_piece(match))
        # A digit or letter right behind keeps what it was for the marks around: a piece counts as a word.
        return f"{_PIECE}{len(pieces) - 1}{_END}"

    text = _INLINE.sub(protect, text)
    text = _BOTH.sub(rf"{_BOLD}{_ITALIC}\g<text>{_ITALIC}{_BOLD}", text)
    text = _STRONG.sub(rf"{_BOLD}\g<text>{_BOLD}", text)
    text = _STRONG_UNDERSCORES.sub(_strong_underscores, text)
    text = _STRUCK.sub(rf"{_STRIKE}\g<text>{_STRIKE}", text)
    text = _EMPHASIS.sub(rf"{_ITALIC}\g<text>{_ITALIC}", text)
    for mark, shown in {**_MARKS, _BOLD: bold}.items():
        text = text.replace(mark, shown)
    return re.sub(f"{_PIECE}(\\d+){_END}", lambda match: pieces[int(match[1])], text)


def _strong_underscores(match: re.Match[str]) -> str:
    # `__init__` is a name, not a loud "init".
    return match[0] if _IDENTIFIER.fullmatch(match["text"]) else f"{_BOLD}{match['text']}{_BOLD}"


def _piece(match: re.Match[str]) -> str:
    """What a protected piece looks like in WhatsApp."""
    if match["escaped"]:
        return match["escaped"]
    if match["code"]:
        code = match["code"].strip() or match["code"]
        return f"```{code}```" if "`" in code else f"`{code}`"
    if match["target"] is not None:
        return _link(match["label"], match["target"])
    if match["br"]:
        return "\n"
    return (match["auto"] or match["url"]).removeprefix("mailto:").removeprefix("tel:")


def _link(label: str, target: str) -> str:
    label = _inline(label).strip()
    address = re.sub(r"^(?:mailto|tel):", "", target, flags=re.IGNORECASE)
    reachable = address != target or re.match(r"(?:https?://|www\.)", target, re.IGNORECASE)
    if not label or label == address or not reachable:
        return label or address
    return f"{label} ({address})"
