import './calendar.css';
import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core';
import { useClickOutside, useDisclosure } from '@mantine/hooks';
import { IconCalendar } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { t } from '../texts/index.ts';

export interface PickedFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'type' | 'min' | 'max'> {
  value?: string | undefined;
  /** Empty when the field was emptied. */
  onChange(value: string): void;
  /** Of the day, as YYYY-MM-DD. */
  min?: string | undefined;
  max?: string | undefined;
}

interface PickedTextProps extends PickedFieldProps {
  /** Undefined while the text is not complete. */
  read(text: string): string | undefined;
  show(value: string): string;
  picker(close: () => void): ReactNode;
}

/** A text field with a button that opens a picker. What cannot be read is dropped when the field is left. */
export function PickedText(props: PickedTextProps) {
  const { value = '', onChange, read, show, picker, min: _min, max: _max, ...field } = props;
  const [typed, setTyped] = useState<string>();
  const [opened, { toggle, close }] = useDisclosure();
  const box = useClickOutside<HTMLDivElement>(close);
  const button = useRef<HTMLButtonElement>(null);
  const closeByHand = () => {
    close();
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !opened) return;
    // A dialog around it stays open.
    event.stopPropagation();
    closeByHand();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: collects the keys of what is inside
    <div className="picked" ref={box} onKeyDown={onKeyDown}>
      <TextInput
        {...field}
        autoComplete="off"
        maxLength={40}
        value={typed ?? (value === '' ? '' : show(value))}
        onFocus={(event) => event.currentTarget.select()}
        onChange={({ currentTarget: { value: text } }) => {
          setTyped(text);
          const known = text.trim() === '' ? '' : read(text);
          if (known !== undefined) onChange(known);
        }}
        onBlur={() => setTyped(undefined)}
        rightSection={
          <ActionIcon
            ref={button}
            variant="subtle"
            color="gray"
            onClick={toggle}
            disabled={field.disabled || field.readOnly}
            aria-label={t.pickers.openCalendar}
            aria-expanded={opened}
          >
            <IconCalendar size={16} />
          </ActionIcon>
        }
      />
      {opened && <div className="picked-panel">{picker(closeByHand)}</div>}
    </div>
  );
}
