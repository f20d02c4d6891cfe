import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { backupCommands } from '../../dev/stack/backup.ts';
import { Home } from '../../dev/stack/home.ts';

describe('everpost backup and restore', () => {
  let folder: string;
  let home: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'everpost-backup-test-'));
    home = join(folder, 'home');
    file = join(folder, 'backup.tar.gz');
    write('postgres/PG_VERSION', '18\n');
    write('temporal/temporal.db', 'history');
    write('credentials.json', '{}');
    write('logs/api.log', 'a line');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(name: string, content: string): void {
    const path = join(home, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
  }
  const read = (name: string) => readFileSync(join(home, name), 'utf8');
  const failure = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'it did not fail',
      (error: Error) => error.message,
    );
  const restore = (options = { replace: false }) => backupCommands.restore(home, file, options);

  /** Packs a file with another manifest. */
  function pack(manifest: object): void {
    const content = join(folder, 'content');
    mkdirSync(join(content, 'postgres'), { recursive: true });
    writeFileSync(join(content, 'backup.json'), JSON.stringify(manifest));
    execFileSync('tar', ['-czf', file, '-C', content, 'backup.json', 'postgres']);
  }
  const manifest = { product: 'everpost', format: 1, version: '0.1.0', migrations: ['001-baseline'], postgres: '18' };

  it("saves the database, Temporal's file and the credentials, but no logs", async () => {
    await backupCommands.backup(home, file);
    rmSync(home, { recursive: true });
    const { names, aside } = await restore();
    expect(names).to.deep.equal(['postgres', 'temporal', 'credentials.json']);
    expect(aside).to.equal(undefined);
    expect(read('temporal/temporal.db')).to.equal('history');
    expect(existsSync(join(home, 'logs'))).to.equal(false);
    expect(readdirSync(home).filter((name) => name.startsWith('.restore'))).to.deep.equal([]);
  });

  it('writes a file that only its owner can read, and refuses to overwrite one', async () => {
    const umask = process.umask(0);
    try {
      await backupCommands.backup(home, file);
    } finally {
      process.umask(umask);
    }
    expect((statSync(file).mode & 0o777).toString(8)).to.equal('600');
    const content = readFileSync(file);
    expect(await failure(backupCommands.backup(home, file))).to.contain('exists already');
    expect(readFileSync(file).equals(content)).to.equal(true);
    expect(existsSync(`${file}.part`)).to.equal(false);
  });

  it('refuses both while the stack is running', async () => {
    await backupCommands.backup(home, file);
    const lock = new Home(home).lock();
    try {
      expect(await failure(backupCommands.backup(home, file)))
        .to.contain('is running')
        .and.contain('Stop it first');
      expect(await failure(restore({ replace: true }))).to.contain('is running');
    } finally {
      lock.release();
    }
  });

  it('refuses to overwrite data, unless told to put it aside', async () => {
    await backupCommands.backup(home, file);
    write('temporal/temporal.db', 'later');
    expect(await failure(restore())).to.contain('--replace');
    expect(read('temporal/temporal.db')).to.equal('later');
    const { aside = '' } = await restore({ replace: true });
    expect(read('temporal/temporal.db')).to.equal('history');
    expect(readFileSync(join(aside, 'temporal/temporal.db'), 'utf8')).to.equal('later');
  });

  it('refuses a home without data', async () => {
    expect(await failure(backupCommands.backup(join(folder, 'empty'), file))).to.contain('There is no data');
    expect(existsSync(file)).to.equal(false);
  });

  it('refuses a file that is missing, damaged or of another program, and changes nothing', async () => {
    expect(await failure(restore())).to.contain('does not exist');
    writeFileSync(file, 'hello');
    expect(await failure(restore())).to.contain('is not a backup of Everpost');
    pack({ ...manifest, product: 'other' });
    expect(await failure(restore({ replace: true }))).to.contain('is not a backup of Everpost');
    pack({});
    expect(await failure(restore({ replace: true }))).to.contain('is not a backup of Everpost');
    expect(read('temporal/temporal.db')).to.equal('history');
  });

  it('refuses a backup of a newer version, or of another Postgres', async () => {
    pack({ ...manifest, version: '9.0.0', migrations: ['001-baseline', '999-future'] });
    expect(await failure(restore({ replace: true }))).to.contain('newer version (9.0.0)');
    pack({ ...manifest, format: 2 });
    expect(await failure(restore({ replace: true }))).to.contain('newer version');
    pack({ ...manifest, postgres: '17' });
    expect(await failure(restore({ replace: true }))).to.contain('Postgres 17');
    expect(read('temporal/temporal.db')).to.equal('history');
  });

  it('leaves no half-written backup when the copy fails', async () => {
    const message = await failure(backupCommands.backup(home, join(folder, 'missing-folder', 'backup.tar.gz')));
    expect(message).to.contain('tar');
    expect(readdirSync(folder)).to.deep.equal(['home']);
  });
});
