"""Every page as a notebook, and what else can be taken away."""
