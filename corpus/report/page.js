"use strict";
// Shows the cases a page at a time, or one of them, as the fragment of the address says.
// Without scripts all cases are on the page, and the filters are CSS.
(() => {
	const form = document.getElementById("filters");
	const all = document.querySelector("noscript");
	const heading = document.getElementById("cases");
	const perPage = 50;

	// The groups and cases, as the text of their markup.
	const cases = [];
	let group;
	for (const part of all.textContent.split(/(?=<section |<article )/)) {
		const names = part.match(/^<[a-z]+ class="([^"]*)"/)?.[1].split(" ");
		if (part.startsWith("<section ")) {
			group = { open: part, names, anchor: part.match(/ id="([^"]*)"/)[1] };
		} else if (names) {
			cases.push({ group, names, markup: part.replace("</section>", ""), anchor: part.match(/ id="([^"]*)"/)[1], text: "" });
		}
	}

	// The filters have the names that the address has.
	const filters = [["dialect", "by-dialect"], ["class", "by-class"], ["show", "by-show"]].map(([name, id]) => ({ name, list: document.getElementById(id) }));
	const place = document.createElement("p");
	const label = document.createElement("label");
	label.htmlFor = "search";
	label.textContent = "Search";
	const search = document.createElement("input");
	search.type = "search";
	search.id = "search";
	place.append(label, " ", search);
	const count = document.createElement("p");
	count.setAttribute("role", "status");
	form.append(place, count);
	const list = document.createElement("div");
	all.after(list);

	const parsed = (markup) => {
		const template = document.createElement("template");
		template.innerHTML = markup; // of this file, whose texts are escaped
		return template.content.firstElementChild;
	};
	const plain = (markup) => {
		const text = document.createElement("textarea");
		text.innerHTML = markup.replace(/<[^>]*>/g, " ");
		return text.value.toLowerCase();
	};
	const textOf = (one) => {
		if (one.text === "") {
			const [head, rest] = one.markup.split('<div class="page">');
			const sql = rest.match(/<pre class="sql">(.*?)<\/pre>/s)?.[1] ?? "";
			one.text = plain(head) + " " + plain(sql.replace(/<\/?(?:mark|i|code)>/g, ""));
		}
		return one.text;
	};
	const address = (page) => {
		const given = new URLSearchParams();
		for (const { name, list } of filters) if (list.selectedIndex > 0) given.set(name, list.options[list.selectedIndex].text);
		if (search.value.trim() !== "") given.set("text", search.value.trim());
		if (page > 1) given.set("page", page);
		return "#cases" + (given.size > 0 ? "?" + given : "");
	};
	// draw shows cases, each under the heading of its group.
	const draw = (shown, open) => {
		list.replaceChildren();
		let section, last;
		for (const one of shown) {
			if (one.group !== last) {
				last = one.group;
				section = parsed(last.open);
				list.append(section);
			}
			const element = parsed(open ? one.markup : one.markup.split('<div class="page">')[0]);
			element.classList.toggle("open", open);
			section.append(element);
		}
	};
	const link = (text, page, rel) => {
		const a = document.createElement("a");
		a.href = address(page);
		a.rel = rel;
		a.textContent = text;
		return a;
	};
	const showList = (page) => {
		const keys = filters.map(({ list }) => list.value).filter((key) => key !== "");
		const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
		const found = cases.filter((one) => keys.every((key) => one.names.includes(key) || /^[dk][0-9]/.test(key) && one.group.names.includes(key)) && words.every((word) => textOf(one).includes(word)));
		const pages = Math.max(1, Math.ceil(found.length / perPage));
		page = Math.min(Math.max(1, page), pages);
		const first = (page - 1) * perPage;
		draw(found.slice(first, first + perPage), false);
		count.textContent = found.length.toLocaleString("en") + (found.length === 1 ? " case" : " cases");
		if (found.length === 0) {
			const empty = document.createElement("p");
			empty.textContent = "No case meets these conditions. ";
			const clear = document.createElement("a");
			clear.href = "#cases?";
			clear.textContent = "Show all";
			empty.append(clear);
			list.append(empty);
		}
		if (pages > 1) {
			const nav = document.createElement("nav");
			nav.className = "pages";
			nav.setAttribute("aria-label", "Pages of the list");
			if (page > 1) nav.append(link("← Previous", page - 1, "prev"));
			const at = document.createElement("span");
			at.textContent = `${first + 1} to ${Math.min(first + perPage, found.length)} of ${found.length.toLocaleString("en")}`;
			nav.append(at);
			if (page < pages) nav.append(link("Next →", page + 1, "next"));
			list.append(nav);
		}
	};
	const choose = (given) => {
		for (const { name, list } of filters) {
			list.selectedIndex = Math.max(0, [...list.options].findIndex((option, i) => i > 0 && option.text === given.get(name)));
		}
		search.value = given.get("text") ?? "";
	};

	// follow shows what the fragment names.
	let shows = "";
	const follow = () => {
		const fragment = location.hash.slice(1);
		const one = cases.find((c) => c.anchor === fragment);
		const before = shows;
		shows = one ? "case" : "list";
		document.body.classList.toggle("one", one !== undefined);
		if (one) {
			draw([one], true);
			document.getElementById(fragment).focus();
			window.scrollTo(0, 0);
			return;
		}
		const inside = cases.find((c) => c.group.anchor === fragment)?.group;
		if (inside) { // a cell of the matrix, or the way back from a case
			for (const { list } of filters) list.value = inside.names.find((name) => [...list.options].some((o) => o.value === name && /^[dk]/.test(name))) ?? "";
			search.value = "";
			history.replaceState(null, "", address(1));
		}
		const asked = location.hash.match(/^#cases\?(.*)$/);
		if (asked) choose(new URLSearchParams(asked[1]));
		showList(Number(new URLSearchParams(asked?.[1] ?? "").get("page")) || 1);
		if (inside || asked) {
			heading.scrollIntoView();
			heading.focus({ preventScroll: true });
		} else if (before === "case") {
			document.getElementById(fragment)?.scrollIntoView();
		}
	};
	form.addEventListener("submit", (event) => event.preventDefault());
	form.addEventListener("input", () => {
		history.replaceState(null, "", address(1));
		showList(1);
	});
	addEventListener("hashchange", follow);
	follow();
})();
