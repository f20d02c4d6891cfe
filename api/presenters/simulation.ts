import joi from 'joi';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import { hideHeaders } from '../../services/workflows/sealed-headers.ts';
import type { Simulation } from '../../services/workflows/simulation/simulate.ts';
import type { SimulatedRequest, SimulatedStep } from '../../services/workflows/simulation/simulated-step.ts';
import {
  email,
  flag,
  list,
  namedType,
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

const visitFields = {
  stepId: text().description('Step ID.'),
  visit: wholeNumber({ min: 1 }).description('Position of the step in the path, from 1.'),
};

const filterResult = namedType('FilterResult', 'A filter of a condition, and whether it matched.', {
  path: text().description('Path of the filter in the condition.').example('groups.0.filters.0'),
  field: nullableText().description('Field of the filter; null if it has none.'),
  operator: nullableText().description('Operator of the filter; null if it has none.'),
  value: joi.any().description('Value of the filter; null if it has none.').example('pro'),
  unit: optional(text()).description('Unit of time of the filter.').example('days'),
  count: optional(wholeNumber({ min: 1 })).description('Minimum number of events of the filter.'),
  matched: flag().description('Whether the filter matched.'),
  decisive: flag().description('Whether the filter decided the result of the condition.'),
});

const simulatedStep = namedType('SimulatedStep', 'A step that was taken in a simulation.', {
  ...visitFields,
  type: oneOf(...stepTypeNames).description('Step type.'),
  name: text().description('Step name.'),
  status: oneOf('COMPLETED', 'SKIPPED', 'FAILED', 'WAITING').description('Result of the step.'),
  branch: nullableText().description('Branch that was taken; null if there is none.').example('yes'),
  reason: nullableText().description('Why the step had this result; null if there is nothing to explain.'),
  filters: nullable(list(filterResult)).description('Result of each filter of a condition; null for other steps.'),
  output: nullable(record()).description('Output of the step; null if there is none.').example({ total: 12 }),
  scheduledFor: nullable(moment()).description('When a wait ends or was due to end; null if nothing is scheduled.'),
  enteredAt: moment().description('Simulated time when the step was entered.'),
  leftAt: nullable(moment()).description('Simulated time when the step was left; null if it was not.'),
});

const simulatedEmail = namedType('SimulatedEmail', 'An email that a step would send.', {
  ...visitFields,
  at: moment().description('Simulated time of the email.'),
  templateId: uuid().description('Template ID.'),
  to: text().description('Email address of the recipient.'),
  from: text().description('Email address of the sender.'),
  fromName: nullableText().description('Name of the sender; null if there is none.').example('Shop'),
  replyTo: nullableText().description('Reply-To address; null if there is none.').example('help@example.com'),
  subject: text({ min: 0 }).description('Rendered subject.'),
  html: nullableText().description('Rendered HTML body; null if it would exceed the size limit.'),
  text: nullableText().description('Rendered text body; null if it would exceed the size limit.'),
});

const simulatedWebhook = namedType('SimulatedWebhook', 'A request that a step would make.', {
  ...visitFields,
  at: moment().description('Simulated time of the request.'),
  method: text().description('HTTP method.'),
  url: text().description('URL.'),
  headers: record()
    .description('Header fields. Values are masked for callers who cannot edit workflows.')
    .example({ 'X-Source': 'everpost' }),
  body: nullableText().description('Body; null if it would exceed the size limit.').example('{"plan":"pro"}'),
});

export const simulationSchema = namedType('Simulation', 'What a workflow would do for a contact.', {
  status: oneOf('COMPLETED', 'EXITED', 'FAILED', 'WAITING', 'STOPPED').description(
    'How the simulation ended. WAITING: for an event that is not in `events`. STOPPED: at a limit of simulations.',
  ),
  reason: nullableText().description('Why it ended like this; null if it completed.'),
  truncated: nullable(
    object({
      at: object(visitFields).description('The first step that is incomplete or missing.'),
      reason: text().description('Why the result is incomplete.'),
    }),
  ).description('Where the result stops being complete; null if it is complete.'),
  startedAt: moment().description('Simulated time of the start.'),
  endedAt: moment().description('Simulated time of the end.'),
  contact: namedType('SimulatedContact', 'The contact of a simulation.', {
    id: uuid().description('Contact ID; made up if the contact is.'),
    email: email().description('Email address.'),
    subscribed: flag().description('Whether the contact is subscribed.'),
    data: record().description('Custom fields by name.').example({ plan: 'pro' }),
  }).description('The contact at the end of the simulation.'),
  context: record()
    .description('Variables of the execution at the end of the simulation.')
    .example({ orderId: '4711' }),
  path: list(simulatedStep).description('The steps that were taken, in order.'),
  emails: list(simulatedEmail).description('Emails that would be sent.'),
  webhooks: list(simulatedWebhook).description('Requests that would be made.'),
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
