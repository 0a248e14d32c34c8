"""Parts of pages that tools make. A part stands between two lines, '<!-- NAME: begin -->' and '<!-- NAME: end -->'."""
from __future__ import annotations


class NoPart(ValueError):
    """A text does not have both lines of a part once."""


def with_part(text: str, name: str, part: str) -> str:
    """The text of a page with other lines between the two of a part."""
    begin, end = (f"<!-- {name}: {side} -->\n" for side in ("begin", "end"))
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    if text.count(begin) != 1 or text.count(end) != 1 or end in before:
        raise NoPart(f"expected the lines '{begin.strip()}' and '{end.strip()}' once each, in this order")
    return before + begin + part + ("" if part.endswith("\n") else "\n") + end + after
