// Small plots, drawn as SVG.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 80;
// A line at the very top would be cut in half.
const ROOM = 4;

function shape(name, attributes, kind) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.setAttribute("class", kind);
  return element;
}

function scale(points, top) {
  const from = points[0].at;
  const span = Math.max(1, points[points.length - 1].at - from);
  const x = (at) => ((at - from) / span) * WIDTH;
  const y = (value) => HEIGHT - (value / Math.max(1, top)) * (HEIGHT - ROOM);
  return { x, y };
}

// What the top of a plot stands for.
function label(svg, top) {
  const caption = svg.parentElement.querySelector("figcaption small");
  caption.textContent = top ? new Intl.NumberFormat(document.documentElement.lang).format(top) : "";
}

// A line with what is under it; `cap` is a limit that it must not pass.
export function line(svg, points, cap = 0) {
  if (points.length < 2) return svg.replaceChildren();
  const top = Math.max(cap, ...points.map((point) => point.value));
  label(svg, top);
  const { x, y } = scale(points, top);
  const path = points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" L");
  const parts = [
    shape("path", { d: `M0,${HEIGHT} L${path} L${WIDTH},${HEIGHT} Z` }, "area"),
    shape("path", { d: `M${path}` }, "line"),
  ];
  if (cap) parts.push(shape("line", { x1: 0, x2: WIDTH, y1: y(cap), y2: y(cap) }, "cap"));
  svg.replaceChildren(...parts);
}

// How much a total grew, in so many bars.
export function bars(svg, points, count = 30) {
  if (points.length < 2) return svg.replaceChildren();
  const from = points[0].at;
  const width = (points[points.length - 1].at - from) / count;
  const grown = new Array(count).fill(0);
  for (let i = 1; i < points.length; i += 1) {
    const slot = Math.min(count - 1, Math.floor((points[i].at - from) / width));
    grown[slot] += Math.max(0, points[i].value - points[i - 1].value);
  }
  const top = Math.max(1, ...grown);
  label(svg, Math.max(...grown));
  const step = WIDTH / count;
  const drawn = grown.map((value, i) => {
    const height = (value / top) * (HEIGHT - ROOM);
    return shape("rect", { x: i * step, y: HEIGHT - height, width: step * 0.7, height }, "column");
  });
  svg.replaceChildren(...drawn);
}
