// Draws a diagram of boxes on a grid as SVG. The colours follow light and dark; on the documentation site, its theme.

export interface DiagramBox {
  /** Column and row, from 0. */
  at: [number, number];
  /** Lines are separated by `\n`. */
  text: string;
  /** `strong`: the subject of the page. `note`: text without a box. */
  look?: 'strong' | 'note';
}

export interface Diagram {
  title: string;
  /** What the picture shows, for people who cannot see it. */
  description: string;
  boxes: Record<string, DiagramBox>;
  /** From, to and, if there is one, the text of the arrow. */
  arrows: [string, string, string?][];
}

interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

const LINE = 17;
const PADDING = 12;
const GAP = 34;
const ROW_GAP = 36;
const MARGIN = 8;

const STYLE = `
  .box { fill: #f6f6f7; stroke: #5f656e } .strong { stroke: #3451b2; stroke-width: 2 }
  .line { stroke: #5f656e; fill: none } .head { fill: #5f656e }
  text { fill: #1f2328; font: 13px system-ui, sans-serif } text.note { fill: #5f656e; font-size: 12px }
  @media (prefers-color-scheme: dark) {
    .box { fill: #202127; stroke: #a0a7b1 } .strong { stroke: #a8b1ff } .line { stroke: #a0a7b1 } .head { fill: #a0a7b1 }
    text { fill: #e6e8eb } text.note { fill: #a0a7b1 }
  }`;

/** About the width of a system font at 13 px; capitals are wider. */
const lineWidth = (line: string): number => line.length * 7.1 + (line.match(/[A-Z_]/g)?.length ?? 0) * 1.8;
const widthOf = (text: string): number => Math.max(...text.split('\n').map(lineWidth));
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const round = (value: number): number => Math.round(value * 10) / 10;

export function draw(name: string, { title, description, boxes, arrows }: Diagram): string {
  const places = placesOf(boxes, arrows);
  const placeOf = (id: string): Rectangle => places.get(id) ?? fail(`${name}: there is no box ${id}`);
  const all = [...places.values()];
  const labelEnds = arrows.map(([from, to, label = '']) => {
    const { y } = placeOf(from);
    const { x, y: toY, width } = placeOf(to);
    return label && y !== toY ? x + width / 2 + MARGIN + widthOf(label) : 0;
  });
  const width = round(Math.max(...all.map((one) => one.x + one.width), ...labelEnds) + MARGIN);
  const height = round(Math.max(...all.map((one) => one.y + one.height)) + MARGIN);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${name}-title ${name}-description">`,
    `<title id="${name}-title">${escaped(title)}</title>`,
    `<desc id="${name}-description">${escaped(description)}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<defs><marker id="${name}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>`,
    ...arrows.map(([from, to, label]) => arrowOf(name, placeOf(from), placeOf(to), label)),
    ...Object.entries(boxes).map(([id, box]) => boxOf(box, placeOf(id))),
    '</svg>',
    '',
  ].join('\n');
}

function fail(message: string): never {
  throw new Error(message);
}

/** Columns and rows are as large as their largest box, gaps as large as the texts of arrows in them. */
function placesOf(boxes: Diagram['boxes'], arrows: Diagram['arrows']): Map<string, Rectangle> {
  const entries = Object.entries(boxes);
  const sizeOf = ({ text, look }: DiagramBox) => ({
    width: widthOf(text) + (look === 'note' ? 4 : 2 * PADDING),
    height: text.split('\n').length * LINE + (look === 'note' ? 4 : 14),
  });
  const count = (axis: 0 | 1) => Math.max(...entries.map(([, { at }]) => at[axis])) + 1;
  const largest = (axis: 0 | 1, index: number): number =>
    Math.max(
      0,
      ...entries.filter(([, { at }]) => at[axis] === index).map(([, box]) => sizeOf(box)[axis ? 'height' : 'width']),
    );
  const gapAfter = (column: number): number => {
    const labels = arrows.flatMap(([from, to, label = '']) => {
      const one = boxes[from]?.at ?? [0, 0];
      const other = boxes[to]?.at ?? [0, 0];
      const isHere = one[1] === other[1] && Math.min(one[0], other[0]) === column;
      return isHere && label ? [widthOf(label) + 24] : [];
    });
    return Math.max(GAP, ...labels);
  };
  const starts = (axis: 0 | 1): number[] => {
    let position = MARGIN;
    return Array.from({ length: count(axis) }, (_, index) => {
      const start = position;
      position += largest(axis, index) + (axis === 0 ? gapAfter(index) : ROW_GAP);
      return start;
    });
  };
  const columns = starts(0);
  const rows = starts(1);
  return new Map(
    entries.map(([id, box]) => {
      const { width, height } = sizeOf(box);
      const x = (columns[box.at[0]] ?? 0) + (largest(0, box.at[0]) - width) / 2;
      const y = (rows[box.at[1]] ?? 0) + (largest(1, box.at[1]) - height) / 2;
      return [id, { x, y, width, height }];
    }),
  );
}

function boxOf({ text, look }: DiagramBox, { x, y, width, height }: Rectangle): string {
  const lines = text.split('\n');
  const top = y + height / 2 - ((lines.length - 1) * LINE) / 2 + 4.5;
  const texts = lines.map(
    (line, n) =>
      `<text${look === 'note' ? ' class="note"' : ''} x="${round(x + width / 2)}" y="${round(top + n * LINE)}" text-anchor="middle">${escaped(line)}</text>`,
  );
  if (look === 'note') return texts.join('\n');
  const shape = `<rect class="box${look ? ' strong' : ''}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="6"/>`;
  return [shape, ...texts].join('\n');
}

/** Straight where both boxes share a row or a column; otherwise sideways first, then up or down. */
function arrowOf(name: string, from: Rectangle, to: Rectangle, label: string | undefined): string {
  const center = ({ x, y, width, height }: Rectangle) => [x + width / 2, y + height / 2] as const;
  const [fromX, fromY] = center(from);
  const [toX, toY] = center(to);
  const sameRow = Math.abs(fromY - toY) < 2;
  const sameColumn = Math.abs(fromX - toX) < 2;
  const startX = toX > fromX ? from.x + from.width : from.x;
  const endY = toY > fromY ? to.y : to.y + to.height;
  const [path, labelX, labelY, anchor] = sameRow
    ? ([
        `M${round(startX)} ${round(fromY)}H${round(toX > fromX ? to.x : to.x + to.width)}`,
        (startX + (toX > fromX ? to.x : to.x + to.width)) / 2,
        fromY - 6,
        'middle',
      ] as const)
    : sameColumn
      ? ([
          `M${round(fromX)} ${round(toY > fromY ? from.y + from.height : from.y)}V${round(endY)}`,
          fromX + 7,
          ((toY > fromY ? from.y + from.height : from.y) + endY) / 2 + 4,
          'start',
        ] as const)
      : ([
          `M${round(startX)} ${round(fromY)}H${round(toX)}V${round(endY)}`,
          toX + (toX > fromX ? 7 : -7),
          (fromY + endY) / 2 + 4,
          toX > fromX ? 'start' : 'end',
        ] as const);
  const line = `<path class="line" d="${path}" marker-end="url(#${name}-head)"/>`;
  if (!label) return line;
  return `${line}\n<text class="note" x="${round(labelX)}" y="${round(labelY)}" text-anchor="${anchor}">${escaped(label)}</text>`;
}
