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
  /** Arguments of the route that the tool does not have. */
  hidden?: readonly string[];
  /** What it changes cannot be undone. */
  destructive?: boolean;
  /** Fields that are not given stay as they are, although the route replaces them all. */
  partial?: boolean;
}

type Options = Pick<RouteTool, 'fixed' | 'narrowed' | 'hidden' | 'destructive' | 'partial'>;

const read = (name: string, route: string, description: string, options: Options = {}): RouteTool =>
  tool(name, route, description, false, options);
const write = (name: string, route: string, description: string, options: Options = {}): RouteTool =>
  tool(name, route, description, true, options);

function tool(name: string, route: string, description: string, writes: boolean, options: Options): RouteTool {
  const [method = '', path = ''] = route.split(' ');
  return { name, description, method: method.toLowerCase() as Method, path, write: writes, ...options };
}

/** No tool gives consent in a person's name. */
const CONSENT = ['topics', 'consent', 'confirmation'] as const;

const oneAddress = { type: 'string', format: 'email', description: 'A single address. Use a campaign for several.' };

export const routeTools: RouteTool[] = [
  // Contacts
  read('list_contacts', 'GET /contacts', 'List contacts; `query` finds part of an address or name.'),
  read('get_contact', 'GET /contacts/{id}', 'Get a contact with its custom fields.'),
  read('list_contact_fields', 'GET /contacts/fields', 'List contact fields with their types and coverage.'),
  read('list_contact_segments', 'GET /contacts/{id}/segments', 'List the segments that a contact is in.'),
  write('save_contact', 'POST /contacts', 'Create a contact, or update the one with this address.', {
    hidden: CONSENT,
  }),
  write('update_contact', 'PATCH /contacts/{id}', 'Update a contact. Fields left out stay as they are.', {
    hidden: CONSENT,
  }),
  read('get_contact_topics', 'GET /contacts/{id}/topics', 'Get what a contact receives: the state of every topic.'),
  read('list_contact_consents', 'GET /contacts/{id}/consents', 'List what a contact agreed to and withdrew.'),

  // Topics
  read('list_topics', 'GET /topics', 'List the topics that contacts can join and leave.'),
  read('get_topic', 'GET /topics/{id}', 'Get a topic with the number of contacts in each state.'),
  write('create_topic', 'POST /topics', 'Create a topic.'),
  write('update_topic', 'PATCH /topics/{id}', 'Update a topic. Fields left out stay as they are.'),

  // Forms. None submits one: that would be consent in a person's name.
  read('list_forms', 'GET /forms', 'List the forms with which visitors subscribe.'),
  read('get_form', 'GET /forms/{id}', 'Get a form with its fields, texts and settings.'),
  read('get_form_stats', 'GET /forms/{id}/stats', 'Count views, submissions and confirmations of a form.'),
  read('list_form_submissions', 'GET /forms/{id}/submissions', 'List what visitors submitted, newest first.'),
  read('get_form_embed', 'GET /forms/{id}/embed', 'Get the code that shows a form in a page.'),
  write('create_form', 'POST /forms', 'Create a form.'),
  write('update_form', 'PATCH /forms/{id}', 'Update a form. Fields left out stay as they are.'),

  // Events
  read('list_events', 'GET /events', 'List recent events.'),
  read('list_event_names', 'GET /events/names', 'List all event names.'),
  read('get_event_stats', 'GET /events/stats', 'Count events by name.'),
  read('list_contact_events', 'GET /events/contact/{contactId}', 'List the events of a contact.'),
  write('track_event', 'POST /events/track', 'Record an event of a contact. It can start workflows that send email.'),

  // Mail
  read('list_emails', 'GET /emails', 'List emails with their delivery status, newest first.'),
  read('get_email', 'GET /emails/{id}', 'Get an email with its delivery attempts.'),
  read('get_email_content', 'GET /emails/{id}/content', 'Get the subject, bodies and headers of an email.'),
  read('list_suppressions', 'GET /suppressions', 'List suppressed addresses with the reason.'),
  read('verify_address', 'POST /v1/verify', 'Check whether an address can receive email.'),
  write('send_email', 'POST /v1/send', 'Send a transactional email to one address.', {
    narrowed: { to: oneAddress },
    destructive: true,
  }),

  // Templates
  read('list_templates', 'GET /templates', 'List templates.'),
  read('get_template', 'GET /templates/{id}', 'Get a template with its body, and its document if it has one.'),
  read(
    'render',
    'POST /render',
    'Render a subject and a body or document for a contact or with given data, and report problems.',
  ),
  write('create_template', 'POST /templates', 'Create a template from a document, or from HTML as its body.'),
  write('update_template', 'PATCH /templates/{id}', 'Update a template. Earlier versions are kept.'),
  write('send_template_test', 'POST /templates/{id}/test', 'Send a test email of a template to one address.', {
    destructive: true,
  }),

  // Brand
  read('get_brand_kit', 'GET /brand-kit', 'Get the colors, fonts and addresses that documents are rendered with.'),
  read('list_saved_blocks', 'GET /saved-blocks', 'List the saved blocks that documents can use.'),
  read('get_saved_block', 'GET /saved-blocks/{id}', 'Get a saved block with its document.'),

  // Segments
  read('list_segments', 'GET /segments', 'List segments with their conditions and member counts.'),
  read('get_segment', 'GET /segments/{id}', 'Get a segment.'),
  read('list_segment_contacts', 'GET /segments/{id}/contacts', 'List the members of a segment.'),
  read('preview_segment', 'POST /segments/preview', 'Count the contacts that match a condition, with a sample.'),
  write('create_segment', 'POST /segments', 'Create a segment.'),
  write('update_segment', 'PATCH /segments/{id}', 'Update a segment.'),

  // Campaigns; sending one is in campaign-sending.ts.
  read('list_campaigns', 'GET /campaigns', 'List campaigns.'),
  read('get_campaign', 'GET /campaigns/{id}', 'Get a campaign with its counts.'),
  read('get_campaign_stats', 'GET /campaigns/{id}/stats', 'Get the counts and rates of a campaign.'),
  read('list_campaign_recipients', 'GET /campaigns/{id}/recipients', 'List campaign recipients with their results.'),
  read('list_campaign_links', 'GET /campaigns/{id}/links', 'List the clicked links of a campaign.'),
  read(
    'get_campaign_click_map',
    'GET /campaigns/{id}/click-map',
    'Get the clicks of a campaign by place in the email.',
  ),
  read('get_campaign_timeline', 'GET /campaigns/{id}/timeline', 'Get the results of a campaign by hour or day.'),
  read('list_campaign_reasons', 'GET /campaigns/{id}/reasons', 'List why recipients of a campaign got no email.'),
  write('create_campaign', 'POST /campaigns', 'Create a campaign as a draft. Nothing is sent.'),
  write(
    'create_campaign_follow_up',
    'POST /campaigns/{id}/follow-up',
    'Create a draft to some recipients of a campaign.',
    {
      hidden: ['scheduledFor'],
    },
  ),
  write('update_campaign', 'PUT /campaigns/{id}', 'Update a draft campaign. Fields left out stay as they are.', {
    partial: true,
  }),
  write('send_campaign_test', 'POST /campaigns/{id}/test', 'Send a test email of a campaign to one address.', {
    destructive: true,
  }),
  write('pause_campaign', 'POST /campaigns/{id}/pause', 'Pause a campaign that is SENDING.'),
  write('unschedule_campaign', 'POST /campaigns/{id}/unschedule', 'Make a scheduled campaign a draft again.'),
  write('cancel_campaign', 'POST /campaigns/{id}/cancel', 'Cancel a campaign. Remaining recipients get no email.', {
    destructive: true,
  }),

  // Workflows
  read('list_workflows', 'GET /workflows', 'List workflows.'),
  read('get_workflow', 'GET /workflows/{id}', 'Get a workflow with its steps and transitions.'),
  read('list_workflow_fields', 'GET /workflows/fields', 'List the fields that workflow conditions can use.'),
  read('list_executions', 'GET /workflows/{id}/executions', 'List the executions of a workflow.'),
  read('get_execution', 'GET /workflows/{id}/executions/{executionId}', 'Get an execution with its steps.'),
  read(
    'simulate_workflow',
    'POST /workflows/{id}/simulate',
    'Simulate a workflow for a contact: steps, times and emails. Nothing is sent or stored.',
  ),
  write('create_workflow', 'POST /workflows', 'Create a workflow. It starts disabled.'),
  write('update_workflow', 'PATCH /workflows/{id}', 'Update, enable or disable a workflow.'),
  write('add_workflow_step', 'POST /workflows/{id}/steps', 'Add a step to a workflow.'),
  write('update_workflow_step', 'PATCH /workflows/{id}/steps/{stepId}', 'Update a step of a workflow.'),
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
  write('add_domain', 'POST /domains', 'Add a sender domain. Returns the DNS records to publish.'),

  // Analytics
  read('get_timeseries', 'GET /analytics/timeseries', 'Get email results by day or hour.'),
  read('list_top_campaigns', 'GET /analytics/top-campaigns', 'List the best campaigns.'),
  read('list_top_events', 'GET /analytics/top-events', 'List the most frequent events with their growth.'),
  read('get_results_by_domain', 'GET /analytics/by-domain', 'List email results by recipient domain.'),
  read('get_results_by_template', 'GET /analytics/by-template', 'List email results by template.'),
  read('list_activity', 'GET /activity', 'List recent activity: sends, opens, clicks, bounces and more.'),
];
