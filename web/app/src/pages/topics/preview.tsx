import './preview.css';
import { Alert, Box, Text } from '@mantine/core';
import { t } from '../../texts/index.ts';
import { Panel } from '../../ui/page.tsx';
import { shownTexts, type TopicForm, type TopicTexts } from './form.ts';
import { useTopics } from './queries.ts';

interface PagePreviewProps {
  form: TopicForm;
  locale: string;
  topicId: string | undefined;
}

/** The topic among the others of its kind, as the page of a contact shows them in a language. */
export function PagePreview({ form, locale, topicId }: PagePreviewProps) {
  const topics = useTopics().data ?? [];
  const others = topics.filter(
    ({ id, kind, visibility }) => id !== topicId && kind === form.kind && visibility === 'PUBLIC',
  );
  return (
    <Panel title={t.topics.preview} description={t.topics.previewText}>
      {form.visibility === 'PRIVATE' && (
        <Alert color="gray" mb="sm">
          {t.topics.previewPrivate}
        </Alert>
      )}
      <Box className="topic-page" lang={locale === 'default' ? undefined : locale}>
        <Choice texts={shownTexts(form.texts, locale)} isChosen={form.defaultState === 'SUBSCRIBED'} isWhole />
        {others.map(({ id, name, description, translations, defaultState }) => (
          <Choice
            key={id}
            texts={{ name, description, consentText: '', ...translations[locale] }}
            isChosen={defaultState === 'SUBSCRIBED'}
          />
        ))}
      </Box>
    </Panel>
  );
}

interface ChoiceProps {
  texts: TopicTexts;
  isChosen: boolean;
  /** With the consent text. */
  isWhole?: boolean;
}

const Choice = ({ texts, isChosen, isWhole = false }: ChoiceProps) => (
  <div className="topic-choice">
    <span className="topic-box" data-checked={isChosen || undefined} aria-hidden />
    <Box miw={0}>
      <Text fw={600} className="breakable">
        {texts.name || '—'}
      </Text>
      {texts.description && (
        <Text size="sm" className="breakable">
          {texts.description}
        </Text>
      )}
      {isWhole && texts.consentText && (
        <Text size="xs" c="dimmed" mt={4} className="breakable topic-consent">
          {texts.consentText}
        </Text>
      )}
    </Box>
  </div>
);
