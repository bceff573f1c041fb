"""Simulation against the exact engine: means, distribution, and what plain floats do."""

import numpy as np

from markov_lrsao import Landscape, distribution, plots, runtime, simulate, summary
from simulate import cross_validate, ecdf
from simulate.statistics.estimates import band_halfwidth

landscape = Landscape.jump(9, 2)

# %% 20,000 runs; the seed fixes every one of them, whatever the number of cores.
samples = simulate(landscape, runs=20_000, seed=1)
found = summary(samples)
exact = runtime(landscape)
assert found.total is not None
z = (found.total.point - float(exact.total)) / found.total.error
print(f"simulated mean {found.total.point:.4f} +- {found.total.error:.4f} (standard error)")
print(f"exact mean     {float(exact.total):.4f}, z = {z:.2f}")
assert abs(z) < 4

# %% The distribution: all of the exact curve lies in the band around the simulated one. The
# band holds the true curve in 999 of 1000 experiments (Dvoretzky, Kiefer, Wolfowitz).
times, share = ecdf(samples)
apart = float(np.abs(distribution(landscape).cdf(times) - share).max())
band = band_halfwidth(samples.runs, level=0.999)
print(f"largest distance {apart:.4f}, half width of the 99.9% band {band:.4f}")
axes = plots.ecdf(simulate(landscape, runs=400, seed=1), distribution(landscape), level=0.999)
axes.set_title("400 runs against the exact law, n = 9, l = 2")
assert apart < band

# %% The same for several (n, l) at three points of (H): choices against the algorithm on bit
# strings, means, variances and laws, with one error level for all tests together.
agreement = cross_validate([(9, 2), (11, 3)], runs=10_000, seed=1, level=0.001)
print(
    f"{agreement.tests} tests at the level {agreement.level}: "
    f"{'all agree' if agreement.agrees else 'DISAGREE'}"
)
assert agreement.agrees

# %% Plain float64 is another algorithm: an entry that is only ever rejected shrinks fivefold
# each time, after some 463 rejections it is rounded to 0, and the agent forgets.
far = Landscape.jump(2000, 2)
truth = float(runtime(far, field="float").total)
true_mean = summary(simulate(far, runs=1000, seed=1)).total
float_mean = summary(simulate(far, runs=1000, seed=1, arithmetic="float64")).total
assert true_mean is not None
assert float_mean is not None
print(f"n = 2000, l = 2: E[T] = {truth:,.0f}")
print(f"true semantics: mean {true_mean.point:,.0f} +- {true_mean.error:,.0f}")
print(f"plain float64:  mean {float_mean.point:,.0f} +- {float_mean.error:,.0f}")
assert abs(true_mean.point - truth) < 4 * true_mean.error
assert float_mean.point - truth > 4 * float_mean.error
