import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.errors import DataError
from bayesift.knowledge import Belief, Description, TermKnowledge
from bayesift.knowledge.term_knowledge import DESCRIPTION_STRENGTH, KEYWORD_STRENGTH


def test_keywords_in_every_spelling():
    knowledge = TermKnowledge.from_keywords(
        {
            "corn": {
                "corn": 3,
                "gold": "-",
                "maize": {"mode": 5.0, "scale": 2.0},
                "crop": {"strength": 1, "sign": "+"},
            },
            "wheat": ["wheat", "+durum", "-gold"],
        }
    )
    assert knowledge.words["corn"] == {
        "corn": Belief(strength=3),
        "gold": Belief(sign=-1),
        "maize": Belief(mode=5.0, scale=2.0),
        "crop": Belief(strength=1, sign=1),
    }
    assert knowledge.words["wheat"] == {
        "wheat": Belief(strength=KEYWORD_STRENGTH),
        "durum": Belief(sign=1),
        "gold": Belief(sign=-1),
    }
    assert (
        TermKnowledge.from_keywords({"wheat": ["wheat"]}, strength=7.0)
        .words["wheat"]["wheat"]
        .strength
        == 7.0
    )


def test_descriptions():
    knowledge = TermKnowledge.from_descriptions({"ship": "Shipping"})
    assert knowledge.descriptions == {"ship": Description("Shipping", DESCRIPTION_STRENGTH)}
    assert TermKnowledge.from_dict(
        {"descriptions": {"ship": {"text": "Shipping", "strength": 4}}}
    ).descriptions == {"ship": Description("Shipping", 4)}


def test_the_right_one_wins_word_by_word():
    left = TermKnowledge.from_keywords({"corn": {"corn": 1, "maize": 2}, "gold": ["gold"]})
    right = TermKnowledge.from_keywords(
        {"corn": {"corn": 5}}
    ) | TermKnowledge.from_descriptions({"corn": "Maize"})
    both = left | right
    assert both.words["corn"] == {"corn": Belief(strength=5), "maize": Belief(strength=2)}
    assert both.categories == ("corn", "gold")
    assert both.descriptions == right.descriptions
    assert left.words["corn"]["corn"] == Belief(strength=1)


def test_nothing_is_false_and_copies_are_equal():
    assert not TermKnowledge()
    assert not TermKnowledge(words={"corn": {}})
    knowledge = TermKnowledge.from_keywords({"corn": ["corn"]})
    assert knowledge
    assert copy.deepcopy(knowledge) == knowledge


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ([], "two parts"),
        ({"wrods": {}}, "two parts"),
        ({"words": ["corn"]}, "must map categories"),
        (
            {"words": {"corn": 3}},
            "category 'corn': expected a list or a mapping of words, got 3",
        ),
        (
            {"words": {"corn": "maize"}},
            "category 'corn': expected a list or a mapping of words, got 'maize'",
        ),
        ({"words": {False: ["no"]}}, "a category must be text, got False; quote it"),
        (
            {"words": {"corn": [True]}},
            "category 'corn': a word must be text, got True; quote it",
        ),
        (
            {"words": {"corn": {1987: 2}}},
            "category 'corn': a word must be text, got 1987; quote it",
        ),
        ({"words": {"corn": {" ": 2}}}, "a word must be text"),
        (
            {"words": {"corn": {"maize": "much"}}},
            "category 'corn', word 'maize': not a strength",
        ),
        ({"words": {"corn": {"maize": None}}}, "word 'maize': an empty belief"),
        (
            {"words": {"corn": {"maize": float("nan")}}},
            "word 'maize': strength must be a finite number",
        ),
        ({"words": {"corn": {"maize": [1]}}}, "word 'maize': strength must be a finite number"),
        ({"words": {"corn": {"maize": {"power": 1}}}}, "word 'maize': no 'power'; there are"),
        ({"words": {"corn": {"maize": {"mode": 1, "strength": 2}}}}, "give one of them"),
        ({"words": {"corn": {"maize": {"scale": 0}}}}, "scale must be positive"),
        ({"words": {"corn": {"maize": {"scale": True}}}}, "scale must be a finite number"),
        ({"words": {"corn": {"maize": {"mode": -1, "sign": "+"}}}}, "contradicts"),
        ({"words": {"corn": {"maize": {"sign": 1}}}}, "not a strength, '\\+' or '-': 1"),
        (
            {"descriptions": {"corn": 3}},
            "description of category 'corn': a description must be text",
        ),
        (
            {"descriptions": {"corn": {"text": "Corn", "weight": 1}}},
            "description of category 'corn'",
        ),
        (
            {"descriptions": {"corn": {"text": "Corn", "strength": "big"}}},
            "strength must be a finite number",
        ),
    ],
)
def test_mistakes_are_named(plain, message):
    with pytest.raises(DataError, match=message):
        TermKnowledge.from_dict(plain)


@pytest.mark.parametrize(
    ("category", "message"),
    [("wheet", "did you mean 'wheat'"), ("zzz", "there are: corn, wheat"), ("Corn", "'corn'")],
)
def test_unknown_categories_are_named_with_the_nearest(category, message):
    with pytest.raises(DataError, match=message):
        TermKnowledge.from_keywords({category: ["x"]}).check_categories(["corn", "wheat"])


NUMBERS = st.floats(-1e6, 1e6)
BELIEFS = st.one_of(
    st.builds(Belief, strength=NUMBERS),
    st.builds(Belief, mode=NUMBERS, scale=st.none() | st.floats(1e-3, 1e3)),
    st.builds(Belief, sign=st.sampled_from([-1, 1]), scale=st.none() | st.floats(1e-3, 1e3)),
)
NAMES = st.text(min_size=1, max_size=8).filter(str.strip)
KNOWLEDGE = st.builds(
    TermKnowledge,
    words=st.dictionaries(
        NAMES, st.dictionaries(NAMES, BELIEFS, min_size=1, max_size=4), max_size=3
    ),
    descriptions=st.dictionaries(NAMES, st.builds(Description, NAMES, NUMBERS), max_size=3),
)


@given(KNOWLEDGE)
@settings(deadline=None)
def test_plain_form_goes_both_ways(knowledge):
    assert TermKnowledge.from_dict(knowledge.as_dict()) == knowledge
