import { Stack, Textarea, TextInput } from '@mantine/core';
import { t } from '../../texts/index.ts';
import { Panel } from '../../ui/page.tsx';
import { DEFAULT, noTexts, type TopicForm, type TopicTexts } from './form.ts';
import { LanguageChoice } from './languages.tsx';

interface TextsPanelProps {
  form: TopicForm;
  onChange(part: Partial<TopicForm>): void;
  readOnly: boolean;
  locale: string;
  onLocale(locale: string): void;
}

/** The texts of a topic, one language at a time. */
export function TextsPanel({ form, onChange, readOnly, locale, onLocale }: TextsPanelProps) {
  const own = form.texts[DEFAULT] ?? noTexts();
  const texts = form.texts[locale] ?? noTexts();
  const isOwn = locale === DEFAULT;
  const change = (part: Partial<TopicTexts>) => onChange({ texts: { ...form.texts, [locale]: { ...texts, ...part } } });
  const field = (name: keyof TopicTexts) => ({
    readOnly,
    value: texts[name],
    placeholder: isOwn ? '' : own[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => change({ [name]: value }),
  });
  return (
    <Panel title={t.topics.texts} description={t.topics.textsHint}>
      <Stack>
        <LanguageChoice
          texts={form.texts}
          onChange={(all) => onChange({ texts: all })}
          noTexts={noTexts}
          locale={locale}
          onLocale={onLocale}
          readOnly={readOnly}
        />
        <TextInput label={t.topics.name} required={isOwn} maxLength={100} {...field('name')} />
        <Textarea label={t.topics.about} maxLength={500} autosize minRows={2} maxRows={6} {...field('description')} />
        <Textarea
          label={t.topics.consentText}
          description={t.topics.consentTextHint}
          maxLength={5_000}
          autosize
          minRows={3}
          maxRows={12}
          {...field('consentText')}
        />
      </Stack>
    </Panel>
  );
}
