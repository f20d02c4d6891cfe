import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { exportContacts } from '../../../services/contacts/export.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { writeContacts } from '../../../services/contacts/write.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { statementsOf } from '../../support/sent-statements.ts';

describe('exporting contacts', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(db);
  });

  const save = (email: string, data: Record<string, unknown> = {}, subscribed = true) =>
    saveContact(db, project.access, { email, subscribed, data });
  const exported = async () => text(await exportContacts(db, project.access));

  it('returns only the header for an empty project', async () => {
    expect(await exported()).to.equal('email,subscribed\r\n');
  });

  it('has a column for every key and a row for every contact', async () => {
    await save('bob@example.com', { plan: 'free', note: 'a, "b"\nc\rd' }, false);
    await save('ann@example.com', { plan: 'pro', age: 30, active: true, 'first name': 'Änn', tags: ['x', { y: 1 }] });
    expect(await exported()).to.equal(
      [
        'email,subscribed,active,age,first name,note,plan,tags',
        'ann@example.com,true,true,30,Änn,,pro,"[""x"",{""y"":1}]"',
        'bob@example.com,false,,,,"a, ""b""\nc\rd",free,',
        '',
      ].join('\r\n'),
    );
  });

  it('escapes texts and headers that a spreadsheet would treat as formulas, but not numbers', async () => {
    const data = { a: '=1+1', b: '+1', c: '-1', d: '@SUM(A1)', e: '\tx', f: '\rx', g: -5, h: 'a=b', '=k': 'x' };
    await save('+ann@example.com', data);
    expect(await exported()).to.equal(
      [
        "email,subscribed,'=k,a,b,c,d,e,f,g,h",
        `'+ann@example.com,true,x,'=1+1,'+1,'-1,'@SUM(A1),"'\tx","'\rx",-5,a=b`,
        '',
      ].join('\r\n'),
    );
  });

  it('quotes what separates cells elsewhere, so that no part of a cell becomes a formula', async () => {
    await save('ann@example.com', { a: 'a;=1+1', b: 'a\t=1+1', c: '\n=1+1', 'k;=1+1': 'x' });
    expect(await exported()).to.equal(
      ['email,subscribed,a,b,c,"k;=1+1"', `ann@example.com,true,"a;=1+1","a\t=1+1","'\n=1+1",x`, ''].join('\r\n'),
    );
  });

  it('prefixes keys named like standard columns, and ignores inherited properties', async () => {
    await save('ann@example.com', { Subscribed: 'no', constructor: 'mine' });
    await save('bob@example.com');
    expect(await exported()).to.equal(
      'email,subscribed,data.Subscribed,constructor\r\nann@example.com,true,no,mine\r\nbob@example.com,true,,\r\n',
    );
  });

  it('returns 1,500 contacts in pages, each once', async () => {
    const writes = Array.from({ length: 1_500 }, (_, n) => ({
      email: `c${n}@example.com`,
      subscribedWhenNew: true,
      patch: { n },
      deletes: [],
    }));
    await writeContacts(db, project.id, writes);
    const rows = (await exported()).split('\r\n').slice(1, -1);
    expect(new Set(rows).size).to.equal(1_500);
    expect(rows).to.have.members(writes.map(({ email, patch }) => `${email},true,${patch.n}`));
  });

  it('stops reading pages when the client stops', async () => {
    const writes = Array.from({ length: 2_100 }, (_, n) => ({
      email: `c${n}@example.com`,
      subscribedWhenNew: true,
      patch: { text: 'x'.repeat(200) },
      deletes: [],
    }));
    await writeContacts(db, project.id, writes);
    const stream = await exportContacts(db, project.access);
    const pages = await statementsOf(async () => {
      for await (const _ of stream) break;
    });
    expect(pages.length).to.be.at.most(1);
    expect(stream.destroyed).to.equal(true);
  });
});
