"""Online Gaussian processes in plain NumPy: exact moment matching, and basis vectors."""

import numpy as np

from tests.oracles.online import probit_moments

JITTER = 1e-4


def gram(kind, X, Z):
    """Covariances of dense rows, jitter where they are equal."""
    dot = X @ Z.T
    if kind == "rbf":
        K = np.exp(-0.5 * ((X[:, np.newaxis] - Z) ** 2).sum(axis=2))
    else:
        K = dot + 1 if kind == "linear" else (dot + 1) ** 2
    return K + JITTER * (X[:, np.newaxis] == Z).all(axis=2)


def exact_recursion(K, signs, moments=probit_moments, n_epochs=1):
    """Mean and covariance of the fields of all documents, and the log evidence of each label.

    The evidence of a label is that before it is learned.
    """
    mean, covariance, evidence = np.zeros(len(K)), K.copy(), []
    for t in np.tile(np.arange(len(signs)), n_epochs):
        log_evidence, g, q = moments(signs[t], mean[t], covariance[t, t])
        s = covariance[:, t].copy()
        mean, covariance = mean + g * s, covariance + q * np.outer(s, s)
        evidence.append(log_evidence)
    return mean, covariance, np.array(evidence)


class Basis:
    """Basis vectors, alpha and C; every inverse is computed anew, deletion is a projection."""

    def __init__(self, kind, n_terms):
        self.kind, self.vectors = kind, np.empty((0, n_terms))
        self.alpha, self.C = np.empty(0), np.empty((0, 0))

    def fields(self, X):
        k = gram(self.kind, X, self.vectors)
        own = np.array([gram(self.kind, x[np.newaxis], x[np.newaxis])[0, 0] for x in X])
        return k @ self.alpha, own + np.einsum("ij,jk,ik->i", k, self.C, k)

    def learn(self, x, y, budget, tolerance, moments=probit_moments, least_error=0.0):
        k = gram(self.kind, self.vectors, x[np.newaxis])[:, 0]
        own = gram(self.kind, x[np.newaxis], x[np.newaxis])[0, 0]
        e = np.linalg.solve(gram(self.kind, self.vectors, self.vectors), k) if len(k) else k
        _, g, q = moments(y, k @ self.alpha, own + k @ self.C @ k)
        gamma = own - k @ e
        if gamma <= tolerance * own or abs(gamma * g) < least_error:
            s = self.C @ k + e
            self.alpha, self.C = self.alpha + g * s, self.C + q * np.outer(s, s)
            return
        self.vectors = np.vstack([self.vectors, x])
        s = np.append(self.C @ k, 1.0)
        self.alpha = np.append(self.alpha, 0.0) + g * s
        self.C = np.pad(self.C, (0, 1)) + q * np.outer(s, s)
        if len(self.vectors) > budget:
            Q = np.linalg.inv(gram(self.kind, self.vectors, self.vectors))
            self.delete(np.argmin(self.alpha**2 / np.diag(Q + self.C)))

    def delete(self, r):
        """Express what is deleted by its projection onto the others."""
        kept = np.delete(np.arange(len(self.alpha)), r)
        K = gram(self.kind, self.vectors, self.vectors)
        projection = np.linalg.solve(K[np.ix_(kept, kept)], K[kept])
        self.alpha, self.C = projection @ self.alpha, projection @ self.C @ projection.T
        self.vectors = self.vectors[kept]
