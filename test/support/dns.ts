import { createSocket } from 'node:dgram';
import { once as event } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import packet, { type Answer, type Packet, type Question } from 'dns-packet';
import { atEnd, once } from './cleanup.ts';

export type DnsType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT';

export interface DnsValues {
  A: string[];
  AAAA: string[];
  CNAME: string[];
  MX: { preference: number; exchange: string }[];
  /** One item per record; a record of several strings (needed above 255 bytes) is an array. */
  TXT: (string | string[])[];
}

export type DnsFailure = 'NXDOMAIN' | 'SERVFAIL' | 'silence';

export interface DnsStandIn {
  /** `ip:port`, in the format of DNS_SERVERS. */
  address: string;
  queries: { name: string; type: string; over: 'udp' | 'tcp' }[];
  set<T extends DnsType>(name: string, type: T, values: DnsValues[T]): void;
  remove(name: string, type?: DnsType): void;
  /** Makes one name fail, or `*` for all; `undefined` ends it. */
  fail(name: string, failure: DnsFailure | undefined): void;
  /** Delays each answer over UDP from now on. */
  slow(ms: number): void;
  stop(): Promise<void>;
}

const RCODE = { NXDOMAIN: 3, SERVFAIL: 2 } as const;
const UDP_LIMIT = 512;

/** A name server with configured records, over UDP and TCP on the same port (RFC 7766). */
export async function startDns(): Promise<DnsStandIn> {
  const zone = new Zone();
  const queries: DnsStandIn['queries'] = [];
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let stopped = false;

  const answer = (query: Packet, over: 'udp' | 'tcp'): Buffer | undefined => {
    const [question] = query.questions ?? [];
    if (!question) return undefined;
    queries.push({ name: question.name.toLowerCase(), type: question.type, over });
    const found = zone.answer(question);
    if (!found) return undefined;
    const flags = packet.AUTHORITATIVE_ANSWER | packet.RECURSION_AVAILABLE | found.rcode;
    const base = { type: 'response' as const, id: query.id, questions: [question] };
    // The encoder changes the strings of a TXT record into buffers in place, so it gets a copy.
    const complete = packet.encode({ ...base, flags, answers: structuredClone(found.answers) });
    if (over === 'tcp' || complete.length <= UDP_LIMIT) return complete;
    return packet.encode({ ...base, flags: flags | packet.TRUNCATED_RESPONSE });
  };

  const udp = createSocket('udp4');
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    readMessages(socket, (message) => answer(packet.decode(message), 'tcp'));
  });
  udp.on('message', (message, from) => {
    const reply = answer(packet.decode(message), 'udp');
    const send = () => reply && !stopped && udp.send(reply, from.port, from.address);
    if (delayMs > 0) setTimeout(send, delayMs);
    else send();
  });
  const port = await listen(udp, tcp);
  const stop = once(async () => {
    stopped = true;
    for (const socket of sockets) socket.destroy();
    await Promise.all([
      new Promise<void>((resolve) => udp.close(resolve)),
      new Promise((resolve) => tcp.close(resolve)),
    ]);
  });
  atEnd(stop);
  return {
    address: `127.0.0.1:${port}`,
    queries,
    set: (name, type, values) => zone.set(name, type, values),
    remove: (name, type) => zone.remove(name, type),
    fail: (name, failure) => zone.fail(name, failure),
    slow: (ms) => {
      delayMs = ms;
    },
    stop,
  };
}

// The port that TCP was assigned may be in use over UDP; then another one is tried.
async function listen(udp: ReturnType<typeof createSocket>, tcp: ReturnType<typeof createServer>): Promise<number> {
  for (;;) {
    tcp.listen(0, '127.0.0.1');
    await event(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    try {
      udp.bind(port, '127.0.0.1');
      await event(udp, 'listening');
      return port;
    } catch {
      await new Promise((resolve) => tcp.close(resolve));
    }
  }
}

/** Over TCP every message is prefixed with two bytes for its length (RFC 1035, 4.2.2). */
function readMessages(socket: Socket, reply: (message: Buffer) => Buffer | undefined): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      const answer = reply(pending.subarray(2, end));
      pending = pending.subarray(end);
      if (!answer) continue;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      socket.write(Buffer.concat([length, answer]));
    }
  });
}

class Zone {
  #records = new Map<string, Map<string, Answer[]>>();
  #failures = new Map<string, DnsFailure>();

  set<T extends DnsType>(name: string, type: T, values: DnsValues[T]): void {
    const key = name.toLowerCase();
    const types = this.#records.get(key) ?? new Map<string, Answer[]>();
    types.set(
      type,
      values.map((data) => ({ name: key, type, ttl: 0, class: 'IN', data }) as Answer),
    );
    this.#records.set(key, types);
  }

  remove(name: string, type?: DnsType): void {
    if (type) this.#records.get(name.toLowerCase())?.delete(type);
    else this.#records.delete(name.toLowerCase());
  }

  fail(name: string, failure: DnsFailure | undefined): void {
    if (failure) this.#failures.set(name.toLowerCase(), failure);
    else this.#failures.delete(name.toLowerCase());
  }

  /** Returns undefined for no answer. A name with records of other types exists: no error, no records. */
  answer({ name, type }: Question): { rcode: number; answers: Answer[] } | undefined {
    const failure = this.#failures.get(name.toLowerCase()) ?? this.#failures.get('*');
    if (failure === 'silence') return undefined;
    if (failure) return { rcode: RCODE[failure], answers: [] };
    const answers = this.#follow(name.toLowerCase(), type, 8);
    return { rcode: this.#records.has(name.toLowerCase()) ? 0 : RCODE.NXDOMAIN, answers };
  }

  #follow(name: string, type: string, hops: number): Answer[] {
    const types = this.#records.get(name);
    const direct = types?.get(type);
    const [alias] = types?.get('CNAME') ?? [];
    if (direct || !alias || alias.type !== 'CNAME' || hops === 0) return direct ?? [];
    return [alias, ...this.#follow(alias.data.toLowerCase(), type, hops - 1)];
  }
}
