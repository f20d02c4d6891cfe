import { expect } from 'chai';
import { type CsvRow, openCsv, subscribedCell, typedCell } from '../../../services/jobs/csv.ts';

async function rowsOf(text: string | Buffer): Promise<Omit<CsvRow, 'end'>[]> {
  const file = await openCsv(Buffer.from(text));
  const rows: Omit<CsvRow, 'end'>[] = [];
  for await (const batch of file.rows()) rows.push(...batch.map(({ end: _, ...row }) => row));
  return rows;
}
const refusal = (text: string | Buffer) =>
  openCsv(Buffer.from(text)).then(
    () => expect.fail('the file was accepted'),
    (error: Error) => error.message,
  );

describe('reading a CSV file', () => {
  for (const [what, text] of Object.entries({
    'commas and LF': 'email,plan\na@example.com,pro\n',
    'semicolons and CRLF': 'email;plan\r\na@example.com;pro\r\n',
    'a BOM': '\ufeffemail,plan\na@example.com,pro',
    'lone CR': 'email,plan\ra@example.com,pro\r',
    'quotes everywhere': '"email","plan"\n"a@example.com","pro"',
  }))
    it(`reads ${what}`, async () => {
      expect(await rowsOf(text)).to.deep.equal([{ row: 2, cells: ['a@example.com', 'pro'] }]);
    });

  it('finds the e-mail column in any position and case, and keeps other names unchanged', async () => {
    const { columns } = await openCsv(Buffer.from('First Name, EMail ,Subscribed,Größe,,data.x\n'));
    expect(columns).to.deep.equal({
      email: 1,
      subscribed: 2,
      fields: [
        { column: 0, key: 'First Name' },
        { column: 3, key: 'Größe' },
        { column: 5, key: 'data.x' },
      ],
    });
  });

  it('keeps newlines, delimiters and doubled quotes inside quotes', async () => {
    const [row] = await rowsOf('email,note\na@example.com,"two\nlines, ""quoted"""\n');
    expect(row?.cells[1]).to.equal('two\nlines, "quoted"');
  });

  it('numbers rows as a spreadsheet does, counting empty ones', async () => {
    const rows = await rowsOf('email,n\na@example.com,"x\ny"\n\n,\nb@example.com,2\n');
    expect(rows.map(({ row }) => row)).to.deep.equal([2, 5]);
  });

  it('accepts rows that are shorter or longer than the header', async () => {
    const rows = await rowsOf('email,a,b\nx@example.com\ny@example.com,1,2,3\n');
    expect(rows.map(({ cells }) => cells.length)).to.deep.equal([1, 4]);
  });

  it('reads a quote in the middle of a cell as text', async () => {
    const [row] = await rowsOf('email,size\na@example.com,5" screen\n');
    expect(row?.cells[1]).to.equal('5" screen');
  });

  it('reports an unclosed quote as one invalid row', async () => {
    const rows = await rowsOf('email,a\nx@example.com,1\ny@example.com,"open\nz@example.com,2\n');
    expect(rows).to.have.lengthOf(2);
    expect(rows[1]).to.include({ row: 3 });
    expect(rows[1]?.parseError).to.be.a('string').that.is.not.empty;
  });

  it('rejects a file with 1,001 columns', async () => {
    const header = (columns: number) => Buffer.from(`email${',a'.repeat(columns - 1)}\nann@example.com\n`);
    expect((await openCsv(header(1_000))).columns.fields).to.have.length(999);
    const refused = await openCsv(header(1_001)).catch((error: Error) => error.message);
    expect(refused).to.equal('The file has 1001 columns; the maximum is 1000.');
  });

  it('accepts 100 columns', async () => {
    const names = Array.from({ length: 99 }, (_, n) => `c${n}`);
    const file = await openCsv(Buffer.from(`email,${names}\n`));
    expect(file.columns.fields.map(({ key }) => key)).to.deep.equal(names);
  });

  it('reads 1 MB of rows of one character, and yields to the event loop meanwhile', async () => {
    const file = await openCsv(Buffer.from(`email\n${'x\n'.repeat(520_000)}`));
    let count = 0;
    let iterations = 0;
    let isRead = false;
    const iterate = () => {
      iterations++;
      if (!isRead) setImmediate(iterate);
    };
    setImmediate(iterate);
    for await (const rows of file.rows()) count += rows.length;
    isRead = true;
    expect(count).to.equal(520_000);
    // More than there are chunks of 16 KB, the default of streams.
    expect(iterations).to.be.greaterThan(60);
  });

  it('rejects binary data, a missing e-mail column and a name of 257 characters', async () => {
    expect(await refusal(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]))).to.match(/not CSV/);
    expect(await refusal(Buffer.from([0x65, 0xff, 0xfe]))).to.match(/not CSV/);
    expect(await refusal('name,plan\nx,y\n')).to.match(/no column "email"/);
    expect(await refusal('')).to.match(/no column "email"/);
    expect(await refusal(`email,${'k'.repeat(257)}\n`)).to.match(/256 characters/);
  });

  it('ignores a column named __proto__', async () => {
    expect((await openCsv(Buffer.from('email,__proto__\n'))).columns.fields).to.deep.equal([]);
  });
});

describe('a cell', () => {
  for (const [cell, value] of [
    ['42', 42],
    ['-1.50', -1.5],
    ['0', 0],
    ['true', true],
    ['false', false],
    ['007', '007'],
    ['+1', '+1'],
    ['1e3', '1e3'],
    ['1234567890123456', '1234567890123456'],
    ['True', 'True'],
    [' 42', ' 42'],
    ['.5', '.5'],
    ['2026-01-01', '2026-01-01'],
  ] as const)
    it(`${JSON.stringify(cell)} is ${JSON.stringify(value)}`, () => {
      expect(typedCell(cell)).to.equal(value);
    });

  it('of the column "subscribed" is true, false, undefined when empty, or null when unclear', () => {
    expect(['TRUE', '1', 'yes'].map(subscribedCell)).to.deep.equal([true, true, true]);
    expect(['false', '0', 'No'].map(subscribedCell)).to.deep.equal([false, false, false]);
    expect(['', ' ', undefined].map(subscribedCell)).to.deep.equal([undefined, undefined, undefined]);
    expect(subscribedCell('maybe')).to.equal(null);
  });
});

describe('continuing to read a CSV file', () => {
  const text =
    '\ufeffemail,note\r\na@x.co,"two\r\nlines, é"\n\nb@x.co,19"\rc@x.co,"say ""hi"""\r\nd@x.co,"never closed';

  async function all(rows: AsyncIterable<CsvRow[]>): Promise<CsvRow[]> {
    const found: CsvRow[] = [];
    for await (const batch of rows) found.push(...batch);
    return found;
  }

  it('returns the same rows with the same numbers from behind any row', async () => {
    const file = await openCsv(Buffer.from(text));
    const rows = await all(file.rows());
    expect(rows.map(({ row }) => row)).to.deep.equal([2, 4, 5, 6]);
    for (const [n, { end, row }] of rows.slice(0, -1).entries())
      expect(await all(file.rows({ position: end, row }))).to.deep.equal(rows.slice(n + 1));
  });

  it('returns the same rows from bytes that arrive in pieces of any size', async () => {
    const bytes = Buffer.from(text);
    const rowsIn = async (size: number) => {
      const file = await openCsv(async function* (from) {
        for (let at = from; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      });
      return all(file.rows());
    };
    const whole = await rowsIn(bytes.length);
    for (const size of [20, 64]) expect(await rowsIn(size)).to.deep.equal(whole);
  });
});

describe('a mapping of columns', () => {
  type Mapping = Record<string, string | null>;
  const columns = async (header: string, mapping: Mapping) =>
    (await openCsv(Buffer.from(`${header}\n`), mapping)).columns;
  const rejected = (header: string, mapping: Mapping) =>
    openCsv(Buffer.from(`${header}\n`), mapping).then(
      () => expect.fail('the mapping was accepted'),
      (error: Error) => error.message,
    );

  it('names the address, renames fields and leaves columns out', async () => {
    const mapping = { Mail: 'email', 'First name': 'data.firstName', Internal: null };
    expect(await columns('Mail,First name,Internal,plan', mapping)).to.deep.equal({
      email: 0,
      subscribed: undefined,
      fields: [
        { column: 1, key: 'firstName' },
        { column: 3, key: 'plan' },
      ],
    });
  });

  it('is rejected when it names no column of the file, or two columns become one field', async () => {
    expect(await rejected('email', { Mail: 'email' })).to.include('"Mail"');
    expect(await rejected('email,a,b', { a: 'x', b: 'x' })).to.include('"x"');
    expect(await rejected('email,other', { other: 'email' })).to.include('two columns');
  });
});
