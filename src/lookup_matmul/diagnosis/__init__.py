"""Find out why two layers disagree by trying remedies until their outputs agree.

`layers.py` and `inputs.py` describe the two layers and their input as data, `run.py` runs them, and
`agreement.py` compares outputs and gradients. The `causes_of_*` modules propose remedies,
`search.py` tries them, `compare.py` is the public function, and `report.py` is its result.
"""
