import { Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { TriggerConfig } from '../../../api/api-types.ts';
import { unwrap } from '../../../api/client.ts';
import { useApi } from '../../../api/hooks.ts';
import { t } from '../../../texts/index.ts';
import { Choice } from '../../../ui/controls.tsx';
import type { DraftContent } from './model.ts';
import { SuggestedNames } from './reference-field.tsx';
import type { FormContext } from './schema-form.tsx';

interface TriggerPanelProps {
  content: DraftContent;
  onChange(content: DraftContent, name: string): void;
  form: FormContext;
}

/** What starts the workflow, and how often a person may enter. */
export function TriggerPanel({ content, onChange, form }: TriggerPanelProps) {
  const { triggerType, triggerConfig, allowReentry } = content;
  const { client, key } = useApi();
  const listId = useId();
  const segments = useQuery({
    queryKey: key('segments'),
    queryFn: () => unwrap(client.GET('/segments')),
    enabled: triggerType === 'SCHEDULE',
  });
  const text = (name: keyof TriggerConfig): string => triggerConfig[name] ?? '';
  const set = (name: keyof TriggerConfig, value: string | undefined) => {
    const { [name]: _, ...rest } = triggerConfig;
    onChange({ ...content, triggerConfig: value ? { ...rest, [name]: value } : rest }, `trigger.${name}`);
  };
  const field = (name: keyof TriggerConfig) => ({
    value: text(name),
    disabled: form.readOnly,
    error: form.errorAt(`triggerConfig.${name}`),
    onChange: (event: React.ChangeEvent<HTMLInputElement>) => set(name, event.currentTarget.value),
  });
  return (
    <Stack gap="md">
      <Title order={2} size="h4">
        {t.workflows.trigger}
      </Title>
      {form.readOnly ? (
        <Text>{t.canvas.triggerTypes[triggerType]}</Text>
      ) : (
        <Choice
          label={t.canvas.triggerType}
          visibleLabel
          value={triggerType}
          onChange={(next) => onChange({ ...content, triggerType: next }, 'trigger.type')}
          data={(['EVENT', 'SCHEDULE', 'MANUAL'] as const).map((value) => ({
            value,
            label: t.canvas.triggerTypes[value],
          }))}
        />
      )}
      {triggerType === 'EVENT' && (
        <>
          <TextInput label={t.canvas.fields.eventName} maxLength={255} list={listId} {...field('eventName')} />
          <SuggestedNames id={listId} name="eventName" />
        </>
      )}
      {triggerType === 'SCHEDULE' && (
        <>
          <TextInput label={t.canvas.cron} description={t.canvas.cronHint} maxLength={255} {...field('cron')} />
          <TextInput label={t.canvas.fields.timezone} placeholder="UTC" maxLength={100} {...field('timezone')} />
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
