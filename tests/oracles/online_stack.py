"""Experts and mixers of the online stack by their formulas, in NumPy, a document at a time."""

import numpy as np
from scipy.special import expit, log_ndtr, logsumexp, xlogy
from scipy.stats import norm

KNOTS = [-6.0, -4.0, -2.5, -1.2, 0.0, 1.2, 2.5, 4.0, 6.0]


def unit(x):
    length = np.sqrt(np.sum(x * x))
    return x / length if length > 0 else x


def likelihood_ratio(n, inside, with_term, both):
    cells = [both, inside - both, with_term - both, n - inside - with_term + both]
    margins = [inside, n - inside, with_term, n - with_term]
    return max(
        2 * (xlogy(n, n) + sum(xlogy(k, k) for k in cells) - sum(xlogy(k, k) for k in margins)),
        0.0,
    )


def prior_variance(largest, ratio):
    return largest * (0.03 + 0.97 * ratio / (ratio + 50.0))


class RunningPerceptron:
    """One category: moments recomputed each time from variances and natural parameters.

    The variances are those of the prior, the natural parameters those of the documents.
    """

    def __init__(self, n_terms, largest=64.0):
        self.largest, self.n, self.inside = largest, 0, 0
        self.seen, self.both = np.zeros(n_terms), np.zeros(n_terms)
        self.precision, self.shift = np.zeros(1 + n_terms), np.zeros(1 + n_terms)

    def variances(self):
        ratios = [
            likelihood_ratio(self.n, self.inside, d, b)
            for d, b in zip(self.seen, self.both, strict=True)
        ]
        prior = np.r_[self.largest, [prior_variance(self.largest, ratio) for ratio in ratios]]
        return 1 / (1 / prior + self.precision)

    def field(self, x):
        x, variances = np.r_[1.0, x], self.variances()
        return x @ (self.shift * variances), x @ (x * variances)

    def learn(self, x, label):
        mean, variance = self.field(x)
        variances, wide = self.variances(), np.r_[1.0, x]
        sign, sigma = 2 * label - 1, np.sqrt(0.25 + variance)
        u = sign * mean / sigma
        ratio = np.exp(norm.logpdf(u) - log_ndtr(u))
        g, q = sign * ratio / sigma, -(u * ratio + ratio**2) / sigma**2
        after_mean = self.shift * variances + g * variances * wide
        after_variance = variances + q * (variances * wide) ** 2
        self.precision += 1 / after_variance - 1 / variances
        self.shift = after_mean / after_variance
        self.n, self.inside = self.n + 1, self.inside + label
        self.seen += x != 0
        self.both += label * (x != 0)


class Regression:
    """A normal posterior over the weights of a logistic regression."""

    def __init__(self, mean, variances):
        self.mean, self.covariance = (
            np.array(mean, dtype=float),
            np.diag(np.array(variances, dtype=float)),
        )

    def output(self, z, offset=0.0):
        return (offset + self.mean @ z) / np.sqrt(1 + np.pi / 8 * (z @ self.covariance @ z))

    def learn(self, z, label, offset=0.0):
        p = expit(offset + self.mean @ z)
        precision = np.linalg.inv(self.covariance) + p * (1 - p) * np.outer(z, z)
        self.covariance = np.linalg.inv(precision)
        self.mean = self.mean + self.covariance @ z * (label - p)


class Stack:
    def __init__(self, n_terms, n_categories, rates=(4.0, 16.0), idf=False):
        self.rates, self.idf, self.n_categories, n_experts = (
            rates,
            idf,
            n_categories,
            3 + len(rates),
        )
        self.perceptrons = [RunningPerceptron(n_terms) for _ in range(n_categories)]
        self.weights = np.zeros((n_categories, len(rates), n_terms))
        self.intercepts = np.zeros((n_categories, len(rates)))
        self.n, self.seen, self.inside = 0, np.zeros(n_terms), np.zeros(n_categories)
        self.both = np.zeros((n_categories, n_terms))
        self.shared = Regression([1 / n_experts] * n_experts + [0], [0.1] * n_experts + [1])
        self.by_size = [
            Regression([0] * (n_experts + 1), [0.01] * n_experts + [0.1]) for _ in range(16)
        ]
        self.competition = Regression([1, 0, 0, 0, 0, 0], [0.1, 0.1, 1, 0.05, 0.05, 0.05])
        self.own = [Regression([0, 0, 0], [0.01, 0.01, 0.1]) for _ in range(n_categories)]
        self.calibration = [Regression([0] * 9, [0.1] * 9) for _ in range(2)]

    def weigh(self, x):
        return unit(x * (np.log((self.n + 1) / (self.seen + 1)) + 1)) if self.idf else unit(x)

    def experts(self, x, c):
        mean, variance = self.perceptrons[c].field(x)
        u = mean / np.sqrt(0.25 + variance)
        known = (x != 0) & (self.seen > 0)
        pairs, distinct = self.seen.sum(), np.count_nonzero(self.seen) + 1
        inside = self.both[c].sum()
        terms = np.log((self.both[c] + 0.1) / (self.seen - self.both[c] + 0.1))
        terms = (terms + np.log((pairs - inside + 0.1 * distinct) / (inside + 0.1 * distinct)))[
            known
        ]
        prior = np.log((self.inside[c] + 0.5) / (self.n - self.inside[c] + 0.5))
        odds = [log_ndtr(u) - log_ndtr(-u), *(self.weights[c] @ x + self.intercepts[c])]
        odds += [prior + x[known] @ terms, prior + terms.sum() / np.sqrt(max(len(terms), 1))]
        return np.clip(odds, -12, 12)

    def scores(self, x):
        """Log odds of all categories, and what each regression saw."""
        z = [np.r_[self.experts(x, c), 1.0] for c in range(self.n_categories)]
        shared = [self.shared.output(each) for each in z]
        many, groups = (
            self.n_categories > 2,
            [min(int(np.log2(k + 1)), 15) for k in self.inside],
        )
        values = [
            self.by_size[g].output(each, a) if many else a
            for each, a, g in zip(z, shared, groups, strict=True)
        ]
        best, scores, seen = int(np.argmax(values)), [], []
        for c, value in enumerate(values):
            u = np.array([value, logsumexp(np.delete(values, c)) if many else 0.0, 1.0])
            wide = np.r_[u, u if c == best else np.zeros(3)]
            base = self.competition.output(wide) if many else value
            score = self.own[c].output(u, base)
            bent = np.array([np.interp(score, KNOTS, row) for row in np.eye(9)])
            top = int(c == best)
            scores.append(self.calibration[top].output(bent, score))
            seen.append((z[c], shared[c], groups[c], u, wide, base, score, bent, top))
        return np.array(scores), seen

    def learn(self, x, labels):
        """Predict, then learn; gives the log odds before."""
        x = self.weigh(x)
        scores, seen = self.scores(x)
        for c, (z, shared, group, u, wide, base, score, bent, top) in enumerate(seen):
            label = labels[c]
            self.shared.learn(z, label)
            if self.n_categories > 2:
                self.by_size[group].learn(z, label, shared)
                self.competition.learn(wide, label)
            self.own[c].learn(u, label, base)
            self.calibration[top].learn(bent, label, score)
        for c, label in enumerate(labels):
            self.perceptrons[c].learn(x, label)
            for r, rate in enumerate(self.rates):
                error = label - expit(
                    np.clip(self.weights[c, r] @ x + self.intercepts[c, r], -12, 12)
                )
                self.weights[c, r] += rate * error * x
                self.intercepts[c, r] += 0.1 * error
        self.n += 1
        self.seen += x != 0
        self.inside += labels
        self.both += np.outer(labels, x != 0)
        return scores
