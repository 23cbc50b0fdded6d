"""A fuzzer of attncalc: every command, flag, field, form and reader, seeded and bounded.

Run it as `python -m tests.fuzz --seconds 30 --seed 1`.
"""
