import { Parser } from 'htmlparser2';
import { checkTemplate, splitAtTags } from '../templates/index.ts';
import { addressFault, withoutControls, withoutTextControls } from './addresses.ts';
import { escapedAroundTags, htmlText } from './escape.ts';
import { allowedAttributes, allowedElements, droppedWithContent, tableParents, voidElements } from './html-lists.ts';

/** What stands for a template tag while the HTML is parsed: its number between two of these. */
const MARK = '\x01';
const MARKED = new RegExp(`${MARK}(\\d+)${MARK}`, 'g');
const BLOCK_TAG = /^\{%-?\s*(\w+)/;
const OPENING_TAGS = new Set(['if', 'for', 'switch', 'macro', 'call', 'filter', 'raw', 'verbatim']);
const MIDDLE_TAGS = new Set(['else', 'elif', 'elseif', 'case', 'default']);
const MAX_NAMED = 10;
/** Declarations that run code, load what is no image, or leave the place of the block. */
const UNSAFE_STYLE =
  /expression\s*\(|javascript:|vbscript:|behavior\s*:|-moz-binding|@import|url\s*\(\s*['"]?\s*(?!https?:)/i;
const POSITION = /^\s*(position|z-index)\s*:/i;

export interface CleanedHtml {
  html: string;
  /** What was removed, by name. */
  removed: string[];
  /** Why the HTML cannot be used at all, as the rest of a sentence. */
  fault?: string;
}

/** Parses HTML and writes it again, with balanced tags and only what is on the lists. Template tags stay as written. */
export function cleanHtml(given: string): CleanedHtml {
  const [first] = checkTemplate(given);
  if (first) return { html: '', removed: [], fault: `is not a valid template: ${first.message}` };
  const tags: string[] = [];
  const marked = splitAtTags(withoutTextControls(given))
    .map((piece, index) => (index % 2 === 0 ? piece : `${MARK}${tags.push(piece) - 1}${MARK}`))
    .join('');
  const writer = new HtmlWriter(tags);
  const parser = new Parser(writer, { decodeEntities: true, recognizeSelfClosing: false });
  parser.end(marked);
  const { html, removed, crossing } = writer;
  if (crossing !== undefined)
    return { html: '', removed: [], fault: `must open and close ${crossing} inside the same element` };
  const [fault] = checkTemplate(html);
  if (fault) return { html: '', removed: [], fault: `is not a valid template: ${fault.message}` };
  return { html, removed: [...removed].slice(0, MAX_NAMED) };
}

/** A handler of the parser's events, which calls `onclosetag` for every element that it opened. */
class HtmlWriter {
  html = '';
  readonly removed = new Set<string>();
  /** The template tag whose parts stand in different elements. */
  crossing: string | undefined;
  private readonly tags: string[];
  /** The elements that are open; undefined for one that is not written. */
  private readonly open: (string | undefined)[] = [];
  /** How many elements are open whose content is removed with them. */
  private dropped = 0;
  /** The element around each template tag that is open. */
  private readonly openTags: { name: string; depth: number; within: number }[] = [];
  private elements = 0;
  private readonly ids: number[] = [];

  constructor(tags: string[]) {
    this.tags = tags;
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    const isWritten = this.dropped === 0 && allowedElements.has(name) && this.fits(name);
    if (!isWritten) this.removed.add(`<${name.replace(MARKED, '')}>`);
    if (voidElements.has(name)) {
      if (isWritten) this.html += `<${name}${this.attributes(name, attributes)}>`;
      return;
    }
    if (droppedWithContent.has(name)) this.dropped++;
    else if (isWritten) this.html += `<${name}${this.attributes(name, attributes)}>`;
    this.open.push(isWritten ? name : undefined);
    this.ids.push(isWritten ? ++this.elements : (this.ids.at(-1) ?? 0));
  }

  onclosetag(name: string): void {
    if (voidElements.has(name)) return;
    const written = this.open.pop();
    this.ids.pop();
    if (droppedWithContent.has(name)) this.dropped--;
    if (written !== undefined) this.html += `</${written}>`;
  }

  ontext(text: string): void {
    if (this.dropped > 0) return;
    for (const [, number] of text.matchAll(MARKED)) this.checkNesting(this.tags[Number(number)] ?? '');
    this.html += this.withTags(htmlText(text));
  }

  oncomment(): void {
    this.removed.add('comments');
  }

  onprocessinginstruction(name: string): void {
    this.removed.add(`<${name}>`);
  }

  /** Parts of a table outside of one would end the cell around the block. */
  private fits(name: string): boolean {
    const parents = tableParents.get(name);
    if (!parents) return true;
    const parent = this.open.findLast((element) => element !== undefined);
    return parent !== undefined && parents.includes(parent);
  }

  private attributes(element: string, attributes: Record<string, string>): string {
    let html = '';
    for (const [name, value] of Object.entries(attributes)) {
      const kept = this.attribute(element, name, value);
      if (kept === undefined) this.removed.add(name.replace(MARKED, '') || 'attributes');
      else html += ` ${name}="${kept}"`;
    }
    return html;
  }

  private attribute(element: string, name: string, value: string): string | undefined {
    if (name === 'href' || name === 'src' || name === 'background') return this.address(element, name, value);
    if (!allowedAttributes.has(name) && !/^aria-[a-z]+$/.test(name)) return undefined;
    const written = this.withTags(value);
    if (written !== value && checkTemplate(written).length > 0) return undefined;
    if (name !== 'style') return this.withTags(htmlText(value));
    const style = value
      .split(';')
      .filter((declaration) => !UNSAFE_STYLE.test(declaration) && !POSITION.test(declaration))
      .join(';');
    if (style !== value) this.removed.add('style');
    return this.withTags(htmlText(style));
  }

  private address(element: string, name: string, value: string): string | undefined {
    const use = name === 'href' ? 'href' : 'src';
    if ((name === 'href') !== (element === 'a') || (name === 'src' && element !== 'img')) return undefined;
    const address = this.withTags(withoutControls(value.replaceAll(MARK, '\ue001')).replaceAll('\ue001', MARK).trim());
    return addressFault(address, use) === undefined ? escapedAroundTags(address) : undefined;
  }

  private withTags(text: string): string {
    return text.replace(MARKED, (_, number: string) => this.tags[Number(number)] ?? '');
  }

  private checkNesting(tag: string): void {
    const name = BLOCK_TAG.exec(tag)?.[1] ?? '';
    const within = this.ids.at(-1) ?? 0;
    if (OPENING_TAGS.has(name)) this.openTags.push({ name, depth: this.open.length, within });
    else if (MIDDLE_TAGS.has(name) && this.openTags.at(-1)?.within !== within) this.crossing ??= `{% ${name} %}`;
    else if (name.startsWith('end') && name !== 'endset' && this.openTags.pop()?.within !== within)
      this.crossing ??= `{% ${name} %}`;
  }
}
