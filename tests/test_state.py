"""The codec: what it takes, what it gives back, what it refuses."""

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import kernels

from bayesift.errors import DataError
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.state import (
    KINDS,
    MAX_ENTRIES,
    StateMixin,
    check_classes,
    decode,
    encode,
    expect_array,
    fits,
    storable,
)


@storable("test-point")
@dataclass(frozen=True)
class Point:
    x: float
    names: tuple[str, ...] = ()
    inner: "Point | None" = None
    table: dict[int, list[float]] = field(default_factory=dict)


@storable("test-estimator")
class Nested(StateMixin, BaseEstimator):
    FITTED = ("coef_", "part_")

    coef_: np.ndarray
    part_: Any

    def __init__(self, *, point=None, part=None, progress=None):
        self.point = point
        self.part = part
        self.progress = progress

    def fit(self):
        self.coef_, self.part_ = np.arange(3.0), Nested(point=Point(2.0))
        return self


def through_json(value, arrays=None):
    arrays = {} if arrays is None else arrays
    code = json.loads(json.dumps(encode(value, arrays), allow_nan=False))
    return decode(code, {name: array.copy() for name, array in arrays.items()})


plain = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
)
keys = st.integers() | st.text(max_size=4) | st.booleans() | st.floats(allow_nan=False)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.frozensets(st.integers(), max_size=3)
        | st.builds(Point, st.floats(allow_nan=False), inner=st.just(Point(1.0, ("a",))))
    ),
    max_leaves=8,
)


@given(values)
@settings(deadline=None)
def test_values_survive_json(value):
    again = through_json(value)
    assert again == value
    assert type(again) is type(value)


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.int32, np.int64, np.bool_, np.int8]),
        hnp.array_shapes(max_dims=3),
    )
)
@settings(deadline=None)
def test_arrays_survive_beside_json_and_in_it(array):
    for again in (
        through_json(array),
        decode(json.loads(json.dumps(encode(array), allow_nan=False))),
    ):
        np.testing.assert_array_equal(again, array)
        assert again.dtype == array.dtype


@pytest.mark.parametrize(
    "array",
    [np.array(["a", "bé"]), np.array(["a", 1, 2.5], dtype=object), np.zeros((0, 3))],
    ids=str,
)
def test_names_and_empty_arrays_survive(array):
    again = through_json(array)
    np.testing.assert_array_equal(again, array)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)


def test_arrays_with_structure_take_less_room():
    symmetric = np.cov(np.random.default_rng(0).normal(size=(50, 60)))
    symmetric = (symmetric + symmetric.T) / 2
    filled = np.zeros((40, 50))
    filled[3, 4], filled[0, 0] = 2.0, -1.0
    for array, largest in ((symmetric, 50 * 51 / 2), (filled, 2), (np.full(5000, 0.25), 0)):
        arrays = {}
        np.testing.assert_array_equal(through_json(array, arrays), array)
        assert max(part.size for part in arrays.values()) <= largest


def test_sparse_arrays_survive():
    rows = sparse.csr_array(np.random.default_rng(0).poisson(0.3, (5, 7)).astype(float))
    again = through_json(rows)
    assert (again != rows).nnz == 0
    assert again.indices.dtype == rows.indices.dtype


def test_numpy_scalars_come_back_as_numbers():
    assert through_json([np.int64(3), np.float32(0.5), np.bool_(True), np.str_("a")]) == [
        3,
        0.5,
        True,
        "a",
    ]
    assert math.isnan(through_json(math.nan))


def test_parameters_and_fitted_attributes_survive_and_callables_do_not():
    fitted = Nested(
        point=Point(math.inf, table={1: [2.0]}), part=Nested(), progress=print
    ).fit()
    again = Nested.from_state(*fitted.get_state())
    assert again.point == fitted.point
    assert again.progress is None
    assert again.part_.point == Point(2.0)
    assert not hasattr(again.part, "coef_")
    np.testing.assert_array_equal(again.coef_, fitted.coef_)


def test_keys_of_weights_stay_numbers():
    X, y = [[2, 0], [1, 0], [0, 1], [0, 2]], [0, 0, 1, 1]
    model = SparseBayesClassifier(class_weight={0: 2.0, 1: 1.0}).fit(X, y)
    assert SparseBayesClassifier.from_state(*model.get_state()).class_weight == {0: 2.0, 1: 1.0}


def test_what_cannot_be_saved_is_named():
    for value, message in (
        (object(), "a object cannot be saved"),
        ({"by": len}, "cannot be saved"),
        (Point("far"), "a Point with x='far' cannot be saved"),
        (np.array([1 + 2j]), "complex128 cannot be saved"),
        (np.array([object()]), "neither names nor numbers"),
    ):
        with pytest.raises(DataError, match=message):
            encode(value)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.RBF(0.5) + kernels.WhiteKernel(0.1),
        kernels.ConstantKernel(2.0) * kernels.Matern([0.5, 2.0], nu=np.inf),
        kernels.DotProduct() ** 2,
        kernels.RationalQuadratic() + kernels.ExpSineSquared(length_scale_bounds="fixed"),
    ],
)
def test_kernels_of_scikit_learn_survive(kernel):
    again = through_json(kernel)
    np.testing.assert_array_equal(again(np.ones((2, 2))), kernel(np.ones((2, 2))))


@pytest.mark.parametrize(
    "code",
    [
        {},
        {"kind": "os.system"},
        {"kind": ["tuple"]},
        {"kind": {}},
        {"kind": "float", "value": "1e5"},
        {"kind": "float", "value": []},
        {"kind": "tuple"},
        {"kind": "tuple", "items": "ab"},
        {"kind": "set", "items": [[1]]},
        {"kind": "dict", "items": [1, 2]},
        {"kind": "dict", "items": [[[], 2]]},
        {"kind": "array"},
        {"kind": "array", "dtype": "<f8"},
        {"kind": "array", "dtype": "O", "values": [None]},
        {"kind": "array", "dtype": "V8", "values": [1]},
        {"kind": "array", "dtype": "<U99999999", "values": ["a"] * 9},
        {"kind": "array", "dtype": ">f8", "values": [1.0]},
        {"kind": "array", "dtype": "<f8", "values": [1.0], "shape": [2]},
        {"kind": "array", "dtype": "<i4", "values": [2**40]},
        {"kind": "array", "dtype": "<f8", "values": ["infinite"]},
        {"kind": "array", "form": "magic"},
        {"kind": "array", "form": "symmetric"},
        {"kind": "csr", "shape": [1, 1]},
        {"kind": "csr", "shape": [1], "data": 1, "indices": 1, "indptr": 1},
        {"kind": "test-point"},
        {"kind": "test-point", "x": "far"},
        {"kind": "test-point", "x": True},
        {"kind": "test-point", "x": 1.0, "colour": "red"},
        {"kind": "test-point", "x": 1.0, "names": ["a", 1]},
        {"kind": "test-point", "x": 1.0, "table": {"kind": "dict", "items": [["0", [1.0]]]}},
        {"kind": "test-point", "x": 1.0, "inner": {"kind": "laplace-prior"}},
        {"kind": "laplace-prior", "gamma": -1.0},
        {"kind": "test-estimator", "progress": None},
        {"kind": "test-estimator", "coef_": [1.0], "part_": None},
        {"kind": "test-estimator", "part_": None},
        {"kind": "sklearn-RBF", "width": 1.0},
    ],
    ids=str,
)
def test_what_was_never_written_is_refused(code):
    with pytest.raises(DataError):
        decode(code)


def test_files_cannot_ask_for_much_memory():
    few = {"places": np.array([0]), "values": np.array([1.0])}
    huge = {"kind": "array", "form": "filled", "shape": [2**20, 2**20], "fill": 0.0}
    with pytest.raises(DataError, match="too large"):
        decode(huge, few)
    many = [{"kind": "array", "form": "filled", "shape": [MAX_ENTRIES // 4], "fill": 0.0}] * 5
    arrays = {f"{place}.{name}": array for place in range(5) for name, array in few.items()}
    with pytest.raises(DataError, match="too large"):
        decode(many, arrays)


def test_deep_nesting_is_refused():
    for wrap in (lambda code: [code], lambda code: {"kind": "tuple", "items": [code]}):
        code = 1
        for _ in range(500):
            code = wrap(code)
        with pytest.raises(DataError, match="nested too deeply"):
            decode(code)


def test_only_fitted_estimators_of_the_right_class_come_from_a_state():
    parameters, arrays = NaiveBayesClassifier().fit([[1, 0], [0, 1]], [0, 1]).get_state()
    for wrong in ({"kind": "naive-bayes"}, {"kind": "laplace-prior"}, [], None):
        with pytest.raises(DataError):
            NaiveBayesClassifier.from_state(wrong, arrays)
    with pytest.raises(DataError, match="SparseBayesClassifier is needed"):
        SparseBayesClassifier.from_state(parameters, arrays)


def test_a_kind_is_registered_once():
    with pytest.raises(ValueError, match="already"):
        storable("laplace-prior")(GaussianPrior)
    with pytest.raises(ValueError, match="already"):
        storable("array")(GaussianPrior)
    assert KINDS["laplace-prior"] is LaplacePrior


def test_values_fit_type_hints():
    assert fits(3, float | None)
    assert not fits(True, int)
    assert not fits([1, "a"], list[int])
    assert fits("terms", int | Literal["terms"])


def test_arrays_have_the_type_and_shape_expected():
    assert expect_array(np.zeros((2, 3)), "weights", np.float64, (None, 3)).shape == (2, 3)
    for array in (
        np.zeros((2, 2)),
        np.zeros(3),
        np.zeros((2, 3), dtype=int),
        np.full((2, 3), np.nan),
        None,
    ):
        with pytest.raises(DataError, match="weights must"):
            expect_array(array, "weights", np.float64, (None, 3))


def test_classes_are_distinct_and_sorted():
    check_classes(np.array(["acq", "earn"]), 2, multilabel=False)
    check_classes(np.array(["earn", "acq"]), 2, multilabel=True)
    for labels in (["earn", "acq"], ["acq", "acq"], ["acq"]):
        with pytest.raises(DataError, match="classes"):
            check_classes(np.array(labels), 2, multilabel=False)
