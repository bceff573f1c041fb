// Fractions as the engine writes them, "p/q", kept exact; floats for places on a screen.
"use strict";

const Numbers = (() => {
  function fraction(text) {
    const [p, q = "1"] = text.split("/");
    return [BigInt(p), BigInt(q)];
  }

  function reduced(p, q) {
    let [a, b] = [p < 0n ? -p : p, q];
    while (b) [a, b] = [b, a % b];
    return q === a ? `${p / a}` : `${p / a}/${q / a}`;
  }

  /** lower + share (upper - lower) with share in millionths, exactly, as text; never below zero. */
  function between(lower, upper, millionths) {
    const [a, b] = fraction(lower), [c, d] = fraction(upper), k = BigInt(Math.round(millionths));
    const top = a * d * 1000000n + k * (c * b - a * d);
    return top <= 0n ? "0" : reduced(top, b * d * 1000000n);
  }

  /** A fraction or decimal as a float, also where its parts have hundreds of digits. */
  function float(text) {
    if (!/^-?\d+(\/\d+)?$/.test(text)) return Number(text);
    const [p, q] = fraction(text);
    if (Math.max(p.toString().length, q.toString().length) < 300) return Number(p) / Number(q);
    return Number((p * 10n ** 17n) / q) / 1e17;
  }

  /** What the engine says about a number, in one line. */
  function amount(q) {
    if (q.infinite) return "infinite";
    if (q.upper === "inf") return Number(q.lower) > 0 ? `at least ${q.lower}` : "unknown";
    if (q.lower !== undefined) return `[${q.lower}, ${q.upper}]`;
    if (q.estimate !== undefined) return `≈ ${q.estimate} (${q.low} to ${q.high})`;
    return q.decimal;
  }

  return { amount, between, float, fraction, reduced };
})();
