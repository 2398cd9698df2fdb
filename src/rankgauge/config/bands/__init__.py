"""Target bands: from which value on a measure is at the baseline, good, or strong.

bands            Bands: thresholds by measure, and the band of a value
presets          those that come with the package, as data, so that showing them takes no YAML
loading          load_bands: a preset by its name, or a YAML file; configured_bands: those of a rankgauge.yaml
"""
