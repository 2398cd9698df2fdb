// The report's data, unpacked once; values are whole numbers until somebody asks for one.
const report = {
  async load() {
    const packed = atob(document.getElementById('data').textContent.trim());
    const bytes = Uint8Array.from(packed, (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    Object.assign(report, JSON.parse(await new Response(stream).text()));
    report.alone = report.systems.length === 1;
  },
  value(system, measure, query) {
    const { values, scale } = report.measures[measure];
    const found = values[system][query];
    return found === null ? null : found / scale;
  },
  shown: (system, measure, query) => number(report.value(system, measure, query), report.measures[measure].whole),
  // The difference of a query, or the value itself where there is one system only.
  gap(choice, query) {
    const after = report.value(choice.after, choice.measure, query);
    if (report.alone) return after;
    const before = report.value(choice.before, choice.measure, query);
    return before === null || after === null ? null : round(after - before);
  },
  text: (query) => (report.texts ? report.texts[query] : ''),
};

const round = (value) => Math.round(value * 1e6) / 1e6;

function number(value, whole = false) {
  if (value === null) return '–';
  const size = Math.abs(value);
  return value.toFixed(whole || size >= 10000 ? 0 : size >= 100 ? 1 : 3).replace('-', '−');
}

function signed(value) {
  if (value === null) return '–';
  return (value < 0 ? '' : '+') + number(value);
}
