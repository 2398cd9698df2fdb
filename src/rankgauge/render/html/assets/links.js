// The state of the explorer in the fragment of the address: a link opens the same state, and going back undoes a step.
const links = {
  controls: () => [['measure', byId('measure')], ['before', byId('before')], ['after', byId('after')], ['show', byId('outcome')], ['sort', byId('sort')],
    ...explorer.columns.map((select, index) => [`by.${report.columns[index].name}`, select])],
  start(choice, redraw) {
    Object.assign(links, { choice, redraw });
    links.defaults = new Map(links.controls().map(([key, select]) => [key, select.value]));
    for (const [, select] of links.controls()) select.addEventListener('input', () => links.save());
    byId('search').addEventListener('input', () => links.save({ replacing: true }));
    addEventListener('popstate', () => links.apply());
    if (location.hash.includes('=')) links.apply();
  },
  // The label of an option is its name in a link: numbers would mean something else in another report.
  label: (select) => (select.id === 'outcome' || select.id === 'sort' ? select.value : select.selectedOptions[0].textContent),
  fragment() {
    const state = new URLSearchParams();
    for (const [key, select] of links.controls()) if (select.value !== links.defaults.get(key)) state.set(key, links.label(select));
    const words = byId('search').value.trim();
    if (words) state.set('search', words);
    if (links.query !== undefined) state.set('query', report.queries[links.query]);
    return `#${state}`;
  },
  save({ replacing = false } = {}) {
    const fragment = links.fragment();
    if (fragment === (location.hash || '#')) return;
    try {
      history[replacing ? 'replaceState' : 'pushState'](null, '', fragment);
    } catch { /* a page inside another one has no address */ }
  },
  // A query was opened or closed.
  opened(query, isOpen) {
    if (isOpen) links.query = query;
    else if (links.query === query) links.query = undefined;
    links.save();
  },
  // Set everything to what the fragment says; what it does not say, or what does not exist, is as it was at first.
  apply() {
    if (location.hash.length > 1 && !location.hash.includes('=')) return; // a section of the page
    const state = new URLSearchParams(location.hash.slice(1));
    for (const [key, select] of links.controls()) {
      const option = [...select.options].find((one) => state.has(key) && (one.value === state.get(key) && select.id in { outcome: 1, sort: 1 } ? true : one.textContent === state.get(key)));
      select.value = option ? option.value : links.defaults.get(key);
    }
    byId('search').value = state.get('search') || '';
    for (const key of ['measure', 'before', 'after']) links.choice[key] = Number(byId(key).value);
    const query = report.queries.indexOf(state.get('query') ?? '');
    links.query = query < 0 ? undefined : query;
    explorer.opened = new Set(query < 0 ? [] : [query]);
    links.redraw();
    if (query >= 0) explorer.reveal(query);
  },
};
