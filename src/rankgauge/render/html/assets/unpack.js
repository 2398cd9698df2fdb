// The data of the page, decompressed: a JSON text, and columns of numbers and ids as bytes after it.
async function unpack() {
  const stream = new Blob([bytesOf(document.getElementById('data').textContent)]).stream();
  const content = new Uint8Array(await new Response(stream.pipeThrough(new DecompressionStream('deflate'))).arrayBuffer());
  const begin = 4 + new DataView(content.buffer).getUint32(0, true);
  const bytes = content.subarray(begin);
  const text = new TextDecoder().decode(content.subarray(4, begin));
  return JSON.parse(text, (_, value) => (value && Array.isArray(value.packed) ? unpackColumn(value, bytes) : value));
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function unpackColumn(column, bytes) {
  if (column.list) return column.list;
  if (column.shared) return unpackIds(column, bytes);
  if (column.steps) return numberedIds(column);
  const [begin, count, width] = column.packed;
  return Array.from({ length: count }, (_, row) => {
    let code = 0;
    for (let byte = width - 1; byte >= 0; byte -= 1) code = 256 * code + bytes[begin + byte * count + row];
    if (column.values) code = column.values[code];
    if (column.missing) return code ? code - 1 + column.least : null;
    return code + column.least;
  });
}

// Ids that are numbers after a prefix.
function numberedIds({ prefix, steps, digits }) {
  let sum = 0;
  const numbers = steps.map((step) => { sum += step; return sum; });
  return (row) => prefix + String(numbers[row]).padStart(digits[row], '0');
}

// Ids in one row of bytes; an id becomes text when it is asked for.
function unpackIds({ shared, length, packed }, bytes) {
  const ends = length.map(((sum) => (size) => { sum += size; return sum; })(0));
  const text = new Uint8Array(ends.at(-1) || 0);
  let next = packed[0];
  ends.forEach((end, row) => {
    const [from, start] = [row ? ends[row - 1] : 0, row ? ends[row - 1] - length[row - 1] : 0];
    text.copyWithin(from, start, start + shared[row]);
    text.set(bytes.subarray(next, next + length[row] - shared[row]), from + shared[row]);
    next += length[row] - shared[row];
  });
  const decoder = new TextDecoder();
  return (row) => decoder.decode(text.subarray(ends[row] - length[row], ends[row]));
}
