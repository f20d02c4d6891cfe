import { expect } from 'chai';
import type { EmailStatus } from '../../db/models/email.ts';
import { type FaultPoint, faultPoints } from '../../platform/fault-points.ts';
import { advanceCampaign } from '../../services/campaigns/advance.ts';
import { addContacts, limits, startCampaign } from './campaigns.ts';
import { makeProject } from './connected-database.ts';
import { type ServiceProcess, spawnWorker } from './processes.ts';
import { endLeases, testSender } from './sending.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from './stack.ts';
import { eventually } from './waiting.ts';

const MAILS = 3;

type CrashedMail = 'transactional' | 'campaign';
/** Where the crash found a mail. */
type Place = 'waiting' | 'leased' | 'inFlight' | 'ended' | 'persisted';
type Range = number | [least: number, most: number];
type Left = Partial<Record<Place, Range>> & { received?: Range };

/** What a crash leaves of three mails that one SMTP connection sends. Without a number, none is left there. */
const left: Record<FaultPoint, Record<CrashedMail, Left>> = {
  'sender-started': both({ waiting: 3 }),
  'mail-leased': both({ leased: 3 }),
  'mail-prepared': both({ leased: 3 }),
  connected: both({ leased: 3 }),
  'before-begin': both({ leased: 3 }),
  'after-begin': both({ inFlight: 1, leased: 2 }),
  'before-data': both({ inFlight: 1, leased: 2 }),
  // The next mail of a campaign begins while one is in flight.
  'after-data': {
    transactional: { inFlight: 1, leased: 2, received: 1 },
    campaign: { inFlight: [1, 2], leased: [1, 2], received: 1 },
  },
  // A connection does not await the write of a result: until then the relay may accept the next mail that has begun.
  'before-end': {
    transactional: { inFlight: 1, leased: 2, received: 1 },
    campaign: { inFlight: [1, 2], leased: [1, 2], received: [1, 2] },
  },
  // The statement that stores a result begins the next mail too, if that is prepared by then.
  'after-end': {
    transactional: { ended: 1, inFlight: [0, 1], leased: [1, 2], received: 1 },
    campaign: { ended: 1, inFlight: [0, 2], leased: [0, 2], received: [1, 2] },
  },
  'before-persist': both({ ended: [1, 3], inFlight: [0, 2], leased: [0, 2], received: [1, 3] }),
  'after-persist': both({ persisted: [1, 3], ended: [0, 2], inFlight: [0, 2], leased: [0, 2], received: [1, 3] }),
  // Stopped while its first mail was in flight. Whether that result was stored is not certain.
  'before-release': {
    transactional: { leased: 2, inFlight: [0, 1], ended: [0, 1], received: 1 },
    campaign: { leased: [1, 2], inFlight: [0, 2], ended: [0, 2], received: [1, 2] },
  },
  'after-release': {
    transactional: { waiting: 2, persisted: 1, received: 1 },
    campaign: { waiting: [1, 2], persisted: [1, 2], received: [1, 2] },
  },
  // After `after-data`: a second process dies while it recovers the mail of the first.
  'recovery-outcomes-stored': {
    transactional: { ended: 1, leased: 2, received: 1 },
    campaign: { ended: [1, 2], leased: [1, 2], received: 1 },
  },
  'recovery-mails-freed': {
    transactional: { ended: 1, waiting: 2, received: 1 },
    campaign: { ended: [1, 2], waiting: [1, 2], received: 1 },
  },
  'recovery-results-persisted': {
    transactional: { waiting: 3, received: 1 },
    campaign: { persisted: [1, 2], waiting: [1, 2], received: 1 },
  },
};

function both(one: Left): Record<CrashedMail, Left> {
  return { transactional: one, campaign: one };
}

interface FoundMail {
  id: string;
  status: EmailStatus;
  attempts: number;
  unknownOutcomes: number;
  place: Place;
}

/** Declares a test for each fault point: a worker ends itself there, and another sender continues. */
export const crashTests = (kind: CrashedMail) =>
  function (this: Mocha.Suite): void {
    let temporal: OwnNamespace;
    let stack: Stack;
    const workers: ServiceProcess[] = [];

    before(async () => {
      temporal = await ownNamespace();
      stack = await startStack(temporal, { SMTP_MAX_CONNECTIONS: '1', RATE_LIMIT_PER_MINUTE: '0' });
    });
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.kill()));
      stack.smtp.behave();
      stack.smtp.mails.length = 0;
      // What a failed test left must not be sent in the next one.
      const { db } = stack.database;
      await db('emails').where({ status: 'PENDING' }).update({ status: 'CANCELLED' });
      await db('outgoing_mails').del();
    });
    after(async () => {
      await stack?.end();
      await temporal?.close();
    });

    const accepted: Record<CrashedMail, () => Promise<string[]>> = {
      transactional: () => Promise.all(Array.from({ length: MAILS }, () => stack.send())),
      campaign: async () => {
        const { db } = stack.database;
        const project = await makeProject(db);
        await addContacts(db, project, MAILS);
        const { id, generation } = await startCampaign(db, project);
        await advanceCampaign({ db, limits, now: () => new Date() }, { campaignId: id, generation });
        campaignId = id;
        return [];
      },
    };
    let campaignId: string | undefined;

    const found = async (ids: string[]): Promise<FoundMail[]> => {
      const { db } = stack.database;
      const { rows } = await db.raw(
        `select e.id, e.status, e.attempts, e.unknown_outcomes as "unknownOutcomes", case
           when o.email_id is null then case when e.status = 'PENDING' then 'waiting' else 'persisted' end
           when o.started_at is null then 'leased' when o.ended_at is null then 'inFlight' else 'ended' end as place
         from emails e left join outgoing_mails o on o.email_id = e.id
         where e.id = any (?::uuid[]) or e.campaign_id = ?::uuid`,
        [ids, campaignId ?? null],
      );
      return rows;
    };

    /** Runs a worker until it ends itself at the fault point, and ends its lease. */
    async function crashAt(point: FaultPoint): Promise<void> {
      const { env, smtp, database } = stack;
      if (point.endsWith('-release')) smtp.misbehave({ at: 'accepted', do: 'hang', times: 1 });
      // A busy machine that loses its lease would release mail, and crash, before the relay has any.
      const timings = point.endsWith('-release') ? { EVERPOST_TIMINGS: 'production' } : {};
      const worker = await spawnWorker({ ...env, ...timings, EVERPOST_FAULT_POINT: `${point}:1` });
      workers.push(worker);
      if (point.endsWith('-release')) {
        await smtp.received(1);
        await worker.ready();
        worker.signal('SIGTERM');
        // Nothing more begins, and what has begun is finished.
        await eventually(() => worker.logs().includes('shutting down'), { what: 'the shutdown' });
        smtp.behave();
      }
      expect(await worker.exited, worker.logs()).to.deep.equal({ code: null, signal: 'SIGKILL' });
      await endLeases(database.db);
    }

    for (const point of faultPoints)
      it(`${point}, ${kind} mail: the next sender does what docs/sending.md says`, async () => {
        const { smtp, database } = stack;
        campaignId = undefined;
        const ids = await accepted[kind]();
        const unknownBefore = new Map<string, number>();
        if (point.startsWith('recovery-')) {
          await crashAt('after-data');
          for (const mail of await found(ids)) if (mail.place === 'inFlight') unknownBefore.set(mail.id, 1);
        }
        await crashAt(point);

        const copies = (id: string) => smtp.mails.filter(({ messageId }) => messageId?.startsWith(`<${id}@`)).length;
        const mails = await found(ids);
        expect(mails).to.have.length(MAILS);
        const { received = 0, ...places } = left[point][kind];
        for (const place of ['waiting', 'leased', 'inFlight', 'ended', 'persisted'] as const)
          expectWithin(mails.filter((mail) => mail.place === place).length, places[place] ?? 0, place);
        expectWithin(smtp.mails.length, received, 'received by the relay');
        const copiesBefore = new Map(mails.map(({ id }) => [id, copies(id)]));

        const second = testSender(database.url, { url: smtp.url, connections: 1 });
        await second.send().finally(() => second.close());
        expect(await database.db('outgoing_mails')).to.deep.equal([]);
        const after = new Map((await found(ids)).map((mail) => [mail.id, mail]));
        for (const { id, place } of mails) {
          const isUnknown = place === 'inFlight' || unknownBefore.has(id);
          const before = copiesBefore.get(id) ?? 0;
          const { status, attempts, unknownOutcomes } = after.get(id) ?? {};
          const result = { place, status, attempts, unknownOutcomes, copies: copies(id) };
          if (!isUnknown)
            expect(result).to.deep.equal({ place, status: 'SENT', attempts: 1, unknownOutcomes: 0, copies: 1 });
          else if (kind === 'campaign')
            expect(result).to.deep.equal({ place, status: 'UNKNOWN', attempts: 1, unknownOutcomes: 1, copies: before });
          else
            expect(result).to.deep.equal({
              place,
              status: 'SENT',
              attempts: 2,
              unknownOutcomes: 1,
              copies: before + 1,
            });
        }
      });
  };

function expectWithin(count: number, range: Range, what: string): void {
  const [least, most] = typeof range === 'number' ? [range, range] : range;
  expect(count, what).to.be.within(least, most);
}
