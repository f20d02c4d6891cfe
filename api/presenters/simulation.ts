import joi from 'joi';
import type { Data } from '../../services/contacts/data.ts';
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

const place = { stepId: text(), visit: wholeNumber({ min: 1 }), at: dateTime() };

export const simulationSchema = object({
  status: oneOf('COMPLETED', 'EXITED', 'FAILED', 'WAITING', 'STOPPED'),
  reason: nullableText(),
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
      ...place,
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
  webhooks: list(object({ ...place, method: text(), url: text(), headers: record(), body: nullableText() })),
});

/** So much of what was rendered is shown; a loop of a thousand mails would fill an answer that nobody reads. */
const MAX_RENDERED = 4_000_000;

export function presentSimulation({ status, reason, path, world }: Simulation, startedAt: Date) {
  let room = MAX_RENDERED;
  const shown = (body: string): string | null => {
    room -= body.length;
    return room >= 0 ? body : null;
  };
  const at = ({ step, visit, enteredAt }: SimulatedStep) => ({
    stepId: step.id,
    visit,
    at: enteredAt.toISOString(),
  });
  const { id, email: address, subscribed, data } = world.contact;
  return {
    status,
    reason,
    startedAt: startedAt.toISOString(),
    endedAt: world.now.toISOString(),
    contact: { id, email: address, subscribed, data },
    context: world.context,
    path: path.map(presentStep),
    emails: path.flatMap((step) =>
      step.email
        ? [
            {
              ...at(step),
              ...step.email,
              html: shown(step.email.html),
              text: step.email.text && shown(step.email.text),
            },
          ]
        : [],
    ),
    webhooks: path.flatMap((step) =>
      step.webhook ? [{ ...at(step), ...step.webhook, body: shown(step.webhook.body) }] : [],
    ),
  };
}

const presentStep = (visited: SimulatedStep) => ({
  visit: visited.visit,
  stepId: visited.step.id,
  type: visited.step.type,
  name: visited.step.name,
  status: visited.status,
  branch: visited.branch,
  reason: visited.reason ?? conditionReason(visited),
  filters: visited.filters?.map((answer) => ({ ...filterAt(visited.step.config, answer.path), ...answer })) ?? null,
  output: visited.output,
  scheduledFor: visited.scheduledFor?.toISOString() ?? null,
  enteredAt: visited.enteredAt.toISOString(),
  leftAt: visited.leftAt?.toISOString() ?? null,
});

interface Filter {
  field: string | null;
  operator: string | null;
  value: unknown;
  unit?: unknown;
  count?: unknown;
}

/** The filter that stands at a path of the condition; a config without groups is one filter itself. */
function filterAt(config: Data, path: string): Filter {
  const found = 'groups' in config ? path.split('.').reduce<unknown>((at, key) => (at as Data)[key], config) : config;
  const { field = null, operator = null, value = null, unit, count } = found as Partial<Filter>;
  return { field, operator, value, ...(unit !== undefined && { unit }), ...(count !== undefined && { count }) };
}

function conditionReason({ step, filters }: SimulatedStep): string | null {
  const decisive = filters?.filter((answer) => answer.decisive) ?? [];
  if (decisive.length === 0) return null;
  return decisive
    .map(({ path, matched }) => {
      const { field, operator, value } = filterAt(step.config, path);
      const said = [field, operator, value === null ? undefined : JSON.stringify(value)].filter(Boolean).join(' ');
      return `${said} ${matched ? 'holds' : 'does not hold'}`;
    })
    .join('; ');
}
