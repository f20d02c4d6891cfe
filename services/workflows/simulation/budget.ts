import type { Step } from '../graph.ts';
import type { SimulatedStep } from './simulate.ts';

/** What one simulation may cost, for its whole answer. */
export interface Limits {
  steps: number;
  /** Of virtual time. */
  years: number;
  /** Of real time. */
  ms: number;
  /** Bytes of the answer for the texts of mails and requests. What comes after is left out. */
  bodyBytes: number;
  /** Bytes of the answer for everything else that is told of steps. */
  stepBytes: number;
  /** Bytes that are read and rendered, whether they are shown or not. */
  workBytes: number;
}

const MB = 1024 * 1024;

export const LIMITS: Limits = {
  steps: 1_000,
  years: 10,
  ms: 10_000,
  bodyBytes: 4 * MB,
  stepBytes: 4 * MB,
  workBytes: 32 * MB,
};

/** Where an answer was cut first, and why. */
export interface Truncation {
  at: { stepId: string; visit: number };
  reason: string;
}

/** Keeps count of what a simulation costs. Sizes are those of the JSON that is answered. */
export class Budget {
  truncated: Truncation | undefined;
  private readonly limits: Limits;
  private readonly deadline: number;
  private readonly configSizes = new Map<string, number>();
  private steps = 0;
  private bodyBytes = 0;
  private stepBytes = 0;
  private workBytes = 0;

  constructor(limits: Limits) {
    this.limits = limits;
    this.deadline = performance.now() + limits.ms;
  }

  /** Why there may not be one more step; undefined: it may be taken. */
  refusal(): string | undefined {
    const { steps, workBytes } = this.limits;
    if (this.steps >= steps) return `after ${steps} steps`;
    if (performance.now() > this.deadline) return 'it took too long';
    if (this.workBytes > workBytes) return `more than ${mb(workBytes)} would be read and rendered`;
    return undefined;
  }

  /** Counts a step that was taken and drops texts for which there is no room. Undefined: there is no room for it. */
  admit(taken: SimulatedStep): SimulatedStep | undefined {
    this.steps++;
    const { email, webhook } = taken;
    this.workBytes += this.configSize(taken.step);
    const shown: SimulatedStep = {
      ...taken,
      email: email && { ...email, html: this.body(taken, email.html), text: this.body(taken, email.text) },
      webhook: webhook && { ...webhook, body: this.body(taken, webhook.body) },
    };
    this.stepBytes += sizeOf({
      ...shown,
      step: { id: taken.step.id, type: taken.step.type, name: taken.step.name },
      email: email && { ...email, html: null, text: null },
      webhook: webhook && { ...webhook, body: null },
    });
    return this.stepBytes > this.limits.stepBytes ? undefined : shown;
  }

  /** The first cut counts: nothing after it is complete. */
  cut({ id: stepId }: Pick<Step, 'id'>, visit: number, reason: string): void {
    this.truncated ??= { at: { stepId, visit }, reason };
  }

  private body({ step, visit }: SimulatedStep, text: string | null): string | null {
    if (text === null) return null;
    const size = sizeOf(text);
    this.workBytes += size;
    const { bodyBytes } = this.limits;
    if (this.bodyBytes + size <= bodyBytes) {
      this.bodyBytes += size;
      return text;
    }
    // Not even a short one later on: what is shown is what came first.
    this.bodyBytes = bodyBytes;
    this.cut(
      step,
      visit,
      `the texts of mails and requests from here on are left out: they are more than ${mb(bodyBytes)}`,
    );
    return null;
  }

  private configSize({ id, config }: Step): number {
    const size = this.configSizes.get(id) ?? sizeOf(config);
    this.configSizes.set(id, size);
    return size;
  }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

export const mb = (bytes: number): string => `${Number((bytes / MB).toFixed(1))} MB`;
