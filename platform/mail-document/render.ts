import { colorsOf, defaultBrandKit, fontStacks } from './brand-kit.ts';
import { documentText } from './escape.ts';
import { renderBlocks } from './render-blocks.ts';
import { renderPlain } from './render-inline.ts';
import { type RenderContext, table } from './render-parts.ts';
import { darkStyles, phoneStyles } from './styles.ts';
import type { BrandKit, MailDocument, SavedBlocks } from './types.ts';

/** Changes with the HTML: documents that were stored with another version look different when they are saved again. */
export const RENDERER_VERSION = 1;

const WIDTH = 600;
const SIDE_PADDING = 24;
/** Keeps mail programs from showing the beginning of the email after the preheader. */
const FILLER = '&#847;&zwnj;&nbsp;'.repeat(20);

/**
 * Renders a document that `parseDocument` returned, whose saved blocks `checkSavedBlocks` accepted. Pure and
 * deterministic: the same input gives the same HTML, byte for byte.
 */
export function renderDocument(
  document: MailDocument,
  brandKit: BrandKit = defaultBrandKit,
  savedBlocks: SavedBlocks = new Map(),
): string {
  const { theme, lang } = document;
  const colors = colorsOf(document, brandKit);
  const context: RenderContext = {
    kit: brandKit,
    savedBlocks,
    colors,
    lang,
    font: fontStacks[theme.font ?? brandKit.font] ?? '',
    headingFont: fontStacks[theme.font ?? brandKit.headingFont] ?? '',
    width: WIDTH,
    side: SIDE_PADDING,
    hasOwnColors: false,
    itemName: undefined,
    columnWidths: new Set(),
  };
  const rows = renderBlocks(document.content, context);
  const preheader = renderPlain(document.preheader, context);
  const hidden =
    preheader === ''
      ? ''
      : `<div class="ep-preheader" style="display:none;max-height:0;overflow:hidden;mso-hide:all">${preheader}${FILLER}</div>\n`;
  return `<!doctype html>
<html lang="${documentText(lang)}" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="x-apple-disable-message-reformatting">
<meta name="format-detection" content="telephone=no,address=no,email=no,date=no,url=no">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title></title>
<!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->
<style>
body{margin:0;padding:0;-webkit-text-size-adjust:100%}
${phoneStyles([...context.columnWidths])}
${darkStyles(brandKit.darkColors)}
</style>
</head>
<body class="ep-page" style="margin:0;padding:0;background-color:${colors.background}">
${hidden}${table(
  `<tr><td align="center" style="padding:24px 0">
<!--[if mso]><table role="presentation" border="0" cellpadding="0" cellspacing="0" width="${WIDTH}" align="center"><tr><td><![endif]-->
${table(rows, ` class="ep-surface" bgcolor="${colors.surface}" style="max-width:${WIDTH}px;background-color:${colors.surface};text-align:left"`)}
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
`,
  ` class="ep-page" bgcolor="${colors.background}" style="background-color:${colors.background}"`,
)}
</body>
</html>
`;
}
