// OpenTelemetry traces, sent as JSON over OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/). Off without an endpoint.
//
// No row carries a trace: the trace of a mail, an event or an execution has the id of its row, a UUID being as long as a
// trace id. A request has its own trace, or the caller's (`traceparent`), and links to those of the rows that it wrote.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

export interface TracingOptions {
  /** The base address of a collector, such as `http://localhost:4318`. */
  endpoint: string;
  /** The part of traces that are sent, from 0 to 1. */
  ratio: number;
  service: string;
  version: string;
  onError?: (error: unknown) => void;
}

export interface SpanOptions {
  /** The id of the row that the trace belongs to; unset: the trace of the span around it, or a new one. */
  row?: string;
  /** The header `traceparent` of a caller (https://www.w3.org/TR/trace-context/). */
  traceparent?: string | undefined;
  kind?: keyof typeof kinds;
  attributes?: Attributes;
}

export type Attributes = Record<string, string | number | boolean | undefined>;

export interface TraceSpan {
  set(attributes: Attributes): void;
  /** Gives the span a better name, once it is known. */
  rename(name: string): void;
  fail(message: string): void;
}

interface SpanData {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attributes;
  links: string[];
  error?: string;
}

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
const SEND_MS = 1_000;
const MAX_WAITING = 5_000;
const MAX_LINKS = 100;
const TIMEOUT_MS = 5_000;
const NOTHING: TraceSpan = { set: () => {}, rename: () => {}, fail: () => {} };

let exporter: Exporter | undefined;
const active = new AsyncLocalStorage<SpanData>();

/** Sends spans from now on. Returns how to stop, which sends the last ones. */
export function startTracing(options: TracingOptions): () => Promise<void> {
  const started = new Exporter(options);
  exporter = started;
  return async () => {
    if (exporter === started) exporter = undefined;
    await started.stop();
  };
}

/** Runs `work` in a span. Costs nothing while tracing is off. */
export async function inSpan<T>(name: string, options: SpanOptions, work: (span: TraceSpan) => Promise<T>): Promise<T> {
  const target = exporter;
  if (!target) return work(NOTHING);
  const data = begin(name, options);
  try {
    return await active.run(data, () => work(handleOf(data)));
  } catch (error) {
    data.error = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    data.endTimeUnixNano = now();
    target.add(data);
  }
}

/** Links the current span to the trace of a row that it has written. */
export function linkToRow(id: string): void {
  const links = active.getStore()?.links;
  if (links && links.length < MAX_LINKS) links.push(traceOf(id));
}

export const isTracing = (): boolean => exporter !== undefined;

function begin(name: string, { row, traceparent, kind = 'internal', attributes = {} }: SpanOptions): SpanData {
  const [, callersTrace, callersSpan] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(traceparent ?? '') ?? [];
  const around = active.getStore();
  const traceId = row ? traceOf(row) : (callersTrace ?? around?.traceId ?? randomBytes(16).toString('hex'));
  const parent = callersTrace === traceId ? callersSpan : around?.traceId === traceId ? around.spanId : undefined;
  return {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    name,
    kind: kinds[kind],
    attributes: { ...attributes },
    ...(parent && { parentSpanId: parent }),
    startTimeUnixNano: now(),
    endTimeUnixNano: '',
    links: [],
  };
}

const handleOf = (data: SpanData): TraceSpan => ({
  set: (attributes) => void Object.assign(data.attributes, attributes),
  rename: (name) => {
    data.name = name;
  },
  fail: (message) => {
    data.error = message;
  },
});

const traceOf = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase();
const now = (): string => String(BigInt(Math.round((performance.timeOrigin + performance.now()) * 1_000)) * 1_000n);

class Exporter {
  private readonly options: TracingOptions;
  private waiting: SpanData[] = [];
  private sending: Promise<void> = Promise.resolve();
  private readonly timer = setInterval(() => this.send(), SEND_MS).unref();

  constructor(options: TracingOptions) {
    this.options = options;
  }

  add(span: SpanData): void {
    // By the end of the id, which is random in a UUID too: all processes decide alike about a trace.
    const isSent = Number.parseInt(span.traceId.slice(-8), 16) / 2 ** 32 < this.options.ratio;
    if (isSent && this.waiting.length < MAX_WAITING) this.waiting.push(span);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.send();
    await this.sending;
  }

  private send(): void {
    const spans = this.waiting;
    if (spans.length === 0) return;
    this.waiting = [];
    this.sending = this.sending.then(() => this.post(spans)).catch((error) => this.options.onError?.(error));
  }

  private async post(spans: SpanData[]): Promise<void> {
    const { endpoint, service, version } = this.options;
    const resource = { attributes: attributesOf({ 'service.name': service, 'service.version': version }) };
    const scopeSpans = [{ scope: { name: 'everpost' }, spans: spans.map(encoded) }];
    const answer = await fetch(`${endpoint.replace(/\/+$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
  }
}

function encoded({ links, attributes, error, ...span }: SpanData) {
  return {
    ...span,
    attributes: attributesOf(attributes),
    links: links.map((traceId) => ({ traceId, spanId: traceId.slice(16) })),
    status: error === undefined ? {} : { code: 2, message: error },
  };
}

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: encodedValue(value) }));

function encodedValue(value: Attributes[string]) {
  if (typeof value === 'boolean') return { boolValue: value };
  return typeof value === 'number' ? { doubleValue: value } : { stringValue: value };
}
