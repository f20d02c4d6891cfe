import { PassThrough, type Readable } from 'node:stream';
import type { Db } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Settings } from '../../platform/settings.ts';
import { registerStream, removeStream, renewStreams } from '../../services/access/live-streams.ts';
import { readTopic } from './topics.ts';

export interface Follower {
  projectId: string;
  topics: string[];
  /** Rejects once the caller may no longer read. */
  recheck(): Promise<unknown>;
}

interface Stream extends Follower {
  id: string;
  output: PassThrough;
  /** The last message of each topic. */
  sent: Map<string, string>;
}

interface HubOptions {
  db: Db;
  settings: Settings;
  log: Logger;
}

/** A client that reads slower than this gets the newest state later. */
const MAX_BUFFERED = 1024 * 1024;
const HEARTBEAT = ': heartbeat\n\n';

/**
 * The open streams of this process. Reads every followed resource once a second, for all its streams together, and sends
 * it where it has changed. See docs/decisions/144-live-streams.md.
 */
export class LiveHub {
  private readonly streams = new Set<Stream>();
  private readonly options: HubOptions;
  private timers: NodeJS.Timeout[] = [];
  private reading = false;

  constructor(options: HubOptions) {
    this.options = options;
  }

  /** Opens a stream that begins with the present state. Answers 404 for a resource that the project does not have. */
  async open(follower: Follower): Promise<Readable> {
    const { db } = this.options;
    const { projectId } = follower;
    const first = new Map<string, string>();
    for (const topic of new Set(follower.topics)) first.set(topic, await this.messageOf(projectId, topic));
    const stream: Stream = {
      ...follower,
      topics: [...first.keys()],
      id: await registerStream(db, projectId),
      output: new PassThrough(),
      sent: first,
    };
    stream.output.once('close', () => this.remove(stream));
    this.streams.add(stream);
    for (const message of first.values()) stream.output.write(message);
    this.startTimers();
    return stream.output;
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.stopTimers();
    for (const stream of [...this.streams]) stream.output.end();
    await Promise.all([...this.streams].map((stream) => this.removeRow(stream)));
    this.streams.clear();
  }

  private startTimers(): void {
    if (this.timers.length > 0) return;
    const { read, heartbeat } = this.options.settings.timings.live;
    this.timers = [
      setInterval(() => void this.readAll(), read).unref(),
      setInterval(() => void this.beat(), heartbeat).unref(),
    ];
  }

  private stopTimers(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
  }

  private remove(stream: Stream): void {
    if (!this.streams.delete(stream)) return;
    if (this.streams.size === 0) this.stopTimers();
    void this.removeRow(stream);
  }

  /** A row that cannot be removed expires. */
  private async removeRow({ projectId, id }: Stream): Promise<void> {
    await removeStream(this.options.db, projectId, id).catch(() => {});
  }

  /** Reads each followed resource once. Skipped while the last round still runs. */
  private async readAll(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    try {
      for (const [projectId, topics] of this.followed())
        for (const topic of topics) await this.publish(projectId, topic);
    } catch (err) {
      this.options.log.warn({ err }, 'live topics could not be read');
    } finally {
      this.reading = false;
    }
  }

  private followed(): Map<string, Set<string>> {
    const followed = new Map<string, Set<string>>();
    for (const { projectId, topics } of this.streams) {
      const known = followed.get(projectId) ?? new Set<string>();
      for (const topic of topics) known.add(topic);
      followed.set(projectId, known);
    }
    return followed;
  }

  private async publish(projectId: string, topic: string): Promise<void> {
    const message = await this.messageOf(projectId, topic, null);
    for (const stream of this.streams) {
      if (stream.projectId !== projectId || !stream.topics.includes(topic) || stream.sent.get(topic) === message)
        continue;
      if (stream.output.writableLength > MAX_BUFFERED) continue;
      stream.sent.set(topic, message);
      stream.output.write(message);
    }
  }

  /** Returns `missing` as data for a resource that is gone; without it rejects with 404. */
  private async messageOf(projectId: string, topic: string, missing?: null): Promise<string> {
    let data: unknown;
    try {
      data = await readTopic(this.options, projectId, topic);
    } catch (error) {
      if (missing === undefined || !(error instanceof ApiError && error.status === 404)) throw error;
      data = missing;
    }
    return `data: ${JSON.stringify({ topic, data })}\n\n`;
  }

  /** Checks the rights of every stream again, and keeps connections and rows alive. */
  private async beat(): Promise<void> {
    const renewed = new Map<string, string[]>();
    await Promise.all(
      [...this.streams].map(async (stream) => {
        try {
          await stream.recheck();
          stream.output.write(HEARTBEAT);
          renewed.set(stream.projectId, [...(renewed.get(stream.projectId) ?? []), stream.id]);
        } catch (error) {
          // An outage of the database ends no stream.
          if (error instanceof ApiError) stream.output.end();
        }
      }),
    );
    for (const [projectId, ids] of renewed) await renewStreams(this.options.db, projectId, ids).catch(() => {});
  }
}
