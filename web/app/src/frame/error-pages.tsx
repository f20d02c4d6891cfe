import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';

function Message({ title, text, onRetry }: { title: string; text: string; onRetry?: () => void }) {
  useEffect(() => {
    document.title = `${title} · ${t.appName}`;
  }, [title]);
  return (
    <Center component="main" mih="60vh" p="lg">
      <Stack align="center" ta="center" maw={480}>
        <Title order={1}>{title}</Title>
        <Text c="dimmed" className="breakable">
          {text}
        </Text>
        {onRetry && (
          <Button variant="default" onClick={onRetry}>
            {t.common.retry}
          </Button>
        )}
        <Button component={Link} to="/">
          {t.errors.toStart}
        </Button>
      </Stack>
    </Center>
  );
}

export const NotFoundPage = () => <Message title={t.errors.notFoundTitle} text={t.errors.notFoundText} />;

export const CrashPage = ({ error, reset }: { error: unknown; reset: () => void }) => (
  <Message title={t.errors.crashTitle} text={messageOf(error)} onRetry={reset} />
);
