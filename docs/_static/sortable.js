// Tables of the pages are sorted by a click on a heading; a second click turns the order round.
document.addEventListener("DOMContentLoaded", () => {
  const value = (row, at) => row.cells[at] ? row.cells[at].textContent.trim() : "";
  const number = (text) => text === "" ? NaN : Number(text.replace(/[   ]/g, "").replace("−", "-").split(/[\/(,]/)[0]);
  document.querySelectorAll("article table").forEach((table) => {
    const body = table.tBodies[0];
    if (!table.tHead || !body || body.rows.length < 4) return;
    Array.from(table.tHead.rows[0].cells).forEach((head, at) => {
      head.tabIndex = 0;
      head.style.cursor = "pointer";
      head.title = "Sort by this column";
      const sort = () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        Array.from(table.tHead.rows[0].cells).forEach((cell) => cell.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = Array.from(body.rows).sort((one, other) => {
          const [a, b] = [value(one, at), value(other, at)];
          const [x, y] = [number(a), number(b)];
          if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
          const order = Number.isNaN(x) ? a.localeCompare(b) : x - y;
          return down ? -order : order;
        });
        body.append(...rows);
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
  });
});
