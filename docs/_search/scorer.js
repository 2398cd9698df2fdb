/* The order of search results: a page whose title has the words of the query comes first, generated reference pages last. */
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) =>
    score + (kind === "title" ? 30 : 0) - (kind === "text" && page.startsWith("reference/") ? 8 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
