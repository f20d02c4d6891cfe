import { ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import type { Temporal } from './connection.ts';
import { taskQueues } from './task-queues.ts';

/**
 * A paused Schedule without times, whose memo says which installation the namespace belongs to. Creating a Schedule is
 * atomic, so of two installations that start at once one gets the namespace. It needs no rights on the namespace, which
 * Temporal Cloud would not give.
 */
const MARKER = 'everpost/installation';

/** The namespace belongs to another installation, whose workflows this one would execute and end. */
export class ForeignNamespaceError extends Error {
  constructor(namespace: string, owner: string, own: string) {
    super(
      `The Temporal namespace "${namespace}" belongs to another Everpost installation (${owner}); this one is ${own}. ` +
        'Give every installation its own namespace: create one and name it in TEMPORAL_NAMESPACE. ' +
        'If the other installation no longer exists, run "everpost namespace take".',
    );
    this.name = 'ForeignNamespaceError';
  }
}

/** Makes sure that the namespace belongs to this installation before anything is started, polled or ended there. */
export class NamespaceOwner {
  private readonly temporal: Temporal;
  private readonly installation: string;
  private verified: Promise<void> | undefined;

  constructor(temporal: Temporal, installation: string) {
    this.temporal = temporal;
    this.installation = installation;
  }

  /** Claims a namespace without an owner. Throws `ForeignNamespaceError`, or because Temporal is unavailable. */
  verify(): Promise<void> {
    this.verified ??= this.claim().catch((error: unknown) => {
      this.verified = undefined;
      throw error;
    });
    return this.verified;
  }

  /** Asks Temporal again: the namespace may have been created anew. */
  verifyAgain(): Promise<void> {
    this.verified = undefined;
    return this.verify();
  }

  /** Returns the installation that owns the namespace; undefined when none does. */
  async owner(): Promise<string | undefined> {
    const { client } = this.temporal;
    try {
      const { memo } = await client.schedule.getHandle(MARKER).describe();
      return String(memo?.installation ?? 'unknown');
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return undefined;
      throw error;
    }
  }

  /** Takes the namespace from an installation that no longer exists. Returns the previous owner. */
  async take(): Promise<string | undefined> {
    const previous = await this.owner();
    if (previous !== undefined && previous !== this.installation)
      await this.temporal.client.schedule.getHandle(MARKER).delete();
    await this.verifyAgain();
    return previous;
  }

  private async claim(): Promise<void> {
    const { namespace } = this.temporal;
    const owner = await this.owner();
    if (owner === this.installation) return;
    if (owner !== undefined) throw new ForeignNamespaceError(namespace, owner, this.installation);
    try {
      await this.createMarker();
    } catch (error) {
      // Another process created it first.
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await this.claim();
    }
  }

  private createMarker(): Promise<unknown> {
    return this.temporal.client.schedule.create({
      scheduleId: MARKER,
      spec: {},
      memo: { installation: this.installation },
      action: { type: 'startWorkflow', workflowType: 'retention', workflowId: MARKER, taskQueue: taskQueues.workflows },
      state: { paused: true, note: 'Marks the installation that this namespace belongs to. It never runs.' },
    });
  }
}
