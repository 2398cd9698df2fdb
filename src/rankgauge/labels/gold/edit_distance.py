"""The edit distance of a pattern to the best matching part of a text, by bits.

Columns of the dynamic program are the bits of two integers (Myers 1999, in the form of Hyyrö 2003), so that one step
handles a character of the text whatever the length of the pattern.
"""

from __future__ import annotations


def best_distance(pattern: str, text: str) -> int:
    """The smallest number of insertions, deletions and substitutions between the pattern and any part of the text."""
    masks: dict[str, int] = {}
    for index, character in enumerate(pattern):
        masks[character] = masks.get(character, 0) | 1 << index
    full = (1 << len(pattern)) - 1
    last = 1 << len(pattern) - 1 if pattern else 0
    increases, decreases = full, 0  # of neighboring cells of a column
    distance = smallest = len(pattern)
    for character in text:
        matches = masks.get(character, 0)
        diagonal = (((matches & increases) + increases) ^ increases) | matches | decreases
        up = decreases | (full & ~(diagonal | increases))
        down = increases & diagonal
        if up & last:
            distance += 1
        elif down & last:
            distance -= 1
            if distance < smallest:
                smallest = distance
        up = up << 1 & full  # no 1 comes in: the match may begin anywhere in the text
        increases = (down << 1 | ~(diagonal | up)) & full
        decreases = up & diagonal
    return smallest
