// The two per-query charts, redrawn for other systems and measures, with a cursor that moves from query to query.
const plots = {
  start(choice, open) {
    plots.choice = choice;
    plots.pickers = [
      picker(byId('waterfall').querySelector('.stage'), byId('waterfall-readout'), 'Per-query differences', nearestBar, markBar, open),
      picker(byId('scatter'), byId('scatter-readout'), 'Per-query scores', nearestPoint, markPoint, open),
    ];
  },
  names: () => [plots.choice.before, plots.choice.after].map((system) => report.systems[system].name),
  redraw() {
    const { choice } = plots;
    const measure = report.measures[choice.measure];
    const [before, after] = plots.names();
    const [increase, decrease] = report.extremes(choice.measure);
    const [better] = report.comparatives(choice.measure);
    const sign = report.sign(choice.measure);
    plots.order = report.queries.map((_, query) => query).filter((query) => report.gap(choice, query) !== null);
    plots.order.sort((a, b) => sign * (report.gap(choice, b) - report.gap(choice, a)) || a - b);
    byId('waterfall-caption').textContent = `${after} − ${before} on ${measure.name}, from the largest ${increase} to the largest ${decrease}.`;
    byId('scatter-title').textContent = `Per-query scores: ${after} vs. ${before}`;
    byId('scatter-caption').textContent = `${measure.name}; each point is a query; ${sign < 0 ? 'below' : 'above'} the diagonal, ${after} is ${better}.`;
    drawWaterfall(measure, sign);
    drawScatter(measure, before, after);
    for (const chart of plots.pickers) chart.reset();
  },
  tally() {
    const { measure } = plots.choice;
    const improvements = plots.order.map((query) => report.sign(measure) * report.gap(plots.choice, query));
    const [before, after] = plots.names();
    const [better, worse] = report.comparatives(measure);
    const count = (matches) => improvements.filter(matches).length;
    const wins = plural(count((gap) => gap > 0), 'query', 'queries');
    return `${after} is ${better} than ${before} on ${wins}, ${worse} on ${count((gap) => gap < 0)}, equal on ${count((gap) => gap === 0)}.`;
  },
};

const WATERFALL_HEIGHT = 200;
const DENSE_POINTS = 200;
const AXIS_NAME = { characters: 34, head: 22, tail: 11 };

function drawWaterfall(measure, sign) {
  const svg = byId('waterfall').querySelector('svg');
  const gaps = plots.order.map((query) => report.gap(plots.choice, query));
  const y = (gap) => (WATERFALL_HEIGHT / 2 * (1 - gap / measure.gap)).toFixed(1);
  const bars = (matches) => {
    const indices = gaps.map((_, index) => index).filter((index) => matches(sign * gaps[index]));
    if (!indices.length) return '';
    return `M${indices[0]} ${y(0)}${indices.map((index) => `V${y(gaps[index])}H${index + 1}`).join('')}V${y(0)}Z`;
  };
  svg.setAttribute('viewBox', `0 0 ${Math.max(gaps.length, 1)} ${WATERFALL_HEIGHT}`);
  svg.classList.toggle('neutral', !measure.direction);
  svg.querySelector('.better').setAttribute('d', bars((gap) => gap > 0));
  svg.querySelector('.worse').setAttribute('d', bars((gap) => gap < 0));
  svg.querySelector('.zero').setAttribute('d', `M0 ${y(0)}H${Math.max(gaps.length, 1)}`);
  byId('waterfall').querySelector('.high').textContent = `+${measure.gap_label}`;
  byId('waterfall').querySelector('.low').textContent = `−${measure.gap_label}`;
}

// From values to positions: the drawing has the positions of its axes, the data their values.
function scatterScale(measure) {
  const [left, right, top, bottom] = byId('scatter').querySelector('svg').dataset.box.split(' ').map(Number);
  const share = (value) => (measure.high === measure.low ? 0.5 : (value - measure.low) / (measure.high - measure.low));
  return { x: (value) => left + share(value) * (right - left), y: (value) => bottom - share(value) * (bottom - top), left, right, top, bottom };
}

function drawScatter(measure, before, after) {
  const svg = byId('scatter').querySelector('svg');
  const scale = scatterScale(measure);
  const { choice } = plots;
  plots.points = plots.order.map((query) => [scale.x(report.value(choice.before, choice.measure, query)), scale.y(report.value(choice.after, choice.measure, query))]);
  svg.querySelector('.points').setAttribute('d', plots.points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join(''));
  svg.querySelector('.points').setAttribute('class', `points ${report.systems[choice.after].color}${plots.points.length > DENSE_POINTS ? ' dense' : ''}`);
  const frame = measure.ticks.flatMap((tick, index) => [
    draw('path', { d: `M${scale.left} ${scale.y(tick)}H${scale.right}`, class: 'grid' }),
    draw('text', { x: scale.left - 6, y: scale.y(tick) + 4, class: 'tick', 'text-anchor': 'end' }, measure.labels[index]),
    draw('text', { x: scale.x(tick), y: scale.bottom + 15, class: 'tick', 'text-anchor': 'middle' }, measure.labels[index]),
  ]);
  svg.querySelector('.frame').replaceChildren(...frame);
  svg.querySelector('.horizontal').textContent = shortenName(before);
  svg.querySelector('.vertical').textContent = shortenName(after);
}

const shortenName = (name) => (name.length > AXIS_NAME.characters ? `${name.slice(0, AXIS_NAME.head)}…${name.slice(-AXIS_NAME.tail)}` : name);

function nearestBar(event, stage) {
  const box = stage.getBoundingClientRect();
  return Math.floor((event.clientX - box.left) / box.width * plots.order.length);
}

function markBar(stage, index) {
  stage.querySelector('.cursor').setAttribute('x', index);
}

function nearestPoint(event, stage) {
  const svg = stage.querySelector('svg');
  const box = svg.getBoundingClientRect();
  const scale = svg.viewBox.baseVal.width / box.width;
  const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  let nearest = 0;
  let least = Infinity;
  plots.points.forEach(([a, b], index) => {
    const distance = (a - x) ** 2 + (b - y) ** 2;
    if (distance < least) [nearest, least] = [index, distance];
  });
  return nearest;
}

function markPoint(stage, index) {
  const [x, y] = plots.points[index];
  stage.querySelector('.cursor').setAttribute('cx', x);
  stage.querySelector('.cursor').setAttribute('cy', y);
}

// A chart with a cursor that follows the pointer or the arrow keys; Enter or a click opens the query.
function picker(stage, readout, name, nearest, mark, open) {
  let current = null;
  const show = (index) => {
    if (!plots.order.length) return;
    current = Math.min(Math.max(index, 0), plots.order.length - 1);
    const query = plots.order[current];
    const { choice } = plots;
    const values = `${report.valueText(choice.before, choice.measure, query)} → ${report.valueText(choice.after, choice.measure, query)} (${signed(report.gap(choice, query))})`;
    mark(stage, current);
    stage.classList.add('picked');
    readout.replaceChildren(make('b', {}, report.queries[query]), ` ${values} ${report.text(query)}`);
    stage.setAttribute('aria-valuenow', current + 1);
    stage.setAttribute('aria-valuetext', `${report.queries[query]}: ${values}`);
  };
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  const attributes = { role: 'slider', tabindex: 0, 'aria-valuemin': 1, 'aria-label': `${name}: use the arrow keys to move between queries, Enter to open one` };
  stage.classList.add('live');
  for (const [key, value] of Object.entries(attributes)) stage.setAttribute(key, value);
  stage.addEventListener('pointermove', (event) => show(nearest(event, stage)));
  stage.addEventListener('click', (event) => { show(nearest(event, stage)); if (current !== null) open(plots.order[current]); });
  stage.addEventListener('keydown', (event) => {
    if (event.key in steps) { event.preventDefault(); show((current ?? -1) + steps[event.key]); }
    if (event.key === 'Enter' && current !== null) { event.preventDefault(); open(plots.order[current]); }
  });
  return {
    reset() {
      current = null;
      stage.classList.remove('picked');
      stage.setAttribute('aria-valuemax', Math.max(plots.order.length, 1));
      stage.setAttribute('aria-valuenow', 1);
      stage.setAttribute('aria-valuetext', plots.tally());
      readout.textContent = stage.id === 'scatter' ? 'Hover over a point to see its query; click to open it.' : plots.tally();
    },
  };
}
