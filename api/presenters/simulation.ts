import joi from 'joi';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import { hideHeaders } from '../../services/workflows/sealed-headers.ts';
import type { Simulation } from '../../services/workflows/simulation/simulate.ts';
import type { SimulatedRequest, SimulatedStep } from '../../services/workflows/simulation/simulated-step.ts';
import {
  email,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';

const nullableText = () => nullable(text({ min: 0 }));

/** As `toISOString` writes it: a simulation that starts late passes the year 9999, which `date-time` does not have. */
const moment = (): Typed<string> =>
  documented(text(), { pattern: '^([+-]\\d{2})?\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' }).example(
    '2026-11-15T12:00:00.000Z',
  );

const visitFields = { stepId: text(), visit: wholeNumber({ min: 1 }), at: moment() };

export const simulationSchema = object({
  status: oneOf('COMPLETED', 'EXITED', 'FAILED', 'WAITING', 'STOPPED'),
  reason: nullableText(),
  truncated: nullable(object({ at: object({ stepId: text(), visit: wholeNumber({ min: 1 }) }), reason: text() })),
  startedAt: moment(),
  endedAt: moment(),
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
            unit: optional(text()),
            count: optional(wholeNumber({ min: 1 })),
            matched: flag(),
            decisive: flag(),
          }),
        ),
      ),
      output: nullable(record()),
      scheduledFor: nullable(moment()),
      enteredAt: moment(),
      leftAt: nullable(moment()),
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

/** Without `showsHeaders` the values of the headers of webhooks are hidden. */
export function presentSimulation(
  { status, reason, truncated, path, state: world }: Simulation,
  startedAt: Date,
  showsHeaders: boolean,
) {
  const request = (webhook: SimulatedRequest) =>
    showsHeaders ? webhook : { ...webhook, headers: hideHeaders(webhook.headers) };
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
    webhooks: path.flatMap((step) => (step.webhook ? [{ ...at(step), ...request(step.webhook) }] : [])),
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
