"""A chart's SVG file made fit to stand in the page: for readers without scripts, and for print at any moment."""

import re

from plimsoll.report.charts.theme import PICTURE_FONT, PICTURE_INK, PICTURE_PAPER

TITLE_PX = 27
"""Height of the title above a picture, px. The page has a heading instead."""

_DROPPED = (
    r' (?:role|class|aria-\w+|pointer-events)="[^"]*"',
    r' (?:fill-)?opacity="1"',
    rf' font-family="{re.escape(PICTURE_FONT)}"',
    rf'<rect width="[\d.]+" height="[\d.]+" fill="{PICTURE_PAPER}"/>',
    r'<path d=""[^>]*/>',
    r'<path d="M0,0h0v0h0Z"[^>]*/>',
    r'<text [^>]*font-size="15px"[^>]*>[^<]*</text>',  # the title
)
_MEASURES = re.compile(r'(?<= )(?:d|transform|x2|y2)="[^"]*"')
_EMPTY = re.compile(r"<g[^>]*></g>")
_PLACE = r'transform="translate\(([-\d.]+,[-\d.]+)\)"'
_LINE = re.compile(rf'<line {_PLACE} x2="([-\d.]+)" y2="([-\d.]+)"([^>]*)/>')
_SOME_LINE = r'<line transform="[^"]*" x2="[^"]*" y2="[^"]*"'
_LINES = re.compile(rf"{_SOME_LINE}(?P<look>[^>]*)/>(?:{_SOME_LINE}(?P=look)/>)+")
_SOME_DOT = r'<path transform="[^"]*" d="M'
_DOTS = re.compile(
    rf'{_SOME_DOT}(?P<radius>[\d.]+),0A(?P<arcs>[^"]*)" fill="(?P<fill>[^"]+)" stroke-width="2"/>'
    rf'(?:{_SOME_DOT}(?P=radius),0A(?P=arcs)" fill="(?P=fill)" stroke-width="2"/>)+'
)


def static_picture(svg: str, name: str) -> str:
    """Return the drawing for a page: without title and background, in the page's inks, exact to a tenth of a pixel.

    Its ids begin with `name`. It has no text for screen readers: the element around it has the chart's name.
    """
    for pattern in _DROPPED:
        svg = re.sub(pattern, "", svg)
    svg = _MEASURES.sub(lambda match: re.sub(r"(\.\d)\d+", r"\1", match[0]), svg)
    svg = _DOTS.sub(_dots, _LINES.sub(_lines, svg.replace(PICTURE_INK, "currentColor")))
    while (smaller := _EMPTY.sub("", svg)) != svg:
        svg = smaller
    return _root(re.sub(r'(id="|url\(#)([^")]+)', rf"\1{name}-\2", svg))


def _lines(run: re.Match[str]) -> str:
    """Return lines of one look as one path: a tenth of the size."""
    steps = "".join(f"M{place}l{x},{y}" for place, x, y, _ in _LINE.findall(run[0]))
    return f'<path d="{steps}"{run["look"]}/>'


def _dots(run: re.Match[str]) -> str:
    """Draw dots of one size and colour as one path of lines without length, which have round ends."""
    places = "".join(f"M{place}h0" for place in re.findall(_PLACE, run[0]))
    width = 2 * float(run["radius"])
    return f'<path d="{places}" stroke="{run["fill"]}" stroke-width="{width:g}" stroke-linecap="round"/>'


def _root(svg: str) -> str:
    width, height = (float(found) for found in re.findall(r'(?:width|height)="([\d.]+)"', svg[: svg.index(">")]))
    shown = f'viewBox="0 {TITLE_PX} {width:g} {height - TITLE_PX:g}"'
    size = f'width="{width:g}" height="{height - TITLE_PX:g}"'
    body = svg[svg.index(">") + 1 :]
    return f'<svg class="still" aria-hidden="true" {size} {shown} font-family="{PICTURE_FONT}">{body}'
