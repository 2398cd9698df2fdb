// From here on the page is more than it is without a script.
async function start() {
  theme.start();
  addEventListener('beforeprint', () => { for (const one of document.querySelectorAll('details')) one.open = true; });
  try {
    await report.load();
  } catch (error) {
    byId('unready').textContent = `This browser could not unpack the data of single queries (${error.message}).`;
    return;
  }
  const last = report.systems.length - 1;
  const preset = Number(byId('queries').dataset.after);
  const choice = { measure: 0, before: report.baseline, after: report.alone ? 0 : preset };
  const redraw = () => {
    if (!report.alone) plots.redraw();
    explorer.list();
  };
  const names = report.systems.map((system, place) => [String(place), system.name]);
  options(byId('measure'), report.measures.map((measure, place) => [String(place), measure.name]), '0');
  options(byId('before'), names, String(choice.before));
  options(byId('after'), names, String(choice.after));
  for (const key of ['measure', 'before', 'after']) {
    byId(key).addEventListener('input', () => { choice[key] = Number(byId(key).value); redraw(); });
  }
  if (last < 1) for (const key of ['before', 'after']) byId(key).parentElement.hidden = true;
  byId('choice').addEventListener('submit', (event) => event.preventDefault());
  byId('choice').hidden = false;
  if (!report.alone) plots.start(choice, explorer.go);
  byId('unready').hidden = true;
  explorer.start(choice);
  redraw();
  document.documentElement.dataset.ready = 'yes';
}
start();
