// Which inputs are safe: controls, shares, maps of marks, and what the gallery's claims say.
const CELLS = [[120, 16], [600, 12], [2500, 8], [Infinity, 5]];
const watchers = [];

function draw(parent, name, attributes) {
  const node = document.createElementNS(parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

function tally(group) {
  const found = [0, 0, 0];
  for (let row = 0; row < group.count; row++) found[verdict(group, row)]++;
  return found;
}

function medianBound(group) {
  if (group.column < 0 || group.count === 0) return null;
  const values = new Float64Array(group.count);
  for (let row = 0; row < group.count; row++) values[row] = bound(group, row);
  values.sort();
  return values[Math.floor(group.count / 2)];
}

function cellOf(count) {
  return CELLS.find(([most]) => count <= most)[1];
}

function mark(verdictOf, x, y, cell) {
  const a = cell * 0.12, b = cell * 0.88, m = cell / 2;
  if (verdictOf === SAFE) return `M${x + a} ${y + a}H${x + b}V${y + b}H${x + a}Z`;
  if (verdictOf === BEYOND) return `M${x + m} ${y + a}L${x + b} ${y + m}L${x + m} ${y + b}L${x + a} ${y + m}Z`;
  return `M${x + 2 * a} ${y + 2 * a}L${x + b - a} ${y + b - a}M${x + b - a} ${y + 2 * a}L${x + 2 * a} ${y + b - a}`;
}

function drawMap(map, group) {
  const width = Math.max(100, map.clientWidth), cell = cellOf(group.count);
  const across = Math.max(1, Math.floor(width / cell)), down = Math.ceil(group.count / across);
  const paths = ["", "", ""];
  for (let row = 0; row < group.count; row++) {
    paths[verdict(group, row)] += mark(verdict(group, row), (row % across) * cell, Math.floor(row / across) * cell, cell);
  }
  map.setAttribute("viewBox", `0 0 ${width} ${down * cell}`);
  map.replaceChildren();
  paths.forEach((d, place) => draw(map, "path", { class: LOOKS[place], d: d || "M0 0" }));
  map.grid = { across, cell };
}

function percentOf(hits, count) {
  const share = 100 * hits / count;
  // 100 % and 0 % are said only of all and of none.
  return hits === count ? "100\u00a0%" : hits === 0 ? "0\u00a0%" : `${Math.min(99, Math.max(1, Math.round(share)))}\u00a0%`;
}

function showSetting(item, group) {
  const [hits, beyond, none] = tally(group);
  const [low, high] = interval(hits, group.count);
  item.querySelector(".percent").textContent = percentOf(hits, group.count);
  item.querySelector(".fill").setAttribute("width", 100 * hits / group.count);
  item.querySelector(".count").textContent = `${hits.toLocaleString("en")} of ${group.count.toLocaleString("en")} inputs`;
  item.querySelector(".span").textContent = `95\u00a0% interval ${Math.floor(1000 * low) / 10} to ${Math.ceil(1000 * high) / 10}\u00a0%`;
  const chosen = size(group.panel.chosen);
  const whole = group.column < 0
    ? `No certificate reaches attacks of size ${chosen}.`
    : `For ${hits.toLocaleString("en")} of ${group.count.toLocaleString("en")} ${group.count === 1 ? "input" : "inputs"} it is certified that no attack of size ${chosen} (${group.panel.attacker}) moves the smoothed model's answer by more than ${up(group.panel.tolerance)} (${group.metric}).`;
  item.querySelector(".sentence").textContent = whole;
  const middle = medianBound(group);
  item.querySelector(".median").textContent = middle === null ? "" : `Median bound: ${up(middle)}.`;
  const map = item.querySelector(".map");
  map.setAttribute("aria-label", `${hits} safe, ${beyond} may move farther, ${none} without a bound. The table of all records names them.`);
  drawMap(map, group);
  return `${group.name}: ${hits} of ${group.count} safe`;
}

function showPanel(article, panel) {
  const told = [];
  for (const item of article.querySelectorAll(".setting")) told.push(showSetting(item, data.groups[item.dataset.group]));
  clearTimeout(panel.timer);
  // Said once the slider rests, not at every step.
  panel.timer = setTimeout(() => { article.querySelector("[role=status]").textContent = told.join("; ") + "."; }, 700);
  showGallery();
  for (const watcher of watchers) watcher();
}

function showGallery() {
  for (const exhibition of document.querySelectorAll(".exhibition")) {
    const column = data.groups[exhibition.dataset.group].column;
    for (const node of exhibition.querySelectorAll("[data-place]")) node.classList.toggle("off", Number(node.dataset.place) !== column);
  }
}

function pointAt(event, map, group, output) {
  const frame = map.getBoundingClientRect();
  const { across, cell } = map.grid;
  const x = Math.floor((event.clientX - frame.left) / cell), y = Math.floor((event.clientY - frame.top) / cell);
  const row = y * across + x;
  if (x >= across || row < 0 || row >= group.count) { output.textContent = ""; return null; }
  output.textContent = `Input ${nameOf(group.index[row])}: ${verdict(group, row) === NONE ? "no bound" : `moves at most ${up(bound(group, row))}`}`;
  return group.index[row];
}

function setUp(article) {
  const panel = data.panels[article.dataset.panel];
  const eps = article.querySelector(".eps"), slider = article.querySelector(".tolerance"), exact = article.querySelector(".exact");
  let waiting = false;
  const refresh = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; showPanel(article, panel); });
  };
  const tolerate = (value) => {
    if (!(value >= 0)) return;
    panel.tolerance = value;
    slider.setAttribute("aria-valuetext", up(value));
    refresh();
  };
  eps.addEventListener("change", () => { panel.chosen = panel.eps[eps.value]; choose(panel); refresh(); });
  slider.addEventListener("input", () => { const value = Number(Number(slider.value).toPrecision(3)); exact.value = value; tolerate(value); });
  exact.addEventListener("input", () => { slider.value = exact.value; tolerate(exact.value === "" ? NaN : Number(exact.value)); });
  for (const item of article.querySelectorAll(".setting")) {
    const map = item.querySelector(".map"), group = data.groups[item.dataset.group], output = article.querySelector(".pointed");
    map.addEventListener("pointermove", (event) => pointAt(event, map, group, output));
    map.addEventListener("pointerleave", () => { output.textContent = ""; });
  }
  let width = article.clientWidth;
  new ResizeObserver(() => {
    if (article.clientWidth === width) return;
    width = article.clientWidth;
    for (const item of article.querySelectorAll(".setting")) drawMap(item.querySelector(".map"), data.groups[item.dataset.group]);
  }).observe(article);
  showPanel(article, panel);
}

for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
document.querySelectorAll(".panel").forEach(setUp);
