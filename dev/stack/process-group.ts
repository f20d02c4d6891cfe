import { type Child, exitText, failure } from '../child.ts';
import { crossOut, writeDown } from './orphans.ts';
import { ENDING_ORDER, type PartName, SHUTDOWN_STEPS } from './shutdown.ts';

/** The children of a running stack: known from their first moment, ended in the right order, missed when they die. */
export class Family {
  #runDir: string;
  #children = new Map<PartName, Child>();
  #ending = false;
  #bereave: (message: string) => void = () => {};

  /** Resolves, with what there is to say about it, when a child dies that nobody has told to. */
  readonly death: Promise<string>;

  constructor(runDir: string) {
    this.#runDir = runDir;
    this.death = new Promise((resolve) => {
      this.#bereave = resolve;
    });
  }

  /** To be called as soon as the child is there. Postgres may try several times: the latest counts. */
  adopt(part: PartName, child: Child): void {
    this.#children.set(part, child);
    writeDown(this.#runDir, part, child.pid);
    if (this.#ending) void child.kill();
  }

  /** From now on the death of this child is the end of the stack. */
  watch(part: PartName): void {
    const child = this.#children.get(part);
    void child?.exited.then((exit) => {
      if (!this.#ending) this.#bereave(failure(child, `has died (${exitText(exit)})`));
    });
  }

  /** Call it again with `inHaste` when somebody presses Ctrl-C a second time. */
  async end(inHaste = false): Promise<void> {
    this.#ending = true;
    for (const together of ENDING_ORDER) {
      await Promise.all(together.map((part) => this.#end(part, inHaste)));
    }
  }

  async #end(part: PartName, inHaste: boolean): Promise<void> {
    const child = this.#children.get(part);
    // Even in haste Postgres gets a second to leave its sessions behind; recovery does the rest.
    const haste = part === 'postgres' ? [{ signal: 'SIGQUIT' as const, waitMs: 1_000 }] : [];
    await child?.stop(inHaste ? haste : SHUTDOWN_STEPS[part]);
    crossOut(this.#runDir, part);
  }
}
