"""Tables in files: reading, converting and writing them."""
