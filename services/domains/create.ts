import { UniqueViolationError } from 'objection';
import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { ApiError, badRequest, validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Settings } from '../../platform/settings.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { type DomainWithRecords, nameTaken, recordsOf, verifiedElsewhere } from './find.ts';
import { addSigningKey, makeDomainKey } from './keys.ts';
import { startLoop } from './loop.ts';
import { readDomainName } from './name.ts';
import { notifyDomainsChanged } from './notify.ts';

/** Adds a sender domain and starts its check loop. */
export async function createDomain(
  db: Db,
  project: ProjectAccess,
  given: string,
  settings: Pick<Settings, 'secretKeys' | 'mailFrom'>,
): Promise<DomainWithRecords> {
  const read = readDomainName(given);
  if ('violation' in read)
    throw validationError([{ field: 'domain', message: `"domain" ${read.violation}`, code: 'invalid_string' }]);
  const { name } = read;
  // Checked before the key, which is slow to generate. Unique indexes decide between concurrent requests.
  const { projectId } = project;
  if (await Domain.query(db).findOne({ projectId, domain: name })) throw alreadyAdded(name);
  if ((await verifiedElsewhere(db, projectId, [{ domain: name, status: 'PENDING' }])).size > 0) throw nameTaken(name);
  await refuseTooMany(db, projectId);
  const key = await makeDomainKey(settings.secretKeys);
  return writing(db, project, async (trx) => {
    const domain = await Domain.query(trx)
      .insertAndFetch({ id: newId(), projectId, domain: name })
      .catch((error: unknown) => {
        throw error instanceof UniqueViolationError ? alreadyAdded(name) : error;
      });
    const added = await addSigningKey(trx, domain.id, key);
    await startLoop(trx, domain);
    await notifyDomainsChanged(trx, projectId);
    await recordAudit(trx, project, {
      action: 'domain.created',
      target: { type: 'domain', id: domain.id },
      changes: changesOf({}, { name }),
    });
    return recordsOf(domain, [added], settings);
  });
}

/** Each pending domain is looked up every few minutes for as long as it exists. */
const MAX_PENDING = 100;

async function refuseTooMany(db: Db, projectId: string): Promise<void> {
  const pending = await Domain.query(db).where({ projectId, status: 'PENDING' }).resultSize();
  if (pending >= MAX_PENDING)
    throw badRequest(`This project already has ${pending} pending domains. Verify or delete some first.`);
}

const alreadyAdded = (name: string) =>
  new ApiError(409, 'CONFLICT', `This project already has the domain ${name}.`, {
    suggestion: 'GET /domains/project/current lists its DNS records.',
  });
