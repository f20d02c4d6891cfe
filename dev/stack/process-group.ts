import { type Child, childFailure, exitText } from '../child.ts';
import { forgetProcess, recordProcess } from './orphans.ts';
import { type PartName, SHUTDOWN_ORDER, SHUTDOWN_STEPS } from './shutdown.ts';

/** The child processes of a running stack: records them, stops them in order, and reports unexpected exits. */
export class ProcessGroup {
  #runDir: string;
  #children = new Map<PartName, Child>();
  #stopping = false;
  #onUnexpectedExit: (message: string) => void = () => {};

  /** Resolves with a message when a child exits without having been stopped. */
  readonly unexpectedExit: Promise<string>;

  constructor(runDir: string) {
    this.#runDir = runDir;
    this.unexpectedExit = new Promise((resolve) => {
      this.#onUnexpectedExit = resolve;
    });
  }

  /** To be called as soon as the child is spawned. Postgres may be started several times: the latest one counts. */
  add(part: PartName, child: Child): void {
    this.#children.set(part, child);
    recordProcess(this.#runDir, part, child.pid);
    if (this.#stopping) void child.kill();
  }

  /** From now on, an exit of this child ends the stack. */
  watch(part: PartName): void {
    const child = this.#children.get(part);
    void child?.exited.then((exit) => {
      if (!this.#stopping) this.#onUnexpectedExit(childFailure(child, `has died (${exitText(exit)})`));
    });
  }

  /** Stops all children. Call it again with `immediate` at a second Ctrl-C. */
  async stop(immediate = false): Promise<void> {
    this.#stopping = true;
    for (const parts of SHUTDOWN_ORDER) {
      await Promise.all(parts.map((part) => this.#stop(part, immediate)));
    }
  }

  async #stop(part: PartName, immediate: boolean): Promise<void> {
    const child = this.#children.get(part);
    // Even then Postgres gets a second to end its sessions; recovery does the rest.
    const immediateSteps = part === 'postgres' ? [{ signal: 'SIGQUIT' as const, waitMs: 1_000 }] : [];
    await child?.stop(immediate ? immediateSteps : SHUTDOWN_STEPS[part]);
    forgetProcess(this.#runDir, part);
  }
}
