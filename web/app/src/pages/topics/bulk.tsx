import { Button, Radio, Select, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconListCheck } from '@tabler/icons-react';
import { useAction } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useTopics } from './queries.ts';

type TopicAction = 'TOPIC_SUBSCRIBE' | 'TOPIC_UNSUBSCRIBE';

interface ChangeTopicProps {
  count: number;
  /** `title` names the job. */
  onRun(action: TopicAction, topicId: string, title: string): Promise<void>;
}

/** Subscribes the selected contacts to a topic, or unsubscribes them. */
export function ChangeTopicButton({ count, onRun }: ChangeTopicProps) {
  const [opened, { open, close }] = useDisclosure();
  const topics = useTopics().data ?? [];
  const form = useForm({
    initialValues: { action: 'TOPIC_UNSUBSCRIBE' as TopicAction, topicId: '' },
    validate: { topicId: (id) => (id === '' ? t.topics.bulkNeeded : null) },
  });
  const run = useAction({
    run: ({ action, topicId }: typeof form.values) => onRun(action, topicId, t.topics.bulkJobs[action]),
    quiet: true,
    onDone: close,
  });
  if (topics.length === 0) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconListCheck size={16} />}
        onClick={() => {
          run.reset();
          form.reset();
          open();
        }}
      >
        {t.topics.bulk}
      </Button>
      <FormDialog
        opened={opened}
        title={t.topics.bulkTitle(count)}
        onClose={close}
        error={run.error}
        busy={run.isPending}
        submit={t.topics.bulkRun}
        onSubmit={form.onSubmit((values) => run.mutate(values))}
      >
        <Select
          label={t.topics.topic}
          data={topics.map(({ id, name }) => ({ value: id, label: name }))}
          searchable
          allowDeselect={false}
          {...form.getInputProps('topicId')}
        />
        <Radio.Group label={t.topics.bulkWhat} {...form.getInputProps('action')}>
          <Stack gap="xs" mt="xs">
            {(['TOPIC_SUBSCRIBE', 'TOPIC_UNSUBSCRIBE'] as const).map((action) => (
              <Radio key={action} value={action} label={t.topics.bulkActions[action]} />
            ))}
          </Stack>
        </Radio.Group>
        <Text size="sm" c="dimmed">
          {t.topics.bulkText}
        </Text>
      </FormDialog>
    </>
  );
}
