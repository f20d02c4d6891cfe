import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { pino } from 'pino';
import { compiledProgram } from '../../../dev/program.ts';
import { newId } from '../../../platform/ids.ts';
import type { RenderedMail, SharedHead } from '../../../services/sending/compose-protocol.ts';
import type * as composerModule from '../../../services/sending/composer.ts';
import { type Composer, type ComposerOptions, QUARANTINE_REASON } from '../../../services/sending/composer.ts';
import { poisonousComposer, SILENCE_MS } from '../../support/composer.ts';
import { testLinkSettings } from '../../support/links.ts';
import { eventually } from '../../support/waiting.ts';

const headOf = (projectId = newId()): SharedHead => ({
  projectId,
  type: 'TRANSACTIONAL',
  tracking: 'DISABLED',
  from: { email: 'shop@demo.localhost' },
  replyTo: null,
  headers: {},
  dkim: undefined,
});
const head = headOf();

const mail = (subject: string, more: Partial<RenderedMail> = {}): RenderedMail => ({
  id: newId(),
  head,
  to: { email: 'ann@example.com' },
  subject,
  body: { html: '<p>Hello</p>', text: 'Hello' },
  ...more,
});

describe('composing in processes', () => {
  let composer: Composer | undefined;
  const quarantined: string[] = [];
  const start = (options: Partial<ComposerOptions> = {}): Composer => {
    composer = poisonousComposer({ onQuarantined: ({ subject }) => quarantined.push(subject), ...options });
    return composer;
  };
  afterEach(async () => {
    await composer?.close();
    quarantined.length = 0;
  });

  /** Composes mails at once and returns the subjects of those that were composed, and the reasons of the others. */
  async function outcomes(mails: RenderedMail[]): Promise<string[]> {
    const messages = await Promise.all(mails.map((one) => composer?.compose(one)));
    return messages.map((message) => {
      if (!message || 'kind' in message) return message?.reason ?? '';
      return /^Subject: (.*)\r$/m.exec(message.raw.toString())?.[1] ?? '';
    });
  }

  for (const [poison, limits] of [
    ['HANG', { silenceMs: SILENCE_MS }],
    ['FILL HEAP', { heapMb: 64 }],
    ['FILL BUFFERS', { totalMb: 400 }],
    ['KILL', {}],
  ] as const)
    it(`quarantines a mail that makes its process ${poison}, and composes the others of its batch`, async () => {
      start({ limits });
      const mails = ['one', 'two', poison, 'three', 'four'].map((subject) => mail(subject));
      expect(await outcomes(mails)).to.deep.equal(['one', 'two', QUARANTINE_REASON, 'three', 'four']);
      expect(quarantined).to.deep.equal([poison]);
      expect(await outcomes([mail('five', { head: headOf() })])).to.deep.equal(['five']);
    });

  it('composes other mail while a poisonous one is tried alone', async () => {
    // Nothing is killed for its silence, so the poisonous mail hangs until the end of the test.
    start();
    await outcomes([mail('warm')]);
    const poisonous = outcomes([mail('HANG')]);
    const order: string[] = [];
    const ended = poisonous.catch(() => {}).then(() => order.push('poisonous'));
    // Its process dies, so it is tried again, alone.
    const killed = composer?.pids ?? [];
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    const isNew = (pid: number) => !killed.includes(pid);
    await eventually(() => composer?.pids.length === 1 && composer.pids.every(isNew), {
      what: 'a process for one mail',
    });
    for (let n = 0; n < 5; n++) await outcomes([mail(`other ${n}`, { head: headOf() })]);
    order.push('others');
    await composer?.close();
    await ended;
    expect(order).to.deep.equal(['others', 'poisonous']);
  });

  it('does not try all mails of a head when many were quarantined and none was composed', async () => {
    start();
    expect(new Set(await outcomes(Array.from({ length: 8 }, (_, n) => mail(`ABORT ${n}`))))).to.deep.equal(
      new Set([QUARANTINE_REASON]),
    );
    // Would be composed if it was tried.
    expect(await outcomes([mail('same head'), mail('other head', { head: headOf() })])).to.deep.equal([
      QUARANTINE_REASON,
      'other head',
    ]);
  });

  it('starts a process with the first mail, and another one after it was killed', async () => {
    const { pids } = start({ processes: 2 });
    expect(pids).to.deep.equal([]);
    await outcomes([mail('one')]);
    const [first = 0, ...others] = composer?.pids ?? [];
    expect(others).to.deep.equal([]);
    process.kill(first, 'SIGKILL');
    await eventually(() => composer?.pids.length === 0, { what: 'its end' });
    expect(await outcomes([mail('two')])).to.deep.equal(['two']);
    expect(composer?.pids).to.have.lengthOf(1);
  });

  it('starts one process before there is mail when it is warmed up', async () => {
    const own = start({ processes: 2 });
    own.warm();
    own.warm();
    const { pids } = own;
    expect(pids).to.have.lengthOf(1);
    expect(await outcomes([mail('one')])).to.deep.equal(['one']);
    expect(own.pids).to.deep.equal(pids);
  });

  it('ends its processes when there is no mail for a while, and starts them again', async () => {
    start({ processes: 2, keepMs: 50 });
    for (const subject of ['one', 'two']) {
      expect(await outcomes([mail(subject)])).to.deep.equal([subject]);
      await eventually(() => composer?.pids.length === 0, { what: 'the end of its process' });
    }
    expect(quarantined).to.deep.equal([]);
  });

  it('loses no mail when a process is killed from outside', async () => {
    start({ processes: 2 });
    await outcomes([mail('warm')]);
    const subjects = Array.from({ length: 500 }, (_, n) => `mail ${n}`);
    const composing = outcomes(subjects.map((subject) => mail(subject)));
    for (const pid of composer?.pids ?? []) process.kill(pid, 'SIGKILL');
    expect(await composing).to.deep.equal(subjects);
    expect(quarantined).to.deep.equal([]);
  });

  it('rejects when no process can be started, and when it is closed', async () => {
    start({ entry: '/nowhere/compose-child.js' });
    const error = await composer?.compose(mail('one')).catch((error) => error);
    expect(error).to.be.an('error').with.property('message').that.contains('The compose process ended');
    await composer?.close();
    expect(await composer?.compose(mail('two')).catch((error) => error)).to.be.an('error');
  });

  it('refuses a mail without a valid MIME form', async () => {
    start();
    const [reason, other] = await outcomes([mail('one', { to: { email: 'a b@' } }), mail('two')]);
    expect(reason).to.match(/^cannot be composed: Invalid address/);
    expect(other).to.equal('two');
    expect(quarantined).to.deep.equal([]);
  });

  it('keeps each mail with its own head, body and bytes over many heads and skeletons', async () => {
    start({ processes: 2 });
    const heads = Array.from({ length: 40 }, (_, n) => ({ ...headOf(), from: { email: `s${n}@demo.localhost` } }));
    const skeletons = Array.from({ length: 30 }, (_, n) => ({
      html: `<p>${n} ${'x'.repeat(1_000)}</p>`,
      text: [`${n}`],
      crowded: false,
    }));
    const mails = Array.from({ length: 1_500 }, (_, n) =>
      mail(`Subject ${n}`, {
        head: heads[(n * 7) % 40] ?? head,
        body: { skeleton: skeletons[(n * 11) % 30] ?? { html: '', text: [], crowded: false }, values: [] },
      }),
    );
    const messages = await Promise.all(mails.map((one) => composer?.compose(one)));
    for (const [n, message] of messages.entries()) {
      const raw = message && 'raw' in message ? message.raw.toString() : '';
      expect(raw).to.match(new RegExp(`^From: s${(n * 7) % 40}@`));
      expect(raw)
        .to.contain(`Subject: Subject ${n}\r\n`)
        .and.to.contain(`<p>${(n * 11) % 30} xxx`);
    }
  });

  it('forgets what has not been used for long, and gets it again', async () => {
    start();
    const large = (n: number) => ({ html: `<p>${n}${'y'.repeat(250_000)}</p>`, text: [''], crowded: false });
    const skeletons = Array.from({ length: 60 }, (_, n) => large(n));
    for (let round = 0; round < 2; round++)
      for (const [n, skeleton] of skeletons.entries()) {
        const message = await composer?.compose(mail('large', { body: { skeleton, values: [] } }));
        expect(message && 'raw' in message && message.raw.includes(`<p>${n}yyy`)).to.equal(true);
      }
  });

  it('composes when compiled, with read access to its own program only and an empty environment', async () => {
    const compiled = pathToFileURL(join(await compiledProgram(), 'services/sending/composer.js')).href;
    const { Composer: Compiled } = (await import(compiled)) as typeof composerModule;
    composer = new Compiled({ settings: testLinkSettings, log: pino({ level: 'silent' }), processes: 1 });
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const signed = { ...headOf(), dkim: { domain: 'demo.localhost', selector: 'ep1', privateKey } };
    const attachments = [
      { filename: 'a', contentType: 'text/plain', disposition: 'attachment' as const, content: Buffer.from('a') },
    ];
    expect(await outcomes([mail('one', { head: signed }), mail('two', { attachments })])).to.deep.equal(['one', 'two']);
    const [pid] = composer.pids;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (process.platform === 'linux') {
      expect(command.filter((flag) => /permission/.test(flag))).to.have.lengthOf(1);
      expect(environment.split('\0').filter((line) => line && !line.startsWith('NODE_CHANNEL'))).to.deep.equal([]);
    }
  });
});
