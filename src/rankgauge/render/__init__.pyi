from rankgauge.render.html import as_html as as_html
from rankgauge.render.notebook.explorer import Explorer as Explorer
from rankgauge.render.notebook.explorer import explorer as explorer

__all__: list[str]
