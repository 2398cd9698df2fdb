// Charts whose points can be picked: with the pointer, or with the keyboard. A chart is one tab stop; the arrow keys
// move between its points, and Enter or a click opens the one that is marked.
//
// `chart` has: name; points(): an array of { x, y }, x as a share of the plot's width, y in pixels or null if only x
// counts; tip(index): the words for one point; open(index).
const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

function picker(stage, chart) {
  const plot = stage.querySelector('.plot') ?? stage.querySelector('svg');
  const tip = make('div', { class: 'tip' });
  const cursor = stage.querySelector('.cursor') ?? plot.appendChild(draw('circle', { r: 7, class: 'cursor' }));
  let current = null;
  let shown = null; // the position that the last click was at, and how many points there were taken

  const show = (index) => {
    const points = chart.points();
    if (!points.length) return;
    current = Math.min(Math.max(index, 0), points.length - 1);
    const { x, y } = points[current];
    if (y === null) cursor.setAttribute('x', current);
    else fill(cursor, { cx: `${100 * x}%`, cy: y }, []);
    const [bold, values, words] = chart.tip(current);
    tip.replaceChildren(make('b', {}, bold), ` ${values}`, make('span', {}, words ?? ''));
    place(tip, stage, plot, x, y);
    stage.classList.add('picked');
    fill(stage, { 'aria-valuemax': points.length, 'aria-valuenow': current + 1, 'aria-valuetext': `${bold}: ${values}` }, []);
  };
  const nearest = (event) => {
    const box = plot.getBoundingClientRect();
    const [left, top] = [(event.clientX - box.left) / box.width, event.clientY - box.top];
    let [best, least] = [0, Infinity];
    chart.points().forEach(({ x, y }, index) => {
      const distance = ((x - left) * box.width) ** 2 + (y === null ? 0 : (y - top) ** 2);
      if (distance < least) [best, least] = [index, distance];
    });
    return best;
  };
  // Of several points at one place, each click takes the next one.
  const next = (index) => {
    const points = chart.points();
    const same = points.map((_, other) => other).filter((other) => points[other].x === points[index].x && points[other].y === points[index].y);
    const turn = shown && shown.index === index ? shown.turn + 1 : 0;
    shown = { index, turn };
    return same[turn % same.length];
  };

  stage.append(tip);
  stage.classList.add('live');
  fill(stage, { role: 'slider', tabindex: 0, 'aria-valuemin': 1, 'aria-label': `${chart.name}: use the arrow keys to move between points, Enter to open one` }, []);
  stage.addEventListener('pointermove', (event) => show(nearest(event)));
  stage.addEventListener('pointerleave', () => stage.classList.remove('picked'));
  stage.addEventListener('blur', () => stage.classList.remove('picked'));
  stage.addEventListener('focus', () => { if (stage.matches(':focus-visible')) show(current ?? 0); });
  stage.addEventListener('click', (event) => {
    if (!chart.points().length) return;
    show(next(nearest(event)));
    chart.open(current);
  });
  stage.addEventListener('keydown', (event) => {
    if (event.key in STEPS) { event.preventDefault(); show((current ?? -1) + STEPS[event.key]); }
    if (event.key === 'Enter' && current !== null) { event.preventDefault(); chart.open(current); }
    if (event.key === 'Escape') stage.classList.remove('picked');
  });
  const reset = (words) => {
    [current, shown] = [null, null];
    stage.classList.remove('picked');
    fill(stage, { 'aria-valuemax': Math.max(chart.points().length, 1), 'aria-valuenow': 1, 'aria-valuetext': words }, []);
  };
  return { reset };
}

// The tip above its point, or below it if there is no room; never outside of the chart.
function place(tip, stage, plot, x, y) {
  const [outer, inner] = [stage.getBoundingClientRect(), plot.getBoundingClientRect()];
  const [left, top] = [inner.left - outer.left + x * inner.width, inner.top - outer.top + (y ?? 0)];
  const begin = Math.min(Math.max(left - tip.offsetWidth / 2, 0), outer.width - tip.offsetWidth);
  const above = top - tip.offsetHeight - 12;
  tip.style.left = `${begin}px`;
  tip.style.top = `${y === null ? 4 : above < 0 ? top + 14 : above}px`;
}
