import type { DocumentNode, MailDocument } from '../../editor/schema/document.ts';
import { t } from '../../texts/index.ts';

const text = (value: string, href?: string): DocumentNode => ({
  type: 'text',
  text: value,
  ...(href && { marks: [{ type: 'link', attrs: { href } }] }),
});

const paragraph = (...content: DocumentNode[]): DocumentNode => ({ type: 'paragraph', content });

/** An email with everything that the brand kit is about. */
export const sampleDocument = (logoUrl: string | null, projectName: string): MailDocument => ({
  version: 1,
  content: [
    ...(logoUrl ? [{ type: 'image', attrs: { src: logoUrl, alt: projectName, width: 160, align: 'left' } }] : []),
    { type: 'heading', attrs: { level: 1 }, content: [text(t.brand.sample.heading)] },
    paragraph(text(t.brand.sample.before), text(t.brand.sample.link, 'https://example.com'), text('.')),
    { type: 'button', attrs: { href: 'https://example.com' }, content: [text(t.brand.sample.button)] },
    { type: 'social', attrs: { links: null } },
    {
      type: 'footer',
      content: [
        paragraph({ type: 'variable', attrs: { name: 'address', fallback: null, format: null } }),
        paragraph(text(t.brand.sample.unsubscribe, '{{ unsubscribeUrl }}')),
      ],
    },
  ],
});
