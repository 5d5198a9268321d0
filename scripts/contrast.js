// Returns the texts of the page whose contrast with what lies behind them is below 4.5 to 1.
const numbers = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
const alpha = (c) => (c.length > 3 ? c[3] : 1);
const channel = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
function behind(node) {
  for (let at = node; at; at = at.parentElement) {
    const found = numbers(getComputedStyle(at).backgroundColor);
    if (alpha(found) === 1) return found;
  }
  return [255, 255, 255];
}
const weak = [];
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  const box = node.getBoundingClientRect();
  if (!own || !box.width || !box.height || node.disabled || ["SCRIPT", "STYLE", "NOSCRIPT", "desc", "title"].includes(node.tagName)) continue;
  const style = getComputedStyle(node);
  const ink = numbers(node.closest("svg") ? style.fill : style.color);
  const [one, other] = [light(ink), light(behind(node))];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (ratio < 4.5) weak.push(`${node.tagName}.${node.getAttribute("class")}: ${node.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
}
return weak;
