// Rules for the page of the service and for the scorer. Formatting is Prettier's business.

import js from "@eslint/js";
import globals from "globals";

const linterOptions = { reportUnusedDisableDirectives: "error" };
const rules = {
  curly: ["error", "multi-line"],
  eqeqeq: "error",
  "no-alert": "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-script-url": "error",
  "no-shadow": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  // Text of documents and people must never be parsed as HTML: `dom.js` makes all nodes.
  "no-restricted-properties": [
    "error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map(property => ({ property })),
  ],
};

export default [
  js.configs.recommended,
  {
    files: ["src/bayesift/service/page/**/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.browser },
    linterOptions,
    rules,
  },
  {
    // Scripts of one file; that of the scorer runs in node too.
    files: ["src/bayesift/export/*.js"],
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: "commonjs",
      globals: { ...globals.browser, process: "readonly" },
    },
    linterOptions,
    rules,
  },
];
