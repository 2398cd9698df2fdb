// Everything that the page does with a script starts here.
async function start() {
  theme.start();
  openForPrinting();
  tables.start();
  try {
    await report.load();
  } catch (error) {
    byId('unready').textContent = `This browser could not decompress the data of the queries (${error.message}).`;
    return;
  }
  const preset = Number(byId('queries').dataset.after);
  const choice = { measure: 0, before: report.baseline, after: report.single ? 0 : preset };
  const hasPlots = !report.single && report.judged;
  const redraw = () => {
    if (hasPlots) plots.redraw();
    explorer.list();
  };
  const names = report.systems.map((system, index) => [String(index), system.name]);
  setOptions(byId('measure'), report.measures.map((measure, index) => [String(index), measure.name]), '0');
  setOptions(byId('before'), names, String(choice.before));
  setOptions(byId('after'), names, String(choice.after));
  for (const key of ['measure', 'before', 'after']) {
    byId(key).addEventListener('input', () => { choice[key] = Number(byId(key).value); redraw(); });
  }
  if (!hasPlots) for (const key of ['before', 'after']) byId(key).parentElement.hidden = true;
  byId('choice').addEventListener('submit', (event) => event.preventDefault());
  byId('choice').hidden = false;
  if (hasPlots) plots.start(choice, explorer.go);
  startGroupCharts(explorer.go);
  byId('unready').hidden = true;
  explorer.start(choice);
  redraw();
  links.start(choice, redraw);
  document.documentElement.dataset.ready = 'yes';
}
start();
