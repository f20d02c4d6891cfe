import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { logFailure } from '../../platform/outages.ts';
import type { Settings } from '../../platform/settings.ts';
import { KeyedSlots } from '../../platform/slots.ts';
import type { Timings } from '../../platform/timings.ts';
import { registerStream, removeStream, renewStreams } from '../../services/access/live-streams.ts';
import { mayStillRead } from '../http/server-sent-events.ts';
import { readChannel } from './channels.ts';
import { HeldMessages, type LiveMessage, liveMessageOf } from './messages.ts';
import { type Follower, LiveStream } from './stream.ts';

interface HubOptions {
  db: Db;
  settings: Settings;
  log: Logger;
}

/** A client that has not read for so long is disconnected when another needs its room. */
const MAKES_ROOM_MS = 1_000;
/** Channels that are read at once: each may be some megabytes. */
const READS = { total: 4, perProject: 1 };
/** How much of a project's state is read in a second: reading large workflows over and over costs memory and time. */
const BYTES_PER_SECOND = 5_000_000;

/**
 * The open streams of this process. Reads every followed resource once a second, for all its streams together, and sends
 * it where it has changed. See docs/decisions/live-streams.md.
 */
export class LiveHub {
  private readonly streams = new Set<LiveStream>();
  private readonly messages = new HeldMessages();
  private readonly reads = new KeyedSlots(READS.total, READS.perProject);
  /** Reads that have not begun, by project and channel: streams that need the same state share one. */
  private readonly queued = new Map<string, Promise<LiveMessage>>();
  /** When a project may read again, after a large state. */
  private readonly pauses = new Map<string, number>();
  /** Projects whose channels are being read. */
  private readonly busy = new Set<string>();
  private readonly options: HubOptions;
  private readonly times: Timings['live'];
  private timers: NodeJS.Timeout[] = [];

  constructor(options: HubOptions) {
    this.options = options;
    this.times = options.settings.timings.live;
  }

  /** Opens a stream that begins with the present state of its channels, which must exist. */
  async open(follower: Follower): Promise<Readable> {
    const id = await registerStream(this.options.db, follower.projectId);
    const stream = new LiveStream(id, follower, (idle) => void this.feed(idle));
    stream.once('close', () => this.remove(stream));
    this.streams.add(stream);
    this.startTimers();
    return stream;
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.stopTimers();
    for (const stream of this.streams) stream.finish();
    await Promise.all([...this.streams].map((stream) => this.removeRow(stream)));
    this.streams.clear();
  }

  private startTimers(): void {
    if (this.timers.length > 0) return;
    const { read, heartbeat } = this.times;
    this.timers = [
      setInterval(() => void this.readAll(), read).unref(),
      setInterval(() => void this.beat(), heartbeat).unref(),
    ];
  }

  private stopTimers(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
  }

  private remove(stream: LiveStream): void {
    if (!this.streams.delete(stream)) return;
    if (this.streams.size === 0) this.stopTimers();
    void this.removeRow(stream);
  }

  /** A row that cannot be removed expires. */
  private async removeRow({ follower, id }: LiveStream): Promise<void> {
    await removeStream(this.options.db, follower.projectId, id).catch(() => {});
  }

  private async readAll(): Promise<void> {
    for (const [projectId, until] of this.pauses) if (until < performance.now()) this.pauses.delete(projectId);
    for (const stream of this.streams) if (stream.stalledMs() > this.times.stalled) stream.destroy();
    const projects = new Set([...this.streams].map(({ follower }) => follower.projectId));
    await Promise.all([...projects].map((projectId) => this.readProject(projectId)));
  }

  /** Reads what the project's streams follow, each channel once. Skipped while the last round still runs. */
  private async readProject(projectId: string): Promise<void> {
    if (this.busy.has(projectId)) return;
    this.busy.add(projectId);
    try {
      const own = this.streamsOf(projectId);
      for (const stream of own) void this.feed(stream);
      // A stream that waits gets the newest states as soon as its client reads.
      const upToDate = own.filter(({ isIdle, waiting }) => isIdle && waiting.size === 0);
      for (const channel of new Set(upToDate.flatMap(({ follower }) => follower.channels)))
        this.publish(channel, await this.read(projectId, channel));
    } catch (err) {
      this.logFailure(err);
    } finally {
      this.busy.delete(projectId);
    }
  }

  private streamsOf(projectId: string): LiveStream[] {
    return [...this.streams].filter(({ follower }) => follower.projectId === projectId);
  }

  private publish(channel: string, message: LiveMessage): void {
    for (const stream of this.streamsOf(message.projectId)) {
      if (!stream.follower.channels.includes(channel) || stream.sent.get(channel) === message.digest) continue;
      stream.waiting.add(channel);
      if (!stream.isFed) this.offer(stream, channel, message);
    }
  }

  /** Sends the state that has waited longest, if the client has read everything before it. */
  private async feed(stream: LiveStream): Promise<void> {
    if (stream.isFed) return;
    stream.isFed = true;
    try {
      for (const channel of stream.waiting) {
        if (!stream.isIdle) return;
        const message = await this.read(stream.follower.projectId, channel);
        if (!this.offer(stream, channel, message)) return;
      }
    } catch (err) {
      this.logFailure(err);
    } finally {
      stream.isFed = false;
    }
  }

  /** Returns false if the message has to wait. */
  private offer(stream: LiveStream, channel: string, message: LiveMessage): boolean {
    if (!stream.isIdle) return false;
    if (stream.sent.get(channel) !== message.digest) {
      const held = this.hold(message);
      if (!held) return false;
      stream.sent.set(channel, message.digest);
      stream.send(held);
    }
    stream.waiting.delete(channel);
    return true;
  }

  /** Disconnects clients that do not read, while there is no room. */
  private hold(message: LiveMessage) {
    for (;;) {
      const held = this.messages.hold(message);
      if (typeof held === 'object') return held;
      const [slowest] = (held === 'projectFull' ? this.streamsOf(message.projectId) : [...this.streams])
        .filter((stream) => stream.stalledMs() > MAKES_ROOM_MS && !stream.destroyed)
        .sort((a, b) => b.stalledMs() - a.stalledMs());
      if (!slowest) return undefined;
      slowest.destroy();
    }
  }

  private read(projectId: string, channel: string): Promise<LiveMessage> {
    const key = `${projectId}/${channel}`;
    const queued = this.queued.get(key) ?? this.readInTurn(key, projectId, channel);
    this.queued.set(key, queued);
    return queued;
  }

  private async readInTurn(key: string, projectId: string, channel: string): Promise<LiveMessage> {
    await this.takeTurn(projectId);
    // What is asked for from now on may be newer.
    this.queued.delete(key);
    try {
      const message = await this.readMessage(projectId, channel);
      this.pauses.set(projectId, performance.now() + (message.content.length / BYTES_PER_SECOND) * 1_000);
      return message;
    } finally {
      this.reads.give(projectId);
    }
  }

  private async takeTurn(projectId: string): Promise<void> {
    for (;;) {
      await this.reads.take(projectId);
      const wait = (this.pauses.get(projectId) ?? 0) - performance.now();
      if (wait < 1) return;
      this.reads.give(projectId);
      await sleep(wait, undefined, { ref: false });
    }
  }

  /** The data is null for a resource that is gone. */
  private async readMessage(projectId: string, channel: string): Promise<LiveMessage> {
    try {
      return liveMessageOf(projectId, { topic: channel, data: await readChannel(this.options, projectId, channel) });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      return liveMessageOf(projectId, { topic: channel, data: null });
    }
  }

  private logFailure(err: unknown): void {
    logFailure(this.options.log, { err }, 'live channels could not be read');
  }

  /** Checks the rights of every stream again, and keeps connections and rows alive. */
  private async beat(): Promise<void> {
    const renewed = new Map<string, string[]>();
    await Promise.all(
      [...this.streams].map(async (stream) => {
        const { projectId, recheck } = stream.follower;
        if (!(await mayStillRead(recheck))) return stream.finish();
        stream.beat();
        renewed.set(projectId, [...(renewed.get(projectId) ?? []), stream.id]);
      }),
    );
    for (const [projectId, ids] of renewed) await renewStreams(this.options.db, projectId, ids).catch(() => {});
  }
}
