"""How a text is generated: the loop, the filters of one step, and search in a tree of words."""
