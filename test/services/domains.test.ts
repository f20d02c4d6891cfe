import { expect } from 'chai';
import { pino } from 'pino';
import type { Listener } from '../../db/listener.ts';
import { Domain } from '../../db/models/domain.ts';
import { DomainKey } from '../../db/models/domain-key.ts';
import { currentSealPrefix, SealError } from '../../platform/crypto/seal.ts';
import { createResolver } from '../../platform/http/resolver.ts';
import { readSettings } from '../../platform/settings.ts';
import { releaseBlockedMail } from '../../services/blocking/release.ts';
import { afterCheck } from '../../services/domains/check.ts';
import { domainChecker } from '../../services/domains/check-now.ts';
import { createDomain } from '../../services/domains/create.ts';
import { deleteDomain } from '../../services/domains/delete.ts';
import { addSigningKey, makeDomainKey, openPrivateKey } from '../../services/domains/keys.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { notifyDomainsChanged } from '../../services/domains/notify.ts';
import { SignerCache } from '../../services/domains/signing-key.ts';
import { webhookSecret } from '../../services/projects/webhook-secret.ts';
import { resealSecrets } from '../../services/sealing/reseal.ts';
import { SYSTEM_PROJECT_ID } from '../../services/system/project.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { addMail, mailById } from '../support/ledger.ts';
import { patientListener, startListener } from '../support/listeners.ts';
import { setMails } from '../support/rows/mails.ts';
import { eventually } from '../support/waiting.ts';

const OLD = 'the key that everything was sealed with';
const NEW = 'the key that takes its place';

describe('domain services', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
  });
  after(() => database.close());

  const settings = (SECRET_KEY: string) => readSettings({ SECRET_KEY });
  const added = async (name: string, keys = OLD) =>
    (await createDomain(database.db, project.access, name, settings(keys))).domain;

  describe('afterCheck', () => {
    const verified = { status: 'VERIFIED', failedChecks: 0 } as const;

    it('ends a verification after three failures in a row', () => {
      const first = afterCheck(verified, 'failed');
      const second = afterCheck(first, 'failed');
      expect([first.status, second.status, afterCheck(second, 'failed').status]).to.deep.equal([
        'VERIFIED',
        'VERIFIED',
        'PENDING',
      ]);
    });

    it('starts from zero after a passed check and does not count failed lookups', () => {
      const twice = { status: 'VERIFIED', failedChecks: 2 } as const;
      expect(afterCheck(twice, 'passed')).to.deep.equal(verified);
      expect(afterCheck(twice, 'unknown')).to.deep.equal(twice);
    });
  });

  describe('signing key', () => {
    let listener: Listener;
    const logs: Record<string, unknown>[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void logs.push(JSON.parse(line)) });

    const cacheWith = async (...keys: [string, ...string[]]) => {
      listener = patientListener(database.url);
      const cache = new SignerCache(database.db, listener, keys, log);
      await startListener(listener);
      return cache;
    };
    afterEach(() => listener.stop());

    it('is cached and belongs to the domain of the project only', async () => {
      const { id } = await added('signs.example');
      const cache = await cacheWith(OLD);
      const [key] = await DomainKey.query(database.db).where({ domainId: id });
      const signer = await cache.signerFor(project.id, 'signs.example');
      expect(signer?.selector).to.equal(key?.selector);
      expect(signer?.privateKey).to.contain('BEGIN PRIVATE KEY');
      expect(await cache.signerFor(project.id, 'signs.example')).to.equal(signer);
      const other = await makeProject(database.db);
      expect(await cache.signerFor(other.id, 'signs.example')).to.equal(undefined);
      expect(await cache.signerFor(project.id, 'elsewhere.example')).to.equal(undefined);
    });

    it('changes in every process when the transaction commits', async () => {
      const { id } = await added('rotates.example');
      const cache = await cacheWith(OLD);
      const before = await cache.signerFor(project.id, 'rotates.example');
      const next = await makeDomainKey([OLD]);
      await database.db.transaction(async (trx) => {
        await DomainKey.query(trx).where({ domainId: id }).patch({ signs: false });
        await addSigningKey(trx, id, next);
        await notifyDomainsChanged(trx, project.id);
      });
      const after = await eventually(async () => {
        const signer = await cache.signerFor(project.id, 'rotates.example');
        return signer?.selector !== before?.selector && signer;
      });
      expect(after?.selector).to.equal(next.selector);
      await deleteDomain(database.db, project.access, id);
      await eventually(async () => (await cache.signerFor(project.id, 'rotates.example')) === undefined);
    });

    it('is unique per domain', async () => {
      const { id } = await added('single.example');
      const second = await addSigningKey(database.db, id, await makeDomainKey([OLD])).catch((error: Error) => error);
      expect(String(second)).to.match(/domain_keys_signing/);
    });

    it('signs system mail when the operator has added and verified its domain', async () => {
      const { id } = await added('operator.example');
      const cache = await cacheWith(OLD);
      expect(await cache.signerFor(SYSTEM_PROJECT_ID, 'operator.example')).to.equal(undefined);
      await database.db.transaction(async (trx) => {
        await Domain.query(trx).findById(id).patch({ status: 'VERIFIED' });
        await notifyDomainsChanged(trx, project.id);
      });
      await eventually(async () => (await cache.signerFor(SYSTEM_PROJECT_ID, 'operator.example')) !== undefined);
    });

    it('throws and is logged when it cannot be unsealed', async () => {
      await added('lost.example');
      const cache = await cacheWith('a key that has sealed nothing');
      const error = await cache.signerFor(project.id, 'lost.example').catch((error: Error) => error);
      expect(error).to.be.instanceOf(SealError);
      expect(logs.some(({ domain }) => domain === 'lost.example')).to.equal(true);
    });

    it('exists and is listed for a managed domain that was given one', async () => {
      const cache = await cacheWith(OLD);
      await addManagedDomain(database.db, project.id, 'ours.example', [OLD]);
      expect(await cache.signerFor(project.id, 'ours.example')).to.not.equal(undefined);
    });
  });

  it('shares one check between concurrent calls, and checks in this process when the loop is unavailable', async () => {
    const domain = await added('together.example');
    const resolver = createResolver({ servers: ['127.0.0.1:9'], timeoutMs: 50, deadlineMs: 200 });
    const asked: string[] = [];
    let answer: (answer: 'checked' | 'unavailable') => void = () => {};
    const check = domainChecker({ db: database.db, resolver, settings: settings(OLD) }, ({ workflowId }) => {
      asked.push(workflowId);
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const lastCheck = async () => (await Domain.query(database.db).findById(domain.id))?.lastCheckedAt;
    const together = [check(domain), check(domain), check(domain)];
    answer('checked');
    await Promise.all(together);
    expect(asked).to.deep.equal([`domain/${project.id}/${domain.id}/1`]);
    expect(await lastCheck()).to.equal(null);
    const again = check(domain);
    answer('unavailable');
    await again;
    expect(asked).to.have.length(2);
    expect(await lastCheck()).to.be.instanceOf(Date);
    resolver.close();
  });

  it('seals secrets anew after another key is put first', async () => {
    const { id } = await added('resealed.example');
    await webhookSecret(database.db, [OLD], project.id);
    const secret = await webhookSecret(database.db, [OLD], project.id);
    expect(await resealSecrets(database.db, [NEW, OLD])).to.be.at.least(2);
    expect(await resealSecrets(database.db, [NEW, OLD])).to.equal(0);
    const [key] = await DomainKey.query(database.db).where({ domainId: id });
    expect(key?.privateKey.startsWith(currentSealPrefix([NEW]))).to.equal(true);
    if (key) expect(openPrivateKey([NEW], key)).to.contain('BEGIN PRIVATE KEY');
    expect(await webhookSecret(database.db, [NEW], project.id)).to.equal(secret);
    // Secrets that no key opens stay unchanged.
    expect(await resealSecrets(database.db, ['quite another key'])).to.equal(0);
  });

  it('releases blocked mail when the domain is verified again', async () => {
    const domain = await added('regained.example', NEW);
    const id = await addMail(database.db, { project: project.id });
    const blocked = {
      reason: 'domain not verified',
      blockedDomain: domain.domain,
      dueAt: new Date(Date.now() + 86_400_000),
    };
    await setMails(database.db, { id }, blocked);
    await releaseBlockedMail(database.db, domain);
    expect((await mailById(database.db, id)).reason).to.equal('domain not verified');
    await Domain.query(database.db).findById(domain.id).patch({ status: 'VERIFIED' });
    await releaseBlockedMail(database.db, domain);
    const { reason, dueAt } = await mailById(database.db, id);
    expect(reason).to.equal(null);
    expect(dueAt.getTime()).to.be.at.most(Date.now() + 1_000);
  });
});
