const filter = document.getElementById("filter");
const shown = document.getElementById("shown");
const rows = [...document.querySelectorAll("#blocks tbody tr")];
const texts = rows.map((row) => row.textContent.toLowerCase());
function apply() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  rows.forEach((row, index) => {
    const match = words.every((word) => texts[index].includes(word));
    row.hidden = !match;
    count += match;
  });
  shown.textContent = `${count} of ${rows.length}`;
}
filter.addEventListener("input", apply);
apply();
