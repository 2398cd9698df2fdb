from rankgauge.render.formats.notebook import Explorer as Explorer
from rankgauge.render.formats.notebook import explorer as explorer
from rankgauge.render.html import as_html as as_html

__all__: list[str]
