import { setTimeout as sleep } from 'node:timers/promises';
import { pathSegment } from '../client/src/raw-client.ts';
import { readSettings } from '../platform/settings.ts';
import { processTimings } from '../platform/timings.ts';
import { environment } from './environment.ts';
import { type CommandResult, messageOf } from './output.ts';

/** Which API to call, and as which project. */
export interface WebhookCliOptions {
  /** The secret key; by default that of EVERPOST_SECRET_KEY. */
  key?: string;
  /** The address of the API; by default EVERPOST_URL, then BASE_URL. */
  api?: string;
}

interface Api {
  url: string;
  key: string;
  headers: Record<string, string>;
}

/** Finds the API of a project. */
export function apiOf({ key = process.env.EVERPOST_SECRET_KEY, api }: WebhookCliOptions): Api {
  if (!key)
    throw new Error(
      'Set EVERPOST_SECRET_KEY to the secret key of the project ("Secret key" in the banner of npm start), or name it by --key.',
    );
  const url = (api ?? process.env.EVERPOST_URL) || readSettings(environment()).baseUrl;
  return { url: url.replace(/\/+$/, ''), key, headers: { authorization: `Bearer ${key}` } };
}

/** Delivers the event of a delivery once more. */
export async function webhooksReplay(id: string, options: WebhookCliOptions): Promise<CommandResult> {
  const { url, headers } = apiOf(options);
  const response = await request(`${url}/webhook-deliveries/${pathSegment('delivery', id)}/replay`, {
    method: 'POST',
    headers,
  });
  if (!response.ok) throw new Error(await errorOf(response));
  const { deliveryId } = (await response.json()) as { deliveryId: string };
  return { lines: [`delivery ${deliveryId} will be made`], json: { deliveryId } };
}

export interface ListenOptions extends WebhookCliOptions {
  /** The URL that gets every delivery. */
  forward: string;
  /** Comma list of types. */
  types?: string;
  json?: boolean;
}

interface Listened {
  type: string;
  headers: Record<string, string>;
  body: string;
}

/** The API refuses the stream; another try would be refused too. */
class Refused extends Error {}
/** The API does not answer. */
class Unreachable extends Error {}

/** Forwards what happens in a project to a URL, until `signal` is aborted. Connects again when the stream breaks off. */
export async function webhooksListen(
  options: ListenOptions,
  print: (line: string) => void = console.log,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const api = apiOf(options);
  if (!URL.canParse(options.forward)) throw new Error(`"${options.forward}" is no URL.`);
  const { firstReconnect, lastReconnect } = processTimings.webhooks;
  for (let pause = firstReconnect; !signal.aborted; pause = Math.min(2 * pause, lastReconnect)) {
    try {
      for await (const delivery of deliveriesOf(api, options, print, signal)) {
        pause = firstReconnect;
        await forward(delivery, options, print, signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused) throw error;
      const reason = error instanceof Unreachable ? error.message : `The stream broke off (${messageOf(error)})`;
      if (!options.json) print(`${reason}; connecting again`);
    }
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
}

async function* deliveriesOf(
  { url, headers }: Api,
  { types, forward: target, json }: ListenOptions,
  print: (line: string) => void,
  signal: AbortSignal,
): AsyncGenerator<Listened> {
  const query = types === undefined ? '' : `?types=${encodeURIComponent(types)}`;
  const response = await request(`${url}/webhook-endpoints/listen${query}`, { headers, signal });
  if (response.status >= 500) throw new Error(await errorOf(response));
  if (!response.ok || !response.body) throw new Refused(await errorOf(response));
  const secret = response.headers.get('x-webhook-secret');
  print(
    json
      ? JSON.stringify({ listening: true, secret })
      : `forwarding to ${target}; signed with ${secret ?? "the project's webhook secret"}`,
  );
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const messages = (text + chunk).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const data = message.split('\n').find((line) => line.startsWith('data: '));
      if (data) yield JSON.parse(data.slice('data: '.length));
    }
  }
}

/** A failed call is printed and not repeated. */
async function forward(
  { type, headers, body }: Listened,
  { forward: target, json }: ListenOptions,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const id = headers['webhook-id'];
  const said = (result: string | number) =>
    print(json ? JSON.stringify({ type, id, result }) : `${type} ${id} -> ${result}`);
  try {
    const { status } = await fetch(target, { method: 'POST', headers, body, signal });
    said(status);
  } catch (error) {
    if (signal.aborted) throw error;
    said(messageOf(causeOf(error)));
  }
}

/** Names the address and the cause, where `fetch` says only that it failed. */
async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { origin } = new URL(url);
    throw new Unreachable(`The API at ${origin} cannot be reached (${messageOf(causeOf(error))})`, { cause: error });
  }
}

const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause ? error.cause : error);

async function errorOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return `The API answered ${response.status}.`;
  }
}
