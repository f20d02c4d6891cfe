import { Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TriggerConfig } from '../../../api/api-types.ts';
import { unwrap } from '../../../api/client.ts';
import { useAction, useApi } from '../../../api/hooks.ts';
import type { Segment } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { Choice } from '../../../ui/controls.tsx';
import { ConfirmDialog } from '../../../ui/dialog.tsx';
import { ZoneField } from '../../../ui/zone-field.tsx';
import { enteredSegment } from '../steps.ts';
import type { DraftContent } from './model.ts';
import { EventField } from './reference-field.tsx';
import type { FormContext } from './schema-form.tsx';

interface TriggerPanelProps {
  content: DraftContent;
  onChange(content: DraftContent, name: string): void;
  form: FormContext;
}

/** Entering a segment is an event of the contact, but people choose it by the segment. */
type Start = DraftContent['triggerType'] | 'SEGMENT';

/** What starts the workflow, and how often a person may enter. */
export function TriggerPanel({ content, onChange, form }: TriggerPanelProps) {
  const { triggerType, triggerConfig, allowReentry } = content;
  const { client, key } = useApi();
  const slug = enteredSegment(content);
  const [isSegmentChosen, setSegmentChosen] = useState(slug !== undefined);
  const start: Start = triggerType === 'EVENT' && (slug !== undefined || isSegmentChosen) ? 'SEGMENT' : triggerType;
  const segments = useQuery({
    queryKey: key('segments'),
    queryFn: () => unwrap(client.GET('/segments')),
    enabled: start === 'SCHEDULE' || start === 'SEGMENT',
  });
  const text = (name: keyof TriggerConfig): string => triggerConfig[name] ?? '';
  const set = (name: keyof TriggerConfig, value: string | undefined) => {
    const { [name]: _, ...rest } = triggerConfig;
    onChange({ ...content, triggerConfig: value ? { ...rest, [name]: value } : rest }, `trigger.${name}`);
  };
  const choose = (next: Start) => {
    setSegmentChosen(next === 'SEGMENT');
    const { eventName: _, ...rest } = triggerConfig;
    // The event of a segment is not one to go on with.
    const isOtherEvent = (next === 'EVENT' && slug !== undefined) || (next === 'SEGMENT' && slug === undefined);
    onChange(
      {
        ...content,
        triggerType: next === 'SEGMENT' ? 'EVENT' : next,
        triggerConfig: isOtherEvent ? rest : triggerConfig,
      },
      'trigger.type',
    );
  };
  const common = (name: keyof TriggerConfig) => ({
    disabled: form.readOnly,
    error: form.errorAt(`triggerConfig.${name}`),
  });
  return (
    <Stack gap="md">
      <Title order={2} size="h4">
        {t.workflows.trigger}
      </Title>
      {form.readOnly ? (
        <Text>{t.canvas.triggerTypes[start]}</Text>
      ) : (
        <Choice
          label={t.canvas.triggerType}
          visibleLabel
          value={start}
          onChange={choose}
          data={(['EVENT', 'SEGMENT', 'SCHEDULE', 'MANUAL'] as const).map((value) => ({
            value,
            label: t.canvas.triggerTypes[value],
          }))}
        />
      )}
      {start === 'EVENT' && (
        <EventField
          label={t.canvas.fields.eventName}
          value={text('eventName')}
          onChange={(name) => set('eventName', name)}
          {...common('eventName')}
        />
      )}
      {start === 'SEGMENT' && (
        <SegmentEntry
          segments={segments.data ?? []}
          slug={slug}
          readOnly={form.readOnly}
          error={form.errorAt('triggerConfig.eventName')}
          onChoose={(segment) => set('eventName', `segment.${segment.slug}.entry`)}
        />
      )}
      {start === 'SCHEDULE' && (
        <>
          <TextInput
            label={t.canvas.cron}
            description={t.canvas.cronHint}
            maxLength={255}
            value={text('cron')}
            onChange={(event) => set('cron', event.currentTarget.value)}
            {...common('cron')}
          />
          <ZoneField
            label={t.canvas.fields.timezone}
            placeholder="UTC"
            value={text('timezone') || null}
            onChange={(zone) => set('timezone', zone ?? undefined)}
            {...common('timezone')}
          />
          <Select
            label={t.canvas.scheduleSegment}
            description={t.canvas.scheduleSegmentHint}
            clearable
            disabled={form.readOnly}
            data={(segments.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={text('segmentId') || null}
            onChange={(id) => set('segmentId', id ?? undefined)}
          />
        </>
      )}
      <Switch
        label={t.workflows.allowReentry}
        description={t.canvas.reentryHint}
        checked={allowReentry}
        disabled={form.readOnly}
        onChange={(event) => onChange({ ...content, allowReentry: event.currentTarget.checked }, 'reentry')}
      />
    </Stack>
  );
}

interface SegmentEntryProps {
  segments: Segment[];
  slug: string | undefined;
  readOnly: boolean;
  error: string | undefined;
  onChoose(segment: Segment): void;
}

/** Chooses the segment, and asks before its members are tracked: without that, no event is recorded. */
function SegmentEntry({ segments, slug, readOnly, error, onChoose }: SegmentEntryProps) {
  const { client, key } = useApi();
  const [asked, setAsked] = useState<Segment>();
  const chosen = segments.find((segment) => segment.slug === slug);
  const track = useAction({
    run: ({ id }: Segment) =>
      unwrap(client.PATCH('/segments/{id}', { params: { path: { id } }, body: { trackMembership: true } })),
    done: ({ name }) => t.canvas.segmentTracked(name),
    changes: [key('segments')],
    onDone: (segment) => onChoose(segment),
  });
  const isUnknown = slug !== undefined && !chosen;
  const options = segments.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <>
      <Select
        label={t.canvas.entrySegment}
        description={t.canvas.entrySegmentHint}
        searchable
        allowDeselect={false}
        disabled={readOnly}
        error={error}
        data={isUnknown ? [...options, { value: slug, label: slug }] : options}
        value={chosen?.id ?? slug ?? null}
        onChange={(id) => {
          const segment = segments.find((one) => one.id === id);
          if (!segment) return;
          if (segment.trackMembership) onChoose(segment);
          else setAsked(segment);
        }}
        nothingFoundMessage={t.canvas.nothingFound}
      />
      {chosen && !chosen.trackMembership && (
        <Text size="sm" className="error-text">
          {t.canvas.segmentNotTracked(chosen.name)}
        </Text>
      )}
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={t.canvas.trackTitle(asked?.name ?? '')}
        confirm={t.canvas.trackConfirm}
        onConfirm={async () => {
          if (asked) await track.mutateAsync(asked);
        }}
      >
        {t.canvas.trackText}
      </ConfirmDialog>
    </>
  );
}
