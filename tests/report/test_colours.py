"""Contrast after WCAG 2: 4.5 for text, 3 for shapes."""

import re
from importlib.resources import files

import pytest

from bayesift.charts.svg import chart_css

CSS = chart_css() + files("bayesift.report").joinpath("templates/page.css").read_text()


def palettes():
    found = [
        dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        for block in re.findall(r":root \{(.*?)\}", CSS, re.S)
    ]
    return dict(zip(("light", "dark"), found, strict=True))


@pytest.fixture(params=["light", "dark"])
def palette(request):
    return {name: rgb(value) for name, value in palettes()[request.param].items()}


def rgb(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mixed(a, b, share):
    return [share * x + (1 - share) * y for x, y in zip(a, b, strict=True)]


def test_text_is_readable(palette):
    for ground in ("page", "surface"):
        for ink in ("text", "soft", "accent", "good", "bad"):
            assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)


def test_lines_can_be_seen(palette):
    for i in range(1, 7):
        assert contrast(palette[f"series-{i}"], palette["surface"]) >= 3


def test_bars_and_ticks_can_be_seen(palette):
    assert contrast(palette["accent"], palette["surface"]) >= 3
    for tick in ("text", "bad"):
        assert contrast(palette[tick], palette["track"]) >= 3


def test_shaded_text_is_readable(palette):
    shares = {
        kind: float(share)
        for kind, share in re.findall(r"--(good|bad)\) calc\(([.\d]+) \* var\(--heat\)", CSS)
    }
    assert set(shares) == {"good", "bad"}
    for kind, share in shares.items():
        assert (
            contrast(palette["text"], mixed(palette[kind], palette["track"], share)) >= 4.5
        ), kind
    for shade in ("accent", "bad"):
        assert contrast(palette["text"], mixed(palette[shade], palette["surface"], 0.28)) >= 4.5
