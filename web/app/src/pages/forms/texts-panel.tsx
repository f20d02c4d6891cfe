import { Checkbox, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import type { Topic } from '../../api/api-types.ts';
import { t } from '../../texts/index.ts';
import { Panel } from '../../ui/page.tsx';
import { DEFAULT } from '../topics/form.ts';
import { LanguageChoice } from '../topics/languages.tsx';
import { useTopics } from '../topics/queries.ts';
import { type DraftProps, type DraftTexts, noTexts } from './draft.ts';

interface TextsPanelProps extends DraftProps {
  locale: string;
  onLocale(locale: string): void;
}

/** Name, consent and button of a form, one language at a time, and its topics. */
export function TextsPanel({ draft, onChange, readOnly, locale, onLocale }: TextsPanelProps) {
  const own = draft.texts[DEFAULT] ?? noTexts();
  const texts = draft.texts[locale] ?? noTexts();
  const isOwn = locale === DEFAULT;
  const change = (part: Partial<DraftTexts>) =>
    onChange({ texts: { ...draft.texts, [locale]: { ...texts, ...part } } });
  const field = (name: 'name' | 'consentText' | 'submitLabel') => ({
    readOnly,
    value: texts[name],
    placeholder: isOwn ? '' : own[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => change({ [name]: value }),
  });
  return (
    <Panel title={t.forms.texts} description={t.forms.textsHint}>
      <Stack>
        <LanguageChoice
          texts={draft.texts}
          onChange={(all) => onChange({ texts: all })}
          noTexts={noTexts}
          locale={locale}
          onLocale={onLocale}
          readOnly={readOnly}
        />
        <TextInput
          label={t.forms.name}
          description={t.forms.nameHint}
          required={isOwn}
          maxLength={255}
          {...field('name')}
        />
        <TopicsField draft={draft} onChange={onChange} readOnly={readOnly} />
        <Textarea
          label={t.forms.consent}
          description={t.forms.consentHint}
          maxLength={5_000}
          autosize
          minRows={2}
          maxRows={12}
          {...field('consentText')}
        />
        <Switch
          label={t.forms.consentRequired}
          checked={draft.consentRequired}
          disabled={readOnly}
          onChange={(event) => onChange({ consentRequired: event.currentTarget.checked })}
        />
        <TextInput label={t.forms.submitLabel} maxLength={100} {...field('submitLabel')} />
        <TextInput
          label={t.forms.privacyUrl}
          type="url"
          placeholder="https://"
          maxLength={2_000}
          readOnly={readOnly}
          value={draft.privacyUrl}
          onChange={(event) => onChange({ privacyUrl: event.currentTarget.value })}
        />
      </Stack>
    </Panel>
  );
}

function TopicsField({ draft, onChange, readOnly }: DraftProps) {
  const used = useTopics().data ?? [];
  const archived = (useTopics(true).data ?? []).filter(({ id }) => draft.topicIds.includes(id));
  const topics = [...used, ...archived];
  const labelOf = ({ name, archived }: Topic) => (archived ? `${name} (${t.topics.archived})` : name);
  if (topics.length === 0) return null;
  return (
    <Checkbox.Group
      label={t.forms.topics}
      description={t.forms.topicsHint}
      value={draft.topicIds}
      onChange={(topicIds) => onChange({ topicIds })}
    >
      <Stack gap="xs" mt="xs">
        {topics.map((topic) => (
          <Checkbox key={topic.id} value={topic.id} label={labelOf(topic)} disabled={readOnly} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
