import { Badge, Box, Group, List, Loader, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { unwrap } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';
import { messageOf } from '../api/problem.ts';
import { number } from '../format.ts';
import { t } from '../texts/index.ts';
import { TextLink } from '../ui/links.tsx';
import { type Condition, isComplete, newCondition, requestedCondition } from './model.ts';

/** Who matches a condition now; asks the API after the user has stopped changing it. */
export function usePreview(condition: Condition | undefined) {
  const { client, key } = useApi();
  const [asked] = useDebouncedValue(condition, 400);
  const complete = asked !== undefined && isComplete(asked);
  return useQuery({
    queryKey: key('segment-preview', asked),
    queryFn: () =>
      unwrap(client.POST('/segments/preview', { body: { condition: requestedCondition(asked ?? newCondition()) } })),
    enabled: complete,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

interface MatchesProps {
  preview: ReturnType<typeof usePreview>;
  complete: boolean;
  title: string;
}

/** The number of people who match, and some of them. */
export function Matches({ preview, complete, title }: MatchesProps) {
  const { projectId } = useApi();
  const { data } = preview;
  return (
    <Box aria-live="polite">
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      {!complete ? (
        <Text mt={4}>{t.segments.incomplete}</Text>
      ) : preview.error ? (
        <Text mt={4} c="red">
          {messageOf(preview.error)}
        </Text>
      ) : !data ? (
        <Loader size="sm" mt="sm" role="status" aria-label={t.common.loading} />
      ) : (
        <>
          <Group gap="xs" align="baseline">
            <Text className="big-number" data-testid="match-count">
              {number(data.count)}
            </Text>
            {data.estimated && <Badge color="gray">{t.segments.estimated}</Badge>}
            {preview.isFetching && <Loader size="xs" aria-hidden />}
          </Group>
          {data.sample.length === 0 ? (
            <Text size="sm">{t.segments.nobody}</Text>
          ) : (
            <>
              <Text size="sm" c="dimmed" mt="sm">
                {t.segments.sampleTitle}
              </Text>
              <List size="sm" listStyleType="none" mt={4} className="roomy">
                {data.sample.map(({ id, email }) => (
                  <List.Item key={id}>
                    <TextLink
                      to="/p/$projectId/contacts/$id"
                      params={{ projectId, id }}
                      size="sm"
                      className="breakable"
                    >
                      {email}
                    </TextLink>
                  </List.Item>
                ))}
              </List>
            </>
          )}
        </>
      )}
    </Box>
  );
}
