"""Target bands: from which value on a measure is at the baseline, good, or strong.

bands            Bands: thresholds by measure, and the band of a value
loading          load_bands: a preset that comes with the package, or a YAML file like it
trec-2025.yaml   the preset, with where its numbers come from
"""
