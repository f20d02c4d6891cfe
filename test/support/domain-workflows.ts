// The workflow that checks a domain, on a Temporal server whose time tests move.
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { domainActivities } from '../../activities/domains.ts';
import { Domain } from '../../db/models/domain.ts';
import { createResolver } from '../../platform/http/resolver.ts';
import { readSettings } from '../../platform/settings.ts';
import { createDomain } from '../../services/domains/create.ts';
import type { DomainWithRecords } from '../../services/domains/find.ts';
import { loopOf } from '../../services/domains/loop.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject, type TestProject } from './connected-database.ts';
import { type DnsStandIn, startDns } from './dns.ts';
import { timeSkipping } from './temporal.ts';
import './temporal-work.ts';

const settings = readSettings({});

/** Checks wait until it is open. */
interface Gate {
  opened: Promise<void>;
}

export class DomainWorkflows {
  readonly env: TestWorkflowEnvironment;
  readonly database: ConnectedDatabase;
  readonly dns: DnsStandIn;
  readonly project: TestProject;
  private readonly stop: () => Promise<void>;
  private readonly checks: string[];
  private readonly gate: Gate;
  private made = 0;

  private constructor(
    parts: Pick<DomainWorkflows, 'env' | 'database' | 'dns' | 'project'>,
    { checks, gate }: { checks: string[]; gate: Gate },
    stop: () => Promise<void>,
  ) {
    this.env = parts.env;
    this.database = parts.database;
    this.dns = parts.dns;
    this.project = parts.project;
    this.checks = checks;
    this.gate = gate;
    this.stop = stop;
  }

  static async start(): Promise<DomainWorkflows> {
    const [env, database, dns] = await Promise.all([timeSkipping(), connectTestDatabase(), startDns()]);
    const project = await makeProject(database.db);
    const resolver = createResolver({ servers: [dns.address], timeoutMs: 15_000, deadlineMs: 60_000 });
    const real = domainActivities({ db: database.db, resolver, settings });
    const checks: string[] = [];
    const gate: Gate = { opened: Promise.resolve() };
    const activities = {
      checkDomain: async (id: string, generation: number) => {
        checks.push(id);
        await gate.opened;
        return real.checkDomain(id, generation);
      },
    };
    const base = { connection: env.nativeConnection };
    const workers = [
      await Worker.create({ ...base, taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() }),
      await Worker.create({ ...base, taskQueue: taskQueues.domains, activities }),
    ];
    const running = workers.map((worker) => worker.run());
    return new DomainWorkflows({ env, database, dns, project }, { checks, gate }, async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      resolver.close();
      await env.teardown();
      await dns.stop();
      await database.close();
    });
  }

  close(): Promise<void> {
    return this.stop();
  }

  /** Holds all checks that begin from now on, until the returned function is called. */
  holdChecks(): () => void {
    let open = () => {};
    this.gate.opened = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  }

  add(): Promise<DomainWithRecords> {
    return createDomain(this.database.db, this.project.access, `loop${++this.made}.example`, settings);
  }

  publish(domain: DomainWithRecords): void {
    const { name, value } = dkimOf(domain);
    this.dns.set(name, 'TXT', [value.match(/.{1,255}/g) ?? []]);
  }

  run(domain: Domain) {
    const { workflowType, workflowId, args } = loopOf(domain);
    return this.env.client.workflow.start(workflowType, { taskQueue: taskQueues.workflows, workflowId, args });
  }

  async statusOf({ id }: Domain): Promise<string | undefined> {
    return (await Domain.query(this.database.db).findById(id))?.status;
  }

  checksOf({ id }: Domain): number {
    return this.checks.filter((checked) => checked === id).length;
  }
}

export function dkimOf({ records }: DomainWithRecords) {
  const record = records.find(({ purpose }) => purpose === 'DKIM');
  if (!record) throw new Error('there is no DKIM record');
  return record;
}
