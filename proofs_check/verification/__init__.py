"""The registry of statements, the run of their checks, and the reports of what came out.

`registry` collects the statements; `changes` refuses settings that change what is not there;
`checking` runs checks and returns verdicts; `report` writes them for people and machines.
"""
