import { Slots } from './slots.ts';

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

  constructor(size: number, perKey: number) {
    this.shared = new Slots(size);
    this.perKey = perKey;
  }

  /** Resolves with false when the signal aborts before a slot is free. */
  async take(key: string, signal?: AbortSignal): Promise<boolean> {
    const state = this.keys.get(key) ?? { slots: new Slots(this.perKey), users: 0 };
    this.keys.set(key, state);
    state.users++;
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
    if (state.users === 0) this.keys.delete(key);
  }
}
