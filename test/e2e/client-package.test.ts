import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { buildClientPackage } from '../../dev/client-package.ts';
import { root } from '../../dev/root.ts';
import { execute } from '../../dev/run.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { visit } from '../support/browser.ts';
import { runDirectory } from '../support/cleanup.ts';

const MAX_TRACK_BYTES = 2_000;

/** A program of a user of the package. Every line marked must fail to compile. */
const PROGRAM = `
import { type Contact, createClient, isEverpostError, items, type SendRequest, verifyWebhook } from '@everpost/client';

const [baseUrl = '', secretKey = '', publicKey = '', sender = ''] = process.argv.slice(2);
const everpost = createClient({ baseUrl, secretKey, publicKey });

const email: SendRequest = { to: 'ann@example.com', from: sender, subject: 'Hello', body: '<p>Hello</p>' };
const { emails } = await everpost.emails.send(email);
await everpost.events.track({ email: 'ann@example.com', event: 'bought', data: { total: 3 } });
const addresses: string[] = [];
for await (const contact of everpost.contacts.list({ limit: 10 })) addresses.push(contact.email);
for await (const contact of items(everpost, '/contacts', { query: { limit: 10 } })) addresses.push(contact.email);
const first: Contact = await everpost.contacts.get(emails[0]?.contact.id ?? '');
addresses.push(first.email);
const code = await everpost.get('/contacts/{id}', { path: { id: 'unknown' } }).then(
  () => 'none',
  (error: unknown) => (isEverpostError(error, 'CONTACT_NOT_FOUND') ? error.code : String(error)),
);
console.log(JSON.stringify({ mails: emails.length, addresses, code }));

export async function typesOnly(body: string) {
  // @ts-expect-error: no such path
  await everpost.get('/contact');
  // @ts-expect-error: the path needs an id
  await everpost.get('/contacts/{id}');
  // @ts-expect-error: no such method
  await everpost.put('/contacts/{id}', { path: { id: '' } });
  // @ts-expect-error: an address is required
  await everpost.post('/contacts', { body: {} });
  // @ts-expect-error: a sender has no such field
  await everpost.emails.send({ to: 'ann@example.com', form: sender });
  // @ts-expect-error: no such code
  isEverpostError(null, 'NO_SUCH_CODE');
  const event = await verifyWebhook({ body, headers: new Headers(), secret: '' });
  if (event.type === 'email.click') {
    const id: string = event.data.emailId;
    return id;
  }
  // @ts-expect-error: an event of a contact has no e-mail
  return event.type === 'contact.deleted' ? event.data.emailId : undefined;
}
`;

describeApi('the package @everpost/client', (api) => {
  let project: ApiProject;
  let folder: string;
  const npm = (args: string[], cwd: string) =>
    execute('npm', [...args, '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd });

  before(async () => {
    project = await api.project();
    const source = join(runDirectory(), 'client-package');
    folder = join(runDirectory(), 'client-user');
    for (const directory of [source, folder]) mkdirSync(directory, { recursive: true });
    await buildClientPackage(join(source, 'dist'));
    for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(root, 'client', file), join(source, file));
    const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], source);
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
    await npm(['install', join(folder, filename)], folder);
  });

  it('is installed from its tarball, type-checked, and used against an API', async () => {
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          exactOptionalPropertyTypes: true,
          target: 'es2022',
          module: 'nodenext',
          lib: ['es2022'],
          outDir: 'out',
          types: ['node'],
          typeRoots: [join(root, 'node_modules/@types')],
        },
        files: ['program.ts'],
      }),
    );
    await execute(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
    const { publicKey, secretKey, senderDomain } = project;
    const { stdout } = await execute(process.execPath, [
      join(folder, 'out/program.js'),
      api.url,
      secretKey,
      publicKey,
      `shop@${senderDomain}`,
    ]);
    expect(JSON.parse(stdout)).to.deep.equal({
      mails: 1,
      addresses: ['ann@example.com', 'ann@example.com', 'ann@example.com'],
      code: 'CONTACT_NOT_FOUND',
    });
  });

  /** Bundles a module of the user as Vite does for a web page, and returns the bundle. */
  const bundle = async (name: string, source: string): Promise<string> => {
    const entry = join(folder, `${name}.js`);
    writeFileSync(entry, source);
    const outDir = join(folder, 'bundle');
    const lib = { entry, formats: ['es'], fileName: name };
    const config = { logLevel: 'error', build: { lib, outDir, minify: false, emptyOutDir: false } };
    writeFileSync(join(folder, 'vite.config.js'), `export default ${JSON.stringify(config)}`);
    await execute(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', folder]);
    return readFileSync(join(outDir, `${name}.js`), 'utf8');
  };

  it('leaves unused parts out of a bundle', async () => {
    const receiver = await bundle('receiver', "export { verifyWebhook } from '@everpost/client';");
    expect(receiver).to.include('webhook-signature').and.not.include('authorization').and.not.include('hasMore');
  });

  it('records an event from a web page of another origin, bundled', async () => {
    const options = JSON.stringify({ baseUrl: api.url, publicKey: project.publicKey });
    const script = await bundle(
      'page',
      `import { createTracker } from '@everpost/client/browser';
       const track = createTracker(${options});
       document.title = String(await track({ email: 'cleo@example.com', event: 'page_bundled' }));`,
    );
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><link rel="icon" href="data:,"><script type="module">${script}</script>`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const { page, close } = await visit({ url });
    try {
      await page.goto(url);
      await page.waitForFunction("document.title === 'true'");
    } finally {
      await close();
      server.close();
    }
    const { body } = await project.server.get('/events');
    expect(body.data.map(({ name }: { name: string }) => name)).to.include('page_bundled');
  });

  it('has a script for pages of less than 2 kB that records an event', async () => {
    const file = join(folder, 'node_modules/@everpost/client/dist/track.min.js');
    const script = readFileSync(file, 'utf8');
    expect(gzipSync(script, { level: 9 }).length).to.be.lessThan(MAX_TRACK_BYTES);
    const { createTracker } = new Function(`${script}; return everpost;`)() as {
      createTracker(options: object): (event: object) => Promise<boolean>;
    };
    const track = createTracker({ baseUrl: api.url, publicKey: project.publicKey });
    expect(await track({ email: 'bob@example.com', event: 'page_seen' })).to.equal(true);
    const { body } = await project.server.get('/events');
    expect(body.data.map(({ name }: { name: string }) => name)).to.include('page_seen');
  });
});
