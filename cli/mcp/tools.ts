// The tools of the MCP server. Each calls one route; its arguments are those of the route (input-schema.ts).
import type { Method } from '../../client/src/types.ts';

export interface RouteTool {
  name: string;
  description: string;
  method: Method;
  /** As in the OpenAPI document. */
  path: string;
  /** Changes something, so that it exists only with `--write`. */
  write: boolean;
  /** Path parameters that the caller does not choose. */
  fixed?: Record<string, string>;
  /** Takes the place of an argument's schema in the document. */
  narrowed?: Record<string, object>;
  /** What it changes cannot be undone. */
  destructive?: boolean;
  /** Fields that are not given stay as they are, although the route replaces them all. */
  partial?: boolean;
}

type Options = Pick<RouteTool, 'fixed' | 'narrowed' | 'destructive' | 'partial'>;

const read = (name: string, route: string, description: string, options: Options = {}): RouteTool =>
  tool(name, route, description, false, options);
const write = (name: string, route: string, description: string, options: Options = {}): RouteTool =>
  tool(name, route, description, true, options);

function tool(name: string, route: string, description: string, writes: boolean, options: Options): RouteTool {
  const [method = '', path = ''] = route.split(' ');
  return { name, description, method: method.toLowerCase() as Method, path, write: writes, ...options };
}

const oneAddress = { type: 'string', format: 'email', description: 'One address. Use a campaign for several.' };

export const routeTools: RouteTool[] = [
  // Contacts
  read('list_contacts', 'GET /contacts', 'List contacts; `search` finds part of an address.'),
  read('get_contact', 'GET /contacts/{id}', 'Get a contact with its custom fields.'),
  read('list_contact_fields', 'GET /contacts/fields', 'List the custom fields with type and coverage.'),
  read('list_contact_segments', 'GET /contacts/{id}/segments', 'List the segments that a contact is in.'),
  write('save_contact', 'POST /contacts', 'Create a contact, or update the one with this address.'),
  write('update_contact', 'PATCH /contacts/{id}', 'Change a contact; only the fields given change.'),

  // Events
  read('list_events', 'GET /events', 'List recent events.'),
  read('list_event_names', 'GET /events/names', 'List the names of all events.'),
  read('get_event_stats', 'GET /events/stats', 'Get counts of events by name.'),
  read('list_contact_events', 'GET /events/contact/{contactId}', 'List the events of a contact.'),
  write('track_event', 'POST /events/track', 'Record an event of a contact. It can start workflows, which send mail.'),

  // Mail
  read('list_emails', 'GET /emails', 'List e-mails with their delivery status, newest first.'),
  read('get_email', 'GET /emails/{id}', 'Get an e-mail with its delivery attempts.'),
  read('get_email_content', 'GET /emails/{id}/content', 'Get subject, bodies and headers of an e-mail.'),
  read('list_suppressions', 'GET /suppressions', 'List addresses that get no mail, with the reason.'),
  read('verify_address', 'POST /v1/verify', 'Check whether an address can receive mail.'),
  write('send_email', 'POST /v1/send', 'Send a transactional e-mail to one address.', {
    narrowed: { to: oneAddress },
    destructive: true,
  }),

  // Templates
  read('list_templates', 'GET /templates', 'List templates.'),
  read('get_template', 'GET /templates/{id}', 'Get a template with its body.'),
  read('render', 'POST /render', 'Render a subject and a body for a contact or for data, and report faults.'),
  write('create_template', 'POST /templates', 'Create a template.'),
  write('update_template', 'PATCH /templates/{id}', 'Change a template; earlier versions are kept.'),
  write('send_template_test', 'POST /templates/{id}/test', 'Send a template to one address as a test.', {
    destructive: true,
  }),

  // Segments
  read('list_segments', 'GET /segments', 'List segments with their conditions and member counts.'),
  read('get_segment', 'GET /segments/{id}', 'Get a segment.'),
  read('list_segment_contacts', 'GET /segments/{id}/contacts', 'List the members of a segment.'),
  read('preview_segment', 'POST /segments/preview', 'Count the contacts that match a condition, and show some.'),
  write('create_segment', 'POST /segments', 'Create a segment.'),
  write('update_segment', 'PATCH /segments/{id}', 'Change a segment.'),

  // Campaigns; sending one is in campaign-sending.ts.
  read('list_campaigns', 'GET /campaigns', 'List campaigns.'),
  read('get_campaign', 'GET /campaigns/{id}', 'Get a campaign with its counts.'),
  read('get_campaign_stats', 'GET /campaigns/{id}/stats', 'Get counts and rates of a campaign.'),
  read('list_campaign_recipients', 'GET /campaigns/{id}/recipients', 'List the recipients of a campaign with results.'),
  read('list_campaign_links', 'GET /campaigns/{id}/links', 'List the links of a campaign that were clicked.'),
  write('create_campaign', 'POST /campaigns', 'Create a campaign as a draft. Nothing is sent.'),
  write('update_campaign', 'PUT /campaigns/{id}', 'Change a campaign that is a draft; only the fields given change.', {
    partial: true,
  }),
  write('send_campaign_test', 'POST /campaigns/{id}/test', 'Send a campaign to one address as a test.', {
    destructive: true,
  }),
  write('pause_campaign', 'POST /campaigns/{id}/pause', 'Pause a campaign that is SENDING.'),
  write('cancel_campaign', 'POST /campaigns/{id}/cancel', 'Cancel a campaign; remaining recipients get no mail.', {
    destructive: true,
  }),

  // Workflows
  read('list_workflows', 'GET /workflows', 'List workflows.'),
  read('get_workflow', 'GET /workflows/{id}', 'Get a workflow with its steps and transitions.'),
  read('list_workflow_fields', 'GET /workflows/fields', 'List the fields that conditions of workflows can use.'),
  read('list_executions', 'GET /workflows/{id}/executions', 'List the executions of a workflow.'),
  read('get_execution', 'GET /workflows/{id}/executions/{executionId}', 'Get an execution with its steps.'),
  read(
    'simulate_workflow',
    'POST /workflows/{id}/simulate',
    'Simulate a workflow for a contact: steps, times and mails. Nothing is sent or stored.',
  ),
  write('create_workflow', 'POST /workflows', 'Create a workflow. It starts disabled.'),
  write('update_workflow', 'PATCH /workflows/{id}', 'Change a workflow, or enable or disable it.'),
  write('add_workflow_step', 'POST /workflows/{id}/steps', 'Add a step to a workflow.'),
  write('update_workflow_step', 'PATCH /workflows/{id}/steps/{stepId}', 'Change a step of a workflow.'),
  write('add_workflow_transition', 'POST /workflows/{id}/transitions', 'Connect two steps of a workflow.'),
  write('start_execution', 'POST /workflows/{id}/executions', 'Start a workflow for one contact.', {
    destructive: true,
  }),
  write('cancel_execution', 'DELETE /workflows/{id}/executions/{executionId}', 'Cancel a running execution.', {
    destructive: true,
  }),

  // Domains
  read('list_domains', 'GET /domains/project/{projectId}', 'List the sender domains with their DNS records.', {
    fixed: { projectId: 'current' },
  }),
  read('check_domain', 'GET /domains/{id}/verify', 'Check the DNS records of a domain now.'),
  write('add_domain', 'POST /domains', 'Add a sender domain; the answer has the DNS records to publish.'),

  // Analytics
  read('get_timeseries', 'GET /analytics/timeseries', 'Get mail results per day or hour.'),
  read('list_top_campaigns', 'GET /analytics/top-campaigns', 'List campaigns, the best first.'),
  read('list_top_events', 'GET /analytics/top-events', 'List the most frequent events with their growth.'),
  read('get_results_by_domain', 'GET /analytics/by-domain', 'List mail results by the domain of the recipient.'),
  read('get_results_by_template', 'GET /analytics/by-template', 'List mail results by template.'),
  read('list_activity', 'GET /activity', 'List what happened: sends, opens, clicks, bounces and more.'),
];
