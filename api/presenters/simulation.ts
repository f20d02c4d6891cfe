import joi from 'joi';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import type { SimulatedStep, Simulation } from '../../services/workflows/simulation/simulate.ts';
import {
  dateTime,
  email,
  flag,
  list,
  nullable,
  object,
  oneOf,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';

const nullableText = () => nullable(text({ min: 0 }));

const visitFields = { stepId: text(), visit: wholeNumber({ min: 1 }), at: dateTime() };

export const simulationSchema = object({
  status: oneOf('COMPLETED', 'EXITED', 'FAILED', 'WAITING', 'STOPPED'),
  reason: nullableText(),
  truncated: nullable(object({ at: object({ stepId: text(), visit: wholeNumber({ min: 1 }) }), reason: text() })),
  startedAt: dateTime(),
  endedAt: dateTime(),
  contact: object({ id: uuid(), email: email(), subscribed: flag(), data: record() }),
  context: record(),
  path: list(
    object({
      visit: wholeNumber({ min: 1 }),
      stepId: text(),
      type: oneOf(...stepTypeNames),
      name: text(),
      status: oneOf('COMPLETED', 'SKIPPED', 'FAILED', 'WAITING'),
      branch: nullableText(),
      reason: nullableText(),
      filters: nullable(
        list(
          object({
            path: text(),
            field: nullableText(),
            operator: nullableText(),
            value: joi.any(),
            matched: flag(),
            decisive: flag(),
          }),
        ),
      ),
      output: nullable(record()),
      scheduledFor: nullable(dateTime()),
      enteredAt: dateTime(),
      leftAt: nullable(dateTime()),
    }),
  ),
  emails: list(
    object({
      ...visitFields,
      templateId: uuid(),
      to: text(),
      from: text(),
      fromName: nullableText(),
      replyTo: nullableText(),
      subject: text({ min: 0 }),
      html: nullableText(),
      text: nullableText(),
    }),
  ),
  webhooks: list(object({ ...visitFields, method: text(), url: text(), headers: record(), body: nullableText() })),
});

export function presentSimulation({ status, reason, truncated, path, state: world }: Simulation, startedAt: Date) {
  const at = ({ step, visit, enteredAt }: SimulatedStep) => ({
    stepId: step.id,
    visit,
    at: enteredAt.toISOString(),
  });
  const { id, email: address, subscribed, data } = world.contact;
  return {
    status,
    reason,
    truncated,
    startedAt: startedAt.toISOString(),
    endedAt: world.now.toISOString(),
    contact: { id, email: address, subscribed, data },
    context: world.context,
    path: path.map(presentStep),
    emails: path.flatMap((step) => (step.email ? [{ ...at(step), ...step.email }] : [])),
    webhooks: path.flatMap((step) => (step.webhook ? [{ ...at(step), ...step.webhook }] : [])),
  };
}

const presentStep = (visited: SimulatedStep) => ({
  visit: visited.visit,
  stepId: visited.step.id,
  type: visited.step.type,
  name: visited.step.name,
  status: visited.status,
  branch: visited.branch,
  reason: visited.reason,
  filters: visited.filters,
  output: visited.output,
  scheduledFor: visited.scheduledFor?.toISOString() ?? null,
  enteredAt: visited.enteredAt.toISOString(),
  leftAt: visited.leftAt?.toISOString() ?? null,
});
