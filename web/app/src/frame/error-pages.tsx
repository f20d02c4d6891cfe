import { Button, Center, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';
import { ButtonLink } from '../ui/links.tsx';
import '../ui/page.css';

function Message({ title, text, onRetry }: { title: string; text: string; onRetry?: () => void }) {
  useEffect(() => {
    document.title = `${title} · ${t.appName}`;
  }, [title]);
  return (
    <Center component="main" mih="60vh" p="lg">
      <Stack align="center" ta="center" maw={480}>
        <h1 className="page-title">{title}</h1>
        <Text c="dimmed" className="breakable">
          {text}
        </Text>
        {onRetry && (
          <Button variant="default" onClick={onRetry}>
            {t.common.retry}
          </Button>
        )}
        <ButtonLink to="/">{t.errors.toStart}</ButtonLink>
      </Stack>
    </Center>
  );
}

export const NotFoundPage = () => <Message title={t.errors.notFoundTitle} text={t.errors.notFoundText} />;

export const CrashPage = ({ error, reset }: { error: unknown; reset: () => void }) => (
  <Message title={t.errors.crashTitle} text={messageOf(error)} onRetry={reset} />
);
