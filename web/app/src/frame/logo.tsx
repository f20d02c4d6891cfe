import { Group, Text } from '@mantine/core';
import { t } from '../texts/index.ts';

export const Logo = () => (
  <Group gap={8} wrap="nowrap">
    <img src="/app/icon.svg" width={26} height={26} alt="" />
    <Text fw={700} size="lg" style={{ letterSpacing: '-0.02em' }}>
      {t.appName}
    </Text>
  </Group>
);
