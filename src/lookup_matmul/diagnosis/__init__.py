"""Find out why two layers disagree, and which layer of two models differs first."""
