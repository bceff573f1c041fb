"""Harmonic numbers, logarithms and sums in one form, so that they can be compared.

H(m + c) = H(m) + 1/(m+1) + .. + 1/(m+c) brings harmonic numbers to one base per class of
arguments; logarithms of products become sums; sums of reciprocals become harmonic numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofs_check.algebra.polynomials import rational_limit

if TYPE_CHECKING:
    import sympy

__all__ = ["based", "close_sums", "collected", "limit_at_infinity"]


def based(expression: sympy.Expr) -> sympy.Expr:
    """Bring harmonic numbers to one base per class of arguments, logarithms to atoms."""
    import sympy

    expression = sympy.expand_log(expression, force=True)
    logs = {}
    for log in expression.atoms(sympy.log):
        numerator, denominator = sympy.fraction(sympy.together(log.args[0]))
        logs[log] = _log_of_product(numerator) - _log_of_product(denominator)
    expression = expression.subs(logs)
    replaced = {}
    for h in expression.atoms(sympy.harmonic):
        constant, rest = sympy.expand(h.args[0]).as_coeff_Add()
        if not constant.is_Integer or rest == 0:
            continue
        shift = sum((1 / (rest + i) for i in range(1, abs(int(constant)) + 1)), sympy.Integer(0))
        if constant < 0:
            shift = -sum((1 / (rest - i) for i in range(abs(int(constant)))), sympy.Integer(0))
        replaced[h] = sympy.harmonic(rest) + shift
    return expression.subs(replaced)


def _log_of_product(argument: sympy.Expr) -> sympy.Expr:
    """Return ln of a product as the sum of ln of its factors, each made primitive."""
    import sympy

    content, factors = sympy.factor_list(argument)
    if content < 0 and factors:  # ln(1 - x) is meant, not ln(x - 1)
        odd = next((i for i, (_, power) in enumerate(factors) if power % 2), None)
        if odd is not None:
            factors[odd] = (-factors[odd][0], factors[odd][1])
            content = -content
    total = sum((power * sympy.log(sympy.expand(f)) for f, power in factors), sympy.Integer(0))
    return total + (sympy.log(content) if content not in (1, 0) else 0)


def close_sums(expression: sympy.Expr) -> sympy.Expr:
    """Write sums of c/(u - s) and c/(u + s) with harmonic numbers, by their definition."""
    import sympy

    replaced = {}
    for found in expression.atoms(sympy.Sum):
        term, (index, low, high) = found.args[0], found.args[1]
        numerator, denominator = sympy.fraction(sympy.together(term))
        slope = sympy.diff(denominator, index)
        if numerator.has(index) or slope not in (1, -1, 0):
            continue
        u = denominator.subs(index, 0)
        if slope == 0:
            replaced[found] = term * (high - low + 1)
        elif slope == 1:
            replaced[found] = numerator * (sympy.harmonic(high + u) - sympy.harmonic(low + u - 1))
        else:
            replaced[found] = numerator * (sympy.harmonic(u - low) - sympy.harmonic(u - high - 1))
    return expression.subs(replaced)


def collected(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression as a sum of (rational function) * logarithm, each cancelled."""
    import sympy

    logs = {
        log: sympy.Symbol(f"log{i}")
        for i, log in enumerate(sorted(expression.atoms(sympy.log), key=str))
    }
    flat = expression.subs(logs)
    slopes = {
        log: sympy.cancel(sympy.together(sympy.diff(flat, symbol))) for log, symbol in logs.items()
    }
    if any(slope.free_symbols & set(logs.values()) for slope in slopes.values()):
        return expression
    rest = sympy.cancel(sympy.together(flat.subs(dict.fromkeys(logs.values(), 0))))
    return rest + sum((slope * log for log, slope in slopes.items()), sympy.Integer(0))


def limit_at_infinity(expression: sympy.Expr, x: sympy.Symbol) -> sympy.Expr:
    """Return the limit at infinity; quick where logarithms have constant factors."""
    import sympy

    logs = sorted(expression.atoms(sympy.log), key=str)
    slopes = [expression.coeff(log) for log in logs]
    rest = expression - sum((c * log for c, log in zip(slopes, logs, strict=True)), 0)
    if rest.has(sympy.log) or any(c.free_symbols for c in slopes):
        return sympy.limit(expression, x, sympy.oo)
    polynomials = [sympy.Poly(log.args[0], x) for log in logs]
    growth = sum((c * p.degree() for c, p in zip(slopes, polynomials, strict=True)), 0)
    if growth != 0:
        return sympy.limit(expression, x, sympy.oo)
    leads = sum((c * sympy.log(p.LC()) for c, p in zip(slopes, polynomials, strict=True)), 0)
    return sympy.simplify(rational_limit(rest, x) + leads)
