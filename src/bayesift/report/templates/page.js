for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  headings.forEach((heading, column) => {
    if (heading.matches(".bar-cell")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const numeric = heading.matches(".numeric");
      const descending = heading.ariaSort ? heading.ariaSort === "ascending" : numeric;
      const compare = (a, b) => numeric ? key(a, column) - key(b, column) : key(a, column).localeCompare(key(b, column));
      const rows = [...body.rows].sort((a, b) => (descending ? -1 : 1) * compare(a, b));
      headings.forEach(other => other.removeAttribute("aria-sort"));
      heading.ariaSort = descending ? "descending" : "ascending";
      body.append(...rows);
    });
  });
}
