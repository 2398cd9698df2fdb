// The list of entries: searched, filtered, sorted; an entry opens below its line with its values.
const PAGE_SIZE = 20;
const entryList = {
  limit: PAGE_SIZE,
  opened: new Set(),
  start(data) {
    Object.assign(entryList, data);
    for (const entry of data.entries) {
      entry.words = [entry.name, ...Object.values(entry.lines)].join('\n').toLowerCase();
    }
    const names = (key) => [...new Set(data.entries.map((entry) => entry[key]))].filter(Boolean).sort();
    for (const key of ['collection', 'branch']) {
      setOptions(byId(key), [['', 'all'], ...names(key).map((name) => [name, name])], '');
      byId(key).parentElement.hidden = names(key).length < (key === 'branch' ? 1 : 2);
    }
    setOptions(byId('measure'), data.measures.map((measure, index) => [String(index), measure.name]), '0');
    setOptions(byId('sort'), [['newest', 'newest first'], ['oldest', 'oldest first'], ['highest', 'highest first'], ['lowest', 'lowest first']], 'newest');
    const restart = () => { entryList.limit = PAGE_SIZE; entryList.list(); };
    for (const id of ['search', 'collection', 'branch', 'measure', 'sort']) byId(id).addEventListener('input', restart);
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    byId('clear').addEventListener('click', () => { entryList.clear(); restart(); byId('search').focus(); });
    byId('more').addEventListener('click', () => { entryList.limit += 5 * PAGE_SIZE; entryList.list(); });
    document.addEventListener('click', (event) => {
      const place = event.target.closest('a[data-entry]')?.dataset.entry;
      if (place !== undefined) { event.preventDefault(); entryList.go(Number(place)); }
    });
    for (const chart of document.querySelectorAll('.chart[data-time]')) startTimeChart(chart);
    byId('explorer').classList.add(idClass(data.entries.map((entry) => entry.name)));
    byId('explorer').hidden = false;
    entryList.list();
  },
  mean: (place) => entryList.entries[place].means[byId('measure').value] ?? [null, null, null, 0],
  // The places of the entries that match the filters, in order.
  matching() {
    const words = byId('search').value.trim().toLowerCase();
    const chosen = ['collection', 'branch'].map((key) => [key, byId(key).value]).filter(([, value]) => value);
    const places = entryList.entries.map((_, place) => place).filter((place) => {
      const entry = entryList.entries[place];
      return chosen.every(([key, value]) => entry[key] === value) && (!words || entry.words.includes(words));
    });
    const value = (place, sign) => { const [mean] = entryList.mean(place); return mean === null ? Infinity : sign * mean; };
    const order = byId('sort').value;
    if (order === 'oldest') places.reverse();
    if (order === 'highest') places.sort((a, b) => value(a, -1) - value(b, -1) || a - b);
    if (order === 'lowest') places.sort((a, b) => value(a, 1) - value(b, 1) || a - b);
    return places;
  },
  // From the least to the greatest end of an interval of the measure.
  range() {
    let [low, high] = [Infinity, -Infinity];
    entryList.entries.forEach((_, place) => {
      for (const end of entryList.mean(place).slice(0, 3)) {
        if (end !== null) [low, high] = [Math.min(low, end), Math.max(high, end)];
      }
    });
    return [low, high];
  },
  list() {
    const matching = entryList.matching();
    const visible = matching.slice(0, entryList.limit);
    const range = entryList.range();
    const measure = entryList.measures[byId('measure').value];
    byId('count').textContent = `${matching.length.toLocaleString('en-US')} of ${plural(entryList.entries.length, 'entry', 'entries')}`;
    byId('heads').replaceChildren(make('span', { class: 'id' }, 'entry'), make('span', { class: 'words' }, 'system'), make('span', { class: 'after' }, measure ? measure.name : ''), make('span'));
    byId('list').replaceChildren(...visible.map((place) => entryItem(place, range)));
    byId('more').hidden = matching.length <= visible.length;
    byId('empty').hidden = matching.length > 0;
  },
  clear() {
    for (const id of ['search', 'collection', 'branch']) byId(id).value = '';
  },
  // Show one entry, regardless of the filters.
  go(place) {
    entryList.clear();
    entryList.opened.add(place);
    entryList.limit = Math.max(entryList.limit, Math.ceil((entryList.matching().indexOf(place) + 1) / PAGE_SIZE) * PAGE_SIZE);
    entryList.list();
    const line = byId('list').querySelector(`[data-place="${place}"]`);
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: 'start' });
  },
};

// A chart over time: each of its points is an entry.
function startTimeChart(chart) {
  const entries = [...chart.querySelectorAll('[data-entry]')].map((element) => {
    const dot = element.querySelector('circle');
    const [name, ...words] = element.querySelector('title').textContent.split(': ');
    return { x: parseFloat(dot.getAttribute('cx')) / 100, y: Number(dot.getAttribute('cy')), name, words: words.join(': '), place: Number(element.dataset.entry) };
  });
  const name = chart.closest('figure').querySelector('b').textContent;
  picker(chart.parentElement, {
    name,
    points: () => entries,
    tip: (index) => [entries[index].name, entries[index].words],
    open: (index) => entryList.go(entries[index].place),
  }).reset(name);
}

function entryItem(place, range) {
  const entry = entryList.entries[place];
  const open = entryList.opened.has(place);
  const words = [entry.system, entry.branch].filter(Boolean).join(' · ');
  const [value] = entryList.mean(place);
  const button = make('button', { type: 'button', class: 'query single', 'data-place': place, 'aria-expanded': String(open) },
    make('span', { class: 'id' }, entry.name), make('bdi', { class: 'words' }, words),
    make('span', { class: 'after' }, number(value, entryList.measures[byId('measure').value]?.count)), intervalBar(entryList.mean(place), range));
  const item = make('li', {}, button, open ? entryDetails(entry) : null);
  button.addEventListener('click', () => {
    const opening = !entryList.opened.has(place);
    entryList.opened[opening ? 'add' : 'delete'](place);
    button.setAttribute('aria-expanded', String(opening));
    if (opening) item.append(entryDetails(entry));
    else item.lastChild.remove();
  });
  return item;
}

// A dot for the value and a line for its interval.
function intervalBar([value, low, high], [least, greatest]) {
  const svg = draw('svg', { viewBox: '0 0 96 12', 'aria-hidden': 'true', class: 'c1' });
  if (value === null) return svg;
  const x = (end) => (greatest === least ? 48 : 4 + 88 * (end - least) / (greatest - least)).toFixed(1);
  if (low !== null && high !== null) svg.append(draw('path', { d: `M${x(low)} 6H${x(high)}`, class: 'range' }));
  svg.append(draw('circle', { cx: x(value), cy: 6, r: 3.5, class: 'dot' }));
  return svg;
}

function entryDetails(entry) {
  const heads = ['measure', 'value', `${entryList.confidence} CI`, 'queries'].map((text, index) => make('th', { scope: 'col', class: index ? 'n' : null }, text));
  const rows = Object.entries(entry.means).map(([index, [value, low, high, count]]) => {
    const measure = entryList.measures[index];
    const ends = low === null || high === null ? MISSING : `${number(low)} to ${number(high)}`;
    return make('tr', {}, make('th', { scope: 'row' }, measure.name), make('td', { class: 'n' }, number(value, measure.count)),
      make('td', { class: 'n muted' }, ends), make('td', { class: 'n muted' }, count.toLocaleString('en-US')));
  });
  const lines = Object.entries(entry.lines).map(([title, text]) => make('tr', {}, make('th', { scope: 'row', class: 'muted' }, title), make('td', {}, make('bdi', {}, text))));
  const scores = make('table', { class: 'scores' }, make('caption', {}, 'Scores'), make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...rows));
  const facts = make('table', { class: 'entry-facts' }, make('caption', {}, 'Entry'), make('tbody', {}, ...lines));
  const region = make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Scores of ${entry.name}` }, scores);
  return make('div', { class: 'open' }, make('div', { class: 'pairs' }, region, make('div', {}, facts)),
    entry.queries ? entryQueries(entry) : null, make('p', { class: 'legend' }, entryList.conventions[entry.conventions]));
}

// The queries that changed most since the entry before; of the first entry, those with the lowest values.
function entryQueries(entry) {
  const { measure, since, total, rows } = entry.queries;
  if (!rows.length) return make('p', { class: 'legend' }, `No query changed on ${measure} since ${since}.`);
  const more = total > rows.length ? ` (${rows.length} of ${total.toLocaleString('en-US')})` : '';
  const title = since ? `Queries that changed most on ${measure} since ${since}${more}` : `Queries with the lowest ${measure}${more}`;
  const names = since ? ['query', 'before', 'now', 'change'] : ['query', 'value'];
  const heads = names.map((text, index) => make('th', { scope: 'col', class: index ? 'n' : null }, text));
  const lines = rows.map(([query, before, now]) => make('tr', {}, make('th', { scope: 'row' }, make('bdi', {}, query)),
    ...(since ? [before, now, now - before] : [now]).map((value, index) => make('td', { class: 'n' }, index === 2 ? signed(value) : number(value)))));
  const table = make('table', { class: 'scores' }, make('caption', {}, title), make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...lines));
  return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title }, table);
}

async function start() {
  theme.start();
  openForPrinting();
  let data;
  try {
    data = await unpack();
  } catch (error) {
    byId('unready').textContent = `This browser could not decompress the list of entries (${error.message}).`;
    return;
  }
  entryList.start(data);
  byId('unready').hidden = true;
  document.documentElement.dataset.ready = 'yes';
}
start();
