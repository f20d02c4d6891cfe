import { Button, Group, Stack, Text } from '@mantine/core';
import { t } from '../texts/index.ts';
import { Dialog } from './dialog.tsx';

/** Asks whether to leave without saving. */
export const LeaveQuestion = ({ opened, onAnswer }: { opened: boolean; onAnswer(leave: boolean): void }) => (
  <Dialog opened={opened} onClose={() => onAnswer(false)} title={t.common.leaveTitle}>
    <Stack>
      <Text>{t.common.leaveText}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => onAnswer(false)} data-autofocus>
          {t.common.stay}
        </Button>
        <Button color="red.8" onClick={() => onAnswer(true)}>
          {t.common.leave}
        </Button>
      </Group>
    </Stack>
  </Dialog>
);
