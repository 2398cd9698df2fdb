// The charts of single queries. Those of a pair are drawn again for other systems and measures: queries sorted by their
// difference, and the scores of one system against those of the other. plots.order is the order of the first.
const plots = {
  start(choice, open) {
    plots.choice = choice;
    const query = { tip: (index) => queryTip(plots.order[index], choice, ['before', 'after']), open: (index) => open(plots.order[index]) };
    const bars = () => plots.order.map((_, index) => ({ x: (index + 0.5) / plots.order.length, y: null }));
    plots.pickers = [
      picker(byId('waterfall'), { name: 'Per-query differences', points: bars, ...query }),
      picker(byId('scatter'), { name: 'Per-query scores', points: () => plots.points, ...query }),
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
    drawWaterfall(measure, sign);
    drawScatter(measure, before, after);
    byId('scatter-caption').textContent = `${measure.name}; ${plots.points.length > DENSE_POINTS ? 'the stronger the color, the more queries' : 'each point is a query, a larger one several'}; ${sign < 0 ? 'below' : 'above'} the diagonal, ${after} is ${better}.`;
    const tally = plots.tally();
    byId('waterfall-readout').textContent = tally;
    for (const chart of plots.pickers) chart.reset(tally);
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

// The same numbers as in charts/differences.py.
const DENSE_POINTS = 200;
const [CELL_WIDTH, CELL_HEIGHT] = [20, 6];
const POINT_SIZES = [1, 2, 4, 10, 30];

function queryTip(query, choice, sides) {
  const values = sides.map((side) => report.valueText(choice[side], choice.measure, query)).join(' → ');
  return [report.queries[query], sides.length > 1 ? `${values} (${signed(report.gap(choice, query))})` : values, report.text(query)];
}

function drawWaterfall(measure, sign) {
  const chart = byId('waterfall').querySelector('.chart');
  const [top, bottom] = chart.dataset.box.split(' ').map(Number);
  const gaps = plots.order.map((query) => report.gap(plots.choice, query));
  const [ticks, labels] = gapTicks(measure, gaps);
  const [low, high] = [ticks[0], ticks.at(-1)];
  const y = (gap) => (bottom - (gap - low) / (high - low) * (bottom - top)).toFixed(1);
  const bars = (matches) => {
    const indices = gaps.map((_, index) => index).filter((index) => matches(sign * gaps[index]));
    if (!indices.length) return '';
    const last = indices.filter((index, place) => place === indices.length - 1 || y(gaps[index]) !== y(gaps[index + 1])); // of bars of one height
    return `M${indices[0]} ${y(0)}${last.map((index) => `V${y(gaps[index])}H${index + 1}`).join('')}V${y(0)}Z`;
  };
  const svg = chart.querySelector('.bars');
  svg.setAttribute('viewBox', `0 0 ${Math.max(gaps.length, 1)} ${svg.getAttribute('height')}`);
  chart.parentElement.classList.toggle('neutral', !measure.direction);
  svg.querySelector('.better').setAttribute('d', bars((gap) => gap > 0));
  svg.querySelector('.worse').setAttribute('d', bars((gap) => gap < 0));
  fill(chart.querySelector('.zero'), { y1: y(0), y2: y(0) }, []);
  chart.querySelector('.frame').replaceChildren(...ticks.flatMap((tick, index) => [gridLine(y(tick)), valueLabel(y(tick), labels[index])]));
  chart.querySelector('.horizontal').textContent = plural(gaps.length, 'query', 'queries');
}

// Those of a measure's ticks that the differences need, with their labels.
function gapTicks(measure, gaps) {
  const [least, most] = gaps.reduce(([low, high], gap) => [Math.min(low, gap), Math.max(high, gap)], [0, 0]);
  const below = measure.gap_ticks.findLastIndex((tick) => tick <= least + 1e-9);
  const above = measure.gap_ticks.findIndex((tick) => tick >= most - 1e-9);
  const [begin, end] = below === above ? [0, measure.gap_ticks.length] : [below, above + 1];
  return [measure.gap_ticks.slice(begin, end), measure.gap_labels.slice(begin, end)];
}

const gridLine = (y) => draw('line', { x1: '0%', y1: y, x2: '100%', y2: y, class: 'grid' });
const valueLabel = (y, label) => draw('text', { x: -6, y: Number(y) + 4, class: 'tick', 'text-anchor': 'end' }, label);

function drawScatter(measure, before, after) {
  const chart = byId('scatter').querySelector('.chart');
  const [top, bottom] = chart.dataset.box.split(' ').map(Number);
  const { choice } = plots;
  const share = (value) => (value - measure.low) / (measure.high - measure.low);
  const y = (value) => bottom - share(value) * (bottom - top);
  plots.points = plots.order.map((query) => ({ x: share(report.value(choice.before, choice.measure, query)), y: y(report.value(choice.after, choice.measure, query)) }));
  const paths = pointPaths(plots.points.map((point) => [1000 * point.x, point.y]));
  chart.querySelectorAll('.points path').forEach((path, size) => path.setAttribute('d', paths[size]));
  chart.querySelector('.points').setAttribute('class', `points ${report.systems[choice.after].color}${plots.points.length > DENSE_POINTS ? ' dense' : ''}`);
  const frame = measure.ticks.flatMap((tick, index) => [
    gridLine(y(tick)),
    valueLabel(y(tick), measure.labels[index]),
    draw('text', { x: `${100 * share(tick)}%`, y: bottom + 17, class: 'tick', 'text-anchor': 'middle' }, measure.labels[index]),
  ]);
  chart.querySelector('.frame').replaceChildren(...frame);
  fitName(chart.querySelector('.horizontal'), before);
  fitName(chart.querySelector('.vertical'), after);
}

// One path for each size of point. If there are many points, each cell of the plot is a short line that fills it.
function pointPaths(points) {
  const dense = points.length > DENSE_POINTS;
  const last = 1000 / CELL_WIDTH - 1;
  const counts = new Map();
  for (const [x, y] of points) {
    const place = dense
      ? `M${Math.min(Math.floor(x / CELL_WIDTH), last) * CELL_WIDTH} ${(Math.floor(y / CELL_HEIGHT) + 0.5) * CELL_HEIGHT}h${CELL_WIDTH}`
      : `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const paths = POINT_SIZES.map(() => '');
  for (const [place, count] of counts) paths[POINT_SIZES.findLastIndex((least) => count >= least)] += place;
  return paths;
}

// A name that is at most as long as the axes are: the middle is left out.
function fitName(element, name) {
  const width = 210;
  element.textContent = name;
  for (let length = name.length; length > 3 && element.getComputedTextLength() > width; length -= 1) {
    const tail = Math.floor((length - 1) / 3);
    element.textContent = `${name.slice(0, length - 1 - tail)}…${name.slice(-tail)}`;
  }
  if (element.textContent !== name) element.append(draw('title', {}, name));
}

// The charts of groups: every query is a point in the row of its group and of each system.
function startGroupCharts(open) {
  for (const chart of document.querySelectorAll('.chart[data-rows]')) {
    const { column, rows, ends } = chart.dataset;
    const [low, high] = ends.split(' ').map(Number);
    let points = null; // made when they are needed first
    const make = () => rows.split(',').flatMap((row) => {
      const [code, system, y] = row.split(' ').map(Number);
      const queries = report.queries.map((_, query) => query).filter((query) => report.columns[column].codes[query] === code && report.value(system, 0, query) !== null);
      return queries.map((query) => ({ x: (report.value(system, 0, query) - low) / (high - low), y, query, system })).sort((a, b) => a.x - b.x);
    });
    const name = chart.closest('figure').querySelector('b').textContent;
    picker(chart.parentElement, {
      name,
      points: () => (points ??= make()),
      tip: (index) => {
        const { query, system } = points[index];
        const [id, value, words] = queryTip(query, { measure: 0, after: system }, ['after']);
        return [id, `${report.systems[system].name}: ${value}`, words];
      },
      open: (index) => open(points[index].query),
    }).reset(name);
  }
}
