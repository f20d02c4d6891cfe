// Inputs of the inspector. They pass on only what the document format allows.
import { Input, NumberInput, SegmentedControl, TextInput } from '@mantine/core';
import { IconAlignCenter, IconAlignLeft, IconAlignRight } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { t } from '../../texts/index.ts';
import { type ColorFieldProps, ColorField as PlainColorField } from '../../ui/color-field.tsx';

/** Returns the address as documents have it, or undefined when they must not. */
export function linkAddress(typed: string): string | undefined {
  const text = typed.trim();
  if (text === '' || /^(?:#|\{\{|\{%)/.test(text)) return text;
  if (/^(?:https?:\/\/|mailto:|tel:|sms:)./i.test(text)) return text;
  if (/^[^\s@:/]+@[^\s@:/]+\.[^\s@:/]+$/.test(text)) return `mailto:${text}`;
  // "example.com/path" without a scheme.
  return /^[\w-]+(?:\.[\w-]+)+(?:[/?#:]\S*)?$/.test(text) ? `https://${text}` : undefined;
}

export const imageAddress = (typed: string): string | undefined => {
  const text = typed.trim();
  return /^(?:https?:\/\/.|\{\{)/i.test(text) ? text : undefined;
};

interface AddressFieldProps {
  label: string;
  description?: string;
  value: string;
  onChange(value: string): void;
  read?: (typed: string) => string | undefined;
  error?: string;
  autoFocus?: boolean;
}

/** The address of a link or an image. Passes it on when the user has finished typing. */
export function AddressField({
  label,
  description,
  value,
  onChange,
  read = linkAddress,
  error,
  autoFocus,
}: AddressFieldProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const address = read(typed);
  const finish = () => {
    if (address === undefined || address === value) return;
    setTyped(address);
    onChange(address);
  };
  return (
    <TextInput
      label={label}
      description={description}
      placeholder="https://"
      inputMode="url"
      autoComplete="off"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={finish}
      onKeyDown={(event) => {
        if (event.key === 'Enter') finish();
      }}
      error={address === undefined ? (error ?? t.editor.linkInvalid) : undefined}
      {...(autoFocus && { 'data-autofocus': true })}
    />
  );
}

/** A color, or that of the brand. */
export const ColorField = ({ inherited, ...props }: Omit<ColorFieldProps, 'inherited'> & { inherited: string }) => (
  <PlainColorField {...props} inherited={{ color: inherited, source: t.editor.fromBrand }} />
);

const alignments = { left: IconAlignLeft, center: IconAlignCenter, right: IconAlignRight };

export function AlignField({ value, onChange }: { value: string; onChange(value: string): void }) {
  return (
    <Segments
      label={t.editor.align}
      value={value}
      onChange={onChange}
      data={Object.entries(alignments).map(([name, Icon]) => ({
        value: name,
        label: (
          <span className="with-icon">
            <Icon size={16} aria-hidden />
            <span className="only-read">{t.editor.alignments[name]}</span>
          </span>
        ),
      }))}
    />
  );
}

interface SegmentsProps {
  label: string;
  value: string;
  onChange(value: string): void;
  data: { value: string; label: React.ReactNode }[];
}

/** One of a few, side by side. */
export function Segments({ label, value, onChange, data }: SegmentsProps) {
  return (
    <Input.Wrapper label={label} labelElement="div">
      <SegmentedControl fullWidth aria-label={label} value={value} onChange={onChange} data={data} />
    </Input.Wrapper>
  );
}

interface NumberFieldProps {
  label: string;
  value: number;
  min: number;
  max: number;
  suffix?: string;
  disabled?: boolean;
  onChange(value: number): void;
}

export function NumberField({ label, value, min, max, suffix, disabled = false, onChange }: NumberFieldProps) {
  return (
    <NumberInput
      label={label}
      value={value}
      min={min}
      max={max}
      suffix={suffix}
      disabled={disabled}
      allowDecimal={false}
      clampBehavior="blur"
      onChange={(typed) => {
        if (typeof typed === 'number' && typed >= min && typed <= max) onChange(typed);
      }}
    />
  );
}
