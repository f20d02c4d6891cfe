import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from './waiting.ts';

export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** A connection on which a test sends arbitrary bytes, valid HTTP or not. */
export class RawHttp {
  #received = Buffer.alloc(0);
  #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
    });
    // Tests check how a connection ends.
    socket.on('error', () => {});
  }

  static async open(url: string): Promise<RawHttp> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new RawHttp(socket);
  }

  write(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  /** Writes, and waits until the data was passed to the kernel. */
  async drained(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#socket.write(text, 'latin1', (error) => (error ? reject(error) : resolve()));
    });
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async closed(): Promise<void> {
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  /** Returns the next complete answer, which must have a content-length. */
  async answer(): Promise<RawAnswer> {
    return eventually(() => this.#take(), { what: 'an answer' });
  }

  #take(): RawAnswer | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#received.subarray(0, end).toString('latin1').split('\r\n');
    const headers = new Map(lines.map((line) => splitOnce(line)));
    const length = Number(headers.get('content-length') ?? 0);
    if (this.#received.length < end + 4 + length) return undefined;
    const body = this.#received.subarray(end + 4, end + 4 + length).toString();
    this.#received = this.#received.subarray(end + 4 + length);
    return { status: Number(first.split(' ')[1]), headers, body };
  }
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}
