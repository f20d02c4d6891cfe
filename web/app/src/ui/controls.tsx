import {
  ActionIcon,
  Alert,
  Button,
  CopyButton as CopyValue,
  Group,
  Modal,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
  Tooltip,
} from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { IconCheck, IconCopy, IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { messageOf } from '../api/problem.ts';
import { dateTime, exactTime, relative } from '../format.ts';
import { t } from '../texts/index.ts';

export function CopyButton({ value, label }: { value: string; label: string }) {
  return (
    <CopyValue value={value} timeout={2000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t.common.copied : t.common.copy}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'teal' : 'gray'}
            onClick={copy}
            aria-label={copied ? t.common.copied : t.common.copyOf(label)}
          >
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyValue>
  );
}

/** A text with a button to copy it. */
export function Copyable({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Text ff="monospace" size="sm" className="breakable" miw={0}>
        {value}
      </Text>
      <CopyButton value={value} label={label} />
    </Group>
  );
}

interface ConfirmProps {
  opened: boolean;
  onClose(): void;
  title: string;
  /** Names what the action destroys or starts. */
  children: ReactNode;
  confirm: string;
  onConfirm(): Promise<unknown>;
  danger?: boolean;
  /** The user types this text to confirm. */
  typed?: string;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({ opened, onClose, title, children, confirm, onConfirm, danger, typed }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [text, setText] = useState('');
  useEffect(() => {
    if (opened) {
      setError(undefined);
      setText('');
    }
  }, [opened]);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t.common.close }}>
      <Stack>
        <Text component="div" className="breakable">
          {children}
        </Text>
        {typed !== undefined && (
          <TextInput label={typed} value={text} onChange={(event) => setText(event.currentTarget.value)} data-autofocus />
        )}
        {error !== undefined && <Alert color="red">{messageOf(error)}</Alert>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button color={danger ? 'red' : undefined} onClick={() => void run()} loading={busy}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface ConfirmButtonProps extends Omit<ConfirmProps, 'opened' | 'onClose'> {
  label: string;
  icon?: ReactNode;
  variant?: string;
  size?: string;
  disabled?: boolean;
}

export function ConfirmButton({ label, icon, variant = 'default', size, disabled, ...dialog }: ConfirmButtonProps) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        variant={variant}
        size={size}
        leftSection={icon}
        onClick={open}
        disabled={disabled}
        color={dialog.danger ? 'red' : undefined}
      >
        {label}
      </Button>
      <ConfirmDialog {...dialog} opened={opened} onClose={close} />
    </>
  );
}

interface SearchFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string;
  onChange(text: string): void;
  label: string;
}

/** A search that waits until the user stops typing. */
export function SearchField({ value, onChange, label, ...input }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const report = useDebouncedCallback(onChange, 300);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        report(event.currentTarget.value);
      }}
      {...input}
    />
  );
}

/** A time as people say it; the exact one is shown on hover. */
export function Time({ at, exact }: { at: string | null; exact?: boolean }) {
  if (!at) return <Text span c="dimmed" inherit>{`—`}</Text>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {exact ? dateTime(at) : relative(at)}
    </time>
  );
}
