// Batches the begins and results of all campaign mails of this process into few statements.
import type { Db } from '../../db/connect.ts';
import { PinnedConnection } from '../../db/pinned-connection.ts';
import { type AttemptEnd, type Begin, type BeginAsk, takeTurn } from './turn.ts';

/** What a turn costs, it costs once for all that are in it: it waits so long for others to come along. */
const LINGER_MS = 3;
/** More than so many need not be waited for. */
const ENOUGH = 40;
const MOST_ENDS = 100;
/** So long without a turn its connection is kept. */
const IDLE_MS = 200;

type Ask = BeginAsk & { signal: AbortSignal };

interface BeginCall {
  ask: Ask;
  resolve: (begin: Begin | undefined) => void;
}

/** The end of an attempt, and who told it. */
export interface ToldEnd<End> extends AttemptEnd {
  teller: Teller<End>;
}

/** Hears what has come of it for all of a turn together: a promise for each mail costs more than what it waits for. */
export interface Teller<End> {
  /** They are written, but for those of whom nothing was on the wire any more. */
  heard(ends: End[], late: Set<string>): void;
  /** They are to be told again, or given up. */
  unheard(ends: End[], error: unknown): void;
}

/**
 * All mails of campaigns that this process sends, taking turns together. Of mails that are begun and whose end is not
 * written there are never more than twice the connections: one is begun in the same turn in which another ends.
 */
export class Turns<End extends ToldEnd<End>> {
  private readonly connection: PinnedConnection;
  private readonly mostInDoubt: number;
  private readonly enough: number;
  private readonly begins: BeginCall[] = [];
  private readonly ends: End[] = [];
  private inDoubt = 0;
  private working = false;
  private linger: NodeJS.Timeout | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(db: Db, connections: number) {
    this.connection = new PinnedConnection(db);
    this.mostInDoubt = connections * 2;
    this.enough = Math.min(connections * 2, ENOUGH);
  }

  /** Never throws. Undefined: the signal came before its turn. */
  begin(ask: Ask): Promise<Begin | undefined> {
    return new Promise((resolve) => {
      this.begins.push({ ask, resolve });
      this.stir();
    });
  }

  end(end: End): void {
    this.ends.push(end);
    this.stir();
  }

  /** Nobody will say how so many mails have ended: they are for whoever has their batch next. */
  giveUp(count: number): void {
    this.inDoubt -= count;
    this.stir();
  }

  /** A turn leaves in the call that makes enough of them: the database is at it while the mails are written. */
  private stir(): void {
    if (this.working) return;
    if (this.ready >= this.enough) void this.work();
    else if (this.ready > 0) this.linger ??= setTimeout(() => void this.work(), LINGER_MS);
    else this.idle ??= setTimeout(() => this.connection.release(), IDLE_MS);
  }

  private get room(): number {
    return this.mostInDoubt - this.inDoubt + Math.min(this.ends.length, MOST_ENDS);
  }

  private get ready(): number {
    return Math.min(this.begins.length, this.room) + this.ends.length;
  }

  private async work(): Promise<void> {
    this.working = true;
    clearTimeout(this.linger);
    clearTimeout(this.idle);
    [this.linger, this.idle] = [undefined, undefined];
    const begins = this.begins.splice(0, Math.min(this.room, this.ofOneCampaign()));
    await this.take(begins, this.ends.splice(0, MOST_ENDS));
    this.working = false;
    this.stir();
  }

  /** How many of those who wait, from the first on, are of the same. */
  private ofOneCampaign(): number {
    const campaignId = this.begins[0]?.ask.campaignId;
    const end = this.begins.findIndex(({ ask }) => ask.campaignId !== campaignId);
    return end < 0 ? this.begins.length : end;
  }

  private async take(begins: BeginCall[], ends: End[]): Promise<void> {
    const wanted = begins.filter(({ ask }) => !ask.signal.aborted);
    for (const { ask, resolve } of begins) if (ask.signal.aborted) resolve(undefined);
    if (wanted.length + ends.length === 0) return;
    try {
      if (!this.connection.isThere) await this.connection.take();
      const asks = wanted.map(({ ask }) => ask);
      const { begun, late } = await takeTurn(this.connection, asks, ends);
      this.inDoubt += begun.filter(({ verdict }) => verdict === 'go').length - ends.length;
      wanted.forEach(({ resolve }, at) => {
        resolve(begun[at]);
      });
      for (const [teller, told] of byTeller(ends)) teller.heard(told, late);
    } catch (error) {
      this.connection.release();
      for (const { resolve } of wanted) resolve({ verdict: 'failed', error });
      for (const [teller, told] of byTeller(ends)) teller.unheard(told, error);
    }
  }
}

function byTeller<End extends ToldEnd<End>>(ends: End[]): Map<Teller<End>, End[]> {
  const groups = new Map<Teller<End>, End[]>();
  for (const end of ends) {
    const group = groups.get(end.teller);
    if (group) group.push(end);
    else groups.set(end.teller, [end]);
  }
  return groups;
}
