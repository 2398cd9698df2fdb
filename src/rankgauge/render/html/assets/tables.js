// The tables of results: sorted by a click on a head, copied in other formats, without columns that a reader hides.
const tables = {
  start() {
    for (const table of document.querySelectorAll('table.results, table.single')) {
      tables.sortable(table);
      table.closest('.scroll').before(tables.tools(table));
    }
  },
  heads: (table) => [...table.tHead.rows[0].cells],
  name: (head) => head.textContent.trim(),
  // The rows of one measure, or all rows; heads of measures stay where they are.
  bodies: (table) => [...table.tBodies].map((body) => ({ body, rows: [...body.rows].filter((row) => !row.classList.contains('head')) })),
  sortable(table) {
    const original = tables.bodies(table);
    tables.heads(table).forEach((head, column) => {
      if (head.classList.contains('forest')) return;
      const button = make('button', { type: 'button', class: 'sort' }, ...head.childNodes);
      head.append(button);
      head.setAttribute('aria-sort', 'none');
      button.addEventListener('click', () => {
        const next = { none: 'descending', descending: 'ascending', ascending: 'none' }[head.getAttribute('aria-sort')];
        for (const other of tables.heads(table)) if (other.hasAttribute('aria-sort')) other.setAttribute('aria-sort', 'none');
        head.setAttribute('aria-sort', next);
        for (const { body, rows } of original) body.append(...(next === 'none' ? rows : tables.sorted(rows, column, next === 'ascending' ? 1 : -1)));
      });
    });
  },
  // By the first number of each cell, or by its text if it has none; empty cells last.
  sorted(rows, column, sign) {
    const keys = rows.map((row) => {
      const text = row.cells[column].textContent.replace(/^p /, '').trim();
      const [found] = row.cells[column].tagName === 'TH' ? [] : text.replace(/−/g, '-').replace(/,/g, '').match(/-?\d+(\.\d+)?/) || [];
      return { row, text: found === undefined && row.cells[column].tagName !== 'TH' ? '' : text, value: found === undefined ? null : Number(found) - (text.startsWith('<') ? 1e-9 : 0) };
    });
    const compare = (a, b) => {
      if (!a.text || !b.text) return Number(!a.text) - Number(!b.text);
      return sign * (a.value === null || b.value === null ? a.text.localeCompare(b.text) : a.value - b.value);
    };
    return keys.sort(compare).map(({ row }) => row);
  },
  tools(table) {
    const formats = { Markdown: tables.markdown, LaTeX: tables.latex, CSV: tables.csv };
    const status = make('span', { role: 'status' });
    const box = make('div', { class: 'tools' }, make('span', {}, 'Copy as'));
    for (const [name, format] of Object.entries(formats)) {
      const button = make('button', { type: 'button', 'aria-label': `Copy the table as ${name}` }, name);
      button.addEventListener('click', () => tables.copy(format(tables.content(table)), name, status, box));
      box.append(button);
    }
    const choices = make('div', { class: 'choices' });
    tables.heads(table).forEach((head, column) => {
      if (!column) return;
      const input = make('input', { type: 'checkbox', checked: true });
      input.addEventListener('input', () => {
        head.hidden = !input.checked;
        for (const { rows } of tables.bodies(table)) for (const row of rows) row.cells[column].hidden = !input.checked;
      });
      choices.append(make('label', {}, input, tables.name(head)));
    });
    box.append(make('details', {}, make('summary', {}, 'Columns'), choices), status);
    return box;
  },
  // The table as a reader sees it, as lists of texts; the measure of a group is the first column.
  content(table) {
    const visible = tables.heads(table).map((head, column) => column).filter((column) => !tables.heads(table)[column].hidden && !tables.heads(table)[column].classList.contains('forest'));
    const grouped = table.classList.contains('results');
    const text = (cell) => [...cell.childNodes].filter((node) => !(node.classList && node.classList.contains('label'))).map((node) => node.textContent).join('').replace(/\s+/g, ' ').trim();
    const head = [...(grouped ? ['measure'] : []), ...visible.map((column) => tables.name(tables.heads(table)[column]))];
    const rows = tables.bodies(table).flatMap(({ body }) => {
      const measure = grouped ? [body.rows[0].cells[0].firstChild.textContent.trim()] : [];
      return [...body.rows].filter((row) => !row.classList.contains('head')).map((row) => [...measure, ...visible.map((column) => text(row.cells[column]))]);
    });
    return [head, ...rows];
  },
  markdown([head, ...rows]) {
    const line = (cells) => `| ${cells.map((cell) => cell.replace(/[\\|<>*_`[\]]/g, '\\$&')).join(' | ')} |`;
    return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
  },
  latex([head, ...rows]) {
    const special = { '\\': '\\textbackslash{}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}', '−': '$-$', 'Δ': '$\\Delta$', '▲': '$\\blacktriangle$', '▼': '$\\blacktriangledown$', '<': '$<$' };
    const escape = (cell) => cell.replace(/[\\~^−Δ▲▼<&%$#_{}]/g, (found) => special[found] || `\\${found}`);
    const line = (cells) => `${cells.map(escape).join(' & ')} \\\\`;
    return ['\\begin{tabular}{ll' + 'r'.repeat(head.length - 2) + '}', '\\hline', line(head), '\\hline', ...rows.map(line), '\\hline', '\\end{tabular}'].join('\n');
  },
  csv: (rows) => rows.map((cells) => cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell)).join(',')).join('\n'),
  // Into the clipboard; if the browser refuses, into a field from which the reader can copy.
  async copy(text, name, status, box) {
    box.querySelector('textarea')?.remove();
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = `${name} copied.`;
    } catch {
      const field = make('textarea', { readonly: true, 'aria-label': `The table as ${name}` }, text);
      box.append(field);
      field.select();
      status.textContent = 'Select and copy:';
    }
  },
};
