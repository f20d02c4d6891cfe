import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { functionsAfterTables, functionsBeforeTables } from '../../../db/functions.ts';
import { root } from '../../../dev/root.ts';

const folder = join(root, 'test/db/functions');

describe('tests of the database functions', () => {
  it('has one describe per file of db/functions', () => {
    const described = readdirSync(folder)
      .filter((file) => file.endsWith('.test.ts'))
      .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/^ {2}describe\('(\w+)'/gm)])
      .map(([, name]) => name);
    const names = [...functionsBeforeTables, ...functionsAfterTables].map(({ name }) => name);
    expect(described.sort()).to.deep.equal(names.sort());
  });

  it('finds the name of each file in the function, view or trigger that it creates', () => {
    for (const { name, sql } of [...functionsBeforeTables, ...functionsAfterTables])
      expect(sql, name).to.match(new RegExp(`^create or replace (function|view) ${name}\\b`, 'm'));
  });
});
