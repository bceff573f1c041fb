"""Export: the chain in the formats of Storm and PRISM, and back again.

On the command line, `markov-lrsao export --n 9 --ell 2 --part left --rewards left.drn` writes the
first file, and `storm --explicit-drn left.drn --prop 'R=? [F "target"]' --exact` reads it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from markov_lrsao import Landscape, StepLaw, reach, read_chain, write_chain
from markov_lrsao.exchange.models import model_chain, step_rewards

law = StepLaw.of(Landscape.jump(9, 2))
left = model_chain(law, "left")

# %% Storm's explicit format holds fractions: nothing is rounded on the way out and back.
with TemporaryDirectory() as folder:
    path = Path(folder) / "left.drn"
    write_chain(left, path, format="drn", rewards=step_rewards(left))
    drn = path.read_text()
    back = read_chain(path).chain
print("\n".join(drn[drn.index("@model") :].splitlines()[:10]))
assert [back.row(i) for i in range(back.size)] == [left.row(i) for i in range(left.size)]

# %% PRISM's transition file: a line with the numbers of states and transitions, then one line
# "from to probability" each. PRISM expects decimals, so here 1/3 is rounded.
with TemporaryDirectory() as folder:
    files = write_chain(left, Path(folder) / "left", format="prism", rewards=step_rewards(left))
    texts = {file.suffix: file.read_text() for file in files}
lines = texts[".tra"].splitlines()
print("files:", *texts)
print("\n".join(lines[:5]))
assert len(lines) == 1 + left.transitions

# %% A chain that comes from a file is solved like any other, exactly ...
answer = reach(back, back.labelled("target")).starts[0]
print("expected steps until the target:", answer.mean.rational)
assert answer.mean.rational == "9853/2856"

# %% ... and a few lines of numpy on the transition file find the same: E = (I - P)^-1 1 on the
# states that can still move.
matrix = np.zeros((left.size, left.size))
for line in lines[1:]:
    i, j, probability = line.split()
    matrix[int(i), int(j)] = float(probability)
moving = np.flatnonzero(np.diag(matrix) < 1)
inner = np.eye(len(moving)) - matrix[np.ix_(moving, moving)]
times = np.linalg.solve(inner, np.ones(len(moving)))
print(f"numpy: {times[0]:.10f}, exact: {9853 / 2856:.10f}")
assert abs(times[0] - 9853 / 2856) < 1e-12
