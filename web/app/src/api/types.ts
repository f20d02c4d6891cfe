// Names for the shapes of the generated types.
import type { operations } from './api-types.ts';

type Answer<Operation extends keyof operations> = operations[Operation] extends {
  responses: infer Responses;
}
  ? Responses extends Record<200, { content: { 'application/json': infer Body } }>
    ? Body
    : never
  : never;

type Item<Operation extends keyof operations> =
  Answer<Operation> extends { data: (infer T)[] } ? T : Answer<Operation> extends (infer T)[] ? T : never;

export type Project = Item<'getUsersMeProjects'>;
export type User = Answer<'getUsersMe'>;
export type Contact = Item<'getContacts'>;
export type Segment = Item<'getSegments'>;
export type Template = Item<'getTemplates'>;
export type Campaign = Answer<'getCampaignsId'>;
export type CampaignStatus = Campaign['status'];
export type Recipient = Item<'getCampaignsIdRecipients'>;
export type RecipientStatus = Recipient['status'];
export type Domain = Item<'getDomainsProjectProjectId'>;
export type DomainRecord = Domain['records'][number];
export type Email = Item<'getEmails'>;
export type EmailStatus = Email['status'];
export type EmailDetail = Answer<'getEmailsId'>;
export type Job = Answer<'getContactsImportJobId'>;
export type TemplateFigures = Item<'getAnalyticsByTemplate'>;
export type DomainFigures = Item<'getAnalyticsByDomain'>;
export type Notification = Item<'getNotifications'>;
export type NotificationSettings = Answer<'getUsersMeNotificationSettings'>;
export type ActivityItem = Item<'getActivity'>;
export type Security = Answer<'getUsersMeProjectsIdSecurity'>;
export type SetupState = Answer<'getProjectsIdSetupState'>;
export type Workflow = Item<'getWorkflows'>;
export type WorkflowDetail = Answer<'getWorkflowsId'>;
export type WorkflowStep = WorkflowDetail['steps'][number];
export type WorkflowDraft = Answer<'getWorkflowsIdDraft'>;
export type StepTypeInfo = Answer<'getWorkflowsStepTypes'>['types'][number];
export type WorkflowVersion = Item<'getWorkflowsIdVersions'>;
export type WorkflowCase = Item<'getWorkflowsIdCases'>;
export type CaseRun = Answer<'postWorkflowsIdCasesRun'>;
export type Recipe = Answer<'getWorkflowsRecipes'>['recipes'][number];
export type Execution = Item<'getExecutions'>;
export type ExecutionDetail = Answer<'getWorkflowsIdExecutionsExecutionId'>;
export type ExecutionStep = ExecutionDetail['steps'][number];
export type Simulation = Answer<'postWorkflowsIdSimulate'>;
export type FailureCause = Item<'getExecutionsFailures'>;
export type Member = Item<'getProjectsIdMembers'>;
export type AuditEntry = Item<'getProjectsIdAudit'>;
export type Session = Item<'getUsersMeSessions'>;
export type Consumption = Answer<'getUsersMeProjectsIdBillingConsumption'>;
export type Invoice = Item<'getUsersMeProjectsIdBillingInvoices'>;
export type Overview = Answer<'getOperatorOverview'>;
export type OperatorProject = Item<'getOperatorProjects'>;
export type Suppression = Item<'getSuppressions'>;
export type WebhookEndpoint = Item<'getWebhookEndpoints'>;
export type WebhookDelivery = Item<'getWebhookEndpointsIdDeliveries'>;
export type WebhookDeliveryDetail = Answer<'getWebhookDeliveriesId'>;
export type ScopedKey = Item<'getProjectsIdKeys'>;
export type FailedRequest = Item<'getRequests'>;
export type EventName = Answer<'getEventsNames'>['names'][number];
export type EventUsage = Answer<'getEventsEventNameUsage'>;
export type ContactField = Answer<'getContactsFields'>['fields'][number];
export type FieldUsage = Answer<'getContactsFieldsFieldUsage'>;
