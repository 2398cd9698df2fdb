from rankgauge.render.html import as_html as as_html
