import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';

// One way to the database: models for single rows, `statement`s for sets, `sql` for what is composed. See
// docs/decisions/code-structure.md.

const folders = ['activities', 'api', 'cli', 'db', 'services', 'worker'];
/** Migrations run before there are models. */
const migrating = /^db\/(?:migrate\.ts|migrations\/)/;

const otherWays: Record<string, RegExp> = {
  'a query builder without a model':
    /\b(?:db|trx)(?:<[^>]*>)?\(['"`]|\b(?:db|trx)\.(?:from|select|insert|table|with|schema)\b/,
  'raw SQL outside of a statement': /\.(?:raw|\w+Raw)\(/,
  'a join or a group in a chain': /\.(?:\w+Join|joinRelated|groupBy)\(|\.join\(['"`]\w+ as /,
  'a column that is renamed to camelCase': / as "[a-z]+[A-Z]\w*"(?:,|`|$)/,
  'a transaction without inTransaction': /\b(?:db|trx)\.transaction\(/,
};

const exceptions: Record<string, string> = {
  'db/connect.ts': 'a transaction without inTransaction',
  // A savepoint.
  'services/contacts/write.ts': 'a transaction without inTransaction',
};

const files = folders
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  )
  .filter((file) => !migrating.test(file));

const linesWith = (pattern: RegExp, allowed: (file: string) => boolean): string[] =>
  files
    .filter((file) => !allowed(file))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, n) => (pattern.test(line) ? [`${file}:${n + 1} ${line.trim()}`] : [])),
    );

describe('ways to the database', () => {
  for (const [way, pattern] of Object.entries(otherWays))
    it(`does not contain ${way}`, () => {
      expect(linesWith(pattern, (file) => exceptions[file] === way)).to.deep.equal([]);
    });

  it('writes the ledger, its contents and its bodies in one module', () => {
    const inserts = linesWith(/insert into email(?:s|_contents|_bodies)(?: \(|$)/, () => false);
    expect(inserts.map((line) => line.split(':')[0])).to.deep.equal(Array(3).fill('db/models/email-writing.ts'));
  });

  it('finds each of these ways', () => {
    const examples = [
      "await trx('jobs').where({ id }).first<Job>('id');",
      "await db.raw('select 1');",
      ".leftJoin('users as u', 'u.id', 'k.createdBy')",
      'select created_at as "createdAt"',
      'await db.transaction(async (trx) => {',
    ];
    for (const [n, pattern] of Object.values(otherWays).entries()) expect(examples[n]).to.match(pattern);
  });
});
