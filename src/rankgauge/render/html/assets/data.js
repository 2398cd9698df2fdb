// The data of the report. Values are stored as integers: divide by the measure's scale.
const report = {
  async load() {
    Object.assign(report, await unpack());
    report.single = report.systems.length === 1;
    report.judged = report.judged !== false; // two runs without judgments have similarities instead of scores
  },
  value(system, measure, query) {
    const { values, scale } = report.measures[measure];
    const stored = values[system][query];
    return stored === null ? null : stored / scale;
  },
  valueText: (system, measure, query) => number(report.value(system, measure, query), report.measures[measure].count),
  // The difference of a query, or the value itself if there is only one system.
  gap(choice, query) {
    const after = report.value(choice.after, choice.measure, query);
    if (report.single) return after;
    const before = report.value(choice.before, choice.measure, query);
    return before === null || after === null ? null : round(after - before);
  },
  // The sign that makes an improvement positive; a measure that is neither good nor bad counts upward.
  sign: (measure) => report.measures[measure].direction || 1,
  // Whether a difference on a measure is an improvement: also the CSS class.
  tone(measure, difference) {
    const improvement = report.measures[measure].direction * difference;
    return improvement > 0 ? 'better' : improvement < 0 ? 'worse' : '';
  },
  comparatives: (measure) => (report.measures[measure].direction ? ['better', 'worse'] : ['higher', 'lower']),
  extremes: (measure) => (report.measures[measure].direction ? ['improvement', 'decline'] : ['increase', 'decrease']),
  text: (query) => (report.texts ? report.texts[query] : ''),
};
