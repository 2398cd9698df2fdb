// The data of the report. Values are stored as integers: divide by the measure's scale.
const report = {
  async load() {
    Object.assign(report, await unpack());
    report.single = report.systems.length === 1;
    report.judged = report.judged !== false;
    report.oneValue = report.single || !report.judged; // two runs without judgments have one similarity per query
    if (report.rankings) rankings.start();
  },
  value(system, measure, query) {
    const { values, scale } = report.measures[measure];
    const stored = values[system * report.queries.length + query];
    return stored === null ? null : stored / scale;
  },
  valueText: (system, measure, query) => number(report.value(system, measure, query), report.measures[measure].count),
  // The difference of a query, or the value itself if each query has only one.
  gap(choice, query) {
    const after = report.value(choice.after, choice.measure, query);
    if (report.oneValue) return after;
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

// The rankings are columns over all queries (see payload_rankings.py); a query is taken out of them when it is opened.
const rankings = {
  start() {
    const { queries, counts, lengths, places, grades, docs } = report.rankings;
    const before = (sizes) => { let sum = 0; return [0, ...sizes.map((size) => { sum += size; return sum; })]; };
    rankings.placeOf = queries && new Map(queries.map((query, place) => [query, place]));
    rankings.entries = before(counts);
    rankings.rows = before(lengths);
    const cells = lengths.map((size, cell) => places.slice(rankings.rows[cell], rankings.rows[cell] + size).map((place) => rankings.entries[cell % counts.length] + place));
    rankings.contributing = report.rankings.contributions.map((measure) => before(cells.map((entries) => entries.filter((entry) => measure.grades.includes(grades.codes[entry])).length)));
    rankings.judgedEntries = before(counts.map((size, place) => grades.codes.slice(rankings.entries[place], rankings.entries[place] + size).filter((code) => code !== null).length));
    rankings.snippets = new Map(report.snippets.docs.map((doc, index) => [doc, report.snippets.texts[index]]));
    rankings.name = docs;
  },
  // One query: names of documents (d), grades (g), snippets (t); by system rankings (r) as places among the documents,
  // ranks below the depth (b), and by measure contributions (c), both alternating with a place or a rank.
  record(query) {
    const place = rankings.placeOf ? rankings.placeOf.get(query) : query;
    if (!report.rankings || place === undefined) return null;
    const { counts, gaps, lengths, places, grades, contributions, below } = report.rankings;
    const first = rankings.entries[place];
    let last = -1;
    const docs = gaps.slice(first, first + counts[place]).map((gap) => { last += gap + 1; return last; });
    const codes = grades.codes.slice(first, first + counts[place]);
    const judged = codes.flatMap((code, doc) => (code === null ? [] : [doc]));
    const cells = report.systems.map((_, system) => system * counts.length + place);
    const ranked = cells.map((cell) => places.slice(rankings.rows[cell], rankings.rows[cell] + lengths[cell]));
    const ofCell = (measure, cell, system) => {
      let next = rankings.contributing[measure][cell] - 1;
      const { grades: kept, values } = contributions[measure];
      return ranked[system].flatMap((doc, index) => { if (!kept.includes(codes[doc])) return []; next += 1; return [index + 1, values[next]]; });
    };
    return {
      d: docs.map(rankings.name),
      g: codes.map((code) => (code === null ? null : grades.list[code])),
      t: docs.map((doc) => rankings.snippets.get(doc)),
      r: ranked,
      c: contributions.map((_, measure) => cells.map((cell, system) => ofCell(measure, cell, system))),
      b: below.map((ranks) => (ranks ? judged.flatMap((doc, index) => { const rank = ranks[rankings.judgedEntries[place] + index]; return rank ? [doc, rank] : []; }) : [])),
    };
  },
};
