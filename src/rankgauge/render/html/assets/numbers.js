// Numbers as text, as the page shows them without a script.
const MISSING = '–';
const round = (value) => Math.round(value * 1e6) / 1e6;

function number(value, count = false) {
  if (value === null) return MISSING;
  const size = Math.abs(value);
  const digits = count || size >= 10000 ? 0 : size >= 100 ? 1 : 3;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace('-', '−');
}

function signed(value) {
  if (value === null) return MISSING;
  return (value < 0 ? '' : '+') + number(value);
}

const plural = (count, noun, nouns) => `${count.toLocaleString('en-US')} ${count === 1 ? noun : nouns}`;
