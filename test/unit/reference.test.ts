import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeApiTypes } from '../../dev/api-types.ts';
import { clientMethod } from '../../dev/reference/client-methods.ts';
import { samplesOf } from '../../dev/reference/code-samples.ts';
import type { ReferenceDocument } from '../../dev/reference/operations.ts';
import { referencePages } from '../../dev/reference/pages.ts';
import { root } from '../../dev/root.ts';
import { execute, runCommand } from '../../dev/run.ts';
import { apiDocument } from '../support/api-document.ts';

describe('the API reference', () => {
  const document = apiDocument() as unknown as ReferenceDocument;
  const pages = referencePages(document);
  const operations = pages.flatMap((page) => page.operations);
  const anchorsOf = (markdown: string): string[] =>
    [...markdown.matchAll(/\{#(\S+)\}$|<span id="(\w+)"/gm)].map(([, heading, span]) => heading ?? span ?? '');

  it('has every operation and every type once', () => {
    const declared = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const anchors = pages.flatMap(({ markdown }) => anchorsOf(markdown));
    expect(new Set(anchors).size).to.equal(anchors.length);
    expect(anchors).to.include.members(declared.map(({ operationId }) => operationId));
    expect(anchors).to.include.members(Object.keys(document.components.schemas));
  });

  it('links only to what exists', () => {
    const targets = new Set(
      pages.flatMap(({ slug, markdown }) => anchorsOf(markdown).map((anchor) => `/api/${slug}#${anchor}`)),
    );
    const links = pages.flatMap(({ markdown }) =>
      [...markdown.matchAll(/\]\((\/api\/[^)]*)\)/g)].map(([, link]) => link),
    );
    expect(links).to.have.length.greaterThan(300);
    expect(links.filter((link = '') => !targets.has(link))).to.deep.equal([]);
  });

  describe('its examples', () => {
    const sample = (id: string, language: string): string | undefined => {
      const call = operations.find((operation) => operation.id === id)?.call;
      return call && samplesOf(call).find((one) => one.language === language)?.code;
    };

    it('exist for every operation in curl, TypeScript and Python', () => {
      expect(operations.length).to.be.greaterThan(200);
      for (const { id, call } of operations) {
        const samples = samplesOf(call);
        expect(
          samples.map(({ language }) => language),
          id,
        ).to.deep.equal(['sh', 'ts', 'python']);
        for (const { code } of samples) expect(code, id).to.contain('EVERPOST_URL').and.not.contain('undefined');
      }
    });

    it('call the operation with its method, path, key and body', () => {
      expect(sample('postV1Track', 'sh')).to.equal(`curl -sS --fail-with-body "$EVERPOST_URL/v1/track" \\
  -H "Authorization: Bearer $EVERPOST_PUBLIC_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
  "email": "ann@example.com",
  "event": "signed_up",
  "subscribed": true,
  "data": {
    "plan": "pro"
  }
}'`);
      expect(sample('postContacts', 'python')).to.equal(`import os

import requests

answer = requests.post(
    os.environ["EVERPOST_URL"] + "/contacts",
    headers={"Authorization": f"Bearer {os.environ['EVERPOST_SECRET_KEY']}"},
    json={
        "email": "ann@example.com",
        "subscribed": True,
        "data": {"name": "Ann", "plan": "pro"},
    },
    timeout=30,
)
answer.raise_for_status()
print(answer.text)`);
    });

    it('use the methods of the client', () => {
      expect(sample('patchContactsId', 'ts')).to.contain("await everpost.contacts.update('01928c7e");
      expect(sample('getContacts', 'ts')).to.contain('for await (const item of everpost.contacts.list())');
      expect(sample('postContactsLookup', 'ts')).to.contain("everpost.contacts.lookUp(['ann@example.com'])");
      expect(sample('getActivity', 'ts')).to.contain("await everpost.get('/activity')");
      const folder = join(root, 'client/src/resources');
      const calls = readdirSync(folder).flatMap((file) => [
        ...readFileSync(join(folder, file), 'utf8').matchAll(/(?:client\.(\w+)|items)\(\s*(?:client,\s*)?'([^']+)'/g),
      ]);
      const missed = calls
        .map(([, verb = 'get', path = '']) => [verb.toUpperCase(), path] as const)
        .filter(([method, path]) => !clientMethod(method, path))
        .map((call) => call.join(' '));
      // Its method takes a file.
      expect(missed).to.deep.equal(['POST /imports']);
    });

    it('are valid in the shell', async () => {
      const script = operations.map(({ id }) => sample(id, 'sh')).join('\n');
      await execute('sh', ['-n', '-c', script]);
    });

    it('pass the type checker with the client package', async () => {
      // A fresh checkout has no types of the API.
      writeApiTypes();
      const folder = mkdtempSync(join(tmpdir(), 'everpost-samples-'));
      try {
        for (const { id } of operations) writeFileSync(join(folder, `${id}.ts`), `${sample(id, 'ts')}\nexport {};\n`);
        writeFileSync(
          join(folder, 'tsconfig.json'),
          JSON.stringify({
            extends: join(root, 'tsconfig.json'),
            compilerOptions: {
              paths: { '@everpost/client': [join(root, 'client/src/index.ts')] },
              types: ['node'],
              typeRoots: [join(root, 'node_modules/@types')],
              module: 'preserve',
              moduleResolution: 'bundler',
            },
            include: [join(folder, '*.ts')],
            exclude: [],
          }),
        );
        const tsc = join(root, 'node_modules/typescript/bin/tsc');
        await runCommand(process.execPath, [tsc, '-p', folder], { cwd: root });
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
});
