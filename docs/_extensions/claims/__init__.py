"""What a page claims: cells that check, the sentences they prove, the list of all."""
