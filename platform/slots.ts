interface Waiter {
  priority: number;
  resume: () => void;
}

/**
 * A fixed number of slots. Waiting callers are served by priority (0 first) and then in order of arrival, so that a caller
 * that takes one slot at a time delays others by one round at most.
 */
export class Slots {
  readonly size: number;
  private free: number;
  private readonly waiters: Waiter[] = [];

  constructor(size: number) {
    this.size = size;
    this.free = size;
  }

  /** Resolves with false when the signal aborts before a slot is free. */
  async take(priority = 0, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return false;
    return new Promise((resolve) => {
      const cancel = () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        resolve(false);
      };
      const waiter: Waiter = {
        priority,
        resume: () => {
          signal?.removeEventListener('abort', cancel);
          resolve(true);
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const index = this.waiters.findIndex((other) => other.priority > priority);
      this.waiters.splice(index < 0 ? this.waiters.length : index, 0, waiter);
      this.serve();
    });
  }

  give(): void {
    this.free++;
    this.serve();
  }

  private serve(): void {
    for (; this.free > 0; this.free--) {
      const waiter = this.waiters.shift();
      if (!waiter) return;
      waiter.resume();
    }
  }
}

interface KeyState {
  slots: Slots;
  /** The number of calls that have a slot or wait for one. */
  users: number;
}

/**
 * A fixed number of slots, of which one key, such as a project, gets at most `perKey`. A call takes a slot of its key
 * first, so that a key occupies at most `perKey` places in the queue that all keys share.
 */
export class KeyedSlots {
  private readonly shared: Slots;
  private readonly perKey: number;
  private readonly keys = new Map<string, KeyState>();
  private total = 0;

  constructor(size: number, perKey: number) {
    this.shared = new Slots(size);
    this.perKey = perKey;
  }

  /** The number of calls that have a slot or wait for one. */
  get users(): number {
    return this.total;
  }

  usersOf(key: string): number {
    return this.keys.get(key)?.users ?? 0;
  }

  /** Resolves with false when the signal aborts before a slot is free. */
  async take(key: string, signal?: AbortSignal): Promise<boolean> {
    const state = this.keys.get(key) ?? { slots: new Slots(this.perKey), users: 0 };
    this.keys.set(key, state);
    state.users++;
    this.total++;
    if (!(await state.slots.take(0, signal))) {
      this.leave(key, state);
      return false;
    }
    if (await this.shared.take(0, signal)) return true;
    state.slots.give();
    this.leave(key, state);
    return false;
  }

  give(key: string): void {
    const state = this.keys.get(key);
    if (!state) return;
    this.shared.give();
    state.slots.give();
    this.leave(key, state);
  }

  private leave(key: string, state: KeyState): void {
    state.users--;
    this.total--;
    if (state.users === 0) this.keys.delete(key);
  }
}
