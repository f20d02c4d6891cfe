import type { Db } from '../../db/connect.ts';
import { type AttemptEnd, type Begin, type BeginAsk, takeTurn } from './turn.ts';

/** What a turn costs, it costs once for all that are in it: it waits so long for others to come along. */
const LINGER_MS = 3;
/** More than so many need not be waited for. */
const ENOUGH = 40;
const MOST_ENDS = 100;

interface Call<In, Out> {
  given: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

/**
 * All mails of campaigns that this process sends, taking turns together. Of mails that are begun and whose end is not
 * written there are never more than twice the connections: one is begun in the same turn in which another ends.
 */
export class Turns {
  private readonly db: Db;
  private readonly mostInDoubt: number;
  private readonly enough: number;
  private readonly begins: Call<BeginAsk & { signal: AbortSignal }, Begin | undefined>[] = [];
  private readonly ends: Call<AttemptEnd, boolean>[] = [];
  private inDoubt = 0;
  private working = false;
  private endLinger: (() => void) | undefined;

  constructor(db: Db, connections: number) {
    this.db = db;
    this.mostInDoubt = connections * 2;
    this.enough = Math.min(connections * 2, ENOUGH);
  }

  /** Undefined: the signal came before its turn. */
  begin(given: BeginAsk & { signal: AbortSignal }): Promise<Begin | undefined> {
    return new Promise((resolve, reject) => {
      this.begins.push({ given, resolve, reject });
      this.stir();
    });
  }

  /** False: it came too late. Should it fail, it is to be said again, or given up. */
  end(given: AttemptEnd): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.ends.push({ given, resolve, reject });
      this.stir();
    });
  }

  /** Nobody will say how a mail has ended: it is for whoever has its batch next. */
  giveUp(): void {
    this.inDoubt--;
    this.stir();
  }

  private stir(): void {
    this.endLinger?.();
    if (!this.working) void this.work();
  }

  private get room(): number {
    return this.mostInDoubt - this.inDoubt + Math.min(this.ends.length, MOST_ENDS);
  }

  private get ready(): number {
    return Math.min(this.begins.length, this.room) + this.ends.length;
  }

  private async work(): Promise<void> {
    this.working = true;
    // Callers of the same tick share the first turn.
    await Promise.resolve();
    while (this.ready > 0) {
      await this.company();
      const begins = this.begins.splice(0, this.room);
      await this.take(begins, this.ends.splice(0, MOST_ENDS));
    }
    this.working = false;
  }

  private company(): Promise<void> | undefined {
    if (this.ready >= this.enough) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LINGER_MS);
      this.endLinger = () => {
        if (this.ready < this.enough) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async take(begins: typeof this.begins, ends: typeof this.ends): Promise<void> {
    const wanted = begins.filter(({ given }) => !given.signal.aborted);
    for (const { given, resolve } of begins) if (given.signal.aborted) resolve(undefined);
    if (wanted.length + ends.length === 0) return;
    try {
      const { begun, ended } = await takeTurn(this.db, wanted.map(givenOf), ends.map(givenOf));
      this.inDoubt += begun.filter(({ verdict }) => verdict === 'go').length - ends.length;
      wanted.forEach(({ resolve }, at) => {
        resolve(begun[at]);
      });
      ends.forEach(({ resolve }, at) => {
        resolve(ended[at] ?? false);
      });
    } catch (error) {
      for (const { reject } of [...wanted, ...ends]) reject(error);
    }
  }
}

const givenOf = <In>({ given }: { given: In }): In => given;
