import { expect } from 'chai';
import type { ApiProject } from './api.ts';

/** A graph in short: steps by name, each with its type and config, and how they are connected. */
export interface Drawing {
  steps: Record<string, { type: string; config?: object; templateId?: string }>;
  /** `from`, `to`, and the branch where there is one. */
  transitions?: [from: string, to: string, branch?: string][];
}

export interface Built {
  id: string;
  /** By name. */
  steps: Record<string, string>;
}

/** Draws a workflow through the API. */
export async function build(project: ApiProject, drawing: Drawing, workflow: object = {}): Promise<Built> {
  const created = await project.server.post('/workflows', { name: 'Welcome', eventName: 'signed up', ...workflow });
  expect(created).to.have.status(201);
  const { id } = created.body;
  const steps: Record<string, string> = {};
  for (const [name, step] of Object.entries(drawing.steps)) {
    const added = await project.server.post(`/workflows/${id}/steps`, { name, ...step });
    expect(added, name).to.have.status(201);
    steps[name] = added.body.id;
  }
  for (const [from, to, branch] of drawing.transitions ?? []) {
    const body = { fromStepId: steps[from], toStepId: steps[to], ...(branch && { branch }) };
    expect(await project.server.post(`/workflows/${id}/transitions`, body), `${from} -> ${to}`).to.have.status(201);
  }
  return { id, steps };
}

export async function enable(project: ApiProject, id: string): Promise<void> {
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
