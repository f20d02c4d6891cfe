import { ApiError } from '../../platform/errors.ts';

export interface ConcurrencyLimits {
  /** Requests at once that are allowed for long. */
  lasting: number;
  /** Requests at once that are allowed for a moment. */
  peak: number;
  /** How long there may be more than `lasting`. */
  peakMs: number;
}

/** At some hundreds of requests a second, this many wait for about a second. */
const OF_PROCESS: ConcurrencyLimits = { lasting: 500, peak: 2_000, peakMs: 5_000 };
/** So that slow requests of one project do not take the place of all others. */
const OF_PROJECT: ConcurrencyLimits = { ...OF_PROCESS, lasting: 400 };

/** Requests of people who are logged in to no project, and of recipients of mail. */
const NO_PROJECT = '';

/**
 * Refuses requests while the process works on too many: each more would only make all others wait longer. A short peak
 * passes. Requests count while their caller is checked, and again while they are answered; not while their body is still
 * arriving, because their clients decide how long that takes.
 */
export class ConcurrencyLimit {
  readonly #total: OpenRequests;
  readonly #ofProject: ConcurrencyLimits;
  readonly #projects = new Map<string, OpenRequests>();

  constructor(ofProcess = OF_PROCESS, ofProject = OF_PROJECT) {
    this.#total = new OpenRequests(ofProcess);
    this.#ofProject = ofProject;
  }

  /** Runs `work`, or answers with 503 at once. */
  async run<T>(projectId: string | undefined, work: () => T | Promise<T>): Promise<T> {
    const key = projectId ?? NO_PROJECT;
    const own = this.#projects.get(key) ?? new OpenRequests(this.#ofProject);
    if (this.#total.isFull() || (projectId !== undefined && own.isFull())) throw tooBusy();
    this.#projects.set(key, own);
    this.#total.begin();
    own.begin();
    try {
      return await work();
    } finally {
      this.#total.end();
      if (own.end() === 0) this.#projects.delete(key);
    }
  }
}

class OpenRequests {
  #open = 0;
  /** Since when there are more than `lasting`; until they are fewer than half of that. */
  #busySince: number | undefined;
  readonly #limits: ConcurrencyLimits;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  isFull(): boolean {
    const { lasting, peak, peakMs } = this.#limits;
    if (this.#open < lasting) return false;
    this.#busySince ??= performance.now();
    return this.#open >= peak || performance.now() - this.#busySince > peakMs;
  }

  begin(): void {
    this.#open++;
  }

  /** Returns how many are left. */
  end(): number {
    this.#open--;
    if (this.#open < this.#limits.lasting / 2) this.#busySince = undefined;
    return this.#open;
  }
}

const tooBusy = () =>
  new ApiError(503, 'INTERNAL_SERVER_ERROR', 'The service is handling too many requests.', {
    suggestion: 'Nothing was changed. Retry in a moment.',
    headers: { 'Retry-After': '2' },
  });
