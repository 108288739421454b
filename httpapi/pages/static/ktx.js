// Makes pages better that work without it: times in the reader's zone, tables that sort,
// keys.
const local = (t) => {
  const at = new Date(t.dateTime);
  if (!Number.isNaN(at.getTime())) {
    const utc = t.textContent;
    if (at.getTimezoneOffset() === 0) return;
    t.textContent = at.toLocaleString();
    const beside = document.createElement("small");
    beside.textContent = utc.slice(t.closest("td") && at.getUTCDate() === at.getDate() ? 11 : 0);
    t.append(" ", beside);
  }
};
const times = (place) => place.querySelectorAll("time[datetime]").forEach(local);
times(document);

// A number without its separators, a time as it was written, or the text.
const key = (cell) => {
  const time = cell.querySelector("time");
  if (time) return time.dateTime;
  const text = cell.textContent.trim();
  const number = Number(text.replaceAll(",", ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
};
const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
const sortable = (place) => place.querySelectorAll("table").forEach((table) => {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0]?.rows ?? []];
      rows.sort((a, b) => compare(key(a.cells[column]), key(b.cells[column])) * (down ? -1 : 1));
      table.tBodies[0]?.append(...rows);
    });
  });
});
sortable(document);

// A form sends only the conditions that are given.
for (const form of document.querySelectorAll("form.filter")) {
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
  });
}

const keys = { "/": "search", "j": "next row", "k": "previous row", "?": "this list" };
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, select, textarea, button, dialog")) return;
  const rows = [...document.querySelectorAll("main tbody tr")].filter((row) => !row.closest("details:not([open])"));
  const links = rows.map((row) => row.querySelector("td.sql a") ?? row.querySelector("a")).filter(Boolean);
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

// The page at the end of a stream of events; what comes before it is progress.
const lastEvent = async (answer, progress) => {
  let rest = "";
  let page = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + piece).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = JSON.parse(event.slice(event.indexOf("\ndata: ") + 7));
      if (event.startsWith("event: page")) page = data;
      else progress(data);
    }
  }
  return page;
};

// A form that runs or judges a text shows the answer in place, with a clock and a way to
// cancel. The playground judges as one types, and keeps the text in the fragment of the
// address, which no server sees.
for (const form of document.querySelectorAll("form[data-live]")) {
  const place = document.getElementById(form.dataset.live);
  const text = form.elements.sql;
  const choice = form.elements.by;
  const kept = "kept" in form.dataset;
  let running;
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.hidden = true;
  cancel.addEventListener("click", () => running?.abort());
  const state = document.createElement("span");
  state.setAttribute("role", "status");
  form.querySelector("button").after(" ", cancel, " ", state);
  const send = async (submitter) => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    const begun = Date.now();
    let stage = "";
    const clock = setInterval(() => { state.textContent = `${stage} ${((Date.now() - begun) / 1000).toFixed(1)} s`; cancel.hidden = false; }, 300);
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: new URLSearchParams(new FormData(form, submitter)), signal: mine.signal, headers: { Accept: "text/html, text/event-stream" },
      });
      const text = answer.headers.get("Content-Type").startsWith("text/event-stream")
        ? await lastEvent(answer, (message) => { stage = message; })
        : await answer.text();
      const page = new DOMParser().parseFromString(text, "text/html");
      const part = page.getElementById(form.dataset.live) ?? page.querySelector("main");
      place.replaceChildren(...(part?.childNodes ?? []));
      copies(place);
      times(place);
      sortable(place);
      state.textContent = "";
    } catch (error) {
      if (running === mine) state.textContent = mine.signal.aborted ? "cancelled" : "the server does not answer";
    } finally {
      clearInterval(clock);
      if (running === mine) cancel.hidden = true;
    }
  };
  form.addEventListener("submit", (e) => {
    if (e.submitter?.value === "csv") return;
    e.preventDefault();
    send(e.submitter);
  });
  if (!kept) continue;
  // The answer has the other dialects, each as a button.
  place.addEventListener("click", (e) => {
    const other = e.target.closest("button[name=by]");
    if (!other) return;
    e.preventDefault();
    choice.value = other.value;
    keep();
    send();
    choice.focus();
  });
  const keep = () => history.replaceState(null, "", `#${new URLSearchParams({ by: choice.value, sql: text.value })}`);
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("sql")) {
    text.value = asked.get("sql");
    if ([...choice.options].some((o) => o.value === asked.get("by"))) choice.value = asked.get("by");
    send();
  }
  let wait;
  form.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => { keep(); send(); }, 300);
  });
}

// Tables of rows can be copied.
function copies(place) {
  for (const table of place.querySelectorAll('[aria-label="Rows"] table')) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const lines = [...table.rows].map((row) => [...row.cells].map((c) => c.textContent.replaceAll(/\s+/g, " ")).join("\t"));
      await navigator.clipboard.writeText(lines.join("\n"));
      button.textContent = "Copied";
    });
    table.parentElement.before(button);
  }
}
copies(document);

// The list of statements follows the log when one asks for it.
for (const place of document.querySelectorAll("[data-tail]")) {
  const button = document.createElement("button");
  const state = document.createElement("span");
  state.setAttribute("role", "status");
  button.type = "button";
  button.textContent = "Follow the log";
  place.append(button, " ", state);
  let source;
  let shown = 0;
  const cell = (line, text, kind) => {
    const one = line.insertCell();
    one.textContent = text ?? "";
    if (kind) one.className = kind;
    return one;
  };
  button.addEventListener("click", () => {
    if (source) {
      source.close();
      source = undefined;
      button.textContent = "Follow the log";
      state.textContent = "";
      return;
    }
    button.textContent = "Stop";
    state.textContent = "asking the server";
    source = new EventSource(place.dataset.tail);
    source.addEventListener("error", () => { state.textContent = "the server does not answer; trying again"; });
    source.addEventListener("open", () => { state.textContent = "following"; });
    source.addEventListener("row", (e) => {
      const row = JSON.parse(e.data);
      const body = document.querySelector("table.rows")?.tBodies[0];
      if (!body) return location.reload();
      const known = [...body.rows].find((r) => r.dataset.query === row.queryId);
      const line = body.insertRow(known ? known.sectionRowIndex : 0);
      known?.remove(); // it was running
      line.dataset.query = row.queryId;
      const time = document.createElement("time");
      time.dateTime = row.time;
      time.textContent = row.time.slice(0, 19).replace("T", " ") + " UTC";
      cell(line, "").append(time);
      local(time);
      const who = document.createElement("a");
      who.href = `/principal?${new URLSearchParams({ name: row.principal ?? "" })}`;
      who.textContent = row.principal ?? "";
      cell(line, "").append(who);
      cell(line, row.connection);
      cell(line, row.status, `status ${row.status}`);
      cell(line, (row.codes ?? []).join(" "), "codes");
      cell(line, row.rows, "n");
      cell(line, row.execMs?.toFixed(1), "n");
      const link = document.createElement("a");
      link.href = `/audit/${encodeURIComponent(row.queryId ?? "")}`;
      link.textContent = row.sql || "(no text)";
      cell(line, "", "sql").append(link);
      while (body.rows.length > 500) body.deleteRow(-1);
      state.textContent = `following, ${++shown} new`;
    });
  });
}

// A part of the chart can be chosen by dragging over it.
for (const svg of document.querySelectorAll(".chart svg")) {
  const bars = [...svg.querySelectorAll("a")];
  let from = -1;
  const at = (e) => Math.max(0, Math.min(bars.length - 1, Math.floor((e.clientX - svg.getBoundingClientRect().left) / svg.clientWidth * bars.length)));
  svg.addEventListener("pointerdown", (e) => { from = at(e); e.preventDefault(); });
  svg.addEventListener("dragstart", (e) => e.preventDefault());
  svg.addEventListener("pointermove", (e) => {
    if (from < 0) return;
    const [low, high] = [Math.min(from, at(e)), Math.max(from, at(e))];
    bars.forEach((b, i) => b.querySelector("rect").classList.toggle("brush", i >= low && i <= high));
  });
  addEventListener("pointerup", (e) => {
    if (from < 0) return;
    const [low, high] = [Math.min(from, at(e)), Math.max(from, at(e))];
    from = -1;
    if (low === high) return; // a click on one bar follows its link
    const first = new URL(bars[low].href.baseVal, location.href);
    first.searchParams.set("until", new URL(bars[high].href.baseVal, location.href).searchParams.get("until"));
    location.href = first.href;
  });
}
