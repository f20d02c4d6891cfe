import type { BrandColors, BrandKit, SavedBlocks } from './types.ts';

/** What blocks are rendered with. */
export interface RenderContext {
  kit: BrandKit;
  savedBlocks: SavedBlocks;
  /** Of the kit and the theme. */
  colors: BrandColors;
  lang: string;
  /** As CSS writes them. */
  font: string;
  headingFont: string;
  /** In pixels, with the padding at both sides. */
  width: number;
  side: number;
  /** Inside a section with an own background, which dark mode leaves as it is, with all that is in it. */
  hasOwnColors: boolean;
  /** The name of an item, inside a repeat. */
  itemName: string | undefined;
  /** The widths of columns that are beside each other, in percent. Filled while rendering. */
  columnWidths: Set<number>;
}

type Declarations = Record<string, string | number | false>;

export function style(declarations: Declarations): string {
  let css = '';
  for (const name in declarations) {
    const value = declarations[name];
    if (value !== false && value !== '') css += `${css === '' ? '' : ';'}${name}:${value}`;
  }
  return css;
}

export const table = (rows: string, attributes = ''): string =>
  `<table role="presentation" border="0" cellpadding="0" cellspacing="0" width="100%"${attributes}>\n${rows}</table>`;

export interface RowOptions {
  top?: number;
  bottom?: number;
  /** Of the text, and in Outlook of tables and images. */
  align?: string;
  attributes?: string;
  /** From edge to edge. */
  full?: boolean;
}

export function row(html: string, context: RenderContext, options: RowOptions = {}): string {
  const { top = 8, bottom = 8, align, attributes = '', full = false } = options;
  const side = full ? 0 : context.side;
  const padding = top === bottom ? `${top}px ${side}px` : `${top}px ${side}px ${bottom}px`;
  return `<tr><td${align ? ` align="${align}"` : ''}${attributes} style="padding:${padding}">${html}</td></tr>\n`;
}
