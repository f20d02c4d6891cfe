// A stand-in for the part of Stripe's API that we use.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Call {
  method: string;
  path: string;
  form: Record<string, string>;
}

export interface MeterEvent {
  event_name: string;
  identifier: string;
  customer: string;
  value: number;
}

export interface StripeStandIn {
  url: string;
  calls: Call[];
  /** Accepted meter events, each identifier once. */
  meterEvents: MeterEvent[];
  /** 'lost answer': the request is processed, and the answer never arrives. */
  fault: 'down' | 'lost answer' | undefined;
  callsTo(path: string): Call[];
  close(): Promise<void>;
}

const PRICE = { id: 'price_1', object: 'price', recurring: { meter: 'mtr_1', usage_type: 'metered' } };

async function formOf(request: IncomingMessage): Promise<Record<string, string>> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return Object.fromEntries(new URLSearchParams(text || new URL(request.url ?? '', 'http://x').search));
}

export async function startStripe(): Promise<StripeStandIn> {
  const idempotent = new Map<string, object>();
  let customers = 0;

  const respond = ({ path, form }: Call): [number, object] => {
    const id = path.split('/').at(-1) ?? '';
    if (path === '/v1/customers') return [200, { id: `cus_${++customers}`, object: 'customer' }];
    if (path === '/v1/checkout/sessions') return [200, { id: 'cs_1', url: `https://checkout.test/${form.customer}` }];
    if (path === '/v1/billing_portal/sessions')
      return [200, { id: 'bps_1', url: `https://portal.test/${form.customer}` }];
    if (path === '/v1/invoices')
      return [200, { object: 'list', has_more: false, data: [invoice(form.customer ?? '')] }];
    if (path.startsWith('/v1/prices/')) return [200, PRICE];
    if (path.startsWith('/v1/billing/meters/')) return [200, { id, event_name: 'everpost_mails' }];
    if (path === '/v1/billing/meter_events') return meter(form);
    if (path.startsWith('/v1/subscriptions/')) return [200, { id, object: 'subscription', status: 'canceled' }];
    return [404, { error: { type: 'invalid_request_error', message: `Unrecognized request URL (${path})` } }];
  };

  const meter = (form: Record<string, string>): [number, object] => {
    const { identifier = '', event_name = '' } = form;
    if (standIn.meterEvents.some((event) => event.identifier === identifier)) {
      const message = `An event already exists with identifier ${identifier}.`;
      return [400, { error: { type: 'invalid_request_error', message } }];
    }
    const event = { event_name, identifier, customer: form['payload[stripe_customer_id]'] ?? '' };
    standIn.meterEvents.push({ ...event, value: Number(form['payload[value]']) });
    return [200, { object: 'billing.meter_event', identifier }];
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://stripe.test');
    const call = { method: request.method ?? '', path: pathname, form: await formOf(request) };
    const send = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (standIn.fault === 'down') return send(503, { error: { type: 'api_error', message: 'Stripe is down' } });
    if (request.headers.authorization !== 'Bearer sk_test_ours')
      return send(401, { error: { type: 'invalid_request_error', message: 'Invalid API Key' } });
    standIn.calls.push(call);
    const key = String(request.headers['idempotency-key'] ?? '');
    const [status, body] = idempotent.has(key) ? [200, idempotent.get(key) ?? {}] : respond(call);
    if (key && status === 200) idempotent.set(key, body);
    if (standIn.fault === 'lost answer' && request.method === 'POST') return void request.socket.destroy();
    send(status, body);
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: StripeStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    meterEvents: [],
    fault: undefined,
    callsTo: (path) => standIn.calls.filter((call) => call.path === path),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return standIn;
}

const invoice = (customer: string) => ({
  id: 'in_1',
  object: 'invoice',
  customer,
  number: 'A-1',
  status: 'paid',
  currency: 'eur',
  amount_due: 1200,
  amount_paid: 1200,
  created: 1_700_000_000,
  period_start: 1_690_000_000,
  period_end: 1_700_000_000,
  hosted_invoice_url: 'https://invoice.test/1',
  invoice_pdf: null,
});

/** Returns the header that Stripe signs its webhooks with. */
export function stripeSignature(body: string, secret: string, at = Math.floor(Date.now() / 1000)): string {
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;
}
