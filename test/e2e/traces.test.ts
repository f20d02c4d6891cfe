import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { atEnd } from '../support/cleanup.ts';
import { storedMails } from '../support/rows/mails.ts';
import { type OwnNamespace, ownNamespace, type ProcessStack, startProcessStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable, makeTemplate } from '../support/workflow-building.ts';

interface SpanOnWire {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  links: { traceId: string }[];
}

const traceOf = (id: string) => id.replaceAll('-', '');

/** Stands in for an OpenTelemetry collector. */
async function startCollector() {
  const spans: SpanOnWire[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { resourceSpans: { scopeSpans: { spans: SpanOnWire[] }[] }[] };
    for (const { scopeSpans } of body.resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.writeHead(request.url === '/v1/traces' ? 200 : 404).end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atEnd(async () => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

describe('OpenTelemetry traces', () => {
  let temporal: OwnNamespace;
  let stack: ProcessStack;
  let collector: Awaited<ReturnType<typeof startCollector>>;

  before(async () => {
    collector = await startCollector();
    temporal = await ownNamespace();
    stack = await startProcessStack(temporal, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const spanOf = (name: string, test: (span: SpanOnWire) => boolean) =>
    eventually(() => collector.spans.find((span) => span.name === name && test(span)), {
      what: `the span ${name}`,
    });
  const linksTo = (id: string) => (span: SpanOnWire) => span.links.some(({ traceId }) => traceId === traceOf(id));

  it("follow a mail from the caller's request to SMTP", async () => {
    const callersTrace = '0af7651916cd43dd8448eb211c80319c';
    const answer = await fetch(`${stack.api.url}/v1/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.project.secretKey}`,
        'content-type': 'application/json',
        traceparent: `00-${callersTrace}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({
        to: 'ann@example.com',
        from: `shop@${stack.project.senderDomain}`,
        subject: 'Hello',
        body: '<p>Hello</p>',
      }),
    });
    const { data } = (await answer.json()) as { data: { emails: { email: string }[] } };
    const id = data.emails[0]?.email ?? '';
    const request = await spanOf('POST /v1/send', linksTo(id));
    expect(request).to.include({ traceId: callersTrace, parentSpanId: 'b7ad6b7169203331' });
    await spanOf('smtp', ({ traceId }) => traceId === traceOf(id));
  });

  it('follow an event through the outbox and the workflow to SMTP', async () => {
    const own = { ...stack.project, server: stack.server } as never;
    const workflow = await build(own, {
      steps: { hello: { type: 'SEND_EMAIL', config: { templateId: await makeTemplate(own) } } },
    });
    await enable(own, workflow.id);
    const event = { email: 'bob@example.com', event: 'signed up', subscribed: true };
    expect(await stack.server.post('/events/track', event)).to.have.status(200);
    await stack.smtp.received(1, { to: 'bob@example.com' });
    const { db } = stack.database;
    const execution = await db('executions').where({ workflowId: workflow.id }).first('id');
    const mail = await storedMails(db).whereNotNull('executionId').first('id');
    await spanOf('match events', linksTo(execution.id));
    await spanOf('outbox start', ({ traceId }) => traceId === traceOf(execution.id));
    await spanOf('advance execution', (span) => span.traceId === traceOf(execution.id) && linksTo(mail.id)(span));
    await spanOf('smtp', ({ traceId }) => traceId === traceOf(mail.id));
  });
});
