/** Invalid addresses, by what is wrong with them. */
export const badAddresses: [string, unknown][] = [
  ['empty', ''],
  ['no address', 'ann at example'],
  ['without a domain', 'ann@'],
  ['without a dot in its domain', 'ann@localhost'],
  ['two addresses', 'ann@example.com, bob@example.com'],
  ['with a line break', 'ann\r\n@example.com'],
  ['with a line break and a header after it', 'ann@example.com\nBcc: eve@example.com'],
  ['with an invisible character', 'ann\u200b@example.com'],
  ['with a NUL', 'ann\u0000@example.com'],
  ['over 64 characters before the @', `${'a'.repeat(65)}@example.com`],
  [
    'over 254 characters',
    `ann@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(20)}.com`,
  ],
  ['a number', 5],
  ['null', null],
  ['an object', { email: 'ann@example.com' }],
];
