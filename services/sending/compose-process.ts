import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { LimitedProcess, type ProcessLimits } from '../../platform/limited-process.ts';
import { restrictedProcessFlags, sourceExtension } from '../../platform/process-flags.ts';
import type { TemplateSkeleton } from '../../platform/templates/index.ts';
import type {
  ComposeBatch,
  ComposeOrder,
  ComposeResults,
  ComposeSettings,
  RenderedMail,
  SharedHead,
  SharedObject,
} from './compose-protocol.ts';

/** How many heads and skeletons a process keeps, and their characters. */
const MAX_SHARED = 1_000;
const MAX_SHARED_CHARACTERS = 16 * 1024 * 1024;
const HEAD_CHARACTERS = 4_000;

export interface ComposeProcessOptions {
  settings: ComposeSettings;
  limits: ProcessLimits;
  /** The program of the process; tests have one with poisonous mails. */
  entry?: string | undefined;
}

const ENTRY = join(import.meta.dirname, `compose-child${sourceExtension}`);
/** The compiled program: the folders of `services/`, `platform/` and `db/`. */
const PROGRAM = ['services', 'platform', 'db'].map((name) => join(import.meta.dirname, '../..', name));

let numberCount = 0;
const numbers = new WeakMap<SharedHead | TemplateSkeleton, number>();

function numberOf(object: SharedHead | TemplateSkeleton): number {
  const known = numbers.get(object);
  if (known !== undefined) return known;
  numbers.set(object, ++numberCount);
  return numberCount;
}

/** A process that composes and signs mails. It gets what mails share once. */
export class ComposeProcess {
  private readonly process: LimitedProcess<ComposeBatch, ComposeResults>;
  /** The numbers of what the process has. */
  private readonly sent: LRUCache<number, true>;
  private readonly evicted = new Set<number>();

  constructor({ settings, limits, entry = ENTRY }: ComposeProcessOptions) {
    const execArgv = restrictedProcessFlags([...PROGRAM, dirname(entry)]);
    const more = { settings, hasResultPipe: true };
    this.process = new LimitedProcess({ name: 'compose process', entry, execArgv, limits, ...more });
    this.sent = new LRUCache({
      max: MAX_SHARED,
      maxSize: MAX_SHARED_CHARACTERS,
      dispose: (_, number) => this.evicted.add(number),
    });
  }

  get exited(): Promise<void> {
    return this.process.exited;
  }

  get started(): boolean {
    return this.process.started;
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  kill(): void {
    this.process.kill();
  }

  /** Rejects with ProcessDiedError or StartError. Results passed to `onResults` before that stay valid. */
  run(mails: RenderedMail[], onResults: (results: ComposeResults) => void): Promise<void> {
    return this.process.run(this.toBatch(mails), mails.length, onResults);
  }

  private toBatch(mails: RenderedMail[]): ComposeBatch {
    const shared: ComposeBatch['shared'] = [];
    const orders = mails.map((mail): ComposeOrder => {
      const { head, body } = mail;
      const headNumber = this.share(shared, head, { head }, HEAD_CHARACTERS);
      if (!('skeleton' in body)) return { ...mail, head: headNumber, body };
      const { skeleton, values } = body;
      const skeletonNumber = this.share(shared, skeleton, { skeleton }, skeleton.html.length * 2);
      return { ...mail, head: headNumber, body: { skeleton: skeletonNumber, values } };
    });
    // What was evicted may have been sent again for a later mail of the batch.
    const forget = [...this.evicted].filter((number) => !this.sent.has(number));
    this.evicted.clear();
    return { shared, orders, forget };
  }

  private share(
    shared: ComposeBatch['shared'],
    object: SharedHead | TemplateSkeleton,
    sent: SharedObject,
    size: number,
  ): number {
    const number = numberOf(object);
    if (!this.sent.get(number)) {
      this.sent.set(number, true, { size: Math.max(1, size) });
      shared.push([number, sent]);
    }
    return number;
  }
}
