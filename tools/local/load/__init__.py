"""Many people at once on the local stack, and whether the product keeps its promises to each of them."""
