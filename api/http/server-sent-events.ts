import { Readable } from 'node:stream';
import { ApiError } from '../../platform/errors.ts';
import type { Answer } from './answers.ts';

/**
 * Answers with a stream of server-sent events, as long as `messages` yields text. Its signal is aborted when the client
 * leaves: an iterator that waits would not notice it.
 */
export function eventStream(
  messages: (left: AbortSignal) => AsyncIterable<string>,
  headers: Record<string, string> = {},
): Answer {
  const left = new AbortController();
  const body = Readable.from(messages(left.signal), { objectMode: false });
  body.once('close', () => left.abort());
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // nginx would collect the events otherwise.
      'X-Accel-Buffering': 'no',
      ...headers,
    },
    body,
  };
}

/** Returns whether the caller of an open stream may still read. An outage of the database ends no stream. */
export async function mayStillRead(authenticate: () => Promise<unknown>): Promise<boolean> {
  try {
    await authenticate();
    return true;
  } catch (error) {
    return !(error instanceof ApiError);
  }
}

/** One event. Data is one line, because JSON escapes line breaks. */
export const sseMessage = (id: string, data: unknown): string => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

export const sseComment = (text: string): string => `: ${text}\n\n`;
