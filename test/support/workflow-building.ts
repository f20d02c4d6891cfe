import { expect } from 'chai';
import type { ApiProject } from './api.ts';

/** A graph in short form: steps by name, with type and config, and their transitions. */
export interface GraphSketch {
  steps: Record<string, { type: string; config?: object; templateId?: string }>;
  /** `from`, `to`, and the branch if any. */
  transitions?: [from: string, to: string, branch?: string][];
}

export interface Built {
  id: string;
  /** Step ids by name. */
  steps: Record<string, string>;
}

/** Creates a workflow through the API. */
export async function build(
  project: Pick<ApiProject, 'server'>,
  sketch: GraphSketch,
  workflow: object = {},
): Promise<Built> {
  const created = await project.server.post('/workflows', { name: 'Welcome', eventName: 'signed up', ...workflow });
  expect(created).to.have.status(201);
  const { id } = created.body;
  const steps: Record<string, string> = {};
  for (const [name, step] of Object.entries(sketch.steps)) {
    const added = await project.server.post(`/workflows/${id}/steps`, { name, ...step });
    expect(added, name).to.have.status(201);
    steps[name] = added.body.id;
  }
  for (const [from, to, branch] of sketch.transitions ?? []) {
    const body = { fromStepId: steps[from], toStepId: steps[to], ...(branch && { branch }) };
    expect(await project.server.post(`/workflows/${id}/transitions`, body), `${from} -> ${to}`).to.have.status(201);
  }
  return { id, steps };
}

export async function enable(project: Pick<ApiProject, 'server'>, id: string): Promise<void> {
  expect(await project.server.patch(`/workflows/${id}`, { enabled: true })).to.have.status(200);
}

export async function makeTemplate(project: ApiProject, change: object = {}): Promise<string> {
  const answer = await project.server.post('/templates', {
    name: 'Hello',
    subject: 'Hello {{ name }}',
    body: '<p>{{ name }}</p>',
    type: 'TRANSACTIONAL',
    from: `hello@${project.senderDomain}`,
    ...change,
  });
  expect(answer).to.have.status(201);
  return answer.body.id;
}
