import { type MailDocument, parseDocument, type SavedBlocks } from '../../../platform/mail-document/index.ts';

// Documents for the tests of the editor's emails.

export const text = (value: string, ...marks: unknown[]) => ({
  type: 'text',
  text: value,
  ...(marks.length > 0 && { marks }),
});
export const paragraph = (...content: unknown[]) => ({ type: 'paragraph', content });
export const documentOf = (...content: unknown[]) => ({ version: 1, content });

/** Throws for a document that is not valid. */
export function parsed(value: unknown): MailDocument {
  const { document, errors } = parseDocument(value);
  if (!document) throw new Error(JSON.stringify(errors));
  return document;
}

export const SAVED_ID = '6d1a3c52-5a3e-4f0e-9d2b-0c7b8f1f2a11';

export const savedBlocks: SavedBlocks = new Map([
  [SAVED_ID, { kind: 'SECTION', document: parsed(documentOf(paragraph(text('From a saved block')))) }],
]);

const everyMark = [
  text('bold', { type: 'bold' }),
  text('italic', { type: 'italic' }),
  text('underlined', { type: 'underline' }),
  text('struck', { type: 'strike' }),
  text('red', { type: 'color', attrs: { color: '#b91c1c' } }),
  text(
    'all',
    { type: 'strike' },
    { type: 'bold' },
    { type: 'link', attrs: { href: 'https://example.com/?a=1&b={{ id }}' } },
  ),
];

/** One or more blocks for each golden file. */
export const goldenBlocks: Record<string, unknown[]> = {
  heading: [1, 2, 3].map((level) => ({
    type: 'heading',
    attrs: { level, align: 'center' },
    content: [text('A heading')],
  })),
  paragraph: [
    {
      type: 'paragraph',
      attrs: { size: 'small', align: 'right' },
      content: [text('a "quote" & <tag> {{ first'), ...everyMark],
    },
    { type: 'paragraph', attrs: { size: 'large' }, content: [text('one'), { type: 'hardBreak' }, text('two')] },
    { type: 'paragraph' },
  ],
  variable: [
    paragraph(
      text('Hi {{firstName ?? "there"}}, '),
      { type: 'variable', attrs: { name: 'first name', fallback: "o'clock" } },
      { type: 'variable', attrs: { name: 'order.total', fallback: null, format: 'number' } },
      { type: 'variable', attrs: { name: 'due', fallback: 'soon', format: 'date' }, marks: [{ type: 'bold' }] },
      { type: 'variable', attrs: { name: 'address' } },
    ),
  ],
  bulletList: [
    {
      type: 'bulletList',
      content: [
        { type: 'listItem', content: [paragraph(text('one')), paragraph(text('more'))] },
        { type: 'listItem', content: [paragraph(text('two'))] },
      ],
    },
  ],
  orderedList: [{ type: 'orderedList', content: [{ type: 'listItem', content: [paragraph(text('one'))] }] }],
  image: [
    {
      type: 'image',
      attrs: {
        src: 'https://example.com/a.png',
        alt: 'A "field"',
        width: 300,
        href: 'https://example.com',
        align: 'left',
      },
    },
    { type: 'image', attrs: { src: 'https://example.com/b.png', decorative: true, full: true } },
    { type: 'image', attrs: { src: '{{ picture }}', alt: 'Yours' } },
  ],
  button: [
    { type: 'button', attrs: { href: 'https://example.com/buy' }, content: [text('Buy now')] },
    {
      type: 'button',
      attrs: { href: '{{ url }}', align: 'center', background: '#0f766e', color: '#ffffff', fullOnPhone: true },
      content: [text('Yours, {{ firstName }}')],
    },
  ],
  columns: [
    {
      type: 'columns',
      content: [
        { type: 'column', content: [paragraph(text('left'))] },
        { type: 'column', content: [paragraph(text('right'))] },
      ],
    },
    {
      type: 'columns',
      attrs: { valign: 'middle' },
      content: [20, 30, 50].map((width) => ({
        type: 'column',
        attrs: { width },
        content: [
          paragraph(text(`${width} percent`)),
          { type: 'image', attrs: { src: 'https://example.com/a.png', alt: 'A' } },
        ],
      })),
    },
    {
      type: 'columns',
      attrs: { stack: false },
      content: [
        { type: 'column', attrs: { width: 70 }, content: [paragraph(text('Item'))] },
        { type: 'column', attrs: { width: 30 }, content: [paragraph(text('9.99'))] },
      ],
    },
  ],
  section: [
    {
      type: 'section',
      attrs: { background: '#fef3c7', padding: 24 },
      content: [
        { type: 'heading', content: [text('Own colors')] },
        paragraph(text('a link', { type: 'link', attrs: { href: 'https://example.com' } })),
        { type: 'button', attrs: { href: 'https://example.com' }, content: [text('Go')] },
        { type: 'divider' },
      ],
    },
    { type: 'section', content: [paragraph(text('The kit’s colors'))] },
  ],
  divider: [{ type: 'divider' }, { type: 'divider', attrs: { color: '#b91c1c' } }],
  spacer: [{ type: 'spacer', attrs: { height: 40 } }],
  social: [
    {
      type: 'social',
      attrs: {
        links: [
          { network: 'github', href: 'https://github.com/everpost' },
          { network: 'mastodon', href: 'https://example.social/@everpost' },
        ],
      },
    },
  ],
  condition: [
    {
      type: 'condition',
      attrs: { test: { field: 'data.plan', operator: 'equals', value: 'pro' } },
      content: [paragraph(text('pro')), { type: 'otherwise', content: [paragraph(text('not pro'))] }],
    },
    {
      type: 'condition',
      attrs: {
        test: {
          logic: 'OR',
          groups: [
            {
              filters: [
                { field: 'email', operator: 'endsWith', value: '@Example.com' },
                { field: 'subscribed', operator: 'equals', value: true },
              ],
            },
            { filters: [{ field: 'data["a b"].c', operator: 'in', value: ['x', 2] }] },
          ],
        },
      },
      content: [paragraph(text('several'))],
    },
    {
      type: 'condition',
      attrs: { test: { expression: 'plan == "pro" and items | length > 2' } },
      content: [paragraph(text('expert'))],
    },
  ],
  repeat: [
    {
      type: 'repeat',
      attrs: { list: 'order.items', item: 'product', limit: 5 },
      content: [paragraph(text('{{ product.name }}: {{ product.price }}'))],
    },
  ],
  footer: [
    {
      type: 'footer',
      content: [
        paragraph(text('Unsubscribe', { type: 'link', attrs: { href: '{{ unsubscribeUrl }}' } })),
        paragraph({ type: 'variable', attrs: { name: 'address' } }),
      ],
    },
  ],
  saved: [{ type: 'saved', attrs: { blockId: SAVED_ID } }],
  html: [
    {
      type: 'html',
      attrs: {
        html: '<table role="presentation" width="100%"><tr><td onclick="x()">A <b>cell {% if a %}{{ a }}{% endif %}<td><a href="javascript:x">b</a></table><script>x</script>',
      },
    },
  ],
};
