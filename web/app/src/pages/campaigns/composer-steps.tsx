import { Alert, Grid, Group, NumberInput, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { ConditionBuilder } from '../../conditions/builder.tsx';
import { Matches, type usePreview } from '../../conditions/matches.tsx';
import { isComplete } from '../../conditions/model.ts';
import { t } from '../../texts/index.ts';
import { DateTimeField } from '../../ui/date-time-field.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Panel } from '../../ui/page.tsx';
import { TopicSelect } from '../topics/lazy.tsx';
import { type Draft, type Faults, MAX_RATE, withType } from './draft.ts';
import { isoTime, lateRules, localTime } from './schedule.ts';
import { ZoneClock } from './zone-clock.tsx';

export interface StepProps {
  draft: Draft;
  change(part: Partial<Draft>): void;
  faults: Faults;
  preview: ReturnType<typeof usePreview>;
}

/** A fault of something that is not an input; the composer moves the focus to it. */
export const FaultAlert = ({ text }: { text: string }) => (
  <Alert color="red" tabIndex={-1} data-fault>
    {text}
  </Alert>
);

export function AudienceStep({ draft, change, faults, preview }: StepProps) {
  const { client, key } = useApi();
  const segments = useQuery({ queryKey: key('segments'), queryFn: () => unwrap(client.GET('/segments')) });
  const complete =
    draft.audienceType === 'ALL' ||
    (draft.audienceType === 'SEGMENT' ? draft.segmentId !== null : isComplete(draft.condition));
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Panel>
          <Stack gap="lg">
            <TextInput
              label={t.campaigns.name}
              description={t.campaigns.nameHint}
              required
              maxLength={200}
              value={draft.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
              error={faults.name}
            />
            <Radio.Group
              label={t.campaigns.audience}
              value={draft.audienceType}
              onChange={(value) => change({ audienceType: value as Draft['audienceType'] })}
            >
              <Stack gap="xs" mt="xs">
                {(['ALL', 'SEGMENT', 'FILTERED'] as const).map((value) => (
                  <Radio key={value} value={value} label={t.campaigns.audienceTypes[value]} />
                ))}
              </Stack>
            </Radio.Group>
            {draft.audienceType === 'SEGMENT' && (
              <Select
                label={t.campaigns.segment}
                required
                searchable
                data={(segments.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
                value={draft.segmentId}
                onChange={(segmentId) => change({ segmentId })}
                error={faults.segmentId}
              />
            )}
            {draft.audienceType === 'FILTERED' && (
              <>
                <ConditionBuilder value={draft.condition} onChange={(condition) => change({ condition })} />
                {faults.condition && <FaultAlert text={faults.condition} />}
              </>
            )}
            <Radio.Group
              label={t.campaigns.type}
              value={draft.type}
              onChange={(value) => change(withType(draft, value as Draft['type']))}
            >
              <Stack gap="xs" mt="xs">
                {(['MARKETING', 'TRANSACTIONAL', 'HEADLESS'] as const).map((value) => (
                  <Radio
                    key={value}
                    value={value}
                    label={t.templates.types[value]}
                    description={t.templates.typeHints[value]}
                  />
                ))}
              </Stack>
            </Radio.Group>
            <Suspense>
              <TopicSelect type={draft.type} value={draft.topicId} onChange={(topicId) => change({ topicId })} />
            </Suspense>
          </Stack>
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Panel>
          <Matches preview={preview} complete={complete} title={t.campaigns.countTitle} />
          {draft.type !== 'TRANSACTIONAL' && (
            <Text size="xs" c="dimmed" mt="md">
              {t.campaigns.onlySubscribed}
            </Text>
          )}
          {draft.audienceType === 'SEGMENT' && draft.segmentId && <SegmentSize id={draft.segmentId} />}
        </Panel>
      </Grid.Col>
    </Grid>
  );
}

/** Why fewer people get a campaign than the segment has members. */
function SegmentSize({ id }: { id: string }) {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('segment', id),
    queryFn: () => unwrap(client.GET('/segments/{id}', { params: { path: { id } } })),
  });
  if (!data) return null;
  return (
    <Text size="xs" c="dimmed" mt="xs">
      {t.contactLists.segmentSize(data.name, data.memberCount)}
    </Text>
  );
}

export function useDomains() {
  const { client, key, projectId } = useApi();
  return useQuery({
    queryKey: key('domains'),
    queryFn: () => unwrap(client.GET('/domains/project/{projectId}', { params: { path: { projectId } } })),
  });
}

export function SenderStep({ draft, change, faults }: StepProps) {
  const { projectId } = useApi();
  const domains = useDomains();
  const verified = (domains.data ?? []).filter((domain) => domain.verified).map(({ domain }) => domain);
  const [first] = verified;
  useEffect(() => {
    if (!draft.fromDomain && first) change({ fromDomain: first });
  }, [draft.fromDomain, first, change]);
  return (
    <Panel>
      <Stack gap="lg" maw={620}>
        {domains.data && verified.length === 0 && (
          <Alert color="yellow">
            {t.campaigns.noDomain}{' '}
            <TextLink to="/p/$projectId/domains" params={{ projectId }} inherit underline="always">
              {t.campaigns.addDomain}
            </TextLink>
          </Alert>
        )}
        <TextInput
          label={t.campaigns.fromName}
          description={t.campaigns.optional}
          maxLength={200}
          value={draft.fromName}
          onChange={(event) => change({ fromName: event.currentTarget.value })}
        />
        <Group align="flex-start" gap="xs">
          <TextInput
            label={t.campaigns.fromLocal}
            required
            value={draft.fromLocal}
            onChange={(event) => change({ fromLocal: event.currentTarget.value })}
            error={faults.fromLocal}
            flex="1 1 10rem"
            rightSection={<Text c="dimmed">@</Text>}
          />
          <Select
            label={t.campaigns.fromDomain}
            required
            data={[...new Set([...verified, ...(draft.fromDomain ? [draft.fromDomain] : [])])]}
            value={draft.fromDomain}
            onChange={(fromDomain) => change({ fromDomain })}
            allowDeselect={false}
            error={faults.fromDomain}
            flex="1 1 12rem"
          />
        </Group>
        <TextInput
          label={t.campaigns.replyTo}
          description={t.campaigns.optional}
          type="email"
          value={draft.replyTo}
          onChange={(event) => change({ replyTo: event.currentTarget.value })}
          error={faults.replyTo}
        />
      </Stack>
    </Panel>
  );
}

export function ScheduleStep({ draft, change, faults, campaignId }: StepProps & { campaignId: string }) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <Panel>
      <Stack gap="lg" maw={620}>
        <Radio.Group
          label={t.campaigns.when}
          value={draft.later ? (draft.byClocks ? 'clocks' : 'later') : 'now'}
          onChange={(value) => change({ later: value !== 'now', byClocks: value === 'clocks' })}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="now" label={t.campaigns.now} />
            <Radio value="later" label={t.campaigns.later} />
            <Radio value="clocks" label={t.timing.byClocks} />
          </Stack>
        </Radio.Group>
        {draft.later && (
          <DateTimeField
            label={t.campaigns.sendAt}
            description={draft.byClocks ? t.timing.sendAtHint : t.campaigns.sendAtHint(timeZone)}
            required
            value={draft.sendAt}
            onChange={(sendAt) => change({ sendAt })}
            error={faults.sendAt}
          />
        )}
        {draft.later && draft.byClocks && (
          <Select
            label={t.timing.late}
            data={lateRules.map((value) => ({ value, label: t.timing.lateRules[value] }))}
            value={draft.late}
            onChange={(value) => change({ late: lateRules.find((rule) => rule === value) ?? 'NOW' })}
            allowDeselect={false}
          />
        )}
        {draft.later && draft.byClocks && draft.sendAt && (
          <ZoneClock campaignId={campaignId} localTime={draft.sendAt} />
        )}
        <NumberInput
          label={t.campaigns.rate}
          description={t.campaigns.throttleHint}
          min={1}
          max={MAX_RATE}
          // A wrong number is refused with a message, not changed to another.
          clampBehavior="none"
          allowDecimal={false}
          value={draft.ratePerMinute}
          onChange={(value) => change({ ratePerMinute: value === '' ? '' : Number(value) })}
          error={faults.ratePerMinute}
        />
        <DateTimeField
          label={t.campaigns.sendUntil}
          description={t.campaigns.sendUntilHint(timeZone)}
          value={draft.sendUntil ? localTime(draft.sendUntil) : ''}
          onChange={(value) => change({ sendUntil: value === '' ? null : isoTime(value) })}
          error={faults.sendUntil}
        />
      </Stack>
    </Panel>
  );
}
