import { Alert, Box, Button, Group, Stepper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowLeft, IconArrowRight, IconDeviceFloppy } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Campaign } from '../../api/types.ts';
import { usePreview } from '../../conditions/matches.tsx';
import { t } from '../../texts/index.ts';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { AudienceStep, ContentStep, ScheduleStep, SenderStep } from './composer-steps.tsx';
import { audienceCondition, type Draft, draftOf, emptyDraft, faultsOf, requestOf, stepNames } from './draft.ts';
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
  if (campaign.data) return <Composer key={id} start={draftOf(campaign.data)} campaignId={id} />;
  return (
    <Page title={t.campaigns.edit} back={{ to: `/p/${projectId}/campaigns`, label: t.campaigns.title }}>
      <Loaded query={campaign}>{() => null}</Loaded>
    </Page>
  );
}

function Composer({ start, campaignId }: { start: Draft; campaignId?: string }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const narrow = useMediaQuery('(max-width: 47.99em)');
  const search = useSearch({ strict: false });
  const [draft, setDraft] = useState(start);
  const [saved, setSaved] = useState(campaignId ? start : undefined);
  const [id, setId] = useState(campaignId);
  const [step, setStep] = useState(Math.min(Math.max(search.step ?? 0, 0), stepNames.length - 1));
  const [touched, setTouched] = useState(false);
  const name = stepNames[step] ?? 'audience';
  const faults = faultsOf(draft, name);
  const preview = usePreview(audienceCondition(draft));
  const change = (part: Partial<Draft>) => setDraft((old) => ({ ...old, ...part }));
  useWarnBeforeLeaving(JSON.stringify(draft) !== JSON.stringify(saved ?? start));

  const save = useAction<void, Campaign>({
    run: async () => {
      const body = requestOf(draft);
      if (id) return unwrap(client.PUT('/campaigns/{id}', { params: { path: { id } }, body }));
      return (await unwrap(client.POST('/campaigns', { body }))).data;
    },
    changes: [key('campaigns'), ...(id ? [key('campaign', id)] : [])],
    quiet: true,
    onDone: (campaign) => {
      setId(campaign.id);
      setSaved(draft);
    },
  });

  const firstFaulty = stepNames.findIndex((other) => Object.keys(faultsOf(draft, other)).length > 0);
  const go = async (target: number) => {
    if (target > step && Object.keys(faults).length > 0) return setTouched(true);
    setTouched(false);
    const reachable = target > step && firstFaulty >= 0 ? Math.min(target, firstFaulty) : target;
    // The review is of what is stored: that is what is sent.
    if (stepNames[reachable] === 'review') await save.mutateAsync();
    setStep(reachable);
    window.scrollTo({ top: 0 });
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
        firstFaulty === -1 && (
          <Button
            variant="default"
            leftSection={<IconDeviceFloppy size={16} />}
            loading={save.isPending}
            onClick={() =>
              save.mutate(undefined, {
                onSuccess: (campaign) =>
                  void navigate({ to: '/p/$projectId/campaigns/$id', params: { projectId, id: campaign.id } }),
              })
            }
          >
            {t.campaigns.saveDraft}
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
      {name === 'audience' && <AudienceStep {...common} />}
      {name === 'sender' && <SenderStep {...common} />}
      {name === 'content' && <ContentStep {...common} />}
      {name === 'schedule' && <ScheduleStep {...common} />}
      {name === 'review' && id && <ReviewStep {...common} id={id} />}
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

/** The browser asks before a tab with unsaved work is closed. */
export function useWarnBeforeLeaving(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [unsaved]);
}
