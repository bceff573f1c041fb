"""The explorer: a page on the loopback address with the engine behind it.

A view of the page is a `question`: settings that were checked, and the command line that answers
them (`questions`). Every answer is computed in a child process of its own, which is killed when
the page no longer wants it, and when the server ends (`jobs`). `server` has the few addresses that
the page may call, and refuses whoever is not that page. The page itself is in `static`; its
charts, graphs and maps are those of `markov_lrsao.web`, which the report has too.
"""

from markov_lrsao.explore.questions import VIEWS, question
from markov_lrsao.explore.server import serve

__all__ = ["VIEWS", "question", "serve"]
