import { Alert, Badge, Box, Group, Stack, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { dateTime, number } from '../../format.ts';
import { t } from '../../texts/index.ts';

/** Others are summed up in a line. */
const MOST_ZONES = 12;

/** When people of each time zone get a campaign, before it is sent. */
export function ZoneClock({ campaignId, localTime }: { campaignId: string; localTime: string }) {
  const { client, key } = useApi();
  const timing = useQuery({
    queryKey: key('campaign-timing', campaignId, localTime),
    queryFn: () =>
      unwrap(client.GET('/campaigns/{id}/timing', { params: { path: { id: campaignId }, query: { localTime } } })),
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (timing.error) return <Alert color="red">{messageOf(timing.error)}</Alert>;
  if (!timing.data) return null;
  const { zones, firstAt, lastAt, late, withoutTimezone } = timing.data;
  if (!firstAt || !lastAt)
    return (
      <Text size="sm" c="dimmed">
        {t.timing.noRecipients}
      </Text>
    );
  const start = Date.parse(firstAt);
  const length = Math.max(Date.parse(lastAt) - start, 1);
  const hidden = zones.slice(MOST_ZONES);
  return (
    <Stack gap="xs">
      <Text size="sm">{t.timing.span(dateTime(firstAt), dateTime(lastAt))}</Text>
      {late > 0 && <Alert color="orange">{t.timing.lateCount(late)}</Alert>}
      <Table aria-label={t.timing.zones} layout="fixed" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.timing.zone}</Table.Th>
            <Table.Th w={80} ta="right">
              {t.timing.people}
            </Table.Th>
            <Table.Th>{t.timing.yourTime}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {zones.slice(0, MOST_ZONES).map((zone) => (
            <Table.Tr key={zone.timezone}>
              <Table.Td className="breakable">{zone.timezone.replaceAll('_', ' ')}</Table.Td>
              <Table.Td ta="right" className="number">
                {number(zone.count)}
              </Table.Td>
              <Table.Td>
                <Group gap="xs">
                  {dateTime(zone.at)}
                  {zone.late && <Badge color="orange">{t.timing.past}</Badge>}
                </Group>
                <Box h={4} mt={4} pos="relative" bg="var(--mantine-color-default-border)" aria-hidden>
                  <Box
                    pos="absolute"
                    h={4}
                    w={8}
                    bg={zone.late ? 'orange' : 'var(--mantine-primary-color-filled)'}
                    left={`calc(${((Date.parse(zone.at) - start) / length) * 100}% - ${((Date.parse(zone.at) - start) / length) * 8}px)`}
                  />
                </Box>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {hidden.length > 0 && (
        <Text size="xs" c="dimmed">
          {t.timing.moreZones(
            hidden.length,
            hidden.reduce((sum, { count }) => sum + count, 0),
          )}
        </Text>
      )}
      {withoutTimezone > 0 && (
        <Text size="xs" c="dimmed">
          {t.timing.withoutTimezone(withoutTimezone)}
        </Text>
      )}
    </Stack>
  );
}
