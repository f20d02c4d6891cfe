import { colorsOf } from './brand-kit.ts';
import { contrastOf, MIN_CONTRAST } from './contrast.ts';
import type { BrandColors, BrandKit, DocumentWarning, Inline, MailDocument, SavedBlocks } from './types.ts';
import { type BlockNode, hasInlines, type PlacedBlock, visitEmail } from './visit.ts';

interface Pair {
  text: string;
  background: string;
  path: string;
  what: string;
}

/** Warns once for each pair of colors, at its first place. */
export function contrastWarnings(document: MailDocument, kit: BrandKit, savedBlocks: SavedBlocks): DocumentWarning[] {
  const light = colorsOf(document, kit);
  const lightPairs = pairsOf(document, savedBlocks, { colors: light, light });
  const darkPairs = pairsOf(document, savedBlocks, { colors: kit.darkColors, light });
  const seen = new Set<string>();
  return [...warningsFor(lightPairs, 'light', seen), ...warningsFor(darkPairs, 'dark', seen)];
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
function pairsOf(
  document: MailDocument,
  savedBlocks: SavedBlocks,
  { colors, light }: { colors: BrandColors; light: BrandColors },
): Pair[] {
  const pairs: Pair[] = [];
  visitEmail(document, savedBlocks, ({ node, at, parents }) => {
    const own = parents.findLast((parent) => parent.type === 'section' && parent.attrs.background !== null);
    const background = own?.type === 'section' ? own.attrs.background : null;
    const used = background === null ? colors : { ...light, surface: background };
    if (node.type === 'button') pairs.push(...buttonPairs(node, at, { used, light }));
    else if (hasInlines(node)) pairs.push(...textPairs(node.content, at, used));
    else if (node.type === 'social')
      pairs.push({ text: used.link, background: used.surface, path: at(), what: 'a link' });
  });
  return pairs;
}

function textPairs(nodes: Inline[], at: PlacedBlock['at'], { text, link, surface }: BrandColors): Pair[] {
  return nodes.flatMap((node, index) => {
    if (node.type === 'hardBreak' || (node.type === 'text' && node.text.trim() === '')) return [];
    const marks = node.marks ?? [];
    const position = marks.findIndex(({ type }) => type === 'color');
    const color = marks[position];
    if (color?.type === 'color') {
      const place = at('content', index, 'marks', position, 'attrs.color');
      return [{ text: color.attrs.color, background: surface, path: place, what: 'colored text' }];
    }
    const isLink = marks.some(({ type }) => type === 'link');
    return [{ text: isLink ? link : text, background: surface, path: at(), what: isLink ? 'a link' : 'text' }];
  });
}

/** A button with an own color keeps both of its colors in dark mode. */
function buttonPairs(
  { attrs }: Extract<BlockNode, { type: 'button' }>,
  at: PlacedBlock['at'],
  { used, light }: { used: BrandColors; light: BrandColors },
): Pair[] {
  const colors = attrs.background === null && attrs.color === null ? used : light;
  const background = attrs.background ?? colors.button;
  return [{ text: attrs.color ?? colors.buttonText, background, path: at('attrs'), what: 'a button' }];
}
