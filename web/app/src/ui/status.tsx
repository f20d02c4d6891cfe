import { Badge } from '@mantine/core';
import type { CampaignStatus, EmailStatus } from '../api/types.ts';
import { t } from '../texts/index.ts';

const emailColors: Record<EmailStatus, string> = {
  PENDING: 'gray',
  SENDING: 'blue',
  SENT: 'blue',
  DELIVERED: 'teal',
  OPENED: 'teal',
  CLICKED: 'green',
  BOUNCED: 'red',
  COMPLAINED: 'red',
  FAILED: 'red',
  SKIPPED: 'gray',
  CANCELLED: 'gray',
  UNKNOWN: 'orange',
};

export const EmailStatusBadge = ({ status }: { status: EmailStatus }) => (
  <Badge color={emailColors[status]}>{t.emails.statuses[status]}</Badge>
);

const campaignColors: Record<CampaignStatus | 'PAUSED', string> = {
  DRAFT: 'gray',
  SCHEDULED: 'violet',
  SENDING: 'blue',
  PAUSED: 'orange',
  SENT: 'teal',
  CANCELLED: 'gray',
};

export function CampaignStatusBadge({ status, paused }: { status: CampaignStatus; paused: boolean }) {
  const shown = paused && status === 'SENDING' ? 'PAUSED' : status;
  return <Badge color={campaignColors[shown]}>{t.campaigns.statuses[shown]}</Badge>;
}

export const SubscribedBadge = ({ subscribed }: { subscribed: boolean }) => (
  <Badge color={subscribed ? 'teal' : 'gray'}>{subscribed ? t.contacts.subscribed : t.contacts.unsubscribed}</Badge>
);

const executionColors: Record<string, string> = {
  RUNNING: 'blue',
  WAITING: 'violet',
  COMPLETED: 'teal',
  EXITED: 'gray',
  FAILED: 'red',
  CANCELLED: 'gray',
};

export const ExecutionStatusBadge = ({ status }: { status: string }) => (
  <Badge color={executionColors[status] ?? 'gray'}>
    {(t.contacts.executionStatuses as Record<string, string>)[status] ?? status}
  </Badge>
);
