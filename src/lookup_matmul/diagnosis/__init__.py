"""Why two layers disagree: both are run, and causes are tried until they agree.

`layers.py` describes a layer as data and `inputs.py` what both are given; `run.py` runs them and
`agree.py` judges; the causes and `gradients.py` propose remedies, `search.py` tries them;
`compare.py` asks for all of this, and `report.py` is what was found.
"""
