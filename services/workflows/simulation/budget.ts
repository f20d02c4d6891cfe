import type { Step } from '../graph.ts';
import type { SimulatedStep } from './simulated-step.ts';

/** Limits of one simulation. */
export interface SimulationLimits {
  steps: number;
  /** Of virtual time. */
  years: number;
  /** Of real time. */
  ms: number;
  /** Bytes of the answer for bodies of mails and requests. Later bodies are omitted. */
  bodyBytes: number;
  /** Bytes of the answer for everything else about steps. */
  stepBytes: number;
  /** Bytes that are read and rendered, whether they are in the answer or not. */
  workBytes: number;
}

const MB = 1024 * 1024;

export const LIMITS: SimulationLimits = {
  steps: 1_000,
  years: 10,
  ms: 10_000,
  bodyBytes: 4 * MB,
  stepBytes: 4 * MB,
  workBytes: 32 * MB,
};

/** The first omission in an answer, and its reason. */
export interface Truncation {
  at: { stepId: string; visit: number };
  reason: string;
}

/** Counts the cost of a simulation. Sizes are those of the answer's JSON. */
export class SimulationBudget {
  truncated: Truncation | undefined;
  private readonly limits: SimulationLimits;
  private readonly deadline: number;
  private readonly configSizes = new Map<string, number>();
  private steps = 0;
  private bodyBytes = 0;
  private stepBytes = 0;
  private workBytes = 0;

  constructor(limits: SimulationLimits) {
    this.limits = limits;
    this.deadline = performance.now() + limits.ms;
  }

  /** Returns why no further step may be taken, or undefined when one may. */
  refusal(): string | undefined {
    const { steps, workBytes } = this.limits;
    if (this.steps >= steps) return `after ${steps} steps`;
    if (performance.now() > this.deadline) return 'it took too long';
    if (this.workBytes > workBytes) return `more than ${mb(workBytes)} would be read and rendered`;
    return undefined;
  }

  /** Counts a step and omits bodies that do not fit. Returns undefined when the step itself does not fit. */
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

  /** Keeps the first call only: the answer is incomplete from there on. */
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
    // Omits shorter bodies later on too, so that the answer has all bodies up to a point.
    this.bodyBytes = bodyBytes;
    this.cut(step, visit, `email and request bodies are omitted from here on: they exceed ${mb(bodyBytes)}`);
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
