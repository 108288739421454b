// Makes pages better that work without it: times in the reader's zone, tables that sort,
// keys.
for (const t of document.querySelectorAll("time[datetime]")) {
  const at = new Date(t.dateTime);
  if (!Number.isNaN(at.getTime())) {
    t.title = t.textContent;
    t.textContent = at.toLocaleString();
  }
}

// A number without its separators, a time as it was written, or the text.
const key = (cell) => {
  const time = cell.querySelector("time");
  if (time) return time.dateTime;
  const text = cell.textContent.trim();
  const number = Number(text.replaceAll(",", ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
};
const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
for (const table of document.querySelectorAll("table")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => compare(key(a.cells[column]), key(b.cells[column])) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
  });
}

// A form sends only the conditions that are given.
for (const form of document.querySelectorAll("form.filter")) {
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
  });
}

const keys = { "/": "search", "j": "next row", "k": "previous row", "?": "this list" };
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, select, textarea, button, dialog")) return;
  const links = [...document.querySelectorAll("table.rows td.sql a")];
  const at = links.indexOf(document.activeElement);
  switch (e.key) {
    case "/": document.querySelector("form.filter input")?.focus(); break;
    case "j": links[Math.min(at + 1, links.length - 1)]?.focus(); break;
    case "k": links[Math.max(at - 1, 0)]?.focus(); break;
    case "?": {
      const list = document.createElement("dialog");
      list.setAttribute("aria-label", "Keys");
      const lines = document.createElement("ul");
      for (const [name, does] of Object.entries(keys)) {
        const line = document.createElement("li");
        line.textContent = `${name} ${does}`;
        lines.append(line);
      }
      const close = document.createElement("button");
      close.textContent = "Close";
      close.addEventListener("click", () => list.close());
      list.append(lines, close);
      list.addEventListener("close", () => list.remove());
      document.body.append(list);
      list.showModal();
      break;
    }
    default: return;
  }
  e.preventDefault();
});
