// Elements. Text from data is inserted as text, never as markup.
const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const draw = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
const byId = (id) => document.getElementById(id);

function setOptions(select, options, selected) {
  select.replaceChildren(...options.map(([value, label]) => make('option', { value, selected: value === selected }, label)));
}

// The class of a list whose lines begin with ids: how much space these need.
function idClass(ids) {
  const longest = ids.reduce((most, id) => Math.max(most, id.length), 0);
  return longest > 14 ? 'long-ids' : longest > 6 ? 'medium-ids' : 'short-ids';
}

// Paper has no buttons: what is folded is printed too.
function openForPrinting() {
  addEventListener('beforeprint', () => { for (const details of document.querySelectorAll('details')) details.open = true; });
}
