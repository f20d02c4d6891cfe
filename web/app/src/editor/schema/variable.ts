// Variables of a contact, shown as chips.
import { InputRule, Node, nodePasteRule } from '@tiptap/core';
import { ATTRIBUTES, attributes } from './attributes.ts';

export interface VariableAttributes {
  name: string;
  fallback: string | null;
  format: string | null;
}

/** `{{ name }}` and `{{ name ?? "text" }}`; curly quotes are what phones type. */
const TYPED = /\{\{\s*([^{}"'|?]{1,100}?)\s*(?:\?\?\s*(?:["“”]([^"“”]*)["“”]|['‘’]([^'‘’]*)['‘’])\s*)?\}\}/;

const typedAttributes = (match: RegExpMatchArray): VariableAttributes => ({
  name: (match[1] ?? '').trim(),
  fallback: match[2] ?? match[3] ?? null,
  format: null,
});

export const chipText = ({ name, fallback }: VariableAttributes): string => (fallback ? `${name} · ${fallback}` : name);

export const Variable = Node.create({
  name: 'variable',
  group: 'inline',
  inline: true,
  atom: true,
  selectable: true,
  addAttributes: () => attributes({ name: '', fallback: null, format: null }),
  parseHTML: () => [{ tag: 'span[data-variable]' }],
  renderHTML: ({ node: { attrs } }) => [
    'span',
    { 'data-variable': attrs.name, [ATTRIBUTES]: JSON.stringify(attrs), class: 'chip' },
    chipText(attrs as VariableAttributes),
  ],
  renderText: ({ node: { attrs } }) =>
    attrs.fallback === null ? `{{${attrs.name}}}` : `{{${attrs.name} ?? ${JSON.stringify(attrs.fallback)}}}`,
  addInputRules() {
    return [
      new InputRule({
        find: new RegExp(`${TYPED.source}$`),
        handler: ({ state, range, match }) => {
          state.tr.replaceWith(range.from, range.to, this.type.create(typedAttributes(match)));
        },
      }),
    ];
  },
  addPasteRules() {
    return [nodePasteRule({ find: new RegExp(TYPED.source, 'g'), type: this.type, getAttributes: typedAttributes })];
  },
});
