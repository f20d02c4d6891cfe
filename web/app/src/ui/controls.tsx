import {
  ActionIcon,
  CopyButton as CopyValue,
  Group,
  NativeSelect,
  Text,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconCheck, IconCopy, IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { dateTime, exactTime, relative } from '../format.ts';
import { t } from '../texts/index.ts';

export function CopyButton({ value, label }: { value: string; label: string }) {
  return (
    <CopyValue value={value} timeout={2000}>
      {({ copied, copy }) => (
        <ActionIcon
          variant="subtle"
          color={copied ? 'teal' : 'gray'}
          onClick={copy}
          title={copied ? t.common.copied : t.common.copy}
          aria-label={copied ? t.common.copied : t.common.copyOf(label)}
        >
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
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

interface ChoiceProps<T extends string> {
  label: string;
  /** Shows the label above; otherwise only screen readers read it. */
  visibleLabel?: boolean;
  value: T;
  onChange(value: T): void;
  data: { value: T; label: string }[];
  w?: number | string;
}

/** One of a few: the browser's own list, which needs no code to place it. */
export function Choice<T extends string>({ label, visibleLabel, value, onChange, data, w }: ChoiceProps<T>) {
  return (
    <NativeSelect
      className="screen-only"
      {...(visibleLabel ? { label } : { 'aria-label': label })}
      w={w}
      data={data}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as T)}
    />
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
      className="screen-only"
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
  if (!at) return <span className="dimmed">—</span>;
  return (
    <time dateTime={at} title={exactTime(at)} data-exact={dateTime(at)}>
      {exact ? dateTime(at) : relative(at)}
    </time>
  );
}
