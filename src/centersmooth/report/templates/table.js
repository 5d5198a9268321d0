// The table of all records: sorted, filtered, and shown a page at a time.
const table = document.getElementById("table");
const at = (id) => document.getElementById(id);

const rows = [];
data.groups.forEach((group, place) => {
  for (let row = 0; row < group.count; row++) rows.push({ group, place, row, text: "" });
});
// The study's order: by input, then by setting.
rows.sort((a, b) => a.group.index[a.row] - b.group.index[b.row] || a.place - b.place);

function seedOf(record) {
  return typeof record.group.seeds === "string" ? record.group.seeds : record.group.seeds[record.row];
}

function textOf(record) {
  // Built when first searched: ten thousand texts would slow the page's start.
  if (!record.text) {
    const { group, row } = record;
    record.text = [nameOf(group.index[row]), group.index[row], group.name, seedOf(record), group.messages[row] ?? ""].join("\n").toLowerCase();
  }
  return record.text;
}

function lost(record) {
  return record.group.smoothed[record.row] - record.group.base[record.row];
}

const COLUMNS = [
  { name: "Input", head: true, value: (r) => r.group.index[r.row], text: (r) => nameOf(r.group.index[r.row]) },
  { name: "Setting", value: (r) => r.place, text: (r) => r.group.name },
  { name: "Verdict", value: (r) => verdict(r.group, r.row), text: (r) => VERDICTS[verdict(r.group, r.row)], mark: true },
  { name: "Attack ε", number: true, value: (r) => r.group.panel ? r.group.panel.chosen : NaN, text: (r) => r.group.panel ? size(r.group.panel.chosen) : "–" },
  { name: "Bound ε₂", number: true, value: (r) => verdict(r.group, r.row) === NONE ? Infinity : bound(r.group, r.row), text: (r) => verdict(r.group, r.row) === NONE ? "no bound" : up(bound(r.group, r.row)) },
  { name: "Certified error", number: true, needs: (g) => g.errors !== null, value: (r) => error(r.group, r.row), text: (r) => { const found = error(r.group, r.row); return Number.isNaN(found) ? "–" : found >= r.group.diameter ? "no bound" : up(found); } },
  { name: "Smoothing error", number: true, needs: (g) => g.smoothing.some((v) => !Number.isNaN(v)), value: (r) => r.group.smoothing[r.row], text: (r) => near(r.group.smoothing[r.row]) },
  { name: "Quality lost", number: true, needs: (g) => g.smoothed.some((v) => !Number.isNaN(v)), value: lost, text: (r) => near(lost(r)) },
  { name: "Status", value: (r) => r.group.status[r.row], text: (r) => data.statuses[r.group.status[r.row]], why: true },
  { name: "Forward passes", number: true, value: (r) => r.group.evaluations[r.row], text: (r) => r.group.evaluations[r.row].toLocaleString("en") },
  { name: "Seconds", number: true, value: (r) => r.group.seconds[r.row], text: (r) => near(r.group.seconds[r.row]) },
  { name: "Seed", number: true, value: seedOf, text: seedOf },
].filter((column) => !column.needs || data.groups.some(column.needs));

const state = { column: null, down: false, page: 0, size: 25, shown: rows };

function matches(record) {
  const { group, row } = record;
  const words = at("search").value.trim().toLowerCase();
  return (at("which-setting").value === "" || Number(at("which-setting").value) === record.place)
    && (at("which-status").value === "" || Number(at("which-status").value) === group.status[row])
    && (at("which-verdict").value === "" || Number(at("which-verdict").value) === verdict(group, row))
    && (words === "" || textOf(record).includes(words));
}

function compare(a, b) {
  // Missing numbers come last in either direction.
  const missing = (value) => typeof value === "number" && Number.isNaN(value);
  if (missing(a.key) || missing(b.key)) return missing(a.key) - missing(b.key);
  if (a.key === b.key) return 0;
  const order = typeof a.key === "string" ? a.key.length - b.key.length || (a.key < b.key ? -1 : 1) : a.key - b.key;
  return state.down ? -order : order;
}

function refresh() {
  let found = rows.filter(matches);
  if (state.column) {
    const keyed = found.map((record) => ({ record, key: state.column.value(record) }));
    found = keyed.sort(compare).map((entry) => entry.record);
  }
  state.shown = found;
  state.page = Math.min(state.page, pages() - 1);
  at("found").textContent = found.length === rows.length
    ? `${rows.length.toLocaleString("en")} records`
    : `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} records`;
  render();
}

function pages() {
  return Math.max(1, Math.ceil(state.shown.length / state.size));
}

function render() {
  const start = state.page * state.size;
  at("rows").replaceChildren(...state.shown.slice(start, start + state.size).map(line));
  at("page").textContent = `Page ${state.page + 1} of ${pages().toLocaleString("en")}`;
  at("first").disabled = at("previous").disabled = state.page === 0;
  at("next").disabled = at("last").disabled = state.page >= pages() - 1;
}

function line(record) {
  const row = document.createElement("tr");
  for (const column of COLUMNS) {
    const cell = document.createElement(column.head ? "th" : "td");
    if (column.head) cell.scope = "row";
    if (column.number) cell.className = "n";
    if (column.mark) cell.className = "verdict";
    if (column.mark) cell.append(markOf(verdict(record.group, record.row)));
    cell.append(column.text(record));
    if (column.why) cell.className = "status-cell";
    if (column.why && record.group.messages[record.row]) {
      const why = document.createElement("span");
      why.className = "why";
      why.textContent = record.group.messages[record.row];
      cell.append(why);
    }
    row.append(cell);
  }
  return row;
}

const marks = LOOKS.map((look) => document.querySelector(`.key .mark.${look}`));
function markOf(found) {
  return marks[found] ? marks[found].cloneNode(true) : "";
}

function sortBy(column, head) {
  state.down = state.column === column && !state.down;
  state.column = column;
  for (const other of at("columns").children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
  state.page = 0;
  refresh();
}

for (const column of COLUMNS) {
  const head = document.createElement("th"), button = document.createElement("button");
  head.scope = "col";
  button.type = "button";
  button.textContent = column.name;
  if (column.number) head.className = "n";
  button.addEventListener("click", () => sortBy(column, head));
  head.append(button);
  at("columns").append(head);
}

function offer(id, names) {
  names.forEach((name, place) => {
    const option = document.createElement("option");
    option.value = place;
    option.textContent = name;
    at(id).append(option);
  });
}
offer("which-setting", data.groups.map((group) => group.name));
offer("which-status", data.statuses);

const again = () => { state.page = 0; refresh(); };
at("search").addEventListener("input", again);
for (const id of ["which-setting", "which-verdict", "which-status"]) at(id).addEventListener("change", again);
at("size").addEventListener("change", () => { state.size = Number(at("size").value); state.page = 0; render(); });
const turn = (page) => { state.page = Math.max(0, Math.min(pages() - 1, page)); render(); };
at("first").addEventListener("click", () => turn(0));
at("previous").addEventListener("click", () => turn(state.page - 1));
at("next").addEventListener("click", () => turn(state.page + 1));
at("last").addEventListener("click", () => turn(pages() - 1));
watchers.push(refresh);
refresh();
document.documentElement.dataset.ready = "yes";
