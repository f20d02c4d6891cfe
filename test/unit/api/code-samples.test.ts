import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ReferenceOperation, referenceOf } from '../../../api/http/reference.ts';
import { root } from '../../../dev/root.ts';
import { execute, runCommand } from '../../../dev/run.ts';
import { apiDocument } from '../../support/api-document.ts';

describe('the examples of the API reference', () => {
  let operations: ReferenceOperation[];

  before(() => {
    const options = { baseUrl: 'https://mail.example.com', from: 'hello@example.com' };
    operations = referenceOf(apiDocument(), options).groups.flatMap((group) => group.operations);
  });

  const sample = (id: string, language: string): string | undefined =>
    operations.find((operation) => operation.id === id)?.samples.find((one) => one.language === language)?.code;

  it('exist for every operation in curl, TypeScript and Python', () => {
    expect(operations.length).to.be.greaterThan(200);
    for (const { id, samples } of operations) {
      expect(
        samples.map(({ language }) => language),
        id,
      ).to.deep.equal(['curl', 'typescript', 'python']);
      for (const { code } of samples)
        expect(code, id).to.contain('https://mail.example.com').and.not.contain('undefined');
    }
  });

  it('call the operation with its method, path, key and body', () => {
    expect(sample('postV1Track', 'curl')).to.equal(`curl -sS --fail-with-body 'https://mail.example.com/v1/track' \\
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
    expect(sample('deleteContactsId', 'typescript')).to.contain(
      "await everpost.delete('/contacts/{id}', { path: { id: '",
    );
    expect(sample('postContacts', 'python')).to.equal(`import os

import requests

answer = requests.post(
    "https://mail.example.com/contacts",
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

  it('are valid in the shell', async () => {
    const script = operations.map(({ samples }) => samples[0]?.code).join('\n');
    await execute('sh', ['-n', '-c', script]);
  });

  it('pass the type checker with the client package', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everpost-samples-'));
    try {
      for (const { id } of operations)
        writeFileSync(join(folder, `${id}.ts`), `${sample(id, 'typescript')}\nexport {};\n`);
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
      await runCommand(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: root });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
