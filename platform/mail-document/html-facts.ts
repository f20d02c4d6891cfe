// Reads html blocks, which were written by clean-html.ts: every attribute is in double quotes.

const IMAGE = /<img\b([^<>]*)>/g;
const LINK = /<a\b[^<>]*?\shref="([^"]*)"/g;
const ATTRIBUTE = /\s(src|alt)="([^"]*)"/g;

export function imagesOfHtml(html: string): { src: string; alt: string | undefined }[] {
  return [...html.matchAll(IMAGE)].map(([, attributes = '']) => {
    const values = new Map([...attributes.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, value]));
    return { src: values.get('src') ?? '', alt: values.get('alt') };
  });
}

export const linksOfHtml = (html: string): string[] => [...html.matchAll(LINK)].map(([, href = '']) => href);

export const visibleText = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
