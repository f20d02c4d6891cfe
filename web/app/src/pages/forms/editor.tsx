import { Grid, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { t } from '../../texts/index.ts';
import { Copyable } from '../../ui/controls.tsx';
import { Panel } from '../../ui/page.tsx';
import { DEFAULT } from '../topics/form.ts';
import type { DraftProps } from './draft.ts';
import { FieldsPanel } from './fields-panel.tsx';
import { usePageLook } from './look.ts';
import { FormPreview } from './preview.tsx';
import { ConfirmationPanel, DesignPanel, WebsitePanel } from './settings-panels.tsx';
import { TextsPanel } from './texts-panel.tsx';

interface FormEditorProps extends DraftProps {
  formKey: string;
  /** Of a new form, whose key can still be chosen. */
  onKey?(key: string): void;
}

/** The color of a project that has chosen none. */
const OWN_COLOR = '#4338ca';

/** The panels of a form beside its page. */
export function FormEditor({ draft, onChange, readOnly, formKey, onKey }: FormEditorProps) {
  const [locale, setLocale] = useState(DEFAULT);
  const look = usePageLook();
  const fields = { draft, onChange, readOnly };
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <TextsPanel {...fields} locale={locale} onLocale={setLocale} />
          <FieldsPanel {...fields} locale={locale} />
          <ConfirmationPanel {...fields} />
          <WebsitePanel {...fields} />
          <DesignPanel {...fields} color={look?.light.button ?? OWN_COLOR} />
          <Panel title={t.topics.key}>
            {onKey ? (
              <TextInput
                aria-label={t.topics.key}
                description={t.topics.keyHint}
                maxLength={50}
                value={formKey}
                onChange={(event) => onKey(event.currentTarget.value)}
              />
            ) : (
              <Copyable value={formKey} label={t.topics.key} />
            )}
          </Panel>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <div className="sticky">
          <FormPreview draft={draft} locale={locale} look={look} />
        </div>
      </Grid.Col>
    </Grid>
  );
}
