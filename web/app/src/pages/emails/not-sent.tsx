import { Alert, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { EmailDetail } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { type ProjectPath, TextLink } from '../../ui/links.tsx';

/** Whether the address is on the suppression list now, so that sending again cannot work. */
export function useIsSuppressed({ to, status }: Pick<EmailDetail, 'to' | 'status'>): boolean {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('suppressions', 'of', to),
    queryFn: () => unwrap(client.GET('/suppressions', { params: { query: { search: to ?? '', limit: 100 } } })),
    enabled: to !== null && (status === 'FAILED' || status === 'SKIPPED'),
    staleTime: 30_000,
  });
  return (data?.data ?? []).some(({ email, reason }) => email === to?.toLowerCase() && reason !== 'COMPLAINT');
}

/** Whether the campaign of an email that was not sent was cancelled or deleted, so that it sends nothing again. */
export function useCampaignEnded(email: Pick<EmailDetail, 'campaignId' | 'status'> | undefined): boolean {
  const { client, key } = useApi();
  const { campaignId = null, status } = email ?? {};
  const { data, error } = useQuery({
    queryKey: key('campaign', campaignId),
    queryFn: () => unwrap(client.GET('/campaigns/{id}', { params: { path: { id: campaignId ?? '' } } })),
    enabled: campaignId !== null && (status === 'FAILED' || status === 'UNKNOWN'),
    retry: false,
  });
  return data?.status === 'CANCELLED' || (error instanceof ApiProblem && error.status === 404);
}

interface NotSentProps {
  email: EmailDetail;
  suppressed: boolean;
  campaignEnded: boolean;
}

/** Says in a sentence why an email was not sent, and leads to the cause. */
export function NotSentAlert({ email, suppressed, campaignEnded }: NotSentProps) {
  const { projectId } = useApi();
  const { to, status, reason, campaignId, contactId } = email;
  const pageLink = (path: ProjectPath, label: string) => (
    <TextLink to={path} params={{ projectId }}>
      {label}
    </TextLink>
  );
  const address = to ?? '';
  const cause = ((): { text: string; detail?: string | null; link?: ReactNode } | undefined => {
    if (suppressed || reason === 'suppressed')
      return {
        text: t.outcomes.suppressed(address),
        detail: reason === 'suppressed' ? null : reason,
        link: (
          <TextLink to="/p/$projectId/suppressions" params={{ projectId }} search={{ search: address }}>
            {t.outcomes.toSuppression}
          </TextLink>
        ),
      };
    if (reason === 'campaign cancelled')
      return {
        text: t.outcomes.campaignCancelled,
        link: campaignId && (
          <TextLink to="/p/$projectId/campaigns/$id" params={{ projectId, id: campaignId }}>
            {t.emails.toCampaign}
          </TextLink>
        ),
      };
    if (reason === 'domain not verified')
      return { text: t.outcomes.domain, link: pageLink('/p/$projectId/domains', t.outcomes.toDomains) };
    if (reason === 'billing cap reached')
      return { text: t.outcomes.cap, link: pageLink('/p/$projectId/billing', t.outcomes.toBilling) };
    if (reason === 'project disabled')
      return { text: t.outcomes.project, link: pageLink('/p/$projectId/security', t.outcomes.toSecurity) };
    if (reason !== null && /subscri/.test(reason) && status === 'SKIPPED')
      return {
        text: t.outcomes.notSubscribed(address),
        link: contactId && (
          <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: contactId }}>
            {t.emails.toContact}
          </TextLink>
        ),
      };
    if (reason === 'contact deleted') return { text: t.outcomes.contactDeleted };
    if (reason === 'its recipient or content no longer exists') return { text: t.outcomes.gone };
    if (status === 'UNKNOWN') return { text: t.outcomes.unknown, detail: reason };
    if (status === 'FAILED' && campaignEnded) return { text: t.outcomes.campaignEnded, detail: reason };
    if (status !== 'FAILED') return undefined;
    const last = email.attemptLog.at(-1)?.outcome;
    if (last === 'refused') return { text: t.outcomes.refused, detail: reason };
    if (last === 'deferred') return { text: t.outcomes.tooOften, detail: reason };
    return undefined;
  })();
  if (!cause && !reason) return null;
  const isHarmless = status === 'SKIPPED' || status === 'CANCELLED' || status === 'PENDING' || status === 'UNKNOWN';
  return (
    <Alert
      color={isHarmless ? 'orange' : 'red'}
      title={cause ? (status === 'UNKNOWN' ? t.outcomes.notKnown : t.outcomes.notSent) : t.emails.reason}
    >
      <Stack gap={6} align="flex-start">
        <span>{cause?.text ?? reason}</span>
        {cause?.detail && <code className="breakable">{cause.detail}</code>}
        {cause?.link}
      </Stack>
    </Alert>
  );
}
