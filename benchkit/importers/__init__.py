"""Past results as input: foreign files become ordinary stored runs."""
