import { Alert } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useProject } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Campaign } from '../../api/types.ts';
import { usePreview } from '../../conditions/matches.tsx';
import { type EmailContent, emailContentOf } from '../../editor/content.ts';
import { t } from '../../texts/index.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { BackLink } from '../../ui/links.tsx';
import { Loaded, Page } from '../../ui/page.tsx';
import { ComposerFrame, reachableStep } from './composer-frame.tsx';
import { AudienceStep, SenderStep, useDomains } from './composer-steps.tsx';
import { ContentStart } from './content-start.tsx';
import { audienceCondition, type CampaignContent, type Draft, emptyContent, requestOf, stepNames } from './draft.ts';
import { sendNow } from './schedule.ts';
import { StoredComposer } from './stored-composer.tsx';

const CONTENT = stepNames.indexOf('content');

export function NewCampaignPage() {
  const { client, key } = useApi();
  const { segmentId, templateId } = useSearch({ from: '/signed-in/p/$projectId/campaigns/new' });
  const template = useQuery({
    queryKey: key('template', templateId),
    queryFn: () => unwrap(client.GET('/templates/{id}', { params: { path: { id: templateId ?? '' } } })),
    enabled: templateId !== undefined,
  });
  if (templateId && !template.data)
    return (
      <Page title={t.campaigns.new}>
        <Loaded query={template}>{() => null}</Loaded>
      </Page>
    );
  const start: CampaignContent = {
    ...emptyContent(),
    ...(segmentId && { audienceType: 'SEGMENT' as const, segmentId }),
    ...(template.data && {
      email: emailContentOf(template.data),
      type: template.data.type,
      name: template.data.name,
    }),
  };
  return <NewComposer start={start} />;
}

export function EditCampaignPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/campaigns/$id/edit' });
  const campaign = useQuery({
    queryKey: key('campaign', id),
    queryFn: () => unwrap(client.GET('/campaigns/{id}', { params: { path: { id } } })),
  });
  const isViewer = useProject()?.role === 'VIEWER';
  const { data } = campaign;
  const isEditable = !isViewer && (data?.status === 'DRAFT' || data?.status === 'SCHEDULED');
  if (data && !isEditable)
    return <Navigate to="/p/$projectId/campaigns/$id" params={{ projectId, id }} replace ignoreBlocker />;
  if (data) return <StoredComposer key={id} latest={data} />;
  return (
    <Page
      title={t.campaigns.edit}
      back={
        <BackLink to="/p/$projectId/campaigns" params={{ projectId }}>
          {t.campaigns.title}
        </BackLink>
      }
    >
      <Loaded query={campaign}>{() => null}</Loaded>
    </Page>
  );
}

/** A campaign until it is stored, which it is as soon as it has an audience, a sender and something to begin with. */
function NewComposer({ start }: { start: CampaignContent }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [draft, setDraft] = useState<Draft>({ ...start, ...sendNow });
  const [step, setStep] = useState(0);
  const [touched, setTouched] = useState(false);
  const preview = usePreview(audienceCondition(draft));
  const domains = useDomains();
  useWarnBeforeLeaving(touched);
  const create = useAction<{ email: EmailContent; step: number }, Campaign>({
    run: async ({ email }) => (await unwrap(client.POST('/campaigns', { body: requestOf(draft, email) }))).data,
    changes: [key('campaigns')],
    quiet: true,
    onDone: (campaign, { step: next }) => {
      const { id } = campaign;
      cache.setQueryData(key('campaign', id), campaign);
      void navigate({
        to: '/p/$projectId/campaigns/$id/edit',
        params: { projectId, id },
        search: { step: next },
        replace: true,
        ignoreBlocker: true,
      });
    },
  });
  const change = (part: Partial<Draft>) => {
    if (create.isError) create.reset();
    setTouched(true);
    setDraft((old) => ({ ...old, ...part }));
  };
  const go = async (target: number) => {
    const { email } = draft;
    if (target >= CONTENT && email && reachableStep(draft, target) >= CONTENT)
      await create.mutateAsync({ email, step: target });
    else setStep(target);
  };
  const begin = (email: EmailContent) => create.mutate({ email, step: CONTENT });
  return (
    <ComposerFrame
      title={t.campaigns.new}
      draft={draft}
      step={step}
      onStep={go}
      // The sender has no domain before these are known.
      busy={create.isPending || (stepNames[step] === 'sender' && domains.isPending)}
      notices={create.error && <Alert color="red">{messageOf(create.error)}</Alert>}
    >
      {(name, faults) => {
        const common = { draft, change, faults, preview };
        if (name === 'audience') return <AudienceStep {...common} />;
        if (name === 'sender') return <SenderStep {...common} />;
        return <ContentStart faults={faults} busy={create.isPending} onBegin={begin} />;
      }}
    </ComposerFrame>
  );
}
