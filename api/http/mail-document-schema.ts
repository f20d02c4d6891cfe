// The JSON Schema of documents of the visual editor. platform/mail-document validates them, not joi, so it is written by
// hand.
import joi from 'joi';
import { conditionReference } from './condition-schema.ts';
import { type JsonSchema, referenceTo } from './json-schema.ts';
import type { Typed } from './typed.ts';
import { documented } from './violations.ts';

const EXAMPLE = {
  version: 1,
  content: [
    { type: 'heading', content: [{ type: 'text', text: 'Hello {{ firstName ?? "there" }}' }] },
    { type: 'button', attrs: { href: 'https://example.com' }, content: [{ type: 'text', text: 'Open' }] },
  ],
};

const documentReference = referenceTo('MailDocument');

/** A document in a request; `parseDocument` validates it, with the path of every error. */
export const givenDocument = (): Typed<unknown> =>
  documented(joi.any(), documentReference).description('Document of the visual editor.').required();

/** A document or null. */
export const nullableDocument = (): Typed<unknown> =>
  documented(joi.any(), { anyOf: [documentReference, { type: 'null' }] }).description('Document of the visual editor.');

const text = (description: string, rules: JsonSchema = {}): JsonSchema => ({ description, type: 'string', ...rules });
const flag = (description: string): JsonSchema => ({ description, type: 'boolean' });
const number = (description: string, minimum: number, maximum: number): JsonSchema => ({
  description,
  type: 'integer',
  minimum,
  maximum,
});
const choice = (description: string, ...values: string[]): JsonSchema => text(description, { enum: values });
const list = (description: string, items: JsonSchema): JsonSchema => ({ description, type: 'array', items });
const nullOr = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type as string, 'null'] });

const COLOR = '^#[0-9a-fA-F]{6}$';
const color = (description: string): JsonSchema => text(description, { pattern: COLOR, examples: ['#1a73e8'] });
const brandColor = (description: string): JsonSchema => ({
  description: `${description}; null for that of the brand kit.`,
  type: ['string', 'null'],
  pattern: COLOR,
});
const align = choice('Alignment.', 'left', 'center', 'right');
const link = text('URL: http, https, mailto, tel or sms; may contain variables.', {
  examples: ['https://example.com'],
});

const blocks = list('Blocks.', referenceTo('MailBlock'));
const inline = list('Text, variables and line breaks.', referenceTo('MailInline'));
const paragraphs = (description: string) => list(description, referenceTo('MailParagraph'));

interface NodeParts {
  attrs?: Record<string, JsonSchema>;
  /** Attributes that have no default. */
  required?: string[];
  content?: JsonSchema;
  more?: Record<string, JsonSchema>;
}

/** A node of a document: its type, attributes and content. */
function node(type: string | string[], description: string, { attrs, required = [], content, more }: NodeParts) {
  const types = [type].flat();
  return {
    description,
    type: 'object',
    required: ['type', ...(required.length > 0 ? ['attrs'] : [])],
    properties: {
      type: {
        description: 'Node type.',
        ...(types.length > 1 ? { type: 'string', enum: types } : { const: types[0] }),
      },
      ...(attrs && {
        attrs: {
          description: 'Attributes; those that are left out have their defaults.',
          type: 'object',
          ...(required.length > 0 && { required }),
          properties: attrs,
          additionalProperties: false,
        },
      }),
      ...(content && { content }),
      ...more,
    },
    additionalProperties: false,
  };
}

const marks = { marks: list('Formatting.', referenceTo('MailMark')) };

const inlineNodes: Record<string, JsonSchema> = {
  MailText: {
    ...node('text', 'Text.', { more: { text: text('Text. `{{ name ?? "text" }}` becomes a variable.'), ...marks } }),
    required: ['type', 'text'],
  },
  MailVariable: node('variable', 'The value of a variable.', {
    required: ['name'],
    attrs: {
      name: text('Key of a custom field, or a built-in variable.', {
        minLength: 1,
        maxLength: 100,
        examples: ['firstName'],
      }),
      fallback: nullOr(text('Text for contacts without a value; null for none.', { maxLength: 500 })),
      format: {
        ...nullOr(text('How the value is written; null for as it is.')),
        enum: ['upper', 'lower', 'number', 'date', null],
      },
    },
    more: marks,
  }),
  MailHardBreak: node('hardBreak', 'A line break.', { more: marks }),
};

const blockNodes: Record<string, JsonSchema> = {
  MailHeading: node('heading', 'A heading.', {
    attrs: { level: number('Level: 1 is the largest.', 1, 3), align },
    content: inline,
  }),
  MailParagraph: node('paragraph', 'A paragraph.', {
    attrs: { align, size: choice('Text size.', 'small', 'normal', 'large') },
    content: inline,
  }),
  MailList: node(['bulletList', 'orderedList'], 'A list with bullets or numbers.', {
    content: list('Items.', referenceTo('MailListItem')),
  }),
  MailImage: node('image', 'An image.', {
    required: ['src'],
    attrs: {
      src: text('URL of the image, http or https; may contain variables.', { examples: ['https://example.com/a.png'] }),
      alt: text('Alternative text, without variables.'),
      decorative: flag('Whether the image needs no alternative text.'),
      width: number('Width in pixels.', 1, 600),
      href: nullOr(text('URL that a click opens; null for none.')),
      align,
      full: flag('Whether the image spans the whole width of the email.'),
    },
  }),
  MailButton: node('button', 'A button.', {
    required: ['href'],
    attrs: {
      href: link,
      align,
      background: brandColor('Color of the button'),
      color: brandColor('Color of the text'),
      fullOnPhone: flag('Whether the button spans the whole width on phones.'),
    },
    content: list('Text and variables.', referenceTo('MailInline')),
  }),
  MailColumns: node('columns', 'Two to four columns.', {
    attrs: {
      valign: choice('Vertical alignment.', 'top', 'middle', 'bottom'),
      stack: flag('Whether columns stack on phones.'),
    },
    content: list('Columns; their widths sum to 100.', referenceTo('MailColumn')),
  }),
  MailSection: node('section', 'Blocks with a background.', {
    attrs: {
      background: brandColor('Color of the background'),
      padding: number('Inner distance in pixels.', 0, 64),
    },
    content: blocks,
  }),
  MailDivider: node('divider', 'A horizontal line.', { attrs: { color: brandColor('Color of the line') } }),
  MailSpacer: node('spacer', 'Empty space.', { attrs: { height: number('Height in pixels.', 1, 200) } }),
  MailSocial: node('social', 'Links to social networks.', {
    attrs: {
      align,
      links: {
        description: 'Links; null for those of the brand kit.',
        anyOf: [{ type: 'array', items: referenceTo('SocialLink') }, { type: 'null' }],
      },
    },
  }),
  MailCondition: node('condition', 'Blocks that only some recipients get.', {
    required: ['test'],
    attrs: {
      test: {
        description:
          'A condition or one filter on `email`, `subscribed` and `data.<key>`, without operators on dates; or an expression.',
        anyOf: [conditionReference, referenceTo('ConditionFilter'), referenceTo('MailExpression')],
      },
    },
    content: list('Blocks; at the end, `otherwise` for all other recipients.', {
      anyOf: [referenceTo('MailBlock'), referenceTo('MailOtherwise')],
    }),
  }),
  MailRepeat: node('repeat', 'Blocks that are repeated for each item of a list.', {
    required: ['list', 'item'],
    attrs: {
      list: text('Name of the list: the key of a custom field.', { examples: ['items'] }),
      item: text('Name of the variable that has the item.', { examples: ['item'] }),
      limit: number('Most repetitions.', 1, 100),
    },
    content: blocks,
  }),
  MailFooter: node('footer', 'The footer: at the top level only, at most one.', {
    attrs: { align },
    content: paragraphs('Paragraphs, with the unsubscribe link.'),
  }),
  MailSavedBlock: node('saved', 'A saved block.', {
    required: ['blockId'],
    attrs: { blockId: text('ID of the saved block.', { format: 'uuid' }) },
  }),
  MailHtml: node('html', 'HTML that is used as it is, except for elements and attributes that email must not have.', {
    required: ['html'],
    attrs: { html: text('HTML, with variables.') },
  }),
};

const partNodes: Record<string, JsonSchema> = {
  MailListItem: node('listItem', 'An item of a list.', { content: paragraphs('Paragraphs.') }),
  MailColumn: node('column', 'A column.', {
    attrs: { width: { description: 'Width in percent.', type: 'number' } },
    content: blocks,
  }),
  MailOtherwise: node('otherwise', 'Blocks for recipients who do not match the condition.', { content: blocks }),
};

const anyOf = (description: string, names: string[]): JsonSchema => ({ description, anyOf: names.map(referenceTo) });

export const mailDocumentSchemas: Record<string, JsonSchema> = {
  ...inlineNodes,
  ...blockNodes,
  ...partNodes,
  MailInline: anyOf('Text, a variable or a line break.', Object.keys(inlineNodes)),
  MailBlock: anyOf('A block of a document.', Object.keys(blockNodes)),
  MailMark: {
    description: 'Formatting of text.',
    type: 'object',
    required: ['type'],
    properties: {
      type: choice('Kind of formatting.', 'bold', 'italic', 'underline', 'strike', 'color', 'link'),
      attrs: {
        description: 'Attributes of `color` and `link`.',
        type: 'object',
        properties: { color: color('Color of the text.'), href: link },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
    examples: [{ type: 'bold' }],
  },
  MailExpression: {
    description: 'An expression of the template language.',
    type: 'object',
    required: ['expression'],
    properties: { expression: text('Expression.', { examples: ['plan == "pro" and seats > 5'] }) },
    additionalProperties: false,
    examples: [{ expression: 'plan == "pro"' }],
  },
  MailTheme: {
    description: 'Colors and font; null for those of the brand kit.',
    type: 'object',
    properties: {
      background: brandColor('Color around the email'),
      surface: brandColor('Color of the email'),
      text: brandColor('Color of the text'),
      link: brandColor('Color of links'),
      button: brandColor('Color of buttons'),
      font: nullOr(text('Font; null for that of the brand kit.')),
      width: { description: 'Width in pixels.', const: 600 },
    },
    additionalProperties: false,
    examples: [{ background: '#f4f4f5', width: 600 }],
  },
  MailDocument: {
    description:
      'The content of an email, as blocks. At most 500 blocks, nested up to 6 levels, 512 kB. Attributes that are left out have their defaults.',
    type: 'object',
    required: ['version', 'content'],
    properties: {
      version: { description: 'Version of the format.', const: 1 },
      lang: text('Language of the content.', { examples: ['en'] }),
      preheader: list('Text that inboxes show after the subject.', {
        anyOf: [referenceTo('MailText'), referenceTo('MailVariable')],
      }),
      theme: referenceTo('MailTheme'),
      content: blocks,
    },
    additionalProperties: false,
    examples: [EXAMPLE],
  },
};
