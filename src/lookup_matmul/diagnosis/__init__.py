"""Why two layers disagree: both are run, and causes are tried until they agree.

`sides.py` describes a layer as data and `feeds.py` what both are given; `runs.py` runs them,
`bounds.py` and `agreement.py` judge, the `causes_of_*.py` and `gradients.py` propose remedies,
`search.py` tries them, `notes.py` adds what is seen without, and `report.py` shows what was found.
"""
