import { type RenderContext, style, table } from './render-parts.ts';
import type { Block, Column, ColumnsBlock } from './types.ts';

/** Half of the space between columns; with the padding of the columns, their text aligns with the other blocks. */
const HALF_GAP = 12;

type RenderRows = (blocks: Block[], context: RenderContext) => string;

export function renderColumns(block: ColumnsBlock, context: RenderContext, render: RenderRows): string {
  const outside = Math.max(0, context.side - HALF_GAP);
  const total = context.width - 2 * outside;
  const columns = block.content.map((column) => {
    const width = Math.floor((total * column.attrs.width) / 100);
    return { column, width, rows: render(column.content, { ...context, width, side: HALF_GAP }) };
  });
  const html = block.attrs.stack ? stacking(columns, block, context, total) : fixed(columns, block);
  return `<tr><td align="center" style="padding:0 ${outside}px;font-size:0;text-align:center">${html}</td></tr>\n`;
}

interface RenderedColumn {
  column: Column;
  width: number;
  rows: string;
}

/**
 * Beside each other where there is room, below each other on phones, also without media queries. Outlook for Windows,
 * which knows neither, gets the cells of a table.
 */
function stacking(columns: RenderedColumn[], { attrs }: ColumnsBlock, context: RenderContext, total: number): string {
  const cells = columns.map(({ column, width, rows }, index) => {
    context.columnWidths.add(column.attrs.width);
    const before =
      index === 0
        ? `<table role="presentation" border="0" cellpadding="0" cellspacing="0" width="${total}"><tr>`
        : '</td>';
    const block = style({
      display: 'inline-block',
      width: '100%',
      'max-width': `${width}px`,
      'vertical-align': attrs.valign,
      'text-align': 'left',
    });
    return (
      `<!--[if mso]>${before}<td width="${width}" valign="${attrs.valign}"><![endif]-->` +
      `<div class="ep-col ep-col${column.attrs.width}" style="${block}">${table(rows)}</div>`
    );
  });
  return `${cells.join('')}<!--[if mso]></td></tr></table><![endif]-->`;
}

function fixed(columns: RenderedColumn[], { attrs }: ColumnsBlock): string {
  const cells = columns.map(
    ({ column, rows }) =>
      `<td align="left" width="${column.attrs.width}%" valign="${attrs.valign}" style="width:${column.attrs.width}%">${table(rows)}</td>`,
  );
  return table(`<tr>${cells.join('')}</tr>\n`);
}
