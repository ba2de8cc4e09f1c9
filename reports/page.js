// Sorts and filters the tables of a page. Nothing of it is needed to read them.
"use strict";
(() => {
  const FILTERED = 12; // rows from which a table gets a filter
  const words = new Intl.Collator("en", { numeric: true });
  // What a cell says, without its small print where it has any other.
  const text = (row, i) => {
    const parts = [...(row.cells[i] ? row.cells[i].childNodes : [])];
    const words = (nodes) => nodes.map((node) => node.textContent).join("").trim().replace(/\s+/g, " ");
    return words(parts.filter((node) => node.nodeName !== "SMALL")) || words(parts);
  };
  const number = (row, i) => {
    const shown = row.cells[i] ? row.cells[i].dataset.value || text(row, i) : "";
    return shown === "" || Number.isNaN(Number(shown)) ? null : Number(shown);
  };
  const unknown = (value) => value === "" || value === "\u2013";

  // Rows stay in their group; what is unknown stays last, whichever way the others go.
  const compare = (a, b, i, numeric, down) => {
    const [x, y] = numeric ? [number(a, i), number(b, i)] : [text(a, i), text(b, i)];
    const [noX, noY] = numeric ? [x === null, y === null] : [unknown(x), unknown(y)];
    if (noX || noY) return noX - noY;
    const order = numeric ? x - y : words.compare(x, y);
    return down ? -order : order;
  };

  const sortable = (table, groups) => {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, i) => {
      if (!head.textContent.trim() || head.colSpan > 1) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")] || "ascending";
        for (const each of heads) each.removeAttribute("aria-sort");
        if (next !== "none") head.setAttribute("aria-sort", next);
        for (const { first, rows } of groups) {
          const numeric = rows.some((row) => number(row, i) !== null);
          const sorted = next === "none" ? rows : [...rows].sort((a, b) => compare(a, b, i, numeric, next === "descending"));
          let last = first;
          for (const row of sorted) {
            if (last) last.after(row);
            else table.tBodies[0].prepend(row);
            last = row;
          }
        }
      });
    });
  };

  const filtered = (table, frame, groups) => {
    const all = groups.flatMap((group) => group.rows);
    const name = table.caption ? table.caption.querySelector("strong").textContent : "the table";
    const bar = document.createElement("div");
    bar.className = "filter";
    const told = document.createElement("span");
    told.setAttribute("role", "status");
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "Filter rows";
    input.setAttribute("aria-label", `Filter rows: ${name}`);
    const picks = [...table.tHead.rows[table.tHead.rows.length - 1].cells].flatMap((head, i) => {
      if (!head.matches("[data-pick]") && !head.querySelector("[data-pick]")) return [];
      const select = document.createElement("select");
      const label = head.textContent.trim();
      select.setAttribute("aria-label", `${label}: ${name}`);
      const values = [...new Set(all.map((row) => text(row, i)))].sort(words.compare);
      select.append(new Option(`${label}: all`, ""), ...values.map((value) => new Option(value, value)));
      return [{ select, i }];
    });
    const apply = () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let n = 0;
      for (const { first, rows } of groups) {
        const about = first ? first.textContent : "";
        let left = 0;
        for (const row of rows) {
          const line = `${about} ${row.textContent}`.toLowerCase();
          const fits = wanted.every((word) => line.includes(word))
            && picks.every(({ select, i }) => !select.value || text(row, i) === select.value);
          row.hidden = !fits;
          left += fits;
        }
        if (first) first.hidden = !left;
        n += left;
      }
      told.textContent = n === all.length ? "" : `${n} of ${all.length} rows`;
    };
    input.addEventListener("input", apply);
    for (const { select } of picks) select.addEventListener("change", apply);
    bar.append(input, ...picks.map(({ select }) => select), told);
    frame.before(bar);
  };

  for (const table of document.querySelectorAll("main .frame > table")) {
    if (!table.tHead || !table.tBodies.length) continue;
    const groups = [{ first: null, rows: [] }];
    for (const row of table.tBodies[0].rows) {
      if (row.matches(".gt_group_heading_row")) groups.push({ first: row, rows: [] });
      else groups[groups.length - 1].rows.push(row);
    }
    const n = groups.reduce((sum, group) => sum + group.rows.length, 0);
    if (n > 1) sortable(table, groups);
    if (n >= FILTERED || table.tHead.querySelector("[data-pick]")) filtered(table, table.parentElement, groups);
  }
  for (const each of document.querySelectorAll("[data-address]")) each.textContent = location.href.split("#")[0];
  // What an address leads to may lie in a part that is folded.
  const reveal = () => {
    const at = document.getElementById(location.hash.slice(1));
    const box = at && at.closest("details");
    if (box) { box.open = true; at.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
