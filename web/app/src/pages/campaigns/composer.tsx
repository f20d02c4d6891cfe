import { Alert, Box, Button, Group, Stepper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowLeft, IconArrowRight, IconDeviceFloppy } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Campaign } from '../../api/types.ts';
import { usePreview } from '../../conditions/matches.tsx';
import { t } from '../../texts/index.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { showDone } from '../../ui/notify.ts';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { AudienceStep, ContentStep, ScheduleStep, SenderStep } from './composer-steps.tsx';
import {
  audienceCondition,
  type Draft,
  draftOf,
  emptyDraft,
  faultsOf,
  isoTime,
  requestOf,
  stepNames,
} from './draft.ts';
import { ReviewStep } from './review-step.tsx';

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
  const start: Draft = {
    ...emptyDraft(),
    ...(segmentId && { audienceType: 'SEGMENT' as const, segmentId }),
    ...(template.data && {
      subject: template.data.subject,
      body: template.data.body,
      type: template.data.type,
      name: template.data.name,
    }),
  };
  return <Composer start={start} />;
}

export function EditCampaignPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/campaigns/$id/edit' });
  const campaign = useQuery({
    queryKey: key('campaign', id),
    queryFn: () => unwrap(client.GET('/campaigns/{id}', { params: { path: { id } } })),
  });
  const { data } = campaign;
  if (data && data.status !== 'DRAFT' && data.status !== 'SCHEDULED')
    return <Navigate to="/p/$projectId/campaigns/$id" params={{ projectId, id }} replace ignoreBlocker />;
  if (data) return <Composer key={id} start={draftOf(data)} stored={data} />;
  return (
    <Page title={t.campaigns.edit} back={{ to: `/p/${projectId}/campaigns`, label: t.campaigns.title }}>
      <Loaded query={campaign}>{() => null}</Loaded>
    </Page>
  );
}

function Composer({ start, stored }: { start: Draft; stored?: Campaign }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const narrow = useMediaQuery('(max-width: 47.99em)');
  const cache = useQueryClient();
  const fields = useRef<HTMLDivElement>(null);
  const search = useSearch({ strict: false });
  // The API stores the time of a scheduled campaign only; that of a draft is in the address.
  const [draft, setDraft] = useState<Draft>(search.sendAt ? { ...start, later: true, sendAt: search.sendAt } : start);
  const isScheduled = stored?.status === 'SCHEDULED';
  const [saved, setSaved] = useState(isScheduled ? start : draft);
  const [id, setId] = useState(stored?.id);
  const firstFaulty = stepNames.findIndex((other) => Object.keys(faultsOf(draft, other)).length > 0);
  const reachableStep = (wanted: number) => (firstFaulty >= 0 ? Math.min(wanted, firstFaulty) : wanted);
  const [step, setStep] = useState(() => reachableStep(Math.min(Math.max(search.step ?? 0, 0), stepNames.length - 1)));
  const [touched, setTouched] = useState(false);
  const name = stepNames[step] ?? 'audience';
  const faults = faultsOf(draft, name);
  const preview = usePreview(audienceCondition(draft));
  useWarnBeforeLeaving(JSON.stringify(draft) !== JSON.stringify(saved));

  const save = useAction<{ draft: Draft; reschedule?: boolean }, Campaign>({
    run: async ({ draft, reschedule }) => {
      const body = requestOf(draft);
      if (!id) return (await unwrap(client.POST('/campaigns', { body }))).data;
      const params = { path: { id } };
      const campaign = await unwrap(client.PUT('/campaigns/{id}', { params, body }));
      if (!reschedule) return campaign;
      return unwrap(client.POST('/campaigns/{id}/send', { params, body: { scheduledFor: isoTime(draft.sendAt) } }));
    },
    changes: [key('campaigns'), ...(id ? [key('campaign', id)] : [])],
    quiet: true,
    onDone: (campaign, { draft, reschedule }) => {
      cache.setQueryData(key('campaign', campaign.id), campaign);
      setId(campaign.id);
      setSaved(({ later, sendAt }) => (isScheduled && !reschedule ? { ...draft, later, sendAt } : draft));
    },
  });
  const change = (part: Partial<Draft>) => {
    if (save.isError) save.reset();
    setDraft((old) => ({ ...old, ...part }));
  };
  const saveAndClose = () =>
    save.mutate(
      { draft, reschedule: isScheduled && draft.sendAt !== saved.sendAt },
      {
        onSuccess: (campaign) => {
          showDone(isScheduled ? t.campaigns.changesSaved : t.campaigns.draftSaved);
          const params = { projectId, id: campaign.id };
          void navigate({ to: '/p/$projectId/campaigns/$id', params, replace: true, ignoreBlocker: true });
        },
      },
    );

  const go = async (target: number) => {
    if (target > step && Object.keys(faults).length > 0) {
      flushSync(() => setTouched(true));
      const fault = fields.current?.querySelector<HTMLElement>('[aria-invalid=true], [data-fault]');
      fault?.scrollIntoView({ block: 'center' });
      fault?.focus({ preventScroll: true });
      return;
    }
    setTouched(false);
    const next = target > step ? reachableStep(target) : target;
    window.scrollTo({ top: 0 });
    // The review is of what is stored: that is what is sent.
    const storedId = stepNames[next] === 'review' ? (await save.mutateAsync({ draft })).id : id;
    setStep(next);
    if (!storedId) return;
    await navigate({
      to: '/p/$projectId/campaigns/$id/edit',
      params: { projectId, id: storedId },
      search: { step: next, sendAt: draft.later ? draft.sendAt : undefined },
      replace: true,
      ignoreBlocker: true,
    });
  };
  const goSafely = (target: number) => void go(target).catch(() => {});
  const shownFaults = touched ? faults : {};
  const common = { draft, change, faults: shownFaults, preview };
  return (
    <Page
      title={id ? draft.name || t.campaigns.edit : t.campaigns.new}
      back={{ to: `/p/${projectId}/campaigns`, label: t.campaigns.title }}
      description={t.campaigns.stepLabel(step + 1, stepNames.length, t.campaigns.steps[name])}
      actions={
        // A scheduled campaign is sent at once by the review only.
        firstFaulty === -1 &&
        (!isScheduled || draft.later) && (
          <Button
            variant="default"
            leftSection={<IconDeviceFloppy size={16} />}
            loading={save.isPending}
            onClick={saveAndClose}
          >
            {isScheduled ? t.campaigns.saveChanges : t.campaigns.saveDraft}
          </Button>
        )
      }
    >
      <Stepper
        active={step}
        onStepClick={goSafely}
        size={narrow ? 'xs' : 'sm'}
        allowNextStepsSelect
        iconSize={narrow ? 28 : 34}
        className="steps"
      >
        {stepNames.map((stepName, index) => (
          <Stepper.Step
            key={stepName}
            {...(narrow
              ? { 'aria-label': `${index + 1} ${t.campaigns.steps[stepName]}` }
              : { label: t.campaigns.steps[stepName] })}
          />
        ))}
      </Stepper>
      {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
      <div ref={fields}>
        {name === 'audience' && <AudienceStep {...common} />}
        {name === 'sender' && <SenderStep {...common} />}
        {name === 'content' && <ContentStep {...common} />}
        {name === 'schedule' && <ScheduleStep {...common} />}
        {name === 'review' && id && <ReviewStep {...common} id={id} />}
      </div>
      {name !== 'review' && (
        <Panel>
          <Group justify="space-between">
            {step > 0 ? (
              <Button variant="default" leftSection={<IconArrowLeft size={16} />} onClick={() => goSafely(step - 1)}>
                {t.common.back}
              </Button>
            ) : (
              <Box />
            )}
            <Button
              rightSection={<IconArrowRight size={16} />}
              onClick={() => goSafely(step + 1)}
              loading={save.isPending}
            >
              {t.common.next}
            </Button>
          </Group>
        </Panel>
      )}
    </Page>
  );
}
