import { colorsOf } from './brand-kit.ts';
import { contrastOf, MIN_CONTRAST } from './contrast.ts';
import { joinPath } from './parse-state.ts';
import type { BrandColors, BrandKit, DocumentWarning, Inline, MailDocument } from './types.ts';
import { type BlockNode, hasInlines, visitBlocks } from './visit.ts';

interface Pair {
  text: string;
  background: string;
  path: string;
  what: string;
}

/** Warns once for each pair of colors, at its first place. */
export function contrastWarnings(document: MailDocument, kit: BrandKit): DocumentWarning[] {
  const light = pairsOf(document, colorsOf(document, kit), { dark: false });
  const dark = pairsOf(document, kit.darkColors, { dark: true, light: colorsOf(document, kit) });
  const seen = new Set<string>();
  return [...warningsFor(light, 'light', seen), ...warningsFor(dark, 'dark', seen)];
}

function warningsFor(pairs: Pair[], mode: 'light' | 'dark', seen: Set<string>): DocumentWarning[] {
  return pairs.flatMap(({ text, background, path, what }) => {
    const key = `${text} ${background}`;
    const ratio = contrastOf(text, background);
    if (ratio >= MIN_CONTRAST || seen.has(key)) return [];
    seen.add(key);
    const detail = `${ratio.toFixed(1)}:1`;
    const message = `The contrast of ${what} is ${detail} in ${mode} mode. Readable text has ${MIN_CONTRAST}:1 or more.`;
    return [{ code: 'contrast_low', level: 'WARNING', message, path, detail }];
  });
}

/** In dark mode, what has an own background keeps the light colors. */
function pairsOf(document: MailDocument, colors: BrandColors, mode: { dark: boolean; light?: BrandColors }): Pair[] {
  const pairs: Pair[] = [];
  visitBlocks(document.content, 'content', ({ node, path, parents }) => {
    const own = parents.findLast((parent) => parent.type === 'section' && parent.attrs.background !== null);
    const background = own?.type === 'section' ? own.attrs.background : null;
    const used = background === null ? colors : { ...(mode.light ?? colors), surface: background };
    if (node.type === 'button') pairs.push(...buttonPairs(node, path, { used, light: mode.light ?? colors }));
    else if (hasInlines(node)) pairs.push(...textPairs(node.content, path, used));
    else if (node.type === 'social') pairs.push({ text: used.link, background: used.surface, path, what: 'a link' });
  });
  return pairs;
}

function textPairs(nodes: Inline[], path: string, { text, link, surface }: BrandColors): Pair[] {
  return nodes.flatMap((node, index) => {
    if (node.type === 'hardBreak' || (node.type === 'text' && node.text.trim() === '')) return [];
    const marks = node.marks ?? [];
    const at = marks.findIndex(({ type }) => type === 'color');
    const color = marks[at];
    if (color?.type === 'color') {
      const place = joinPath(path, 'content', index, 'marks', at, 'attrs.color');
      return [{ text: color.attrs.color, background: surface, path: place, what: 'colored text' }];
    }
    const isLink = marks.some(({ type }) => type === 'link');
    return [{ text: isLink ? link : text, background: surface, path, what: isLink ? 'a link' : 'text' }];
  });
}

/** A button with an own color keeps both of its colors in dark mode. */
function buttonPairs(
  { attrs }: Extract<BlockNode, { type: 'button' }>,
  path: string,
  { used, light }: { used: BrandColors; light: BrandColors },
): Pair[] {
  const colors = attrs.background === null && attrs.color === null ? used : light;
  const background = attrs.background ?? colors.button;
  return [{ text: attrs.color ?? colors.buttonText, background, path: joinPath(path, 'attrs'), what: 'a button' }];
}
