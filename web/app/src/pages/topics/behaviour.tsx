import { Radio, Stack, Switch, TextInput } from '@mantine/core';
import { t } from '../../texts/index.ts';
import { Panel } from '../../ui/page.tsx';
import { ConfirmationFields } from './confirmation-fields.tsx';
import type { TopicForm } from './form.ts';

interface BehaviourProps {
  form: TopicForm;
  onChange(part: Partial<TopicForm>): void;
  readOnly: boolean;
  isNew: boolean;
}

/** Who gets email of a topic, who sees it, and whether a choice is confirmed. */
export function BehaviourPanel({ form, onChange, readOnly, isNew }: BehaviourProps) {
  const changeKind = (kind: TopicForm['kind']) =>
    onChange({ kind, defaultState: kind === 'NOTIFICATION' && !form.doubleOptIn ? 'SUBSCRIBED' : 'UNSUBSCRIBED' });
  return (
    <Panel title={t.topics.behaviour}>
      <Stack gap="lg">
        {isNew && (
          <>
            <Radio.Group
              label={t.topics.kind}
              value={form.kind}
              onChange={(kind) => changeKind(kind as TopicForm['kind'])}
            >
              <Stack gap="xs" mt="xs">
                {(['MARKETING', 'NOTIFICATION'] as const).map((kind) => (
                  <Radio key={kind} value={kind} label={t.topics.kinds[kind]} description={t.topics.kindHints[kind]} />
                ))}
              </Stack>
            </Radio.Group>
            <TextInput
              label={t.topics.key}
              description={t.topics.keyHint}
              maxLength={50}
              value={form.key}
              onChange={(event) => onChange({ key: event.currentTarget.value })}
            />
          </>
        )}
        <Switch
          label={t.topics.doubleOptIn}
          description={t.topics.doubleOptInHint}
          checked={form.doubleOptIn}
          disabled={readOnly}
          onChange={({ currentTarget: { checked } }) =>
            onChange({ doubleOptIn: checked, ...(checked && { defaultState: 'UNSUBSCRIBED' }) })
          }
        />
        {form.doubleOptIn && <ConfirmationFields values={form} onChange={onChange} readOnly={readOnly} />}
        <Radio.Group
          label={t.topics.defaultState}
          description={t.topics.defaultHint}
          value={form.defaultState}
          onChange={(state) => onChange({ defaultState: state as TopicForm['defaultState'] })}
        >
          <Stack gap="xs" mt="xs">
            {(['UNSUBSCRIBED', 'SUBSCRIBED'] as const).map((state) => (
              <Radio
                key={state}
                value={state}
                label={t.topics.states[state]}
                disabled={readOnly || (form.doubleOptIn && state === 'SUBSCRIBED')}
              />
            ))}
          </Stack>
        </Radio.Group>
        <Radio.Group
          label={t.topics.visibility}
          value={form.visibility}
          onChange={(visibility) => onChange({ visibility: visibility as TopicForm['visibility'] })}
        >
          <Stack gap="xs" mt="xs">
            {(['PUBLIC', 'PRIVATE'] as const).map((one) => (
              <Radio key={one} value={one} label={t.topics.visibilities[one]} disabled={readOnly} />
            ))}
          </Stack>
        </Radio.Group>
      </Stack>
    </Panel>
  );
}
