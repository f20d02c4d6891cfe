import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import {
  checkedAddresses,
  decompressorOf,
  failureOf,
  firstHop,
  headerValues,
  OUTBOUND_LIMITS,
  type OutboundResponse,
  type OutboundRules,
  pinnedTo,
  type Rules,
  readBody,
} from './outbound-http.ts';

// Thousands of requests a second to one URL. Undici's request(), with a stream for the answer and a signal for the
// deadline, took a third more processor time than the handler here.

/** Many requests to one URL over kept connections. */
export interface PinnedTarget {
  post(headers: Record<string, string>, body: string): Promise<OutboundResponse>;
  /** Breaks off what has not ended. */
  close(): Promise<void>;
}

const CHECK_DEADLINES_MS = 250;

/**
 * Resolves and checks a URL once, and pins all requests to the checked addresses. Follows no redirects: their status is
 * the answer. Close it soon: until then changes in DNS have no effect.
 */
export async function pinTarget(
  options: OutboundRules & { project: string; connections: number },
  address: string,
  commonHeaders: Record<string, string>,
): Promise<PinnedTarget | Exclude<OutboundResponse, { kind: 'answered' }>> {
  const rules = { ...OUTBOUND_LIMITS, ...options };
  const timeout = AbortSignal.timeout(rules.timeoutMs);
  try {
    // What is the same for all requests is computed once.
    const { url, headers: common } = firstHop({ url: address, method: 'POST', headers: commonHeaders });
    const addresses = await checkedAddresses(rules, options.project, url, timeout);
    // Loaded with the first call: few processes make one.
    const { Pool } = await import('undici');
    const { connections } = options;
    const pool = new Pool(url.origin, { connect: { lookup: pinnedTo(addresses) }, pipelining: 1, connections });
    const path = url.pathname + url.search;
    /** In the order in which they began. */
    const open = new Set<Post>();
    const deadlines = setInterval(() => {
      const began = performance.now() - rules.timeoutMs;
      for (const post of open)
        if (post.began <= began) post.timeOut();
        else break;
    }, CHECK_DEADLINES_MS);
    return {
      post: (headers, body) =>
        new Promise((resolve) => {
          const post = new Post(rules, (response) => {
            open.delete(post);
            resolve(response);
          });
          open.add(post);
          try {
            pool.dispatch({ path, method: 'POST', headers: { ...common, ...headers }, body }, post);
          } catch (error) {
            post.onResponseError(undefined, error);
          }
        }),
      close: () => {
        clearInterval(deadlines);
        return pool.destroy();
      },
    };
  } catch (error) {
    return failureOf(rules, error, timeout.aborted);
  }
}

/** One request and its answer. */
class Post implements Dispatcher.DispatchHandler {
  readonly began = performance.now();
  private readonly rules: Rules;
  private readonly end: (response: OutboundResponse) => void;
  private controller: Dispatcher.DispatchController | undefined;
  private ended = false;
  private status = 0;
  private headers: Record<string, string> = {};
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(rules: Rules, end: (response: OutboundResponse) => void) {
    this.rules = rules;
    this.end = end;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // The deadline passed while it waited for a connection.
    if (this.ended) controller.abort(new Error('the request is over'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Parameters<typeof headerValues>[0],
  ): void {
    this.status = statusCode;
    this.headers = headerValues(headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size <= this.rules.maxBytes) return;
    this.answer();
    controller.abort(new Error('the response is too long'));
  }

  onResponseEnd(): void {
    if (!this.ended) this.answer();
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.finish(failureOf(this.rules, error, false));
  }

  timeOut(): void {
    const error = new Error('no response in time');
    this.finish(failureOf(this.rules, error, true));
    this.controller?.abort(error);
  }

  private finish(response: OutboundResponse): void {
    if (this.ended) return;
    this.ended = true;
    this.end(response);
  }

  private answer(): void {
    const { rules } = this;
    const status = this.status;
    const headers = this.headers;
    const bytes = this.chunks.length === 1 && this.chunks[0] ? this.chunks[0] : Buffer.concat(this.chunks);
    if (!decompressorOf(headers)) {
      const body = bytes.toString('utf8', 0, rules.maxBytes);
      this.finish({ kind: 'answered', status, headers, body, cut: this.size > rules.maxBytes });
      return;
    }
    this.ended = true;
    readBody(Readable.from([bytes]), headers, rules.maxBytes).then(
      (read) => this.end({ kind: 'answered', status, headers, ...read }),
      (error) => this.end(failureOf(rules, error, false)),
    );
  }
}
