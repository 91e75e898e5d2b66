"""Six texts, with one label each and with none or several."""

TEXTS = [
    "wheat and corn harvest",
    "corn exports to Japan",
    "crude oil prices rose",
    "oil tankers and crude exports",
    "wheat prices fell",
    "shipping of oil by tankers",
]
LABELS = ["grain", "grain", "crude", "crude", "grain", "crude"]
SETS = [("grain",), ("grain", "trade"), ("crude",), ("crude", "trade"), ("grain",), ()]
