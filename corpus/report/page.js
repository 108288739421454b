"use strict";
// A search and a count beside the filters, which are CSS and work without this.
(() => {
	const form = document.getElementById("filters");
	const filters = [...form.querySelectorAll("select")];
	const groups = [...document.querySelectorAll(".group")].map((element) => ({
		element,
		cases: [...element.querySelectorAll(".case")].map((element) => ({ element, text: "" })),
	}));

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
	form.addEventListener("submit", (event) => event.preventDefault());

	const apply = () => {
		const keys = filters.map((filter) => filter.value).filter((key) => key !== "");
		const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
		let shown = 0;
		for (const group of groups) {
			let found = false;
			for (const item of group.cases) {
				if (words.length > 0 && item.text === "") {
					const sql = item.element.querySelector(".sql");
					item.text = (item.element.querySelector("h4").textContent + " " + item.element.querySelector(".row").textContent + " " + (sql ? sql.textContent : "")).toLowerCase();
				}
				const matches = words.every((word) => item.text.includes(word));
				item.element.classList.toggle("unfound", !matches);
				found = found || matches;
				if (matches && keys.every((key) => item.element.classList.contains(key) || /^[dk][0-9]/.test(key) && group.element.classList.contains(key))) {
					shown++;
				}
			}
			group.element.classList.toggle("unfound", !found);
		}
		count.textContent = shown + (shown === 1 ? " case" : " cases");
	};
	form.addEventListener("input", apply);
	apply();
})();
