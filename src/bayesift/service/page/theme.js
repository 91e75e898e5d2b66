// Before the first paint: a chosen theme must not flash in the other one.
const chosenTheme = localStorage.getItem("bayesift.theme");
if (chosenTheme) document.documentElement.dataset.theme = chosenTheme;
