'use strict';
// Light or dark: as the system says until somebody says otherwise.
const theme = {
  dark: () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark',
  start() {
    const button = document.getElementById('theme');
    try { document.documentElement.dataset.theme = localStorage.getItem('rankgauge-theme') || ''; } catch { /* a file may have no storage */ }
    button.hidden = false;
    button.addEventListener('click', () => {
      const chosen = theme.dark() ? 'light' : 'dark';
      document.documentElement.dataset.theme = chosen;
      try { localStorage.setItem('rankgauge-theme', chosen); } catch { /* then it lasts as long as the page */ }
    });
  },
};
