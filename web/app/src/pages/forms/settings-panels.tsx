import { Radio, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { t } from '../../texts/index.ts';
import { ColorField } from '../../ui/color-field.tsx';
import { FieldGroup } from '../../ui/field-group.tsx';
import { Panel } from '../../ui/page.tsx';
import { ConfirmationFields } from '../topics/confirmation-fields.tsx';
import { type DraftProps, type FormDraft, moments } from './draft.ts';

/** Whether and how addresses are confirmed. */
export function ConfirmationPanel({ draft, onChange, readOnly }: DraftProps) {
  return (
    <Panel title={t.forms.confirmation}>
      <Stack>
        <Switch
          label={t.forms.doubleOptIn}
          description={t.forms.doubleOptInHint}
          checked={draft.doubleOptIn}
          disabled={readOnly}
          onChange={(event) => onChange({ doubleOptIn: event.currentTarget.checked })}
        />
        <Radio.Group
          label={t.forms.confirmMode}
          value={draft.confirm}
          onChange={(confirm) => onChange({ confirm: confirm as FormDraft['confirm'] })}
        >
          <Stack gap="xs" mt="xs">
            {(['LINK', 'BUTTON'] as const).map((mode) => (
              <Radio key={mode} value={mode} label={t.forms.confirmModes[mode]} disabled={readOnly} />
            ))}
          </Stack>
        </Radio.Group>
        <ConfirmationFields values={draft} onChange={onChange} readOnly={readOnly} senderHint={t.forms.senderHint} />
      </Stack>
    </Panel>
  );
}

/** Where visitors are led, and who may use the form. */
export function WebsitePanel({ draft, onChange, readOnly }: DraftProps) {
  const flag = (name: 'blockDisposable' | 'captureTimezone' | 'captureLocale') => ({
    label: t.forms[name],
    checked: draft[name],
    disabled: readOnly,
    onChange: (event: { currentTarget: { checked: boolean } }) => onChange({ [name]: event.currentTarget.checked }),
  });
  return (
    <Panel title={t.forms.website}>
      <Stack>
        <FieldGroup label={t.forms.pages}>
          <Text size="xs" c="dimmed" mb="xs">
            {t.forms.pagesHint}
          </Text>
          <Stack gap="sm">
            {moments.map((moment) => (
              <TextInput
                key={moment}
                label={t.forms.redirects[moment]}
                type="url"
                placeholder="https://"
                maxLength={2_000}
                readOnly={readOnly}
                value={draft.redirects[moment]}
                onChange={({ currentTarget: { value } }) =>
                  onChange({ redirects: { ...draft.redirects, [moment]: value } })
                }
              />
            ))}
          </Stack>
        </FieldGroup>
        <Textarea
          label={t.forms.origins}
          description={t.forms.originsHint}
          autosize
          minRows={2}
          maxRows={8}
          readOnly={readOnly}
          value={draft.allowedOrigins}
          onChange={(event) => onChange({ allowedOrigins: event.currentTarget.value })}
        />
        <Switch {...flag('blockDisposable')} />
        <Switch {...flag('captureTimezone')} description={t.forms.captureHint} />
        <Switch {...flag('captureLocale')} description={t.forms.captureHint} />
      </Stack>
    </Panel>
  );
}

interface DesignPanelProps extends DraftProps {
  /** Of the pages. */
  color: string;
}

export function DesignPanel({ draft, onChange, readOnly, color }: DesignPanelProps) {
  return (
    <Panel title={t.forms.design} description={t.forms.designHint}>
      <Stack>
        <ColorField
          label={t.forms.color}
          value={draft.color}
          inherited={{ color, source: t.forms.colorOfPages }}
          onChange={(next) => onChange({ color: next })}
          disabled={readOnly}
          maw={320}
        />
        <Textarea
          label={t.forms.css}
          description={t.forms.cssHint}
          classNames={{ input: 'monospace' }}
          autosize
          minRows={3}
          maxRows={16}
          maxLength={20_000}
          spellCheck={false}
          readOnly={readOnly}
          value={draft.css}
          onChange={(event) => onChange({ css: event.currentTarget.value })}
        />
      </Stack>
    </Panel>
  );
}
