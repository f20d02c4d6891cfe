import './page.css';
import { Alert, Box, Button, Group, Paper, type PaperProps, Stack, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { ApiProblem, messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';

interface PageProps {
  title: string;
  description?: ReactNode;
  /** Beside the title, such as a status. */
  badge?: ReactNode;
  actions?: ReactNode;
  /** A `BackLink`. */
  back?: ReactNode;
  children: ReactNode;
}

/** The frame of every page: its only h1, and the title of the browser's tab. */
export function Page({ title, description, badge, actions, back, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${t.appName}`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Box>
        {back}
        <Group justify="space-between" align="flex-start" gap="md">
          <Box miw={0} flex="1 1 20rem">
            <Group gap="sm" align="center">
              <h1 className="page-title breakable">{title}</h1>
              {badge}
            </Group>
            {description && (
              <Text c="dimmed" mt={4} component="div" className="breakable">
                {description}
              </Text>
            )}
          </Box>
          {actions && (
            <Group gap="sm" className="page-actions">
              {actions}
            </Group>
          )}
        </Group>
      </Box>
      {children}
    </Stack>
  );
}

interface PanelProps extends PaperProps {
  title?: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** Without inner space, for tables that reach the border. */
  flush?: boolean;
}

export function Panel({ title, description, actions, children, flush, ...paper }: PanelProps) {
  return (
    <Paper withBorder p={flush ? 0 : { base: 'md', sm: 'lg' }} component="section" {...paper}>
      {(title || actions) && (
        <Group
          justify="space-between"
          align="flex-start"
          className="panel-head"
          px={flush ? 'lg' : 0}
          pt={flush ? 'lg' : 0}
        >
          <Box miw={0} flex="1 1 12rem">
            {title && <h2 className="panel-title">{title}</h2>}
            {description && (
              <Text c="dimmed" size="sm" mt={2} component="div">
                {description}
              </Text>
            )}
          </Box>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      {children}
    </Paper>
  );
}

interface EmptyProps {
  icon: ReactNode;
  title: string;
  text?: ReactNode;
  action?: ReactNode;
}

export function Empty({ icon, title, text, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" ta="center">
      <Box className="empty-icon" aria-hidden>
        {icon}
      </Box>
      <Text fw={600} size="lg">
        {title}
      </Text>
      {text && (
        <Text c="dimmed" maw={460} component="div">
          {text}
        </Text>
      )}
      {action && <Box mt="sm">{action}</Box>}
    </Stack>
  );
}

interface Loadable<T> {
  data: T | undefined;
  error: Error | null;
  refetch(): unknown;
}

interface LoadedProps<T> {
  query: Loadable<T>;
  children: (data: T) => ReactNode;
  /** Lines of the placeholder. */
  lines?: number;
}

/** Shows a placeholder while a query loads, its error with a way to try again, and then the content. */
export function Loaded<T>({ query, children, lines = 4 }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  return <Placeholder lines={lines} />;
}

export function Placeholder({ lines }: { lines: number }) {
  return (
    <Stack gap="sm" p="md" role="status" aria-label={t.common.loading}>
      {Array.from({ length: lines }, (_, line) => (
        // Placeholders have no identity.
        <div key={line} className="placeholder-line" style={{ width: `${100 - ((line * 17) % 40)}%` }} />
      ))}
    </Stack>
  );
}

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  // Trying again does not change what a role allows.
  const isForbidden = error instanceof ApiProblem && error.status === 403;
  const title = isForbidden ? t.errors.forbidden : t.errors.page;
  return (
    <Alert color="red" icon={<IconAlertCircle />} title={title} m="md">
      <Stack gap="sm" align="flex-start">
        <span className="breakable">{messageOf(error)}</span>
        {onRetry && !isForbidden && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t.common.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
