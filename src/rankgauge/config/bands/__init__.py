"""Target bands: the values from which a measure is at the baseline, good, or strong.

bands            Bands: thresholds by measure, and the band of a value
presets          the bundled bands, as data, so that showing them needs no YAML parser
loading          load_bands: a preset by its name, or a YAML file; configured_bands: those of a rankgauge.yaml;
                 collection_bands: those that a collection declares
"""
