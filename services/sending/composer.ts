import { availableParallelism } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { ProcessDiedError, ProcessLimits } from '../../platform/limited-process.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SmtpMessage } from '../../platform/mime/smtp-message.ts';
import { processTimings } from '../../platform/timings.ts';
import type { ComposeSettings, RenderedMail } from './compose-protocol.ts';
import { type ComposeJob, ComposeQueue, type Refused } from './compose-queue.ts';

export const QUARANTINE_REASON =
  'composing or signing this email exceeded the time or memory limit twice; it was not sent and is not retried';

/** The largest mail that the API accepts takes about half a second and 200 MB. */
const LIMITS: ProcessLimits = { silenceMs: 5_000, heapMb: 512, totalMb: 1_024 };
const BATCH_SIZE = 64;
/** In `again`: enough for any innocent mail, so that mails cut by their neighbour do not wait for it twice. */
const SHORT_SHARE = 0.2;
/** How long mail with a head that had a poisonous mail stays away from other mail. */
const SUSPECT_MS = 60_000;
/** When this many mails of a head were quarantined and none was composed, its others are not tried. */
const MIN_QUARANTINED = 8;

export interface ComposerOptions {
  settings: ComposeSettings;
  log: Logger;
  /** As many as there are processor cores by default. */
  processes?: number | undefined;
  limits?: Partial<ProcessLimits> | undefined;
  /** After which a process without work ends. */
  keepMs?: number | undefined;
  /** Called for every mail that is quarantined. */
  onQuarantined?: ((mail: RenderedMail) => void) | undefined;
  /** The program of the processes, for tests. */
  entry?: string | undefined;
}

/** What happened lately to mails that were composed alone. */
interface SuspectRecord {
  composed: number;
  quarantined: number;
}

/**
 * Composes and signs mails in processes that are killed when they exceed a limit. Mails of a killed process are composed
 * again, one at a time: first with little time, so that innocent mails are through soon, then with twice the ordinary
 * time. A mail that is cut again then is quarantined.
 */
export class Composer {
  private readonly log: Logger;
  private readonly onQuarantined: ComposerOptions['onQuarantined'];
  private readonly ordinary: ComposeQueue;
  private readonly again: ComposeQueue;
  private readonly alone: ComposeQueue;
  /** By head, because the mails of a campaign are alike. */
  private readonly suspects = new LRUCache<object, SuspectRecord>({ max: 1_000, ttl: SUSPECT_MS });

  constructor({ settings, log, processes, limits, keepMs, onQuarantined, entry }: ComposerOptions) {
    this.log = log;
    this.onQuarantined = onQuarantined;
    const all = { ...LIMITS, ...limits };
    // Ends as soon as there is no work.
    const shared = { process: { settings, entry }, processes: 1, batchSize: 1, keepMs: 0 };
    const onComposed = ({ mail }: ComposeJob) => this.record(mail, 'composed');
    this.ordinary = new ComposeQueue({
      ...shared,
      limits: all,
      processes: processes ?? availableParallelism(),
      batchSize: BATCH_SIZE,
      keepMs: keepMs ?? processTimings.limitedProcess.keep,
      onCut: (job, death) => this.onCut(job, death),
    });
    this.again = new ComposeQueue({
      ...shared,
      limits: { ...all, silenceMs: all.silenceMs * SHORT_SHARE },
      onComposed,
      onCut: (job, death) => (death.reason === 'memory' ? this.quarantine(job, death) : this.alone.add(job)),
    });
    this.alone = new ComposeQueue({
      ...shared,
      limits: { ...all, silenceMs: all.silenceMs * 2 },
      onComposed,
      onCut: (job, death) => this.onCutAlone(job, death),
    });
  }

  /** Starts a process before there is mail, unless one runs. */
  warm(): void {
    this.ordinary.warm();
  }

  /** Refuses a mail that has no valid MIME form or is quarantined. Rejects when no process can be started. */
  compose(mail: RenderedMail): Promise<SmtpMessage | Refused> {
    return new Promise((done, failed) => {
      const job: ComposeJob = { mail, size: sizeOf(mail), done, failed };
      const record = this.suspects.size > 0 ? this.suspects.get(mail.head) : undefined;
      if (!record || record.composed > record.quarantined) this.ordinary.add(job);
      else if (record.composed === 0 && record.quarantined >= MIN_QUARANTINED) this.refuse(job);
      else this.again.add(job);
    });
  }

  /** Process ids of the running processes. */
  get pids(): number[] {
    return [this.ordinary, this.again, this.alone].flatMap(({ pids }) => pids);
  }

  /** Ends all processes and fails the mails that are not finished. */
  async close(): Promise<void> {
    await Promise.all([this.ordinary, this.again, this.alone].map((queue) => queue.close()));
  }

  private onCut(job: ComposeJob, { reason, message }: ProcessDiedError): void {
    this.log.warn({ of: reason, detail: message, emailId: job.mail.id }, 'compose process died; mail is tried again');
    this.again.add(job);
  }

  private onCutAlone(job: ComposeJob, death: ProcessDiedError): void {
    // Killed from outside, perhaps for another reason. Once, because the system also kills what takes all memory.
    if (death.reason === 'killed' && !job.killedAlone) {
      job.killedAlone = true;
      this.alone.add(job);
    } else this.quarantine(job, death);
  }

  private quarantine(job: ComposeJob, { reason, message }: ProcessDiedError): void {
    const { id, head } = job.mail;
    this.log.error({ of: reason, detail: message, emailId: id, projectId: head.projectId }, 'mail quarantined');
    this.record(job.mail, 'quarantined');
    this.refuse(job);
  }

  private refuse({ mail, done }: ComposeJob): void {
    this.onQuarantined?.(mail);
    done({ kind: 'refused', reason: QUARANTINE_REASON });
  }

  private record({ head }: RenderedMail, what: keyof SuspectRecord): void {
    const record = this.suspects.get(head) ?? { composed: 0, quarantined: 0 };
    if (what === 'composed' && record.quarantined === 0) return;
    record[what]++;
    this.suspects.set(head, record);
  }
}

function sizeOf({ body, attachments }: RenderedMail): number {
  const text = 'values' in body ? body.values.reduce((sum, { length }) => sum + length, 0) : body.html.length;
  return text + (attachments?.reduce((sum, { content }) => sum + content.length, 0) ?? 0);
}
