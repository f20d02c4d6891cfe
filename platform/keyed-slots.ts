import { Slots } from './slots.ts';

interface Own {
  slots: Slots;
  /** How many have one of its slots or wait for one. */
  users: number;
}

/**
 * A fixed number of slots for all, of which one key, such as a project, has at most `perKey`. A key's own slots are taken
 * first: however many of one key wait, only `perKey` of them stand in the queue that all keys share.
 */
export class KeyedSlots {
  private readonly all: Slots;
  private readonly perKey: number;
  private readonly keys = new Map<string, Own>();

  constructor(size: number, perKey: number) {
    this.all = new Slots(size);
    this.perKey = perKey;
  }

  /** Resolves with false when the signal comes before a slot is free. */
  async take(key: string, signal?: AbortSignal): Promise<boolean> {
    const own = this.keys.get(key) ?? { slots: new Slots(this.perKey), users: 0 };
    this.keys.set(key, own);
    own.users++;
    if (!(await own.slots.take(0, signal))) {
      this.leave(key, own);
      return false;
    }
    if (await this.all.take(0, signal)) return true;
    own.slots.give();
    this.leave(key, own);
    return false;
  }

  give(key: string): void {
    const own = this.keys.get(key);
    if (!own) return;
    this.all.give();
    own.slots.give();
    this.leave(key, own);
  }

  private leave(key: string, own: Own): void {
    own.users--;
    if (own.users === 0) this.keys.delete(key);
  }
}
