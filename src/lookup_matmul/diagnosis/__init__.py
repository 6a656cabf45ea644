"""Find out why two layers disagree, and which layer of two models differs first.

`layers.py` and `inputs.py` describe the two layers and their input as data, `run.py` runs them, and
`agreement.py` compares outputs and gradients. The `causes_of_*` modules propose remedies,
`search.py` tries them until the outputs agree, and `compare.py` returns a report of `report.py`.
`first_difference.py` compares whole models.
"""
