// The mail that both sides of `delivery` send: a receipt of about two kilobytes.
const row = (n: number) =>
  `<tr><td style="padding:8px 0">Item ${n}, in blue &amp; green</td><td align="right">${n}.99 EUR</td></tr>`;

const rows = Array.from({ length: 12 }, (_, n) => row(n)).join('\n');

export const receiptTemplate = `<!doctype html>
<html><body style="font-family: sans-serif">
<h1>Thank you, {{ name }}</h1>
<p>We have received your order and will let you know as soon as it is on its way. This is your receipt.</p>
<table>${rows}</table>
<p><a href="https://shop.example/orders?for={{ name }}">See your order</a></p>
</body></html>`;

export const receiptHtml = (name: string): string => receiptTemplate.replaceAll('{{ name }}', name);

const lines = Array.from({ length: 12 }, (_, n) => `Item ${n}, in blue & green ${n}.99 EUR`).join('\n');

export const receiptText = (name: string): string =>
  `Thank you, ${name}\n\nWe have received your order and will let you know as soon as it is on its way. ` +
  `This is your receipt.\n\n${lines}\n\nSee your order [https://shop.example/orders?for=${name}]`;
