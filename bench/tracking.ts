import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { connectDb, type Db, inTransaction } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { newId } from '../platform/ids.ts';
import { applyNotices } from '../services/emails/apply-notices.ts';
import { MailLinks } from '../services/emails/links.ts';
import { recordNotices } from '../services/emails/notices.ts';
import { addTracking, ownHead, trackingOf } from '../services/sending/add-tracking.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';

const ROUNDS = 5;
const LINKS = 20;
const MAILS = 2_000;
const NOTICES = Number(process.env.EVERPOST_BENCH_SCALE ?? 1) * 20_000;
const BATCH_SIZE = 500;

const links = new MailLinks({ baseUrl: 'https://mail.example.com', secretKeys: ['a key for a benchmark'] });
const item = (n: number) =>
  `<table width="100%" style="font:14px Arial"><tr><td style="padding:10px 20px"><p>Something about <b>product ${n}</b> that
   goes on for a line</p><a href="https://shop.example/p/${n}?utm_source=mail&amp;utm_medium=news">More</a></td></tr></table>`;
const NEWSLETTER = `<html><body>${Array.from({ length: LINKS }, (_, n) => item(n)).join('')}</body></html>`;

export const trackingBench: Bench = {
  name: 'tracking',
  about: `links of a newsletter compared with ${LINKS} bare HMACs; opens and clicks counted compared with a bare insert of their events`,
  run: async (progress) => [addingTracking(), await counting(progress)],
};

function addingTracking(): Measure {
  const projectId = newId();
  const rule = { type: 'MARKETING', tracking: 'ENABLED' } as const;
  const ours = microseconds(() => {
    const mail = { ...rule, id: newId(), from: 'shop@example.com', unsubscribeUrl: 'https://mail.example.com/u' };
    addTracking(NEWSLETTER, trackingOf(links, rule, { id: mail.id, projectId }));
    ownHead(links, mail, () => NEWSLETTER);
  });
  const bare = microseconds(() => {
    for (let n = 0; n < LINKS; n++)
      createHmac('sha256', 'a key').update(`https://shop.example/p/${n}`).digest('base64url');
  });
  return measure(`adding tracking to a mail of ${LINKS} links`, 'µs', ours, bare, '<= 2');
}

/** Measures processor time: elapsed time depends on other processes. */
function microseconds(work: () => void): number {
  for (let n = 0; n < MAILS; n++) work();
  const rounds = Array.from({ length: ROUNDS }, () => {
    const started = process.cpuUsage();
    for (let n = 0; n < MAILS; n++) work();
    const { user, system } = process.cpuUsage(started);
    return (user + system) / MAILS;
  });
  return median(rounds);
}

async function counting(progress: (line: string) => void): Promise<Measure> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), 'bench-tracking'),
    port: await freePort(),
    database: 'everpost',
    logFile: join(runDirectory(), 'bench-tracking.log'),
  });
  atEnd(() => postgres.stop());
  await migrate(postgres.url);
  const db = connectDb({ databaseUrl: postgres.url, poolSize: 4 });
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let round = 1; round <= 3; round++) {
    const { id } = await makeProject(db);
    const mails = await sentMails(db, id);
    let started = performance.now();
    for (let at = 0; at < mails.length; at += BATCH_SIZE) await bareEvents(db, id, mails.slice(at, at + BATCH_SIZE));
    rates.bare.push(perSecond(started));
    started = performance.now();
    for (let at = 0; at < mails.length; at += BATCH_SIZE)
      await recordNotices(
        db,
        mails
          .slice(at, at + BATCH_SIZE)
          .map((mail) => ({ mail: { id: mail.id }, kind: 'click', link: 'https://shop.example/' })),
      );
    while ((await applyNotices(db)) > 0);
    rates.ours.push(perSecond(started));
    progress(`round ${round} of 3`);
  }
  await db.destroy();
  return measure('clicks recorded and applied', 'clicks/s', median(rates.ours), median(rates.bare), '>= 0.3');
}

const perSecond = (started: number): number => (NOTICES / (performance.now() - started)) * 1000;

interface SentMail {
  id: string;
  contact_id: string;
}

async function sentMails(db: Db, projectId: string): Promise<SentMail[]> {
  const { rows } = await db.raw(
    `with contact as (
       insert into contacts (id, project_id, email, subscribed)
       select uuidv7(), ?, 'c' || n || '@' || ?::text || '.example', true from generate_series(1, ?) n returning id
     )
     insert into emails (id, project_id, contact_id, status, sent_at)
     select uuidv7(), ?, id, 'SENT', now() from contact returning id, contact_id`,
    [projectId, projectId, NOTICES, projectId],
  );
  await db.raw('analyze emails, contacts');
  return rows;
}

function bareEvents(db: Db, projectId: string, mails: SentMail[]): Promise<unknown> {
  return inTransaction(db, (trx) =>
    trx('events').insert(
      mails.map(({ id, contact_id: contactId }) => ({
        id: newId(),
        projectId,
        contactId,
        emailId: id,
        name: 'email.click',
        data: JSON.stringify({ emailId: id, link: 'https://shop.example/', isFirst: true }),
      })),
    ),
  );
}
