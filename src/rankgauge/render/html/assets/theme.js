'use strict';
// Light or dark theme: that of the operating system until the reader chooses one.
const theme = {
  isDark: () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark',
  start() {
    const button = document.getElementById('theme');
    try { document.documentElement.dataset.theme = localStorage.getItem('rankgauge-theme') || ''; } catch { /* a file may have no storage */ }
    button.hidden = false;
    button.addEventListener('click', () => {
      const chosen = theme.isDark() ? 'light' : 'dark';
      document.documentElement.dataset.theme = chosen;
      try { localStorage.setItem('rankgauge-theme', chosen); } catch { /* without storage the choice lasts as long as the page */ }
    });
  },
};
