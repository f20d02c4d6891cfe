// The mail that both sides of `campaigns` send: five kilobytes with one variable and one link.
const paragraph = (n: number) =>
  `<p style="margin:0 0 16px;font:16px/1.5 Georgia,serif">Paragraph ${n}: what has happened since the last letter, what ` +
  'will happen until the next one, and why anybody who reads this far may want to know about either of them.</p>';

const paragraphs = Array.from({ length: 18 }, (_, n) => paragraph(n)).join('\n');

export const newsletterTemplate = `<!doctype html>
<html><body style="margin:0;padding:24px">
<h1>Hello {{ name }}</h1>
${paragraphs}
<p><a href="https://shop.example/spring">See the collection</a></p>
</body></html>`;

export const newsletter = (name: string): string => newsletterTemplate.replaceAll('{{ name }}', name);

export const plainNewsletter = (name: string): string =>
  newsletter(name)
    .replace(/<[^>]*>/g, '')
    .trim();
