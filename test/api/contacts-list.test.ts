import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';

describeApi('GET /contacts', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
    for (let n = 0; n < 25; n++)
      await project.server.post('/contacts', {
        email: `c${String(n).padStart(2, '0')}@${n % 5 ? 'example' : 'sample'}.com`,
        subscribed: n % 4 !== 0,
        data: { n, text: String(n % 10), even: n % 2 === 0, 'first name': `Name ${n % 3}`, 'a.b': n % 2 },
      });
  });

  const list = (query = '') => project.server.get(`/contacts${query}`);
  const emails = async (query: string): Promise<string[]> =>
    (await list(query)).body.data.map((contact: { email: string }) => contact.email.split('@')[0]);
  const numbers = (...wanted: number[]) => wanted.map((n) => `c${String(n).padStart(2, '0')}`);
  const from = (first: number, last: number) =>
    numbers(...Array.from({ length: Math.abs(first - last) + 1 }, (_, n) => (first < last ? first + n : first - n)));

  it('answers 200 with the newest 20, the total and a cursor', async () => {
    const answer = await list();
    expect(answer).to.have.status(200);
    expect(answer.body).to.have.all.keys('data', 'cursor', 'hasMore', 'total');
    expect(answer.body).to.deep.include({ hasMore: true, total: 25 });
    expect(answer.body.data).to.have.lengthOf(20);
    expect(answer.body.data[0]).to.have.all.keys('id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt');
    expect(await emails('')).to.deep.equal(from(24, 5));
  });

  it('continues after the cursor without a total, and ends without a cursor', async () => {
    const { cursor } = (await list('?limit=10')).body;
    const second = (await list(`?limit=10&cursor=${cursor}`)).body;
    expect(second).to.deep.include({ hasMore: true, total: 0 });
    const third = (await list(`?limit=10&cursor=${second.cursor}`)).body;
    expect(third).to.deep.include({ hasMore: false, cursor: null, total: 0 });
    expect(third.data).to.have.lengthOf(5);
  });

  it('sets hasMore to false when the last page is full', async () => {
    expect((await list('?limit=25')).body).to.include({ hasMore: false, cursor: null });
  });

  it('clamps limit to 100', async () => {
    expect((await list('?limit=5000')).body.data).to.have.lengthOf(25);
    expect((await list('?limit=1')).body.data).to.have.lengthOf(1);
  });

  const found: [string, string, string[]][] = [
    ['by address', '?sort=email&dir=asc&limit=3', numbers(0, 1, 2)],
    ['by address, descending', '?sort=email&limit=3', numbers(24, 23, 22)],
    ['by time, oldest first', '?dir=asc&limit=3', numbers(0, 1, 2)],
    ['by time when the order is unknown', '?sort=colour&dir=sideways&limit=3', numbers(24, 23, 22)],
    ['by time when the order is given twice', '?sort=email&sort=email&limit=2', numbers(24, 23)],
    ['part of the address, ignoring case', '?search=SAMPLE', numbers(20, 15, 10, 5, 0)],
    ['one character', '?search=3', numbers(23, 13, 3)],
    ['all contacts for an empty search', '?search=&limit=2', numbers(24, 23)],
    ['no contacts for a text that none has', '?search=nobody', []],
    ['unsubscribed contacts', '?subscribed=false', numbers(24, 20, 16, 12, 8, 4, 0)],
    ['subscribed contacts', '?subscribed=true&limit=2', numbers(23, 22)],
    ['a number in data', '?data.n=7', numbers(7)],
    ['a text in data that looks like a number', '?data.text=7', numbers(17, 7)],
    ['a boolean in data', '?data.even=true&limit=3', numbers(24, 22, 20)],
    ['a key with a space', '?data.first%20name=Name+1&limit=2', numbers(22, 19)],
    ['a key with a dot', '?data.a.b=1&limit=2', numbers(23, 21)],
    ['several filters at once', '?data.even=true&data.text=4&subscribed=true&search=example', numbers(14)],
    ['no contacts for a key that none has', '?data.nothing=1', []],
  ];
  for (const [what, query, expected] of found)
    it(`finds ${what}`, async () => {
      expect(await emails(query)).to.deep.equal(expected);
    });

  it('counts the contacts that match the filter', async () => {
    expect((await list('?search=sample&limit=2')).body).to.include({ total: 5, hasMore: true });
    expect((await list('?subscribed=false&limit=2')).body).to.include({ total: 7, hasMore: true });
    expect((await list('?data.even=true&limit=2')).body).to.include({ total: 13, hasMore: true });
    expect((await list('?search=nobody')).body).to.deep.equal({ data: [], cursor: null, hasMore: false, total: 0 });
  });

  it('applies the filter to every page', async () => {
    const { cursor } = (await list('?search=sample&limit=2')).body;
    expect(await emails(`?search=sample&limit=2&cursor=${cursor}`)).to.deep.equal(numbers(10, 5));
  });

  it('is empty in an empty project, with a key and with a session', async () => {
    const empty = await api.project();
    const nothing = { data: [], cursor: null, hasMore: false, total: 0 };
    expect((await empty.server.get('/contacts')).body).to.deep.equal(nothing);
    expect((await empty.owner.get('/contacts?search=c0')).body).to.deep.equal(nothing);
  });

  describe('400', () => {
    const faulty: [string, string][] = [
      ['a limit of 0', '?limit=0'],
      ['a negative limit', '?limit=-1'],
      ['a limit that is not a number', '?limit=ten'],
      ['a limit that is not an integer', '?limit=1.5'],
      ['two limits', '?limit=1&limit=2'],
      ['an empty cursor', '?cursor='],
      ['a made-up cursor', '?cursor=abc'],
      [
        'a forged cursor',
        `?cursor=${Buffer.from('{"by":"a","id":"b","few":true}').toString('base64url')}.AAAAAAAAAAAAAAAAAAAAAA`,
      ],
      ['a cursor that is too long', `?cursor=${'a'.repeat(3_000)}`],
      ['subscribed=maybe', '?subscribed=maybe'],
      ['an empty subscribed', '?subscribed='],
      ['two searches', '?search=a&search=b'],
      ['a search that is too long', `?search=${'a'.repeat(1_500)}`],
      ['one field with two values', '?data.n=1&data.n=2'],
      ['the key __proto__', '?data.__proto__=1'],
      ['a NUL', '?search=%00'],
      ['broken percent-encoding', '?search=%ff'],
    ];
    for (const [what, query] of faulty)
      it(`on ${what}`, async () => {
        expect(await list(query)).to.be.envelope(400, 'BAD_REQUEST');
      });

    it('on a cursor of another project, order or direction, or a changed one', async () => {
      const { cursor } = (await list('?limit=2')).body;
      const other = await api.project();
      expect(await other.server.get(`/contacts?cursor=${cursor}`)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await list(`?sort=email&cursor=${cursor}`)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await list(`?dir=asc&cursor=${cursor}`)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await list(`?cursor=${cursor.startsWith('e') ? 'f' : 'e'}${cursor.slice(1)}`)).to.be.envelope(
        400,
        'BAD_REQUEST',
      );
      expect(await list(`?cursor=${cursor}`)).to.have.status(200);
    });
  });

  it('treats SQL and wildcards in values as text', async () => {
    for (const query of [
      "?search=' or 1=1 --",
      "?data.n=' or 1=1 --",
      '?data.constructor=1',
      '?data.=1',
      "?data.a'b%22=1",
      '?data.n=1e999999999',
      '?search=%25',
      '?search=%5C',
      '?data.n=%F0%9F%92%A9',
    ])
      expect((await list(query)).body, query).to.include({ total: 0, hasMore: false });
  });
});
