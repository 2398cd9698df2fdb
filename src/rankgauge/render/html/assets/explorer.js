// The list of queries: searched, filtered, sorted; one opens below its line.
const STEP = 20;
const explorer = {
  shown: STEP,
  open: new Set(),
  start(choice) {
    explorer.choice = choice;
    options(byId('outcome'), report.alone
      ? [['all', 'all queries'], ['zero', 'value 0']]
      : [['all', 'all queries'], ['better', 'better'], ['same', 'same'], ['worse', 'worse']], 'all');
    options(byId('sort'), report.alone
      ? [['down', 'highest first'], ['up', 'lowest first'], ['id', 'query id']]
      : [['size', 'largest change first'], ['down', 'largest gain first'], ['up', 'largest loss first'], ['before', 'lowest before first'], ['after', 'lowest after first'], ['id', 'query id']],
    report.alone ? 'up' : 'size');
    explorer.columns = report.columns.map((column) => {
      const select = make('select', {});
      options(select, [['', 'all'], ...column.labels.map((label, code) => [String(code), label])], '');
      byId('columns').append(make('label', {}, `${column.name} `, select));
      return select;
    });
    const again = () => { explorer.shown = STEP; explorer.list(); };
    for (const one of [byId('search'), byId('outcome'), byId('sort'), ...explorer.columns]) one.addEventListener('input', again);
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    byId('more').addEventListener('click', () => { explorer.shown += 5 * STEP; explorer.list(); });
    const longest = Math.max(...report.queries.map((query) => query.length));
    byId('explorer').classList.add(longest > 14 ? 'long' : longest > 6 ? 'middling' : 'brief');
    byId('heads').classList.toggle('alone', report.alone);
    byId('explorer').hidden = false;
  },
  // The queries that pass the filters, in order.
  found() {
    const { choice } = explorer;
    const words = byId('search').value.trim().toLowerCase();
    const better = report.measures[choice.measure].lower ? -1 : 1;
    const outcome = byId('outcome').value;
    const keeps = {
      all: () => true,
      zero: (gap) => gap === 0,
      better: (gap) => gap !== null && gap * better > 0,
      same: (gap) => gap === 0,
      worse: (gap) => gap !== null && gap * better < 0,
    }[outcome];
    const queries = report.queries.map((_, query) => query).filter((query) => keeps(report.gap(choice, query))
      && explorer.columns.every((select, at) => select.value === '' || report.columns[at].codes[query] === Number(select.value))
      && (!words || report.queries[query].toLowerCase().includes(words) || report.text(query).toLowerCase().includes(words)));
    const gap = (query) => report.gap(choice, query);
    const keys = {
      size: (query) => (gap(query) === null ? 1 : -Math.abs(gap(query))),
      down: (query) => (gap(query) === null ? Infinity : -gap(query)),
      up: (query) => (gap(query) === null ? Infinity : gap(query)),
      before: (query) => report.value(choice.before, choice.measure, query) ?? Infinity,
      after: (query) => report.value(choice.after, choice.measure, query) ?? Infinity,
      id: () => 0,
    };
    const key = keys[byId('sort').value];
    return queries.map((query) => [key(query), query]).sort((a, b) => (a[0] === b[0] ? a[1] - b[1] : a[0] - b[0])).map(([, query]) => query);
  },
  list() {
    const found = explorer.found();
    const listed = found.slice(0, explorer.shown);
    byId('count').textContent = `${found.length} of ${report.queries.length} queries`;
    byId('heads').replaceChildren(...heads());
    byId('list').replaceChildren(...listed.map(row));
    byId('more').hidden = found.length <= listed.length;
  },
  // Show one query, whatever the filters say.
  go(query) {
    byId('search').value = '';
    byId('outcome').value = 'all';
    for (const select of explorer.columns) select.value = '';
    explorer.open.add(query);
    explorer.shown = Math.max(explorer.shown, Math.ceil((explorer.found().indexOf(query) + 1) / STEP) * STEP);
    explorer.list();
    const line = byId('list').querySelector(`[data-query="${query}"]`);
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: 'start' });
  },
};

function heads() {
  const { choice } = explorer;
  const name = (kind, system) => make('span', { class: kind, title: report.systems[system].name }, report.systems[system].name);
  const cells = report.alone ? [make('span', { class: 'b' }, report.measures[choice.measure].name)] : [name('a', choice.before), name('b', choice.after), make('span', { class: 'gap' }, 'Δ')];
  return [make('span', { class: 'id' }, 'query'), make('span', { class: 'words' }), ...cells, make('span')];
}

function row(query) {
  const { choice } = explorer;
  const open = explorer.open.has(query);
  const gap = report.gap(choice, query);
  const cells = report.alone
    ? [make('span', { class: 'b' }, report.shown(choice.after, choice.measure, query))]
    : [make('span', { class: 'a' }, report.shown(choice.before, choice.measure, query)),
      make('span', { class: 'b' }, report.shown(choice.after, choice.measure, query)),
      make('span', { class: `gap ${gap > 0 ? 'up' : gap < 0 ? 'down' : ''}` }, signed(gap))];
  const button = make('button', { type: 'button', class: report.alone ? 'query alone' : 'query', 'data-query': query, 'aria-expanded': String(open) },
    make('bdi', { class: 'id' }, report.queries[query]), make('span', { class: 'words' }, report.text(query)), ...cells, bar(gap));
  const item = make('li', {}, button, open ? ranking(choice, query) : null);
  button.addEventListener('click', () => {
    const now = !explorer.open.has(query);
    explorer.open[now ? 'add' : 'delete'](query);
    button.setAttribute('aria-expanded', String(now));
    if (now) item.append(ranking(choice, query));
    else item.lastChild.remove();
  });
  return item;
}

// The difference around the middle, or the value from the left.
function bar(gap) {
  const measure = report.measures[explorer.choice.measure];
  const picture = draw('svg', { viewBox: '0 0 96 12', 'aria-hidden': 'true' });
  if (gap === null) return picture;
  if (report.alone) {
    const wide = measure.high === measure.low ? 0 : 96 * (gap - measure.low) / (measure.high - measure.low);
    picture.append(draw('rect', { x: 0, y: 2, height: 8, width: Math.max(wide, 0), class: 'bar' }));
    return picture;
  }
  const wide = 48 * Math.abs(gap) / measure.gap;
  picture.append(draw('rect', { x: gap < 0 ? 48 - wide : 48, y: 2, height: 8, width: wide, class: gap < 0 ? 'bar-down' : 'bar-up' }),
    draw('path', { d: 'M48 0V12', class: 'zero' }));
  return picture;
}
