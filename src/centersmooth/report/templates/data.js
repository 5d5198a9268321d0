"use strict";
// Columns of numbers, decoded once from the data block of the page.
document.documentElement.classList.add("js");

const SAFE = 0, BEYOND = 1, NONE = 2;
const VERDICTS = ["safe", "may move farther", "no bound"];
const MARKS = ["M1 1h8v8h-8z", "M5 1L9 5L5 9L1 5Z", "M2 2L8 8M8 2L2 8"];
const LOOKS = ["safe", "beyond", "none"];

const data = JSON.parse(document.getElementById("data").textContent);
const CERTIFIED = data.statuses.indexOf("certified");

function unpack(text, Kind) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}

for (const group of data.groups) {
  group.index = unpack(group.index, Int32Array);
  group.status = unpack(group.status, Uint8Array);
  group.statuses = unpack(group.statuses, Uint8Array);
  group.bounds = unpack(group.bounds, Float64Array);
  for (const name of ["smoothing", "base", "smoothed", "seconds"]) group[name] = unpack(group[name], Float32Array);
  group.errors = group.errors === null ? null : unpack(group.errors, Float64Array);
  group.evaluations = unpack(group.evaluations, Float64Array);
  group.diameter = group.diameter === null ? Infinity : group.diameter;
  group.count = group.index.length;
  group.panel = null;
  group.column = -1;
}
for (const panel of data.panels) {
  panel.chosen = panel.headline;
  for (const place of panel.groups) data.groups[place].panel = panel;
}

// The column that covers attacks of the chosen size: the next one certified, rounded up.
function choose(panel) {
  for (const place of panel.groups) {
    const group = data.groups[place];
    group.column = group.eps.findIndex((eps) => eps >= panel.chosen);
  }
}
data.panels.forEach(choose);

function bound(group, row) {
  return group.column < 0 ? Infinity : group.bounds[row * group.eps.length + group.column];
}

function error(group, row) {
  return group.column < 0 || group.errors === null ? NaN : group.errors[row * group.eps.length + group.column];
}

function verdict(group, row) {
  if (group.column < 0) return NONE;
  const place = row * group.eps.length + group.column;
  if (group.statuses[place] !== CERTIFIED || group.bounds[place] >= group.diameter) return NONE;
  return group.bounds[place] <= group.panel.tolerance ? SAFE : BEYOND;
}

function nameOf(index) {
  return data.names[index] ?? String(index);
}

// A bound is never shown smaller than it is.
function up(value) {
  if (!Number.isFinite(value)) return "no bound";
  const shown = Number(value.toPrecision(4));
  const exponent = Number(value.toExponential(3).split("e")[1]);
  return String(shown >= value ? shown : Number((shown + 10 ** (exponent - 3)).toPrecision(4)));
}

function size(eps) {
  return String(Number(eps.toPrecision(6)));
}

function near(value) {
  return Number.isNaN(value) ? "–" : Number(value.toPrecision(3)).toString();
}

// The mirror image of aggregates.share: Clopper and Pearson's interval at 95 %.
const factorials = [0];
function logFactorial(n) {
  for (let i = factorials.length; i <= n; i++) factorials.push(factorials[i - 1] + Math.log(i));
  return factorials[n];
}

function atMost(n, p, k) {
  let sum = 0;
  for (let i = 0; i <= k; i++) {
    sum += Math.exp(logFactorial(n) - logFactorial(i) - logFactorial(n - i) + i * Math.log(p) + (n - i) * Math.log1p(-p));
  }
  return sum;
}

function highest(hits, count) {
  if (hits >= count) return 1;
  let low = hits / count, high = 1;
  for (let i = 0; i < 32; i++) {
    const middle = (low + high) / 2;
    if (atMost(count, middle, hits) > 0.025) low = middle; else high = middle;
  }
  return high;
}

function interval(hits, count) {
  return [1 - highest(count - hits, count), highest(hits, count)];
}
