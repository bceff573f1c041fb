"""What the site adds to its pages: the help pages of all commands, read from the command line."""

from __future__ import annotations

from typing import Any

MARK = "<!-- help pages of all commands -->"


def help_pages() -> str:
    """Return every command as a section with its help page."""
    import typer.main
    from typer.testing import CliRunner

    from markov_lrsao.cli.app import app

    group: Any = typer.main.get_command(app)
    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"})
    pages = []
    for name in group.commands:
        result = runner.invoke(app, [name, "--help"], prog_name="markov-lrsao")
        if result.exit_code != 0:
            raise RuntimeError(f"markov-lrsao {name} --help ended with {result.exit_code}")
        pages.append(f"## {name}\n\n```text\n{result.stdout.strip()}\n```\n")
    return "\n".join(pages)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put the help pages where the mark stands; called by mkdocs for every page."""
    return markdown.replace(MARK, help_pages()) if MARK in markdown else markdown
