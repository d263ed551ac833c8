"""Pictures of charts: SVG by Vega through vl-convert, PNG from that SVG, so that Vega runs once a chart. In the page
an SVG stands for readers without scripts, and for print at any moment.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from isal import isal_zlib

from plimsoll.report.charts import theme
from plimsoll.report.charts.theme import (
    HOVER,
    PICTURE_FONT,
    PICTURE_INK,
    PICTURE_PAPER,
    Figure,
    page_config,
    picture_config,
)

_SCALE = 2.0
_PNG_HEADER = 8

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
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML file may have. The renderer would end the whole process at one."""


def drawing(figure: Figure) -> str:
    """Return the chart as an SVG file, titled, on white."""
    return _drawn(picture_specification(figure))


def pictures(name: str, svg: str) -> dict[str, bytes]:
    """Render `charts/<name>.svg` and `charts/<name>.png` of a drawing."""
    import vl_convert

    png = smaller_png(vl_convert.svg_to_png(svg, scale=_SCALE))
    return {f"charts/{name}.svg": svg.encode(), f"charts/{name}.png": png}


_INK_OF_PICTURE = "<style>svg { color: #14202b } @media (prefers-color-scheme: dark) { svg { color: #e4e9ee } }</style>"


def page_svg(figure: Figure, *, width_px: int, height_px: int) -> str:
    """Return the chart as SVG to stand in a page, each panel of that size, its inks the page's own.

    A picture file does not take over the inks of the page that shows it, so it has a style of its own. A page that
    contains the drawing itself takes that style out.
    """
    inner = {**figure.spec.get("spec", {}), "width": width_px, "height": height_px}
    return _drawn({**figure.spec, "spec": inner, "config": page_config()}).replace(">", f">{_INK_OF_PICTURE}", 1)


def _drawn(specification: dict[str, Any]) -> str:
    import vl_convert

    theme.register()
    # Ids as if this were the first drawing of the process: Vega counts on, and equal data must give equal bytes.
    svg = vl_convert.vegalite_to_svg(_drawable(specification))
    ids = dict.fromkeys(re.findall(r'id="((?:clip|gradient_)[^"]*)"', svg))
    numbers = {name: f"id{number}" for number, name in enumerate(ids)}
    return re.sub(r'(id="|url\(#)([^")]+)', lambda match: match[1] + numbers.get(match[2], match[2]), svg)


def _drawable(part: Any) -> Any:
    """Return a part of a specification with escapes, such as `\\x1b`, for the characters that an SVG can't have."""
    if isinstance(part, str):
        return _NO_XML.sub(lambda match: ascii(match[0])[1:-1], part)
    if isinstance(part, Mapping):
        return {_drawable(key): _drawable(value) for key, value in part.items()}
    return list(map(_drawable, part)) if isinstance(part, list | tuple) else part


def smaller_png(png: bytes) -> bytes:
    """Return the same picture, its pixels deflated anew: vl-convert prefers speed, and its files are 8 times larger."""
    chunks = list(_chunks(png))
    data = zlib.compress(isal_zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT")), 6)
    others = [(kind, body) for kind, body in chunks if kind != b"IDAT"]
    parts = [*others[:-1], (b"IDAT", data), others[-1]]
    return png[:_PNG_HEADER] + b"".join(
        len(body).to_bytes(4) + kind + body + zlib.crc32(kind + body).to_bytes(4) for kind, body in parts
    )


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = _PNG_HEADER
    while start < len(png):
        length = int.from_bytes(png[start : start + 4])
        yield png[start + 4 : start + 8], png[start + 8 : start + 8 + length]
        start += length + 12  # Its length, kind and checksum have 4 bytes each


def picture_specification(figure: Figure) -> dict[str, Any]:
    """Return the chart with its title, in the theme of pictures, without what only a pointer would find."""
    title = {"text": figure.title, "offset": 12}
    return {**_with_whole_axes(figure, _without_hover(dict(figure.spec))), "config": picture_config(), "title": title}


def _with_whole_axes(figure: Figure, spec: dict[str, Any]) -> dict[str, Any]:
    """Give each panel an x axis of its own where the last row has gaps. page.js does the same at its own width."""
    if figure.panels is None or not figure.panels.last_row_has_gaps:
        return spec
    resolve = spec.get("resolve", {})
    return {**spec, "resolve": {**resolve, "axis": {**resolve.get("axis", {}), "x": "independent"}}}


def _without_hover(spec: dict[str, Any]) -> dict[str, Any]:
    if "vconcat" in spec:  # a picture can't be zoomed either
        strips = [{**strip, "layer": _seen_layers(strip)} for strip in spec["vconcat"]]
        return {**{key: value for key, value in spec.items() if key != "params"}, "vconcat": strips}
    inner = spec.get("spec", {})
    layers = _seen_layers(inner)
    return {**spec, "spec": {**inner, "layer": layers}} if layers else spec


def _seen_layers(chart: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Leave out layers for hovering, by their names, to which Altair adds numbers where charts are put together."""
    return [layer for layer in chart.get("layer", ()) if not str(layer.get("name", "")).startswith(HOVER)]


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
    steps = "".join(f"M{start}l{x},{y}" for start, x, y, _ in _LINE.findall(run[0]))
    return f'<path d="{steps}"{run["look"]}/>'


def _dots(run: re.Match[str]) -> str:
    """Draw dots of one size and colour as one path of lines without length, which have round ends."""
    places = "".join(f"M{at}h0" for at in re.findall(_PLACE, run[0]))
    width = 2 * float(run["radius"])
    return f'<path d="{places}" stroke="{run["fill"]}" stroke-width="{width:g}" stroke-linecap="round"/>'


def _root(svg: str) -> str:
    width, height = (float(length) for length in re.findall(r'(?:width|height)="([\d.]+)"', svg[: svg.index(">")]))
    shown = f'viewBox="0 {TITLE_PX} {width:g} {height - TITLE_PX:g}"'
    size = f'width="{width:g}" height="{height - TITLE_PX:g}"'
    body = svg[svg.index(">") + 1 :]
    return f'<svg class="still" aria-hidden="true" {size} {shown} font-family="{PICTURE_FONT}">{body}'
