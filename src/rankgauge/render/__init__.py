"""Results for people and programs: text for terminals, Markdown, LaTeX and CI; one self-contained HTML page."""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
