// The explorer's own part: what a row shows, filters, the choice in the address, and the CSV of the view.
{
  const { day, words, rows } = JSON.parse(document.getElementById("data").textContent);
  const [CHIP, SELLER, OPTION, TERM, REGION, MACHINE, TERMS, SOURCE, FORM, PRICE, KIND, COUNT, SEEN, RANKED, CHANGE, CHANGED] = Array(16).keys();
  const keys = Object.keys(words);
  const ON_DEMAND = "on-demand";
  const word = (row, i) => (row[i] === null ? "" : words[keys[i]][row[i]]);
  const safe = (text) => String(text).replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
  const age = (row) => Math.round((Date.parse(day) - Date.parse(row[SEEN])) / 864e5);
  const floor = ["", "from ", "25th percentile ", "median "];
  const price = (row) => (row[PRICE] + 1e-9).toFixed(row[PRICE] < 0.1 ? 4 : 2);
  const share = (ratio) => (ratio < 0.0005 ? "<0.1" : (100 * ratio).toFixed(1));
  const change = (row) => (row[CHANGE] === null ? "" : `${row[CHANGE] < 0 ? "\u2212" : "+"}${share(Math.abs(row[CHANGE]))}\u00a0%`);
  // What is short stays on its line, and of longer text each word but an id: no name breaks after a hyphen.
  const whole = (words, most = 24) => (words.length < most ? [words] : words.split(" ")).map((each) => `<span class="${each.length > 24 ? "machine" : "whole"}">${safe(each)}</span>`).join(" ");
  const machine = (row) => [word(row, MACHINE), row[COUNT] && row[COUNT] !== 1 ? `${row[COUNT]}\u00a0chips` : ""].filter(Boolean).join(", ");
  const chip = (row) => [word(row, CHIP), word(row, FORM)].filter(Boolean).join(" ");
  const link = (row, text) => {
    const [sha, url] = word(row, SOURCE) || ["", ""];
    const title = safe(`document ${sha}`);
    return /^https?:\/\//.test(url || "") ? `<a href="${safe(url)}" rel="noreferrer" title="${title}">${text}</a>` : `<span title="${title}">${text}</span>`;
  };
  const text = (i) => ({ data: null, render: (row, type) => (type === "display" ? safe(word(row, i)) : word(row, i)) });
  // Name in the address, head, CSV, and the column.
  const columns = [
    ["chip", "Chip", chip, { data: null, className: "name", render: (row, type) => (type === "display" ? safe(chip(row)) : chip(row)) }],
    ["provider", "Provider", (row) => word(row, SELLER), { ...text(SELLER), className: "name" }],
    ["option", "Option", (row) => word(row, OPTION), { data: null, className: "name", render: (row, type) => (type === "display" ? whole(word(row, OPTION), 0) : word(row, OPTION)) }],
    ["term", "Term", (row) => word(row, TERM), { ...text(TERM), className: "name" }],
    ["price", "USD per <span class='whole'>chip-hour</span>", (row) => row[PRICE], { data: null, ariaTitle: "USD per chip-hour", className: "number worded", type: "num", render: (row, type) => (type === "display" ? `<span class="${row[RANKED] ? "" : "no"}">${floor[row[KIND]]}${link(row, price(row))}</span>` : row[PRICE]) }],
    ["statistic", "", (row) => ["price", "floor", "p25", "median"][row[KIND]], { data: null, visible: false, render: () => "" }],
    ["change", "Last change", (row) => row[CHANGE] ?? "", { data: null, className: "number wide", type: "change", render: (row, type) => (type === "display" ? `<span class="${row[CHANGE] < 0 ? "fall" : "rise"}">${change(row)}</span>${row[CHANGED] ? `<small>${row[CHANGED]}</small>` : ""}` : row[CHANGE]) }],
    ["changed", "", (row) => row[CHANGED] || "", { data: null, visible: false, render: () => "" }],
    ["region", "Region", (row) => word(row, REGION), { data: null, render: (row, type) => (type === "display" ? whole(word(row, REGION)) : word(row, REGION)) }],
    ["machine", "Machine", machine, { data: null, className: "wide", render: (row, type) => (type === "display" ? whole(machine(row)) : machine(row)) }],
    ["terms", "Conditions", (row) => word(row, TERMS), { data: null, className: "wide", render: (row, type) => (type === "display" ? whole(word(row, TERMS)) : word(row, TERMS)) }],
    ["seen", "Seen", (row) => row[SEEN], { data: null, className: "number", render: (row) => row[SEEN] }],
    ["age", "Age, days", age, { data: null, className: "number wide", type: "num", render: age }],
    ["ranked", "", (row) => row[RANKED], { data: null, visible: false, render: (row) => row[RANKED] }],
    ["document_sha256", "", (row) => (word(row, SOURCE) || [""])[0], { data: null, visible: false, render: () => "" }],
    ["source_url", "", (row) => (word(row, SOURCE) || ["", ""])[1] || "", { data: null, visible: false, render: () => "" }],
  ];
  const at = Object.fromEntries(columns.map(([name], i) => [name, i]));
  const form = document.getElementById("picks");
  const field = (name, label, control) => {
    const made = document.createElement("label");
    control.name = name;
    made.append(label, control);
    control.setAttribute("aria-label", label);
    form.append(made);
    return control;
  };
  const select = (name, label, options) => {
    const made = document.createElement("select");
    made.append(...options.map(([value, shown]) => new Option(shown, value)));
    return field(name, label, made);
  };
  const order = new Intl.Collator("en", { numeric: true });
  const search = Object.assign(document.createElement("input"), { type: "search" });
  const picks = { q: field("q", "Search", search) };
  for (const [name, label, i] of [["chip", "Chip", CHIP], ["provider", "Provider", SELLER], ["option", "Option", OPTION], ["term", "Term", TERM], ["region", "Region", REGION]]) {
    const values = [...words[keys[i]]].filter(Boolean).sort(order.compare);
    picks[name] = select(name, label, [["", "all"], ...(name === "term" ? [["none", "none"]] : []), ...values.map((each) => [each, each])]);
  }
  // Options are compared only where somebody asks for it: without a choice the table is on demand.
  picks.option.options[0].textContent = ON_DEMAND;
  picks.option.append(new Option("all, side by side", "all"));
  for (const each of [...picks.option.options]) if (each.value === ON_DEMAND) each.remove();
  picks.age = select("age", "Age", [["", "rankable"], ...["7", "30", "90", "365"].map((n) => [n, `${n} days or less`]), ["any", "any"]]);
  const save = Object.assign(document.createElement("button"), { type: "button", textContent: "CSV of this view" });
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  form.append(save, told);
  form.addEventListener("submit", (event) => event.preventDefault());

  const wanted = new URLSearchParams(location.hash.slice(1));
  const fill = () => { for (const [name, each] of Object.entries(picks)) { each.value = wanted.get(name) || ""; if (each.selectedIndex === -1) each.value = ""; } };
  fill();
  const fits = (row) => Object.entries({ chip: CHIP, provider: SELLER, region: REGION }).every(([name, i]) => !picks[name].value || word(row, i) === picks[name].value)
    && (picks.option.value === "all" || word(row, OPTION) === (picks.option.value || ON_DEMAND))
    && (!picks.term.value || (word(row, TERM) || "none") === picks.term.value)
    && (picks.age.value === "any" || (picks.age.value ? age(row) <= Number(picks.age.value) : row[RANKED] === 1));
  // Offers without a change are last, whichever way.
  Object.assign(DataTable.ext.type.order, { "change-asc": (a, b) => (a ?? 9e9) - (b ?? 9e9), "change-desc": (a, b) => (b ?? -9e9) - (a ?? -9e9) });
  const sorted = () => [[at[wanted.get("sort")] ?? at.price, wanted.get("dir") === "desc" ? "desc" : "asc"]];
  const table = new DataTable("#prices", {
    data: rows, columns: columns.map(([, title, , column]) => ({ title, ...column })), order: sorted(),
    pageLength: 50, deferRender: true, autoWidth: false, search: { search: picks.q.value },
    layout: { topStart: null, topEnd: null, bottomStart: "info", bottomEnd: "paging" },
    language: { emptyTable: "No price", zeroRecords: "No price fits these filters" },
  });
  const keep = () => {
    const [first] = table.order();
    const choice = new URLSearchParams();
    for (const [name, each] of Object.entries(picks)) if (each.value) choice.set(name, each.value);
    if (first && (first[0] !== at.price || first[1] === "desc")) { choice.set("sort", columns[first[0]][0]); choice.set("dir", first[1]); }
    const text = choice.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    told.textContent = `${table.rows({ search: "applied" }).count().toLocaleString("en")} of ${rows.length.toLocaleString("en")} prices`;
  };
  table.search.fixed("picks", (_, row) => fits(row));
  table.on("draw", keep);
  table.draw();
  const apply = () => table.search(search.value).draw();
  form.addEventListener("input", apply);
  addEventListener("hashchange", () => {
    for (const name of [...wanted.keys()]) wanted.delete(name);
    new URLSearchParams(location.hash.slice(1)).forEach((value, name) => wanted.set(name, value));
    fill();
    table.order(sorted());
    apply();
  });
  // A spreadsheet takes what begins with one of these for a formula.
  const cell = (value) => {
    const plain = typeof value === "string" && /^[\t\r]|^\s*[=+\-@]/.test(value) ? `'${value}` : String(value).replaceAll("\u00a0", " ");
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  save.addEventListener("click", () => {
    const shown = table.rows({ search: "applied", order: "applied" }).data().toArray();
    const heads = columns.map(([name]) => ({ price: "usd_per_chip_hour", age: "age_days", change: "last_change_ratio", ranked: "is_ranked" }[name] || name));
    const lines = [heads, ...shown.map((row) => columns.map(([, , csv]) => csv(row)))].map((line) => line.map(cell).join(","));
    const href = URL.createObjectURL(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href, download: `chipledger-${day}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1e4);
  });
}
