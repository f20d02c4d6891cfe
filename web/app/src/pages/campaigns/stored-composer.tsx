import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Campaign } from '../../api/types.ts';
import { usePreview } from '../../conditions/matches.tsx';
import { type EmailContent, emailContentOf } from '../../editor/content.ts';
import { ConflictDialog } from '../../editor/draft/conflict-dialog.tsx';
import { OtherTabNotice } from '../../editor/draft/other-tab.tsx';
import { SaveStatus } from '../../editor/draft/save-status.tsx';
import { useDraft } from '../../editor/draft/use-draft.ts';
import { t } from '../../texts/index.ts';
import { showDone } from '../../ui/notify.ts';
import { ComposerFrame, firstFaultyStep, reachableStep } from './composer-frame.tsx';
import { AudienceStep, ScheduleStep, SenderStep } from './composer-steps.tsx';
import { ContentStep } from './content-step.tsx';
import { audienceCondition, type CampaignContent, contentOf, type Draft, requestOf, stepNames } from './draft.ts';
import { ReviewStep } from './review-step.tsx';
import { isSameSchedule, type Schedule, scheduleOf, startOf } from './schedule.ts';

const CONTENT = stepNames.indexOf('content');
const noEmail: EmailContent = { subject: '', document: null, body: '' };

/** A campaign that is DRAFT or SCHEDULED. It is saved automatically; only its time is set with a button. */
export function StoredComposer({ latest }: { latest: Campaign }) {
  const { client, key, projectId } = useApi();
  const { id } = latest;
  const params = { path: { id } };
  const navigate = useNavigate();
  const cache = useQueryClient();
  const search = useSearch({ from: '/signed-in/p/$projectId/campaigns/$id/edit' });
  const isScheduled = latest.status === 'SCHEDULED';
  // The time of a draft is in the address.
  const [schedule, setSchedule] = useState<Schedule>(
    search.sendAt
      ? { later: true, sendAt: search.sendAt, byClocks: search.late !== undefined, late: search.late ?? 'NOW' }
      : scheduleOf(latest),
  );
  const edited = useDraft<CampaignContent, Campaign>({
    name: `campaign.${id}`,
    latest,
    contentOf,
    save: (content, expectedRevision) => {
      const { description, templateId } = latest;
      const body = { ...requestOf(content, content.email ?? noEmail), description, templateId, expectedRevision };
      return unwrap(client.PUT('/campaigns/{id}', { params, body }));
    },
    onServer: (server) => {
      cache.setQueryData(key('campaign', id), server);
      void cache.invalidateQueries({ queryKey: key('campaigns') });
    },
    onReplaced: () => showDone(t.campaigns.replaced),
    readOnly: false,
  });
  const { content, conflict, save, generation } = edited;
  const draft: Draft = { ...content, ...schedule };
  const email = content.email ?? noEmail;
  const [step, setStep] = useState(() =>
    reachableStep(draft, Math.min(Math.max(search.step ?? 0, 0), stepNames.length - 1)),
  );
  const [shownPath, setShownPath] = useState<string>();
  const [comparing, { open: compare, close: closeConflict }] = useDisclosure();
  const hasConflict = conflict !== undefined;
  useEffect(() => {
    if (hasConflict) compare();
  }, [hasConflict, compare]);
  const preview = usePreview(audienceCondition(content));

  const change = ({ later, sendAt, byClocks, late, ...part }: Partial<Draft>) => {
    if ([later, sendAt, byClocks, late].some((given) => given !== undefined))
      setSchedule((old) => ({
        later: later ?? old.later,
        sendAt: sendAt ?? old.sendAt,
        byClocks: byClocks ?? old.byClocks,
        late: late ?? old.late,
      }));
    if (Object.keys(part).length > 0) edited.change({ ...content, ...part });
  };
  const go = async (target: number) => {
    // The review is of what is stored: that is what is sent.
    if (stepNames[target] === 'review') await edited.flush();
    setShownPath(undefined);
    setStep(target);
    await navigate({
      to: '/p/$projectId/campaigns/$id/edit',
      params: { projectId, id },
      search: {
        step: target,
        sendAt: schedule.later ? schedule.sendAt : undefined,
        late: schedule.later && schedule.byClocks ? schedule.late : undefined,
      },
      replace: true,
      ignoreBlocker: true,
    });
  };
  const stored = scheduleOf(latest);
  const finish = useAction({
    run: async () => {
      const campaign = await edited.flush();
      if (!isScheduled || isSameSchedule(schedule, stored)) return campaign;
      const body = startOf(schedule);
      return unwrap(client.POST('/campaigns/{id}/send', { params, body }));
    },
    done: () => (isScheduled ? t.campaigns.changesSaved : t.campaigns.draftSaved),
    changes: [key('campaigns'), key('campaign', id)],
    onDone: () =>
      void navigate({
        to: '/p/$projectId/campaigns/$id',
        params: { projectId, id },
        replace: true,
        ignoreBlocker: true,
      }),
  });
  const showPlace = (path: string) => {
    setShownPath(path);
    setStep(CONTENT);
  };
  return (
    <ComposerFrame
      title={content.name || t.campaigns.edit}
      draft={draft}
      step={step}
      onStep={go}
      busy={save.kind === 'saving' && stepNames[step + 1] === 'review'}
      description={<SaveStatus draft={edited} onConflict={compare} />}
      actions={
        // A scheduled campaign is sent at once by the review only.
        firstFaultyStep(draft) === -1 &&
        (!isScheduled || schedule.later) && (
          <Button
            variant="default"
            leftSection={<IconCheck size={16} />}
            loading={finish.isPending}
            disabled={hasConflict}
            onClick={() => finish.mutate()}
          >
            {isScheduled ? t.campaigns.saveChanges : t.campaigns.saveDraft}
          </Button>
        )
      }
      notices={<OtherTabNotice name={`campaign.${id}`} />}
    >
      {(name, faults) => {
        const common = { draft, change, faults, preview };
        return (
          <>
            {name === 'audience' && <AudienceStep {...common} />}
            {name === 'sender' && <SenderStep {...common} />}
            {name === 'content' && (
              <ContentStep
                {...common}
                email={email}
                generation={generation}
                replace={(replaced) => edited.replace({ ...content, email: replaced })}
                storedHtml={async () => (await edited.flush()).body}
                violations={save.kind === 'refused' ? save.violations : undefined}
                showPath={shownPath}
              />
            )}
            {name === 'schedule' && <ScheduleStep {...common} campaignId={id} />}
            {name === 'review' && <ReviewStep {...common} campaign={edited.server} onShow={showPlace} />}
            {conflict && (
              <ConflictDialog
                opened={comparing}
                onClose={closeConflict}
                mine={email}
                theirs={{ ...emailContentOf(conflict), updatedAt: conflict.updatedAt }}
                type={content.type}
                onResolve={edited.resolve}
              />
            )}
          </>
        );
      }}
    </ComposerFrame>
  );
}
