import { Alert, Box, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Form, FormEmbed } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { CopyButton } from '../../ui/controls.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';

const ways: (keyof FormEmbed)[] = ['url', 'script', 'html', 'iframe'];

/** The ways to show a form, ready to copy. */
export function EmbedTab({ form: { id, status, version } }: { form: Form }) {
  const { client, key } = useApi();
  const embed = useQuery({
    queryKey: key('form-embed', id, version),
    queryFn: () => unwrap(client.GET('/forms/{id}/embed', { params: { path: { id } } })),
  });
  return (
    <Panel>
      <Stack gap="lg">
        {status === 'PAUSED' && <Alert color="gray">{t.forms.embedPaused}</Alert>}
        <Loaded query={embed} lines={8}>
          {(code) =>
            ways.map((way) => (
              <Box key={way}>
                <Group justify="space-between" wrap="nowrap" mb={6}>
                  <Box>
                    <Title order={2} size="h5">
                      {t.forms.embedTitles[way]}
                    </Title>
                    <Text size="sm" c="dimmed">
                      {t.forms.embedText[way]}
                    </Text>
                  </Box>
                  <CopyButton value={code[way]} label={t.forms.embedTitles[way]} />
                </Group>
                <Box component="pre" className="mail-text" mah={320} tabIndex={0} data-embed={way}>
                  {code[way]}
                </Box>
              </Box>
            ))
          }
        </Loaded>
      </Stack>
    </Panel>
  );
}
