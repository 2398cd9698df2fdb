// One query, opened: both rankings, what moved, and what each document adds to the difference.
const FIRST = 10;

function ranking(choice, query) {
  const box = make('div', { class: 'open' });
  const labels = report.columns.map((column) => `${column.name}: ${column.labels[column.codes[query]]}`);
  const others = report.measures.map((measure, place) => {
    const after = report.shown(choice.after, place, query);
    return report.alone ? `${measure.name} ${after}` : `${measure.name} ${report.shown(choice.before, place, query)} → ${after}`;
  });
  box.append(make('p', { class: 'meta' }, [...labels, ...others].join(' · ')));
  const found = report.rankings && report.rankings[query];
  if (!found) {
    box.append(make('p', { class: 'legend' }, report.missing || 'This page holds the rankings of the queries that differ most; this is none of them.'));
    return box;
  }
  const before = report.alone ? null : side(found, choice, choice.before);
  const after = side(found, choice, choice.after);
  const moves = movesOf(found, before, after);
  const lines = report.alone ? null : draw('svg', { 'aria-hidden': 'true' });
  const sides = make('div', { class: report.alone ? 'sides alone' : 'sides' },
    before && column(found, before, after, moves, true), lines, column(found, after, before, moves, false));
  box.append(contributions(found, choice, query, before, after, moves), sides, ...lengthened(sides, found));
  if (lines) {
    new ResizeObserver(() => join(sides, lines, found, before, after, moves)).observe(sides);
    nearness(sides);
  }
  return box;
}

// What one system has of a query: the rank of each document, also further down where that is known, and its share.
function side(found, choice, system) {
  const rank = new Map(found.r[system].map((doc, place) => [doc, place + 1]));
  const below = new Map();
  for (let n = 0; n < found.b[system].length; n += 2) below.set(found.b[system][n], found.b[system][n + 1]);
  const share = new Map();
  if (choice.measure < report.shared) {
    const listed = found.s[choice.measure][system];
    for (let n = 0; n < listed.length; n += 2) share.set(found.r[system][listed[n] - 1], listed[n + 1] / report.measures[choice.measure].scale);
  }
  return { system, rank, below, share };
}

function movesOf(found, before, after) {
  return found.d.map((_, doc) => round((after.share.get(doc) || 0) - ((before && before.share.get(doc)) || 0)));
}

const place = (one, doc) => one.rank.get(doc) || one.below.get(doc) || null;

function column(found, one, other, moves, first) {
  const system = report.systems[one.system];
  const docs = found.r[one.system].map((doc) => document_(found, one, other, moves, doc, first));
  const list = docs.length ? make('ol', { class: 'docs' }, ...docs) : make('p', { class: 'legend' }, report.ranked[one.system] ? 'Nothing was retrieved.' : 'Its ranking was not kept.');
  return make('div', { class: `side ${first ? 'before' : 'after'}` },
    make('h4', {}, make('i', { class: `swatch ${system.colour}`, 'aria-hidden': 'true' }), make('bdi', {}, system.name)), list);
}

function document_(found, one, other, moves, doc, first) {
  const text = report.snippets[found.d[doc]];
  // A share is told once: where the document stands afterwards, or where it stood if it is gone.
  const told = moves[doc] && (!first || !other.rank.has(doc));
  return make('li', { class: 'doc', 'data-doc': doc },
    make('span', { class: 'rank' }, String(one.rank.get(doc))),
    grade(found.g[doc]),
    make('bdi', { class: 'name' }, found.d[doc]),
    other ? moved(one, other, doc, first) : null,
    told ? make('span', { class: `share ${moves[doc] > 0 ? 'up' : 'down'}`, title: 'share of the difference' }, signed(moves[doc])) : null,
    text ? make('span', { class: 'text' }, text) : null);
}

function moved(one, other, doc, first) {
  const [here, there] = [one.rank.get(doc), place(other, doc)];
  const said = (words, title) => make('span', { class: 'move', title }, words);
  if (there === null) return first ? said('gone', `not in the top ${report.depth} after`) : said('new', `not in the top ${report.depth} before`);
  if (here === there) return said('same', 'at the same rank in both');
  return first ? said(`now ${there}`, `at rank ${there} after`) : said(`was ${there}`, `at rank ${there} before`);
}

function grade(value) {
  if (value === null) return make('i', { class: 'grade none', title: 'not judged' }, '?');
  const level = value > 0 ? Math.min(Math.floor(value), 4) : 0;
  return make('i', { class: `grade g${level}`, title: `grade ${value}` }, String(value));
}

// Lines between the places of a document in both rankings.
function join(sides, lines, found, before, after, moves) {
  const box = lines.getBoundingClientRect();
  if (!box.height) return; // it is closed, or on paper
  const seen = (name, doc) => sides.querySelector(`.${name} [data-doc="${doc}"]`).getClientRects().length;
  const middle = (name, doc) => {
    const row = sides.querySelector(`.${name} [data-doc="${doc}"]`).getBoundingClientRect();
    return (row.top + Math.min(row.height / 2, 16) - box.top).toFixed(1);
  };
  lines.replaceChildren(...found.r[before.system].filter((doc) => after.rank.has(doc) && seen('before', doc) && seen('after', doc)).map((doc) => {
    const [from, to, w] = [middle('before', doc), middle('after', doc), box.width];
    const kind = moves[doc] > 0 ? 'gain' : moves[doc] < 0 ? 'loss' : '';
    return draw('path', { d: `M0 ${from}C${w / 2} ${from} ${w / 2} ${to} ${w} ${to}`, class: kind, 'data-doc': doc });
  }));
}

// Only the first ten of each until somebody wants all.
function lengthened(sides, found) {
  const longest = Math.max(...found.r.map((docs) => docs.length));
  if (longest <= FIRST) return [];
  sides.classList.add('first');
  const button = make('button', { type: 'button', class: 'all' }, `Show the top ${longest}`);
  button.addEventListener('click', () => { sides.classList.remove('first'); button.remove(); });
  return [button];
}

// Pointing at a document shows it in the other ranking too.
function nearness(sides) {
  const mark = (doc) => {
    for (const one of sides.querySelectorAll('.near')) one.classList.remove('near');
    if (doc !== undefined) for (const one of sides.querySelectorAll(`[data-doc="${doc}"]`)) one.classList.add('near');
  };
  sides.addEventListener('pointerover', (event) => mark(event.target.closest('[data-doc]')?.dataset.doc));
  sides.addEventListener('pointerleave', () => mark());
}

// The table whose sum is the difference.
function contributions(found, choice, query, before, after, moves) {
  const { measure } = choice;
  const name = report.measures[measure].name;
  if (measure >= report.shared) return make('p', { class: 'legend' }, `What each document adds is told for ${report.measures[0].name} only, for want of room.`);
  if (![choice.before, choice.after].every((system) => report.ranked[system])) return make('p', { class: 'legend' }, 'What each document adds is not known without both rankings.');
  const total = report.gap(choice, query);
  if (total === null) return make('p', { class: 'legend' }, `${name} has no value here.`);
  const docs = moves.map((_, doc) => doc).filter((doc) => moves[doc]);
  docs.sort((a, b) => Math.abs(moves[b]) - Math.abs(moves[a]) || a - b);
  const rows = docs.map((doc) => make('tr', {},
    make('th', { scope: 'row', class: 'name' }, make('bdi', {}, found.d[doc])),
    make('td', {}, grade(found.g[doc])),
    make('td', { class: 'n' }, before ? `${place(before, doc) || '–'} → ${place(after, doc) || '–'}` : String(place(after, doc))),
    make('td', { class: `n ${moves[doc] > 0 ? 'up' : 'down'}` }, signed(moves[doc]))));
  const rest = round(total - docs.reduce((sum, doc) => sum + moves[doc], 0));
  if (Math.abs(rest) * report.measures[measure].scale > 1 + docs.length) {
    rows.push(make('tr', {}, make('th', { scope: 'row' }, `below rank ${report.depth}, or of no one document`), make('td'), make('td'), make('td', { class: 'n' }, signed(rest))));
  }
  rows.push(make('tr', { class: 'sum' }, make('th', { scope: 'row' }, report.alone ? name : `difference on ${name}`), make('td'), make('td'), make('td', { class: 'n' }, signed(total))));
  const head = ['document', 'grade', 'rank', 'adds'].map((word, at) => make('th', { scope: 'col', class: at > 1 ? 'n' : null }, word));
  return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `What each document adds to ${name}` },
    make('table', { class: 'shares' }, make('caption', {}, report.alone ? 'What each document adds' : 'What made the difference'),
      make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...rows)));
}
