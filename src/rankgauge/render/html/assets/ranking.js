// An opened query: both rankings, what moved, and the contribution of each document to the difference.
const FIRST_DOCUMENTS = 10;

function queryDetails(choice, query) {
  const box = make('div', { class: 'open' });
  const labels = report.columns.map((column) => `${column.name}: ${column.labels[column.codes[query]]}`);
  const values = report.measures.map((measure, index) => {
    const after = report.valueText(choice.after, index, query);
    return report.oneValue ? `${measure.name} ${after}` : `${measure.name} ${report.valueText(choice.before, index, query)} → ${after}`;
  });
  box.append(make('p', { class: 'meta' }, [...labels, ...values].join(' · ')));
  const record = rankings.record(query);
  if (!record) {
    box.append(legend(report.rankings ? 'To limit its size, this page holds rankings only for the queries that differ most.' : 'This page holds no rankings.'));
    return box;
  }
  const before = report.single ? null : sideOf(record, choice, 'before');
  const after = sideOf(record, choice, 'after');
  const changes = record.d.map((_, doc) => round((after.contribution.get(doc) || 0) - ((before && before.contribution.get(doc)) || 0)));
  const opened = { choice: { ...choice }, query, record, before, after, changes, tone: (doc) => report.tone(choice.measure, changes[doc]) };
  const lines = report.single ? null : draw('svg', { 'aria-hidden': 'true' });
  const sides = make('div', { class: report.single ? 'sides single' : 'sides' },
    before && rankingColumn(opened, before, after), lines, rankingColumn(opened, after, before));
  if (report.judged) box.append(contributionTable(opened));
  box.append(sides, ...expandButton(sides, record));
  if (lines) {
    new ResizeObserver(() => drawLines(opened, sides, lines)).observe(sides);
    highlightOnHover(sides);
  }
  return box;
}

const legend = (words) => make('p', { class: 'legend' }, words);

// One side of a query: the rank of each document, also below the depth if it is known, and its contribution.
function sideOf(record, choice, kind) {
  const system = choice[kind];
  const rank = new Map(record.r[system].map((doc, index) => [doc, index + 1]));
  const below = new Map();
  for (let n = 0; n < record.b[system].length; n += 2) below.set(record.b[system][n], record.b[system][n + 1]);
  const contribution = new Map();
  if (choice.measure < report.contribution_measures) {
    const stored = record.c[choice.measure][system];
    for (let n = 0; n < stored.length; n += 2) contribution.set(record.r[system][stored[n] - 1], stored[n + 1] / report.measures[choice.measure].scale);
  }
  return { kind, system, rank, below, contribution };
}

const rankOf = (side, doc) => side.rank.get(doc) || side.below.get(doc) || null;

// The ranking of one side; the other side is null if there is only one system.
function rankingColumn(opened, side, otherSide) {
  const system = report.systems[side.system];
  const docs = opened.record.r[side.system].map((doc) => documentItem(opened, side, otherSide, doc));
  const list = docs.length ? make('ol', { class: 'docs' }, ...docs) : legend(report.ranked[side.system] ? 'No documents were retrieved.' : 'This ranking was not stored.');
  return make('div', { class: `side ${side.kind}` },
    make('h4', {}, draw('svg', { class: `swatch ${system.color}`, 'aria-hidden': 'true' }, draw('use', { href: `#${system.shape}` })), make('bdi', {}, system.name)), list);
}

function documentItem({ record, changes, tone }, side, otherSide, doc) {
  const text = record.t[doc];
  // A contribution appears once: beside the document's new rank, or beside its old one if it is gone.
  const hasContribution = changes[doc] && (side.kind === 'after' || !otherSide.rank.has(doc));
  return make('li', { class: 'doc', 'data-doc': doc },
    make('span', { class: 'rank' }, String(side.rank.get(doc))),
    report.judged ? gradeBadge(record.g[doc]) : null,
    make('bdi', { class: 'name' }, record.d[doc]),
    otherSide ? movement(side, otherSide, doc) : null,
    hasContribution ? make('span', { class: `contribution ${tone(doc)}`, title: 'contribution to the difference' }, signed(changes[doc])) : null,
    text ? make('span', { class: 'text' }, text) : null);
}

function movement(side, otherSide, doc) {
  const [rank, otherRank] = [side.rank.get(doc), rankOf(otherSide, doc)];
  const [past, otherTime] = [side.kind === 'before', otherSide.kind];
  const label = (words, title) => make('span', { class: 'move', title }, words);
  if (otherRank === null) return label(past ? 'gone' : 'new', `not in the top ${report.depth} ${otherTime}`);
  if (rank === otherRank) return label('same', 'same rank in both');
  return label(`${past ? 'now' : 'was'} ${otherRank}`, `rank ${otherRank} ${otherTime}`);
}

function gradeBadge(grade) {
  if (grade === null) return make('i', { class: 'grade unjudged', title: 'not judged' }, '?');
  const level = grade > 0 ? Math.min(Math.floor(grade), 4) : 0;
  return make('i', { class: `grade g${level}`, title: `grade ${grade}` }, String(grade));
}

// Lines between the positions of a document in both rankings.
function drawLines({ record, before, after, tone }, sides, lines) {
  const box = lines.getBoundingClientRect();
  if (!box.height) return; // closed, or printed
  const item = (side, doc) => sides.querySelector(`.${side.kind} [data-doc="${doc}"]`);
  const isVisible = (doc) => [before, after].every((side) => item(side, doc).getClientRects().length);
  const middle = (side, doc) => {
    const row = item(side, doc).getBoundingClientRect();
    return (row.top + Math.min(row.height / 2, 16) - box.top).toFixed(1);
  };
  lines.replaceChildren(...record.r[before.system].filter((doc) => after.rank.has(doc) && isVisible(doc)).map((doc) => {
    const [from, to, width] = [middle(before, doc), middle(after, doc), box.width];
    return draw('path', { d: `M0 ${from}C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`, class: tone(doc), 'data-doc': doc });
  }));
}

// Show only the first documents of each ranking until the reader asks for all.
function expandButton(sides, record) {
  const longest = Math.max(...record.r.map((docs) => docs.length));
  if (longest <= FIRST_DOCUMENTS) return [];
  sides.classList.add('first');
  const button = make('button', { type: 'button', class: 'all' }, `Show the top ${longest}`);
  button.addEventListener('click', () => { sides.classList.remove('first'); button.remove(); });
  return [button];
}

// Hovering over a document highlights it in the other ranking too.
function highlightOnHover(sides) {
  const highlight = (doc) => {
    for (const element of sides.querySelectorAll('.highlighted')) element.classList.remove('highlighted');
    if (doc !== undefined) for (const element of sides.querySelectorAll(`[data-doc="${doc}"]`)) element.classList.add('highlighted');
  };
  sides.addEventListener('pointerover', (event) => highlight(event.target.closest('[data-doc]')?.dataset.doc));
  sides.addEventListener('pointerleave', () => highlight());
}

// The table of contributions, which add up to the difference.
function contributionTable({ choice, query, record, before, after, changes, tone }) {
  const { measure } = choice;
  const { name, scale } = report.measures[measure];
  if (measure >= report.contribution_measures) return legend(`To limit its size, this page holds contributions of documents only for ${report.measures[0].name}.`);
  if (![choice.before, choice.after].every((system) => report.ranked[system])) return legend('Contributions of documents need both rankings, and this page holds one.');
  const total = report.gap(choice, query);
  if (total === null) return legend(`${name} has no value for this query.`);
  const row = (head, grade, rank, value, kind) => make('tr', { class: kind }, make('th', { scope: 'row', class: grade ? 'name' : null }, head), make('td', {}, grade), make('td', { class: 'n' }, rank), value);
  const docs = changes.map((_, doc) => doc).filter((doc) => changes[doc]);
  docs.sort((a, b) => Math.abs(changes[b]) - Math.abs(changes[a]) || a - b);
  const cell = (value, kind = '') => make('td', { class: `n ${kind}`.trim() }, signed(value));
  const ranks = (doc) => (before ? `${rankOf(before, doc) || MISSING} → ${rankOf(after, doc) || MISSING}` : String(rankOf(after, doc)));
  const rows = docs.map((doc) => row(make('bdi', {}, record.d[doc]), gradeBadge(record.g[doc]), ranks(doc), cell(changes[doc], tone(doc)), null));
  const rest = round(total - docs.reduce((sum, doc) => sum + changes[doc], 0));
  if (Math.abs(rest) * scale > 1 + docs.length) rows.push(row(`below rank ${report.depth}, or not due to a single document`, null, '', cell(rest), null));
  rows.push(row(report.single ? name : `difference in ${name}`, null, '', cell(total), 'sum'));
  const head = ['document', 'grade', 'rank', 'contribution'].map((word, index) => make('th', { scope: 'col', class: index > 1 ? 'n' : null }, word));
  return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Contribution of each document to ${name}` },
    make('table', { class: 'contributions' }, make('caption', {}, report.single ? 'Contribution of each document' : 'Contribution of each document to the difference'),
      make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...rows)));
}
