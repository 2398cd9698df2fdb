"""Targets: the values from which a measure is at the baseline, good, or strong, and improvements over a baseline.

bands            Bands: thresholds and uplifts by measure, and the band of a value
uplift           uplift_of: whether a compared system is better than the baseline by as much as a target demands
presets          the bundled bands, as data, so that showing them needs no YAML parser
loading          load_bands: a preset by its name, or a YAML file; configured_bands: those of a rankgauge.yaml;
                 collection_bands: those that a collection declares
"""
