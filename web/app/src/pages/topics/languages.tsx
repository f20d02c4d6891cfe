import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconLanguage, IconX } from '@tabler/icons-react';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { DEFAULT, localeOf } from './form.ts';

interface LanguageChoiceProps<Texts> {
  /** By locale, with DEFAULT. */
  texts: Record<string, Texts>;
  onChange(texts: Record<string, Texts>): void;
  /** Of a language that is added. */
  noTexts(): Texts;
  locale: string;
  onLocale(locale: string): void;
  readOnly: boolean;
}

/** Chooses the language of texts, adds and removes languages. */
export function LanguageChoice<Texts>(props: LanguageChoiceProps<Texts>) {
  const { texts, onChange, noTexts, locale, onLocale, readOnly } = props;
  const removeLocale = () => {
    const { [locale]: _, ...others } = texts;
    onLocale(DEFAULT);
    onChange(others);
  };
  return (
    <Group align="flex-end" gap="sm">
      <Choice
        label={t.topics.language}
        visibleLabel
        value={locale}
        onChange={onLocale}
        data={Object.keys(texts).map((value) => ({ value, label: languageName(value) }))}
      />
      {!readOnly && (
        <AddLanguage
          taken={Object.keys(texts)}
          onAdd={(added) => {
            onChange({ ...texts, [added]: noTexts() });
            onLocale(added);
          }}
        />
      )}
      {!readOnly && locale !== DEFAULT && (
        <Button variant="subtle" color="gray" leftSection={<IconX size={16} />} onClick={removeLocale}>
          {t.topics.removeLanguage(languageName(locale))}
        </Button>
      )}
    </Group>
  );
}

/** The name of a language in the language of the dashboard. */
function languageName(locale: string): string {
  if (locale === DEFAULT) return t.topics.defaultLanguage;
  const names = new Intl.DisplayNames([document.documentElement.lang], { type: 'language' });
  return `${names.of(locale) ?? locale} (${locale})`;
}

function AddLanguage({ taken, onAdd }: { taken: string[]; onAdd(locale: string): void }) {
  const [opened, { open, close }] = useDisclosure();
  const form = useForm({
    initialValues: { tag: '' },
    validate: {
      tag: (tag) => {
        const locale = localeOf(tag);
        if (!locale) return t.topics.languageInvalid;
        return taken.includes(locale) ? t.topics.languageTwice : null;
      },
    },
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconLanguage size={16} />}
        onClick={() => {
          form.reset();
          open();
        }}
      >
        {t.topics.addLanguage}
      </Button>
      <FormDialog
        opened={opened}
        title={t.topics.addLanguage}
        onClose={close}
        error={null}
        busy={false}
        submit={t.topics.addLanguage}
        onSubmit={form.onSubmit(({ tag }) => {
          onAdd(localeOf(tag) ?? tag);
          close();
        })}
      >
        <TextInput
          label={t.topics.languageTag}
          description={t.topics.languageHint}
          maxLength={35}
          data-autofocus
          {...form.getInputProps('tag')}
        />
      </FormDialog>
    </>
  );
}
