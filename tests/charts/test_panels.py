import numpy as np
import pytest

from bayesift.charts import Axis, Figure, Frame, Line, Panel
from bayesift.charts.panels import compact
from bayesift.errors import DataError

CHART = Figure(
    "Lines",
    [Panel(Axis.unit("x"), Axis.unit("y"), [Line([(0.0, 0.5), (1.0, 1.0)], name="a & b")])],
)


def test_a_file_has_title_legend_and_colours(tmp_path):
    CHART.save(tmp_path / "lines.svg")
    text = (tmp_path / "lines.svg").read_text()
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "var(--" not in text
    assert ">Lines</text>" in text
    assert ">a &amp; b</text>" in text
    with pytest.raises(DataError, match=r"ends in \.svg"):
        CHART.save(tmp_path / "lines.png")


def test_a_notebook_shows_a_chart():
    assert CHART._repr_svg_() == CHART.to_svg()
    assert CHART._repr_html_().startswith('<img src="data:image/svg+xml;base64,')


@pytest.mark.parametrize(
    ("low", "high"), [(0, 93), (-45.7, -34.3), (0.001, 0.007), (5, 5), (0, 0), (96.2, 1e6)]
)
def test_ticks_are_round_and_hold_all_values(low, high):
    axis = Axis.over("x", [low, high])
    assert axis.ticks[0] <= low <= high <= axis.ticks[-1]
    assert 2 <= len(axis.ticks) <= 8
    steps = np.diff(axis.ticks)
    assert np.allclose(steps, steps[0])
    assert round(steps[0] / 10 ** np.floor(np.log10(steps[0]) + 1e-9), 6) in (1, 2, 5)


def test_places_run_from_corner_to_corner():
    axis, frame = Axis.over("x", [1, 1000], log=True), Frame()
    panel = Panel(axis, axis, [], frame)
    assert (panel.at_x(1), panel.at_x(1000)) == (frame.left, frame.right)
    assert (panel.at_y(1), panel.at_y(1000)) == (frame.bottom, frame.top)
    assert panel.at_x(10) == pytest.approx(frame.left + (frame.right - frame.left) / 3, abs=0.1)


def test_counts_are_written_in_at_most_four_characters():
    counts = (0, 999, 1234, 9999, 56789, 999_999, 2_500_000)
    assert [compact(n) for n in counts] == ["0", "999", "1.2k", "10k", "57k", "1M", "2.5M"]
