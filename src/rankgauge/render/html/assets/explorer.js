// The list of queries: searched, filtered, sorted; a query opens below its line.
const PAGE_SIZE = 20;
const explorer = {
  limit: PAGE_SIZE,
  opened: new Set(),
  start(choice) {
    explorer.choice = choice;
    setOptions(byId('outcome'), report.oneValue
      ? [['all', 'all queries'], ['zero', 'value 0']]
      : [['all', 'all queries'], ['better', 'better'], ['same', 'equal'], ['worse', 'worse']], 'all');
    setOptions(byId('sort'), report.oneValue
      ? [['highest', 'highest first'], ['lowest', 'lowest first'], ['id', 'query id']]
      : [['size', 'largest change first'], ['gain', 'largest improvement first'], ['loss', 'largest decline first'], ['before', 'before: lowest first'], ['after', 'after: lowest first'], ['id', 'query id']],
    report.oneValue ? 'lowest' : 'size');
    explorer.columns = report.columns.map((column) => {
      const select = make('select', {});
      setOptions(select, [['', 'all'], ...column.labels.map((label, code) => [String(code), label])], '');
      byId('columns').append(make('label', {}, `${column.name} `, select));
      return select;
    });
    const restart = () => { explorer.limit = PAGE_SIZE; explorer.list(); };
    for (const control of [byId('search'), byId('outcome'), byId('sort'), ...explorer.columns]) control.addEventListener('input', restart);
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    byId('clear').addEventListener('click', () => { explorer.clear(); restart(); links.save(); byId('search').focus(); });
    byId('more').addEventListener('click', () => { explorer.limit += 5 * PAGE_SIZE; explorer.list(); });
    byId('explorer').classList.add(idClass(report.queries));
    byId('heads').classList.toggle('single', report.oneValue);
    byId('explorer').hidden = false;
  },
  // A measure without a direction has higher and lower values, not better and worse ones.
  relabel() {
    if (report.oneValue) return;
    const { measure } = explorer.choice;
    const [better, worse] = report.comparatives(measure);
    const [increase, decrease] = report.extremes(measure);
    const labels = { better, worse, gain: `largest ${increase} first`, loss: `largest ${decrease} first` };
    for (const [value, label] of Object.entries(labels)) {
      byId('filters').querySelector(`option[value="${value}"]`).textContent = label;
    }
  },
  // The queries that match the filters, in order.
  matching() {
    const { choice } = explorer;
    const words = byId('search').value.trim().toLowerCase();
    const sign = report.sign(choice.measure);
    const gap = (query) => report.gap(choice, query);
    const matches = {
      all: () => true,
      zero: (query) => gap(query) === 0,
      better: (query) => gap(query) !== null && gap(query) * sign > 0,
      same: (query) => gap(query) === 0,
      worse: (query) => gap(query) !== null && gap(query) * sign < 0,
    }[byId('outcome').value];
    const queries = report.queries.map((_, query) => query).filter((query) => matches(query)
      && explorer.columns.every((select, index) => select.value === '' || report.columns[index].codes[query] === Number(select.value))
      && (!words || report.queries[query].toLowerCase().includes(words) || report.text(query).toLowerCase().includes(words)));
    const last = (key) => (query) => (gap(query) === null ? Infinity : key(gap(query)));
    const keys = {
      size: last((value) => -Math.abs(value)),
      gain: last((value) => -sign * value),
      loss: last((value) => sign * value),
      highest: last((value) => -value),
      lowest: last((value) => value),
      before: (query) => report.value(choice.before, choice.measure, query) ?? Infinity,
      after: (query) => report.value(choice.after, choice.measure, query) ?? Infinity,
      id: () => 0,
    };
    const key = keys[byId('sort').value];
    return queries.map((query) => [key(query), query]).sort((a, b) => (a[0] === b[0] ? a[1] - b[1] : a[0] - b[0])).map(([, query]) => query);
  },
  list() {
    explorer.relabel();
    const matching = explorer.matching();
    const visible = matching.slice(0, explorer.limit);
    byId('count').textContent = `${matching.length} of ${plural(report.queries.length, 'query', 'queries')}`;
    byId('heads').replaceChildren(...columnHeads());
    byId('list').replaceChildren(...visible.map(queryItem));
    byId('more').hidden = matching.length <= visible.length;
    byId('empty').hidden = matching.length > 0;
    byId('heads').hidden = !matching.length;
  },
  clear() {
    byId('search').value = '';
    byId('outcome').value = 'all';
    for (const select of explorer.columns) select.value = '';
  },
  // Open one query: without the filters if they do not match it.
  go(query) {
    explorer.opened.add(query);
    explorer.reveal(query);
    links.opened(query, true);
  },
  reveal(query) {
    if (!explorer.matching().includes(query)) explorer.clear();
    explorer.limit = Math.max(explorer.limit, Math.ceil((explorer.matching().indexOf(query) + 1) / PAGE_SIZE) * PAGE_SIZE);
    explorer.list();
    const line = byId('list').querySelector(`[data-query="${query}"]`);
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: 'start' });
  },
};

function columnHeads() {
  const { choice } = explorer;
  const name = (kind, system) => make('span', { class: kind, title: report.systems[system].name }, report.systems[system].name);
  const cells = report.oneValue ? [make('span', { class: 'after' }, report.measures[choice.measure].name)] : [name('before', choice.before), name('after', choice.after), make('span', { class: 'gap' }, 'Δ')];
  return [make('span', { class: 'id' }, 'query'), make('span', { class: 'words' }), ...cells, make('span')];
}

function queryItem(query) {
  const { choice } = explorer;
  const open = explorer.opened.has(query);
  const gap = report.gap(choice, query);
  const value = (kind) => make('span', { class: kind }, report.valueText(choice[kind], choice.measure, query));
  const cells = report.oneValue
    ? [value('after')]
    : [value('before'), value('after'), make('span', { class: `gap ${report.tone(choice.measure, gap)}` }, signed(gap))];
  const button = make('button', { type: 'button', class: report.oneValue ? 'query single' : 'query', 'data-query': query, 'aria-expanded': String(open) },
    make('bdi', { class: 'id' }, report.queries[query]), make('span', { class: 'words' }, report.text(query)), ...cells, gapBar(gap));
  const item = make('li', {}, button, open ? queryDetails(choice, query) : null);
  button.addEventListener('click', () => {
    const opening = !explorer.opened.has(query);
    explorer.opened[opening ? 'add' : 'delete'](query);
    button.setAttribute('aria-expanded', String(opening));
    if (opening) item.append(queryDetails(choice, query));
    else item.lastChild.remove();
    links.opened(query, opening);
  });
  return item;
}

// A bar for the difference, from the middle, or for the value, from the left.
function gapBar(gap) {
  const measure = report.measures[explorer.choice.measure];
  const svg = draw('svg', { viewBox: '0 0 96 12', 'aria-hidden': 'true' });
  if (gap === null) return svg;
  if (report.oneValue) {
    const low = Math.min(measure.low, 0); // the length of a bar begins at zero
    const width = 96 * (gap - low) / (measure.high - low);
    svg.append(draw('rect', { x: 0, y: 2, height: 8, width: Math.max(width, 0), class: 'bar' }));
    return svg;
  }
  const width = 48 * Math.abs(gap) / measure.gap;
  const tone = report.tone(explorer.choice.measure, gap) || 'neutral';
  svg.append(draw('rect', { x: gap < 0 ? 48 - width : 48, y: 2, height: 8, width, class: `bar ${tone}` }), draw('path', { d: 'M48 0V12', class: 'zero' }));
  return svg;
}
