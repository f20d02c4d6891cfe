import { Alert, Button, Grid, Group, List, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCalendar, IconSend } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Campaign } from '../../api/types.ts';
import { Matches } from '../../conditions/matches.tsx';
import { ChecksPanel, useChecks } from '../../editor/campaign-checks.tsx';
import { emailContentOf } from '../../editor/content.ts';
import { useRendered } from '../../editor/use-rendered.ts';
import { dateTime } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';
import { TestMailButton } from '../../ui/test-mail.tsx';
import type { StepProps } from './composer-steps.tsx';
import type { Draft } from './draft.ts';
import { startOf } from './schedule.ts';
import { ZoneClock } from './zone-clock.tsx';

interface ReviewStepProps extends StepProps {
  /** As it is stored, which is what is sent. */
  campaign: Campaign;
  /** Leads to a place of the document. */
  onShow(path: string): void;
}

export function ReviewStep({ draft, preview, campaign, onShow }: ReviewStepProps) {
  const { client, key, projectId } = useApi();
  const { id, type } = campaign;
  const navigate = useNavigate();
  const [asking, { open, close }] = useDisclosure();
  const segments = useQuery({ queryKey: key('segments'), queryFn: () => unwrap(client.GET('/segments')) });
  const rendered = useRendered(emailContentOf(campaign), {
    type,
    topicId: campaign.topicId,
    contactId: preview.data?.sample[0]?.id,
  });
  const checks = useChecks(campaign);
  const errors = (checks.data?.warnings ?? []).filter(({ level }) => level === 'ERROR');
  const send = useAction({
    run: () =>
      unwrap(
        client.POST('/campaigns/{id}/send', {
          params: { path: { id } },
          body: startOf(draft),
        }),
      ),
    done: ({ status }) => (status === 'SCHEDULED' ? t.campaigns.scheduled : t.campaigns.started),
    changes: [key('campaigns'), key('campaign', id)],
    quiet: true,
    // The composer must not be what the browser's Back returns to: there is nothing left to edit.
    onDone: () =>
      void navigate({
        to: '/p/$projectId/campaigns/$id',
        params: { projectId, id },
        replace: true,
        ignoreBlocker: true,
      }),
  });
  const count = preview.data?.count ?? 0;
  const segmentName = segments.data?.find((segment) => segment.id === draft.segmentId)?.name;
  const audience =
    draft.audienceType === 'SEGMENT' && segmentName ? segmentName : t.campaigns.audienceTypes[draft.audienceType];
  const sendLabel = draft.later ? t.campaigns.schedule : t.campaigns.sendNow;
  const time = draft.later ? dateTime(draft.sendAt) : t.campaigns.now;
  const when = draft.later && draft.byClocks ? t.timing.atTheirClock(time) : time;
  const from = `${draft.fromLocal}@${draft.fromDomain}`;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Panel title={t.templates.preview}>
          <Loaded query={rendered}>
            {(mail) => <MailFrame previewUrl={previewPath(mail.previewUrl)} text={mail.text} subject={mail.subject} />}
          </Loaded>
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap="lg">
          <ChecksPanel campaign={campaign} checks={checks} onShow={onShow} />
          <Panel>
            <Matches preview={preview} complete title={t.campaigns.countTitle} />
          </Panel>
          {draft.later && draft.byClocks && (
            <Panel title={t.timing.zones}>
              <ZoneClock campaignId={id} localTime={draft.sendAt} />
            </Panel>
          )}
          <Panel title={draft.name} description={t.campaigns.reviewText}>
            <Stack gap="sm">
              <Fact label={t.campaigns.audienceLabel}>{audience}</Fact>
              <Fact label={t.campaigns.from}>{draft.fromName ? `${draft.fromName} <${from}>` : from}</Fact>
              {draft.replyTo && <Fact label={t.campaigns.replyTo}>{draft.replyTo}</Fact>}
              <Fact label={t.templates.subject}>{campaign.subject}</Fact>
              <Fact label={t.campaigns.when}>{when}</Fact>
              {draft.later && draft.byClocks && <Fact label={t.timing.late}>{t.timing.lateRules[draft.late]}</Fact>}
              <Fact label={t.campaigns.rateLabel}>
                {draft.ratePerMinute === '' ? t.campaigns.unlimited : t.campaigns.perMinute(draft.ratePerMinute)}
              </Fact>
              {draft.sendUntil && <Fact label={t.campaigns.sendUntil}>{dateTime(draft.sendUntil)}</Fact>}
              <Group mt="sm">
                <TestMailButton
                  send={(body) => unwrap(client.POST('/campaigns/{id}/test', { params: { path: { id } }, body }))}
                />
                <Button
                  leftSection={draft.later ? <IconCalendar size={16} /> : <IconSend size={16} />}
                  onClick={open}
                  loading={checks.isPending}
                  disabled={preview.data?.count === 0 && !preview.data.estimated}
                >
                  {sendLabel}
                </Button>
              </Group>
            </Stack>
          </Panel>
        </Stack>
      </Grid.Col>
      <ConfirmDialog
        opened={asking}
        onClose={close}
        title={draft.later ? t.campaigns.scheduleTitle(count) : t.campaigns.sendTitle(count)}
        confirm={errors.length > 0 ? t.campaigns.sendAnyway(draft.later) : sendLabel}
        danger={errors.length > 0}
        onConfirm={() => send.mutateAsync()}
      >
        {errors.length > 0 && (
          <Alert color="red" title={t.campaigns.sendWithErrors(errors.length)} mb="sm">
            <List>
              {errors.map(({ code, message, path }) => (
                <List.Item key={`${code} ${path}`}>{message}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        {confirmText(draft, time)}
      </ConfirmDialog>
    </Grid>
  );
}

function confirmText({ name, later, byClocks }: Draft, time: string): string {
  if (!later) return t.campaigns.sendText(name);
  return byClocks ? t.timing.sendText(name, time) : t.campaigns.scheduleText(name, time);
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text className="breakable">{children}</Text>
    </div>
  );
}
