import { createHash } from 'node:crypto';

export interface LiveMessage {
  projectId: string;
  content: Buffer;
  digest: string;
}

export interface HeldMessage {
  content: Buffer;
  release(): void;
}

/** Most messages are a few kilobytes; one workflow may have five megabytes. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_BYTES_PER_PROJECT = 8 * 1024 * 1024;

export function liveMessageOf(projectId: string, data: unknown): LiveMessage {
  const content = Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
  return { projectId, content, digest: createHash('sha256').update(content).digest('base64') };
}

interface Entry {
  content: Buffer;
  users: number;
}

/** The messages that the streams of this process are sending: equal ones once, within a number of bytes. */
export class HeldMessages {
  readonly #entries = new Map<string, Entry>();
  readonly #projects = new Map<string, number>();
  #bytes = 0;

  /** While there is no room, returns what is full. One message always has room. */
  hold(message: LiveMessage): HeldMessage | 'projectFull' | 'processFull' {
    const { projectId, digest, content } = message;
    const key = `${projectId}/${digest}`;
    const known = this.#entries.get(key);
    if (!known) {
      const own = this.#projects.get(projectId) ?? 0;
      if (own > 0 && own + content.length > MAX_BYTES_PER_PROJECT) return 'projectFull';
      if (this.#bytes > 0 && this.#bytes + content.length > MAX_BYTES) return 'processFull';
      this.#count(projectId, content.length);
    }
    const entry = known ?? { content, users: 0 };
    entry.users++;
    this.#entries.set(key, entry);
    return {
      content: entry.content,
      release: () => {
        if (--entry.users > 0) return;
        this.#entries.delete(key);
        this.#count(projectId, -content.length);
      },
    };
  }

  #count(projectId: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#projects.get(projectId) ?? 0) + bytes;
    if (own > 0) this.#projects.set(projectId, own);
    else this.#projects.delete(projectId);
  }
}
