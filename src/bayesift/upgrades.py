"""Files of earlier versions in today's form. Nothing else knows of them.

Files of bayesift 0.1 (format version 1) are rewritten; parameters that came later are given to all
files without them. Only the layout is changed here; what is rewritten is checked as any other file
when it is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.errors import DataError

Code = dict[str, Any]
Arrays = dict[str, Array]

# By the kind of an object: parameters that files may lack, with the values that mean what the class
# did then.
LATER_PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "hybrid": {"loss": "squared_hinge"},
    "online-perceptron": {"shuffle": False, "prior_scale": None},
    "online-gp": {"shuffle": False, "least_error": 0.0},
    "auto": {"uses_vectors_": False, "uses_characters_": False, "uses_table_": False},
    "sparse-bayes": {"stream_": None},
    "sparse-nmf": {"delta": 1.0},
    "spike-slab": {"background_variance": 0.0},
    "stacked": {"online_stack_": None},
    "topic-similarity": {"method": "additive"},
    "term-vectorizer": {"unspaced": "words"},  # all scripts were split as words
}

_ARRAY: Code = {"kind": "array"}
_RENAMED = {"passes": "n_epochs", "k": "n_neighbors", "asked": "queried"}
_WORDS = {"never": "inf", "always": "-inf"}


def upgraded(header: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    """The header and the arrays of a file of 0.1 as today's files have them."""
    try:
        if header.get("kind") == "text-classifier":
            return _text_classifier(header, arrays)
        if header.get("kind") == "filter":
            return _filter(header), arrays
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"not a model of bayesift 0.1: {error}") from error
    return header, arrays


def _text_classifier(header: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    new = dict(header)
    model, numbers = _model(header["model"], part_of(arrays, "model"))
    new["model"], numbers = model, {f"model.{name}": array for name, array in numbers.items()}
    new["thresholds"] = _rule(header["thresholds"])
    if header.get("vectorizer") is not None:
        given = dict(header["vectorizer"])
        frequencies = {"kind": "term-frequencies", "n_documents": given.pop("n_documents")}
        given["ngram_range"] = {"kind": "tuple", "items": given.pop("ngrams")}
        frequencies |= {"documents": _ARRAY, "collection": _ARRAY}
        new["vectorizer"] = {"kind": "term-vectorizer", **given, "_frequencies": frequencies}
        for name in ("documents", "collection"):
            singular = name.removesuffix("s")
            numbers[f"vectorizer._frequencies.{name}"] = arrays[
                f"vectorizer.{singular}_frequencies"
            ].astype(np.int64)
    if header.get("selection") is not None:
        new["selection"] = {"kind": "term-selection", **header["selection"], "_mask": _ARRAY}
        numbers["selection._mask"] = arrays["selection.support"]
    return new, numbers


def _rule(thresholds: Code) -> Code:
    parameters = {name: _plain(value) for name, value in thresholds["parameters"].items()}
    learned = {
        name: {
            "kind": "array",
            "dtype": "<f8",
            "values": [_WORDS.get(item, item) for item in value],
        }
        if isinstance(value, list)
        else value
        for name, value in thresholds["learned"].items()
    }
    return {"kind": f"{thresholds['rule']}-rule", **parameters, **learned}


def _plain(value: Any) -> Any:
    return (
        {"kind": "float", "value": _WORDS[value]}
        if isinstance(value, str) and value in _WORDS
        else value
    )


def _filter(header: Code) -> Code:
    """Settings of profiles were objects without kinds; `queried` was called `asked`."""
    profiles = []
    for profile in header["profiles"]:
        settings = {_RENAMED.get(name, name): value for name, value in profile["settings"].items()}
        settings["strategy"] = {"kind": "strategy", **settings["strategy"]}
        settings["goal"] = {**settings["goal"], "kind": f"{settings['goal']['kind']}-goal"}
        counters = {_RENAMED.get(name, name): count for name, count in profile["counters"].items()}
        settings = {"kind": "profile-settings", **settings, "model": "perceptron"}
        profiles.append({**profile, "settings": settings, "counters": counters})
    output = header.get("output")
    return {
        **header,
        "profiles": profiles,
        "output": None if output is None else {"kind": "output-mark", **output},
    }


def _model(described: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    kind, parameters = described["kind"], described["parameters"]
    if kind not in _MODELS:
        raise DataError(f"unknown kind of model {kind!r:.40}; is it from a newer bayesift?")
    code, numbers = _MODELS[kind](parameters, arrays)
    return {"kind": kind, **code}, numbers


def _fitted(parameters: Code) -> Code:
    return {"classes_": _labels(parameters["classes"]), "multilabel_": parameters["multilabel"]}


def _settings(given: Mapping[str, Any]) -> Code:
    """Parameters under today's names.

    Class weights by label, likelihoods and kernels with today's kinds.
    """
    settings = {
        _RENAMED.get(name, name): value for name, value in given.items() if name != "progress"
    }
    for name, suffix in (("likelihood", "noise"), ("kernel", "covariance"), ("link", "link")):
        if isinstance(settings.get(name), dict):
            settings[name] = {**settings[name], "kind": f"{settings[name]['kind']}-{suffix}"}
    return settings


def _labels(classes: Code) -> Code:
    return {"kind": "array", "dtype": classes["dtype"], "values": classes["labels"]}


def _csr(
    arrays: Arrays, name: str, shape: tuple[int, int], numbers: Arrays, data: str = "data"
) -> Code:
    """A sparse array whose parts stood side by side."""
    for part, old in (("data", data), ("indices", "indices"), ("indptr", "indptr")):
        numbers[f"{name}.{part}"] = arrays[old]
    return {
        "kind": "csr",
        "shape": [int(n) for n in shape],
        "data": _ARRAY,
        "indices": _ARRAY,
        "indptr": _ARRAY,
    }


def _weights(arrays: Arrays, name: str, numbers: Arrays) -> Code:
    if "coefficients" in arrays:
        numbers[name] = arrays["coefficients"]
        return _ARRAY
    return _csr(arrays, name, (len(arrays["intercepts"]), arrays["n_terms"].item()), numbers)


def _hyperplanes(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    numbers: Arrays = {"intercept_": arrays["intercepts"]}
    settings = _settings(parameters["settings"])
    if isinstance(settings.get("class_weight"), dict):  # 0.1 wrote the keys as words
        by_word = {str(label): label for label in parameters["classes"]["labels"]}
        weights = [
            [by_word.get(word, word), weight] for word, weight in settings["class_weight"].items()
        ]
        settings["class_weight"] = {"kind": "dict", "items": weights}
    if "learned_alpha" in settings:
        settings["alpha_"] = settings.pop("learned_alpha")
    planes = {"coef_": _weights(arrays, "coef_", numbers), "intercept_": _ARRAY}
    return {**settings, **_fitted(parameters), **planes}, numbers


def _naive_bayes(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    smoothing = {**parameters["smoothing"], "kind": f"{parameters['smoothing']['kind']}-smoothing"}
    if "parents" in smoothing:
        smoothing["parents"] = {"kind": "dict", "items": smoothing["parents"]}
    counted: Code = {"kind": "category-counts", "n_documents": arrays["n_documents"].item()}
    numbers: Arrays = {}
    shape = (len(arrays["category_documents"]), len(arrays["term_counts"]))
    counted["counts"] = _csr(arrays, "counted_.counts", shape, numbers, data="counts")
    for name in ("documents", "category_documents", "term_counts", "term_documents"):
        counted[name], numbers[f"counted_.{name}"] = _ARRAY, arrays[name]
    code = {
        "smoothing": smoothing,
        "priors": parameters["priors"],
        **_fitted(parameters),
        "counted_": counted,
    }
    return code, numbers


def _sparse_bayes(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    code, numbers = _hyperplanes(parameters, arrays)
    for name in ("prior", "intercept"):
        if isinstance(code.get(name), dict):
            code[name] = _prior(code[name], name, arrays, numbers)
    if isinstance(code.get("prior_scale"), dict):
        code["prior_scale"] = {
            **code["prior_scale"],
            "kind": f"{code['prior_scale']['kind']}-scale",
        }
    if isinstance(code.get("class_weight"), list):
        code["class_weight"] = {"kind": "dict", "items": code["class_weight"]}
    code |= {"softmax_": parameters["softmax"], "prior_scale_": _ARRAY, "posteriors_": None}
    numbers["prior_scale_"] = arrays.get("prior_scale", np.ones(len(arrays["intercepts"])))
    if code.get("posterior") == "normal":
        code["posteriors_"] = _posteriors(arrays, numbers)
    return code, numbers


def _prior(given: Code, name: str, arrays: Arrays, numbers: Arrays) -> Code:
    """Arrays of a prior stood beside it: whole, or by the entries that differ."""
    prior = {**given, "kind": f"{given['kind']}-prior"}
    own = part_of(arrays, name)
    numbers |= {f"{name}.{part}": array for part, array in own.items()}
    prior |= {part: _ARRAY for part in own if "." not in part}
    filled = {
        part: {"kind": "array", "form": "filled", **value}
        for part, value in given.items()
        if isinstance(value, dict)
    }
    return prior | filled


def _posteriors(arrays: Arrays, numbers: Arrays) -> list[Code]:
    own = part_of(arrays, "posterior")
    lengths, codes = own["lengths"], []
    sizes = lengths[:, 0] + 1
    ends = np.cumsum(np.where(lengths[:, 1] == 2, sizes * (sizes + 1) // 2, sizes))
    if (
        np.any(lengths < 0)
        or ends[-1] != len(own["covariances"])
        or lengths[:, 0].sum() != len(own["terms"])
    ):
        raise DataError("the posterior is not as long as it says")
    columns, values = (
        np.split(own["terms"], np.cumsum(lengths[:, 0])[:-1]),
        np.split(own["covariances"], ends[:-1]),
    )
    for place, (terms, part, dimensions) in enumerate(
        zip(columns, values, lengths[:, 1], strict=True)
    ):
        numbers |= {f"posteriors_.{place}.terms": terms, f"posteriors_.{place}.covariance": part}
        form = {"form": "symmetric"} if dimensions == 2 else {}
        codes.append({"kind": "weight-posterior", "terms": _ARRAY, "covariance": _ARRAY | form})
    return codes


def _neighbors(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    numbers: Arrays = {}
    code = {"n_neighbors": parameters["k"], "prior": parameters["prior"], **_fitted(parameters)}
    code["_documents"] = _weights(
        {n: a for n, a in arrays.items() if "." not in n}, "_documents", numbers
    )
    code["_members"] = _weights(part_of(arrays, "members"), "_members", numbers)
    return code, numbers


def _jury(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    code, numbers = _hyperplanes(
        parameters, {n: a for n, a in arrays.items() if not n.startswith("neighbors.")}
    )
    members = {
        "margin": {"kind": "svm-member", "C": code.pop("C")},
        "neighbors": {"kind": "neighbors-member", "n_neighbors": code.pop("n_neighbors")},
        "perceptron": {"kind": "perceptron-member", "prior_variance": 4.0},
        "naive-bayes": {"kind": "naive-bayes-member", "mixing": 0.5},
        "smooth-naive-bayes": {"kind": "naive-bayes-member", "mixing": 0.9},
        "informed": {"kind": "nb-logistic-member", "variance": 3.0, "alpha": 0.05},
    }
    code["members"] = {"kind": "tuple", "items": [members[name] for name in code["members"]]}
    code |= {
        "kind": "stacked",
        "weights_": _floats(parameters["shares"]),
        "offset_": parameters["offset"],
    }
    code |= {"neighbors_": None, "label_coupling_": None}
    if "neighbors" in parameters:
        neighbors, more = _neighbors(parameters["neighbors"], part_of(arrays, "neighbors"))
        code["neighbors_"] = {"kind": "neighbors", **neighbors}
        numbers |= {f"neighbors_.{name}": array for name, array in more.items()}
    if "consultation" in parameters:
        second = parameters["consultation"]
        coupling = {
            "kind": "label-coupling",
            "couplings": _ARRAY,
            "rates": _ARRAY,
            "offset": second["offset"],
        }
        code["label_coupling_"] = {**coupling, "weights": _floats(second["shares"])}
        numbers |= {f"label_coupling_.{name}": arrays[name] for name in ("couplings", "rates")}
    return code, numbers


def _committee(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    """The weights of its members were not stored: they are in the hyperplanes."""
    code, numbers = _hyperplanes(parameters, arrays)
    logistic = {"kind": "logistic-member", "variance": code.pop("variance")}
    informed = {
        "kind": "nb-logistic-member",
        "variance": code.pop("informed_variance"),
        "alpha": code.pop("alpha"),
    }
    bayes = {"kind": "naive-bayes-member", "mixing": code.pop("mixing")}
    code |= {"kind": "stacked", "members": {"kind": "tuple", "items": [logistic, informed, bayes]}}
    code |= {
        "weights": code.pop("shares"),
        "signed": False,
        "scale_scores": False,
        "couple_labels": False,
    }
    return code | {
        "weights_": None,
        "offset_": 0.0,
        "neighbors_": None,
        "label_coupling_": None,
    }, numbers


def _floats(values: list[float]) -> Code:
    return {"kind": "array", "dtype": "<f8", "values": values}


def _encoder(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    code = {"kind": "sparse-nmf", "solver": "multiplicative", **parameters}
    code |= {"components_": _ARRAY, "importance_": _ARRAY}
    return code, {"components_": arrays["components"], "importance_": arrays["importance"]}


def _similarity(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    line = dict(
        zip(("offset_", "slope_", "shift_", "same_share_"), arrays["line"].tolist(), strict=True)
    )
    learned = ("weights", "factors", "variances")
    code = {
        "kind": "topic-similarity",
        **parameters,
        **{f"{name}_": _ARRAY for name in learned},
        **line,
    }
    return code, {f"{name}_": arrays[name] for name in learned}


def _topic_svm(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    encoder, more = _encoder(parameters["encoder"], part_of(arrays, "encoder"))
    names = {
        "coefficients": "coef_",
        "intercepts": "intercept_",
        "slopes": "slopes_",
        "shifts": "shifts_",
    }
    code = {name: parameters[name] for name in ("C", "random_state")} | _fitted(parameters)
    code |= {"encoder": _unfitted(encoder) if parameters["given"] else None, "encoder_": encoder}
    code |= dict.fromkeys(names.values(), _ARRAY)
    numbers = {f"encoder_.{name}": array for name, array in more.items()}
    return code, numbers | {new: arrays[old] for old, new in names.items()}


def _topic_similarity(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    encoder, encoder_arrays = _encoder(parameters["encoder"], part_of(arrays, "encoder"))
    similarity, similarity_arrays = _similarity(
        parameters["similarity"], part_of(arrays, "similarity")
    )
    numbers = {f"encoder_.{name}": array for name, array in encoder_arrays.items()}
    numbers |= {f"similarity_.{name}": array for name, array in similarity_arrays.items()}
    numbers["points_"] = arrays["points"]
    members = {**arrays, "data": np.ones(len(arrays["indices"]), dtype=np.int8)}
    shape = (len(arrays["indptr"]) - 1, len(arrays["points"]))
    neighbors, given = parameters["n_neighbors"], parameters["given"]
    code = {
        "n_neighbors": neighbors[0],
        "n_neighbors_": neighbors[1],
        "t": parameters["t"],
        **_fitted(parameters),
    }
    code |= {"encoder": _unfitted(encoder) if given[0] else None, "encoder_": encoder}
    code |= {"similarity": _unfitted(similarity) if given[1] else None, "similarity_": similarity}
    code |= {"points_": _ARRAY, "members_": _csr(members, "members_", shape, numbers)}
    return code, numbers


def _unfitted(code: Code) -> Code:
    return {
        name: value
        for name, value in code.items()
        if not (name.endswith("_") or name.startswith("_"))
    }


def _gaussian_process(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    sizes = [int(size) for size in arrays["sizes"]]
    numbers: Arrays = {}
    ends, squares = np.cumsum([0, *sizes]), np.cumsum([0, *(size * size for size in sizes)])
    indptr, processes = arrays["indptr"], []
    for place, size in enumerate(sizes):
        first, last = ends[place], ends[place + 1]
        rows = indptr[first : last + 1]
        parts = {
            "rows.0": rows - rows[0],
            "rows.1": arrays["indices"][rows[0] : rows[-1]],
            "rows.2": arrays["data"][rows[0] : rows[-1]],
            "alpha": arrays["alpha"][first:last],
            **{
                name: arrays[name][squares[place] : squares[place + 1]].reshape(size, size)
                for name in ("C", "Q")
            },
        }
        numbers |= {f"processes_.{place}.{name}": array for name, array in parts.items()}
        processes.append(
            {
                "kind": "sparse-process",
                "rows": {"kind": "tuple", "items": [_ARRAY] * 3},
                **dict.fromkeys(("alpha", "C", "Q"), _ARRAY),
                "n_updates": int(arrays["n_updates"][place]),
                "log_evidence": float(arrays["log_evidence"][place]),
            }
        )
    terms = None
    if "terms" in arrays:
        columns = np.split(arrays["terms"], np.cumsum(arrays["n_terms"])[:-1])
        terms = [_ARRAY] * len(columns)
        numbers |= {f"terms_.{place}": part for place, part in enumerate(columns)}
    learned = {"n_features_in_": parameters["n_terms"], "processes_": processes, "terms_": terms}
    return {**_settings(parameters["settings"]), **_fitted(parameters), **learned}, numbers


_POSTERIORS = {
    "full": ("mean", "covariance", "pending", "weights", "clock"),
    "diagonal": ("mean", "variances", "clock"),
    "low-rank": ("mean", "precision", "factors", "triangle", "roots", "coefficients"),
}


def _perceptron(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    settings, n_models = _settings(parameters["settings"]), len(arrays["evidence"])
    covariance = settings.get("covariance", "full")
    numbers: Arrays = {"_bank.evidence": arrays["evidence"]}
    posteriors, restricted = [], "0.terms" in arrays
    for place in range(n_models):
        own = part_of(arrays, str(place))
        posterior: Code = {"kind": f"{covariance}-posterior"}
        for name in _POSTERIORS[covariance]:
            posterior[name], numbers[f"_bank.posteriors.{place}.{name}"] = _ARRAY, own[name]
        if covariance == "low-rank":
            posterior["rows"] = {"kind": "tuple", "items": [_ARRAY] * 3}
            for column, name in enumerate(("indptr", "indices", "data")):
                numbers[f"_bank.posteriors.{place}.rows.{column}"] = own[name]
        if restricted:
            numbers |= {f"_bank.{name}.{place}": own[name] for name in ("terms", "scales")}
        posteriors.append(posterior)
    bank = {
        "kind": "posterior-bank",
        "posteriors": posteriors,
        "terms": [_ARRAY] * n_models if restricted else None,
        "scales": [_ARRAY] * n_models if restricted else [],
        "n_terms": int(arrays["n_terms"].item()),
        "evidence": _ARRAY,
    }
    return {
        **settings,
        **_fitted(parameters),
        "n_seen_": parameters["n_seen"],
        "_bank": bank,
    }, numbers


def _specialised(parameters: Code, arrays: Arrays) -> tuple[Code, Arrays]:
    numbers: Arrays = {}
    code: Code = {}
    for name in ("common", "rare"):
        code[f"{name}_"] = None
        if parameters[name] is not None:
            code[f"{name}_"], more = _model(parameters[name], part_of(arrays, name))
            numbers |= {f"{name}_.{key}": array for key, array in more.items()}
    for name, other in (("common", "rare"), ("rare", "common")):
        code[name] = _unfitted(code[f"{name}_"] or code[f"{other}_"])
    flags = {"kind": "array", "dtype": "|b1", "values": parameters["is_common"]}
    classes = {"kind": "array", "dtype": "<i8", "values": list(range(len(parameters["is_common"])))}
    learned = {"classes_": classes, "boundary_": parameters["boundary"], "is_common_": flags}
    return {
        "kind": "common-rare",
        **code,
        **learned,
        "n_features_in_": parameters["n_terms"],
    }, numbers


def part_of(arrays: Arrays, name: str) -> Arrays:
    """The arrays whose names begin with a part and a dot, without it."""
    start = f"{name}."
    return {
        key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)
    }


_MODELS: dict[str, Callable[[Code, Arrays], tuple[Code, Arrays]]] = {
    "naive-bayes": _naive_bayes,
    "sparse-bayes": _sparse_bayes,
    "support-vectors": _hyperplanes,
    "committee": _committee,
    "jury": _jury,
    "nbsvm": _hyperplanes,
    "hybrid": _hyperplanes,
    "rocchio": _hyperplanes,
    "neighbors": _neighbors,
    "topics-similarity": _topic_similarity,
    "topics-svm": _topic_svm,
    "online-gp": _gaussian_process,
    "specialised": _specialised,
    "online-perceptron": _perceptron,
}
