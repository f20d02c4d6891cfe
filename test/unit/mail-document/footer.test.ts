import { expect } from 'chai';
import { hasOwnFooter, parseDocument, renderDocument } from '../../../platform/mail-document/index.ts';
import { plainText } from '../../../platform/templates/plain-text.ts';
import { footerFor } from '../../../services/templates/footer.ts';
import { paragraph, text } from './documents.ts';

const link = (href: string) => ({ type: 'text', text: 'Unsubscribe', marks: [{ type: 'link', attrs: { href } }] });
const footer = (href: string) => ({ type: 'footer', content: [{ type: 'paragraph', content: [link(href)] }] });

function bodyOf(...content: unknown[]): string {
  const { document, errors } = parseDocument({
    version: 1,
    preheader: [{ type: 'text', text: 'News inside' }],
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hello' }] }, ...content],
  });
  if (!document) throw new Error(JSON.stringify(errors));
  return renderDocument(document);
}

describe('the footer of a document', () => {
  it('takes the place of the appended footer when it has the unsubscribe link', () => {
    const body = bodyOf(footer('{{ unsubscribeUrl }}'));
    expect(hasOwnFooter(body)).to.equal(true);
    expect(footerFor('en', 'en', body)).to.equal('');
  });

  it('leaves the appended footer when its link leads elsewhere, or is in the text only', () => {
    expect(hasOwnFooter(bodyOf(footer('https://example.com')))).to.equal(false);
    const body = bodyOf(paragraph(link('{{ unsubscribeUrl }}')));
    expect(hasOwnFooter(body)).to.equal(false);
    expect(footerFor('en', 'en', body)).to.contain('Unsubscribe');
  });

  it('cannot be suppressed by a footer that stands in a branch, or is not complete', () => {
    const body = bodyOf(footer('{{ unsubscribeUrl }}'));
    const start = body.indexOf('<!--footer-->');
    const within = (before: string, after: string) =>
      body.slice(0, start) + before + body.slice(start).replace('<!--/footer-->', `<!--/footer-->${after}`);
    expect(hasOwnFooter(within('{% if false %}', '{% endif %}'))).to.equal(false);
    expect(hasOwnFooter(within('{% if a %}{% endif %}', ''))).to.equal(true);
    expect(hasOwnFooter(body.replace('<!--/footer-->', ''))).to.equal(false);
    expect(hasOwnFooter(body.replace('{{ unsubscribeUrl }}', '{{ url }}'))).to.equal(false);
  });
});

describe('the appended footer in dark mode', () => {
  it('has a dark color where the body has dark colors', () => {
    const dark = '<html><head><meta name="color-scheme" content="light dark"></head><body>Hi</body></html>';
    expect(footerFor('en', 'en', dark)).to.contain('prefers-color-scheme:dark');
    expect(footerFor('en', 'en', '<p>A dark color-scheme</p>')).not.to.contain('prefers-color-scheme');
    expect(footerFor('en', 'en', '<p>Hi</p>')).not.to.contain('<style>');
  });

  it('uses the styles of the document for it', () => {
    const body = bodyOf();
    expect(footerFor('en', 'en', body))
      .to.contain('class="ep-footer"')
      .and.not.contain('<style>');
    expect(body).to.match(/prefers-color-scheme:dark\)\{[^@]*\.ep-footer,\.ep-footer a\{color:#/);
  });
});

describe('the text part of a document', () => {
  it('leaves out the preheader', () => {
    const body = bodyOf();
    expect(body).to.contain('News inside');
    expect(plainText(body)).to.equal('Hello');
  });

  it('has no text for spacers and dividers', () => {
    const body = bodyOf({ type: 'spacer' }, { type: 'divider' }, paragraph(text('Bye')));
    expect(plainText(body)).to.match(/^Hello\n+Bye$/);
  });
});
