// Saves what the page shows as files, without asking the server again.

/** Spreadsheets take a cell that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;

const cellText = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvText = (rows: (string | number)[][]): string =>
  rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');

export function saveCsv(name: string, rows: (string | number)[][]): void {
  // The mark tells spreadsheets that the file is UTF-8.
  save(name, new Blob(['\uFEFF', csvText(rows)], { type: 'text/csv;charset=utf-8' }));
}

function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** What CSS gives the parts of a plot, which a picture outside of the page lacks. */
const STYLES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family', 'stop-color'];
const LEGEND_HEIGHT = 32;
/** Twice the size on screen, so that the picture is sharp in print. */
const SCALE = 2;

interface Legend {
  label: string;
  color: string;
}

/** Saves a plot as PNG, with its legend, on the background of the page. */
export async function savePicture(name: string, plot: SVGSVGElement, legend: Legend[]): Promise<void> {
  const { width, height } = plot.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(plot, width, height))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width * SCALE;
  canvas.height = (height + LEGEND_HEIGHT) * SCALE;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser cannot draw pictures.');
  context.scale(SCALE, SCALE);
  const page = getComputedStyle(document.body);
  context.fillStyle = page.backgroundColor;
  context.fillRect(0, 0, width, height + LEGEND_HEIGHT);
  context.font = `14px ${page.fontFamily}`;
  let x = 12;
  for (const { label, color } of legend) {
    context.fillStyle = colorOf(color);
    context.fillRect(x, 12, 10, 10);
    context.fillStyle = page.color;
    context.fillText(label, x + 16, 22);
    x += 16 + context.measureText(label).width + 20;
  }
  context.drawImage(image, 0, LEGEND_HEIGHT, width, height);
  const picture = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!picture) throw new Error('The picture could not be made.');
  save(name, picture);
}

/** Resolves `var(--name)`, which a canvas does not know. */
function colorOf(color: string): string {
  const [, variable] = /^var\((--[\w-]+)\)$/.exec(color) ?? [];
  return variable ? getComputedStyle(document.documentElement).getPropertyValue(variable).trim() : color;
}

/** The text of an SVG that looks the same without the page's CSS. */
function standalone(plot: SVGSVGElement, width: number, height: number): string {
  const copy = plot.cloneNode(true) as SVGSVGElement;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const copies = copy.querySelectorAll<SVGElement>('*');
  for (const [index, original] of plot.querySelectorAll<SVGElement>('*').entries()) {
    const style = getComputedStyle(original);
    for (const property of STYLES) {
      const value = style.getPropertyValue(property);
      if (value !== '') copies[index]?.style.setProperty(property, value);
    }
  }
  return new XMLSerializer().serializeToString(copy);
}
