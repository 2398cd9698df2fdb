// The two pictures of single queries, drawn anew for other systems and measures, and a cursor that goes from query to query.
const plots = {
  start(choice, open) {
    plots.choice = choice;
    plots.pickers = [
      picker(byId('waterfall').querySelector('.stage'), byId('waterfall-readout'), 'Difference of each query', nearestBar, markBar, open),
      picker(byId('scatter'), byId('scatter-readout'), 'One system against the other', nearestPoint, markPoint, open),
    ];
  },
  redraw() {
    const { choice } = plots;
    const measure = report.measures[choice.measure];
    const [before, after] = [report.systems[choice.before].name, report.systems[choice.after].name];
    plots.order = report.queries.map((_, query) => query).filter((query) => report.gap(choice, query) !== null);
    plots.order.sort((a, b) => report.gap(choice, b) - report.gap(choice, a) || a - b);
    byId('waterfall-words').textContent = `${after} − ${before} on ${measure.name}, from the largest gain to the largest loss.`;
    byId('scatter-words').textContent = `${measure.name}; a point is a query.`;
    drawWaterfall(measure);
    drawScatter(measure, before, after);
    for (const one of plots.pickers) one.reset();
  },
  tally() {
    const gaps = plots.order.map((query) => report.gap(plots.choice, query));
    const many = (chosen) => gaps.filter(chosen).length;
    const [before, after] = [report.systems[plots.choice.before].name, report.systems[plots.choice.after].name];
    return `${after} is higher than ${before} in ${many((gap) => gap > 0)} queries, lower in ${many((gap) => gap < 0)}, equal in ${many((gap) => gap === 0)}.`;
  },
};

const TALL = 200;
const DENSE = 200;

function drawWaterfall(measure) {
  const svg = byId('waterfall').querySelector('svg');
  const gaps = plots.order.map((query) => report.gap(plots.choice, query));
  const y = (gap) => (TALL / 2 * (1 - gap / measure.gap)).toFixed(1);
  const bars = (chosen) => {
    const places = gaps.map((_, place) => place).filter((place) => chosen(gaps[place]));
    if (!places.length) return '';
    return `M${places[0]} ${y(0)}${places.map((place) => `V${y(gaps[place])}H${place + 1}`).join('')}V${y(0)}Z`;
  };
  svg.setAttribute('viewBox', `0 0 ${Math.max(gaps.length, 1)} ${TALL}`);
  svg.querySelector('.up').setAttribute('d', bars((gap) => gap > 0));
  svg.querySelector('.down').setAttribute('d', bars((gap) => gap < 0));
  svg.querySelector('.zero').setAttribute('d', `M0 ${y(0)}H${Math.max(gaps.length, 1)}`);
  byId('waterfall').querySelector('.high').textContent = `+${measure.gap_label}`;
  byId('waterfall').querySelector('.low').textContent = `−${measure.gap_label}`;
}

// Where a value stands: the picture says where its axes lie, the data where they end.
function placed(measure) {
  const [left, right, top, bottom] = byId('scatter').querySelector('svg').dataset.box.split(' ').map(Number);
  const share = (value) => (measure.high === measure.low ? 0.5 : (value - measure.low) / (measure.high - measure.low));
  return { x: (value) => left + share(value) * (right - left), y: (value) => bottom - share(value) * (bottom - top), left, right, top, bottom };
}

function drawScatter(measure, before, after) {
  const svg = byId('scatter').querySelector('svg');
  const at = placed(measure);
  const { choice } = plots;
  plots.points = plots.order.map((query) => [at.x(report.value(choice.before, choice.measure, query)), at.y(report.value(choice.after, choice.measure, query))]);
  svg.querySelector('.points').setAttribute('d', plots.points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join(''));
  svg.querySelector('.points').setAttribute('class', `points ${report.systems[choice.after].colour}${plots.points.length > DENSE ? ' dense' : ''}`);
  const frame = measure.ticks.flatMap((tick, place) => [
    draw('path', { d: `M${at.left} ${at.y(tick)}H${at.right}`, class: 'grid' }),
    draw('text', { x: at.left - 6, y: at.y(tick) + 4, class: 'tick', 'text-anchor': 'end' }, measure.labels[place]),
    draw('text', { x: at.x(tick), y: at.bottom + 15, class: 'tick', 'text-anchor': 'middle' }, measure.labels[place]),
  ]);
  svg.querySelector('.frame').replaceChildren(...frame);
  svg.querySelector('.across').textContent = shortened(before);
  svg.querySelector('.up').textContent = shortened(after);
}

const shortened = (name) => (name.length > 34 ? `${name.slice(0, 22)}…${name.slice(-11)}` : name);

function nearestBar(event, stage) {
  const box = stage.getBoundingClientRect();
  return Math.floor((event.clientX - box.left) / box.width * plots.order.length);
}

function markBar(stage, place) {
  stage.querySelector('.cursor').setAttribute('x', place);
}

function nearestPoint(event, stage) {
  const svg = stage.querySelector('svg');
  const box = svg.getBoundingClientRect();
  const scale = svg.viewBox.baseVal.width / box.width;
  const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  let best = 0;
  let least = Infinity;
  plots.points.forEach(([a, b], place) => {
    const far = (a - x) ** 2 + (b - y) ** 2;
    if (far < least) [best, least] = [place, far];
  });
  return best;
}

function markPoint(stage, place) {
  const [x, y] = plots.points[place];
  stage.querySelector('.cursor').setAttribute('cx', x);
  stage.querySelector('.cursor').setAttribute('cy', y);
}

// A picture that is gone through by pointer or by arrow keys; Enter or a click opens the query.
function picker(stage, readout, name, nearest, mark, open) {
  let at = null;
  const show = (place) => {
    if (!plots.order.length) return;
    at = Math.min(Math.max(place, 0), plots.order.length - 1);
    const query = plots.order[at];
    const { choice } = plots;
    const values = `${report.shown(choice.before, choice.measure, query)} → ${report.shown(choice.after, choice.measure, query)} (${signed(report.gap(choice, query))})`;
    mark(stage, at);
    stage.classList.add('picked');
    readout.replaceChildren(make('b', {}, report.queries[query]), ` ${values} ${report.text(query)}`);
    stage.setAttribute('aria-valuenow', at + 1);
    stage.setAttribute('aria-valuetext', `${report.queries[query]}: ${values}`);
  };
  const keys = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  stage.classList.add('live');
  for (const [key, value] of Object.entries({ role: 'slider', tabindex: 0, 'aria-valuemin': 1, 'aria-label': `${name}: arrow keys go from query to query, Enter opens one` })) stage.setAttribute(key, value);
  stage.addEventListener('pointermove', (event) => show(nearest(event, stage)));
  stage.addEventListener('click', (event) => { show(nearest(event, stage)); if (at !== null) open(plots.order[at]); });
  stage.addEventListener('keydown', (event) => {
    if (event.key in keys) { event.preventDefault(); show((at ?? -1) + keys[event.key]); }
    if (event.key === 'Enter' && at !== null) { event.preventDefault(); open(plots.order[at]); }
  });
  return {
    reset() {
      at = null;
      stage.classList.remove('picked');
      stage.setAttribute('aria-valuemax', Math.max(plots.order.length, 1));
      stage.setAttribute('aria-valuenow', 1);
      stage.setAttribute('aria-valuetext', plots.tally());
      readout.textContent = stage.id === 'scatter' ? 'Point at a query to see it, click to open it.' : plots.tally();
    },
  };
}
