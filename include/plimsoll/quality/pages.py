"""Data Docs that work offline: Great Expectations' pages without scripts, styles and pictures from elsewhere."""

import re

_SCRIPTS = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
_LINKS = re.compile(r"<link\b[^>]*>", re.IGNORECASE)
_IMAGES = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_ELSEWHERE = re.compile(r'\s(?:href|src)="(?!#)[^"]*"', re.IGNORECASE)
_STYLE = """<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
nav, footer, form, .modal, .ge-left-navigation-sidebar-container { display: none; }
</style>
</head>"""


def self_contained(page: str) -> str:
    """The page with nothing that a browser would fetch."""
    for pattern in (_SCRIPTS, _LINKS, _IMAGES, _ELSEWHERE):
        page = pattern.sub("", page)
    return page.replace("</head>", _STYLE, 1)
