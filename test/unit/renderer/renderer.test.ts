import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { pino } from 'pino';
import { compiledProgram } from '../../../dev/program.ts';
import { root } from '../../../dev/root.ts';
import type * as rendererModule from '../../../platform/templates/index.ts';
import {
  createRenderer,
  type Renderer,
  type RendererOptions,
  type RenderItem,
} from '../../../platform/templates/index.ts';
import { eventually } from '../../support/waiting.ts';

const log = pino({ level: 'silent' });
const item = (data: Record<string, unknown> = {}): RenderItem => ({ data, builtIn: {} });
const people = (count: number): RenderItem[] => Array.from({ length: count }, (_, n) => item({ name: `P${n}` }));
const mail = { subject: 'Hi {{ name }}', html: '<p>{{ name }}</p>' };

/** A template that takes a while but stays within the limits. */
const slow = (times: number) =>
  `{% for a in range(${times}) %}{% for b in range(${times}) %}{% endfor %}{% endfor %}{{ name }}`;

/** Longer than a busy machine needs for any mail. */
const patient = { silenceMs: 600_000 };

/** Runs `work` with a renderer of its own, for tests that harm it. */
async function withRenderer(
  { limits, ...options }: Partial<RendererOptions>,
  work: (renderer: Renderer) => Promise<void>,
) {
  const renderer = createRenderer({ log, processes: 1, limits: { ...patient, ...limits }, ...options });
  try {
    await work(renderer);
  } finally {
    await renderer.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the renderer', () => {
  let renderer: Renderer;

  before(() => {
    renderer = createRenderer({ log, processes: 2, limits: patient });
  });
  after(() => renderer.close());

  it('starts no process before the first job', () => {
    expect(renderer.pids).to.deep.equal([]);
  });

  it('ends its processes when there is no job for a while, and starts them again', () =>
    withRenderer({ keepMs: 50 }, async (own) => {
      own.warm();
      expect(own.pids).to.have.lengthOf(1);
      for (let round = 0; round < 2; round++) {
        expect(await own.render({ ...mail, items: people(3) })).to.have.lengthOf(3);
        await eventually(() => own.pids.length === 0, { what: 'the end of its processes' });
      }
    }));

  it('serves a mail without template tags from the cache after its first rendering', () =>
    withRenderer({}, async (own) => {
      const fixed = { subject: 'Your\nreceipt', html: '<p>Thank you &amp; goodbye</p>' };
      const [first] = await own.render({ ...fixed, items: people(1) });
      expect(first).to.include({ ok: true, subject: 'Your receipt', html: fixed.html, text: 'Thank you & goodbye' });
      await own.close();
      expect(own.pids).to.deep.equal([]);
      expect(await own.render({ ...fixed, items: people(3) })).to.deep.equal([first, first, first]);
      const others = [{ ...fixed, subject: '{{ name }}' }, { ...fixed, html: '<p>{# x #}</p>' }, mail];
      for (const other of others) {
        const refused = await own.render({ ...other, items: people(1) }).catch((error: Error) => error.message);
        expect(refused).to.equal('The renderer is closed.');
      }
    }));

  it('returns one skeleton and separate values for mails that take the same branches', async () => {
    const html =
      '{% if vip %}<b>{{ name }}</b>{% else %}<i title="{{ name }}">{{ name }} &amp; {{ plan }}</i>{% endif %}';
    const of = (data: Record<string, unknown>) => renderer.render({ subject: '', html, items: [item(data)] });
    const results = [
      ...(await of({ name: 'A & "B"', plan: 'x' })),
      ...(await of({ name: 'Bo', plan: '<y>' })),
      ...(await of({ name: 'Cy', vip: true })),
      ...(await of({ name: 'two\nlines', plan: 'x' })),
    ];
    const shared = results.map((result) => (result.ok ? result.skeletonMail : undefined));
    expect(shared.map((one) => one?.values)).to.deep.equal([['A & "B"', 'x'], ['Bo', '<y>'], ['Cy'], ['x']]);
    expect(shared[1]?.skeleton).to.equal(shared[0]?.skeleton);
    expect(new Set(shared.map((one) => one?.skeleton))).to.have.property('size', 3);
    expect(results.map((result) => result.ok && result.html)).to.deep.equal([
      '<i title="A &amp; &quot;B&quot;">A &amp; &quot;B&quot; &amp; x</i>',
      '<i title="Bo">Bo &amp; &lt;y&gt;</i>',
      '<b>Cy</b>',
      '<i title="two\nlines">two\nlines &amp; x</i>',
    ]);
    expect(results.map((result) => result.ok && result.text)).to.deep.equal([
      'A & "B" & x',
      'Bo & <y>',
      'Cy',
      'two lines & x',
    ]);
  });

  it('returns no skeleton for a mail with too many values or with placeholder characters in its source', async () => {
    const many = { subject: '', html: '{% for n in range(1500) %}{{ name }} {% endfor %}', items: people(1) };
    const odd = { subject: '', html: '<p>\x020\x03 {{ name }}</p>', items: people(1) };
    const [first] = await renderer.render(many);
    const [second] = await renderer.render(odd);
    expect(first)
      .to.include({ ok: true, html: 'P0 '.repeat(1500) })
      .and.not.have.property('skeletonMail');
    expect(second).to.include({ ok: true, html: '<p>\x020\x03 P0</p>' }).and.not.have.property('skeletonMail');
  });

  it('never treats half a surrogate pair as a value', async () => {
    const html = '{{ name[0] }}{{ name[1] }}!';
    const [result] = await renderer.render({ subject: '', html, items: [item({ name: '😀' })] });
    expect(result).to.include({ html: '😀!', text: '😀!' });
    expect(result?.ok && result.skeletonMail?.values).to.deep.equal([]);
  });

  it('returns one result per item, in order', async () => {
    const results = await renderer.render({ ...mail, items: people(1000) });
    expect(results).to.have.lengthOf(1000);
    for (const [index, { data }] of people(1000).entries()) {
      const { name } = data;
      expect(results[index]).to.include({ ok: true, subject: `Hi ${name}`, html: `<p>${name}</p>`, text: name });
    }
    expect(await renderer.render({ ...mail, items: [] })).to.deep.equal([]);
  });

  it('returns each of 300 concurrent jobs its own results', async () => {
    const names = Array.from({ length: 300 }, (_, n) => `Job ${n}`);
    const results = await Promise.all(
      names.map((name) => renderer.render({ subject: name, html: `<p>${name} {{ name }}</p>`, items: people(2) })),
    );
    expect(results.map(([, second]) => second?.ok && second.text)).to.deep.equal(names.map((name) => `${name} P1`));
  });

  it('prefers built-in variables to keys of data, and keeps those under `data`', async () => {
    const html = '{{ email }} {{ data.email }} {{ plan }} {{ data.plan }} {{ data.data }}';
    const one = {
      data: { email: 'forged@example.com', plan: 'pro', data: 'd' },
      builtIn: { email: 'ann@example.com' },
    };
    const [result] = await renderer.render({ subject: '', html, items: [one] });
    expect(result).to.include({ html: 'ann@example.com forged@example.com pro pro d' });
  });

  it('renders the footer at the end of the body', async () => {
    const footer = '<p>Bye {{ name }} <a href="{{ url }}">leave</a></p>';
    const items = ['a', 'b'].map((name) => ({
      data: { name },
      builtIn: { url: `https://example.com/${name}` },
      footer,
    }));
    const [a, b] = await renderer.render({ subject: '', html: '<html><body>x</body></html>', items });
    expect(a).to.include({
      html: '<html><body>x<p>Bye a <a href="https://example.com/a">leave</a></p></body></html>',
      text: 'x\n\nBye a leave [https://example.com/a]',
    });
    expect(b).to.include({ text: 'x\n\nBye b leave [https://example.com/b]' });
  });

  it('renders a mail whose template is invalid by replacing its variables', async () => {
    const [result] = await renderer.render({ subject: '{{ x | nope }}', html: '{% if %}{{ name }}', items: people(1) });
    expect(result).to.include({ ok: true, subject: '{{ x | nope }}', html: '{% if %}P0' });
  });

  it('renders a body of several megabytes', async () => {
    const html = `<p>${'Lorem ipsum '.repeat(500_000)}</p>{{ name }}`;
    const [result] = await renderer.render({ subject: '', html, items: people(1) });
    expect(result?.ok && result.html).to.equal(html.replace('{{ name }}', 'P0'));
  });

  for (const signal of ['SIGKILL', 'SIGABRT'] as const)
    it(`renders every mail when its processes end by ${signal}`, () =>
      withRenderer({ processes: 2 }, async (renderer) => {
        await renderer.render({ ...mail, items: people(1) });
        const working = Array.from({ length: 5 }, () =>
          renderer.render({ subject: '', html: slow(60), items: people(60) }),
        );
        const killed = await eventually(() => renderer.pids.length === 2 && renderer.pids);
        for (const pid of killed) process.kill(pid, signal);
        for (const results of await Promise.all(working))
          expect(results.map((result) => result.ok && result.html)).to.deep.equal(
            people(60).map(({ data }) => data.name),
          );
        expect(renderer.pids).to.not.have.members(killed);
        expect(await renderer.render({ ...mail, items: people(3) })).to.have.lengthOf(3);
      }));

  it('kills a process that stops responding and renders its mails in another one', () =>
    withRenderer({ limits: { silenceMs: 5_000 } }, async (renderer) => {
      await renderer.render({ ...mail, items: people(1) });
      const [stuck = 0] = renderer.pids;
      process.kill(stuck, 'SIGSTOP');
      const results = await renderer.render({ ...mail, items: people(10) });
      expect(results.every(({ ok }) => ok)).to.equal(true);
      expect(isAlive(stuck)).to.equal(false);
    }));

  it('refuses only the mail that exceeds the memory limit', () =>
    withRenderer({ limits: { heapMb: 64 } }, async (renderer) => {
      const items = people(30);
      items[7] = item({ huge: new Array(3_000_000).fill({ a: 1 }) });
      const results = await renderer.render({ ...mail, items });
      expect(results[7]).to.include({ ok: false, reason: 'memory' });
      expect(results.filter(({ ok }) => ok)).to.have.lengthOf(29);
    }));

  it('refuses a mail that exceeds the time limit', () =>
    withRenderer({ limits: { silenceMs: 1 } }, async (renderer) => {
      const [result] = await renderer.render({ subject: '', html: slow(400), items: people(1) });
      expect(result).to.include({ ok: false, reason: 'time' });
    }));

  describe('compiled', () => {
    let directory = '';
    let compiled: typeof rendererModule;

    before(async () => {
      await mkdir(join(root, 'dist'), { recursive: true });
      directory = await mkdtemp(join(root, 'dist/renderer-test-'));
      await cp(join(await compiledProgram(), 'platform'), join(directory, 'platform'), { recursive: true });
      compiled = (await import(
        pathToFileURL(join(directory, 'platform/templates/index.js')).href
      )) as typeof rendererModule;
    });

    after(() => rm(directory, { recursive: true, force: true }));

    const renderOne = async (check: (renderer: Renderer) => Promise<void> = async () => {}) => {
      const renderer = compiled.createRenderer({ log, processes: 1 });
      try {
        const [result] = await renderer.render({ ...mail, items: people(1) });
        expect(result).to.include({ ok: true, subject: 'Hi P0', html: '<p>P0</p>', text: 'P0' });
        await check(renderer);
      } finally {
        await renderer.close();
      }
    };

    it('renders with read access to its own program only and an empty environment', () =>
      renderOne(async (renderer) => {
        const [pid] = renderer.pids;
        const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
        if (process.platform === 'linux') {
          expect(command.filter((flag) => /permission|allow/.test(flag))).to.have.lengthOf(5);
          expect(environment.split('\0').filter((line) => line && !line.startsWith('NODE_CHANNEL'))).to.deep.equal([]);
        }
      }));

    it('renders where node_modules is a symbolic link', async () => {
      await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
      await renderOne();
    });
  });

  it('rejects the job when no process can be started', () =>
    withRenderer({ limits: { heapMb: 1 } }, async (renderer) => {
      const failed = await renderer.render({ ...mail, items: people(2) }).catch((error: Error) => error);
      expect(failed).to.be.instanceOf(Error).with.property('message').that.contains('before it was ready');
    }));

  it('ends all processes and rejects unfinished jobs when it is closed', async () => {
    const renderer = createRenderer({ log });
    await renderer.render({ ...mail, items: people(1) });
    const unfinished = renderer
      .render({ subject: '', html: slow(100), items: people(500) })
      .catch((error: Error) => error);
    const pids = await eventually(() => renderer.pids.length > 0 && renderer.pids);
    await renderer.close();
    expect(pids.filter(isAlive)).to.deep.equal([]);
    expect(renderer.pids).to.deep.equal([]);
    expect(await unfinished)
      .to.be.instanceOf(Error)
      .with.property('message', 'The renderer is closed.');
    expect(await renderer.render({ ...mail, items: people(1) }).catch((error: Error) => error)).to.be.instanceOf(Error);
  });
});
