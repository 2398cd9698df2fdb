from rankgauge.render.html import as_html as as_html

__all__: list[str]
