import { Checkbox, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { number } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import { FieldGroup } from '../../../ui/field-group.tsx';
import { TimeField } from '../../../ui/time-field.tsx';
import { ZoneField } from '../../../ui/zone-field.tsx';
import { ConditionField } from './condition-field.tsx';
import { JsonField, RecordField, RowsField } from './list-fields.tsx';
import { EventField, hasReferences, ReferenceField } from './reference-field.tsx';
import {
  brokenBound,
  type Config,
  fieldKind,
  isSpan,
  objectOf,
  readableName,
  type Schema,
  shapeOf,
  withValue,
} from './schema.ts';

export interface FormContext {
  readOnly: boolean;
  /** Messages of the API by the path of the value. */
  errorAt(path: string): string | undefined;
}

interface FieldsProps {
  schema: Schema;
  value: Config;
  /** `name` is the path of what was changed. */
  onChange(value: Config, name: string): void;
  path: string;
  form: FormContext;
}

/** Other names for a value: shown only where a config has them. */
const ALIASES = new Set(['updates']);

/** A form for a config, made of its JSON Schema: a new type of step needs no change here. */
export function SchemaForm({ schema, value, onChange, path, form }: FieldsProps) {
  if (fieldKind(schema) === 'condition')
    return <ConditionField value={value} onChange={(next) => onChange(next, path)} readOnly={form.readOnly} />;
  const { properties = {}, required = [] } = schema;
  const set = (key: string, next: unknown) => onChange(withValue(schema, value, key, next), `${path}.${key}`);
  const names = Object.keys(properties).filter((name) => !ALIASES.has(name) || value[name] !== undefined);
  const hasSpan = isSpan(properties);
  return (
    <Stack gap="sm">
      {names.map((name) => {
        const inner = properties[name] ?? {};
        if (hasSpan && name === 'unit') return null;
        if (hasSpan && name === 'amount')
          return (
            <SpanField
              key={name}
              label={labelOf(name)}
              value={value}
              schema={properties}
              form={form}
              path={`${path}.${name}`}
              onChange={({ amount, unit }) => {
                const next = withValue(schema, value, 'amount', amount);
                onChange(amount === undefined ? withoutKey(next, 'unit') : { ...next, unit }, `${path}.${name}`);
              }}
            />
          );
        return (
          <Field
            key={name}
            name={name}
            schema={inner}
            value={value[name]}
            onChange={(next) => set(name, next)}
            path={`${path}.${name}`}
            required={required.includes(name)}
            form={form}
          />
        );
      })}
      {names.length === 0 && <Text c="dimmed">{t.canvas.noSettings}</Text>}
    </Stack>
  );
}

const withoutKey = ({ ...config }: Config, key: string): Config => {
  delete config[key];
  return config;
};

export interface FieldProps {
  name: string;
  schema: Schema;
  value: unknown;
  onChange(value: unknown): void;
  path: string;
  required: boolean;
  form: FormContext;
  /** In place of the name's own. */
  label?: string;
  /** The label is for screen readers only: a heading above has it. */
  isLabelHidden?: boolean;
}

const labelOf = (name: string): string => (t.canvas.fields as Record<string, string>)[name] ?? readableName(name);
const hintOf = (name: string): string | undefined => (t.canvas.hints as Record<string, string>)[name];
const valueName = (value: unknown): string =>
  (t.canvas.values as Record<string, string>)[String(value)] ?? String(value);

export function Field(props: FieldProps) {
  const { name, schema: given, value, onChange, path, required, form, label = labelOf(name), isLabelHidden } = props;
  const schema = shapeOf(given);
  const { readOnly } = form;
  const common = {
    ...(isLabelHidden ? { 'aria-label': label } : { label }),
    description: hintOf(name),
    error: form.errorAt(path),
    required,
    disabled: readOnly,
  };
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (name === 'timezone')
    return <ZoneField {...common} value={text || null} onChange={(zone) => onChange(zone ?? undefined)} />;
  if (name === 'eventName')
    return <EventField {...common} value={text} onChange={(event) => onChange(event || undefined)} />;
  if (schema.format === 'uuid' && hasReferences(name))
    return <ReferenceField name={name} value={text} onChange={onChange} {...common} label={label} />;
  switch (fieldKind(schema)) {
    case 'condition':
    case 'fields':
      return (
        <FieldGroup label={label}>
          <SchemaForm schema={schema} value={objectOf(value)} onChange={onChange} path={path} form={form} />
        </FieldGroup>
      );
    case 'span':
      return (
        <SpanField
          label={label}
          value={spanOf(value)}
          schema={schema.properties ?? {}}
          form={form}
          path={path}
          onChange={(span) => onChange(span.amount === undefined ? undefined : span)}
        />
      );
    case 'choice':
      return (
        <NativeSelect
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value || undefined)}
          data={[
            { value: '', label: t.canvas.notSet },
            ...(schema.enum ?? []).map((one) => ({ value: String(one), label: valueName(one) })),
          ]}
        />
      );
    case 'choices':
      return (
        <Checkbox.Group
          {...common}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={(chosen) => onChange((schema.items?.enum ?? []).filter((one) => chosen.includes(String(one))))}
        >
          <Group gap="sm" mt={4}>
            {(schema.items?.enum ?? []).map((one) => (
              <Checkbox key={String(one)} value={String(one)} label={valueName(one)} disabled={readOnly} />
            ))}
          </Group>
        </Checkbox.Group>
      );
    case 'flag':
      return (
        <NativeSelect
          {...common}
          value={value === undefined ? '' : String(value)}
          onChange={({ currentTarget: { value: chosen } }) => onChange(chosen === '' ? undefined : chosen === 'true')}
          data={[
            { value: '', label: t.canvas.notSet },
            { value: 'true', label: t.common.yes },
            { value: 'false', label: t.common.no },
          ]}
        />
      );
    case 'number':
      return (
        <NumberInput
          {...common}
          error={boundText(typeof value === 'number' ? value : undefined, schema) ?? common.error}
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
          hideControls
        />
      );
    case 'rows':
      return <RowsField {...props} schema={schema} label={label} />;
    case 'record':
      return <RecordField {...props} schema={schema} label={label} />;
    case 'json':
      return <JsonField {...common} label={label} value={value} onChange={onChange} />;
    case 'time':
      return <TimeField {...common} value={text} onChange={(time) => onChange(time || undefined)} />;
    default:
      return (
        <TextInput
          {...common}
          value={text}
          {...(schema.maxLength !== undefined && { maxLength: schema.maxLength })}
          onChange={(event) => onChange(event.currentTarget.value || undefined)}
        />
      );
  }
}

/** Says what is allowed: a number is never changed to fit behind the user's back. */
function boundText(value: number | undefined, schema: Schema): string | undefined {
  const broken = brokenBound(value, schema);
  return broken && t.canvas.bounds[broken.rule](number(broken.limit));
}

/** A plain number is one of seconds. */
const spanOf = (value: unknown): Config =>
  typeof value === 'number' ? { amount: value, unit: 'seconds' } : objectOf(value);

interface SpanFieldProps {
  label: string;
  value: Config;
  /** Of the amount and the unit. */
  schema: Record<string, Schema>;
  form: FormContext;
  path: string;
  onChange(span: { amount: number | undefined; unit: string }): void;
}

function SpanField({ label, value, schema, form, path, onChange }: SpanFieldProps) {
  const unit = typeof value.unit === 'string' ? value.unit : 'days';
  const amount = typeof value.amount === 'number' ? value.amount : undefined;
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <NumberInput
        label={label}
        value={amount ?? ''}
        onChange={(next) => onChange({ amount: typeof next === 'number' ? next : undefined, unit })}
        error={boundText(amount, schema.amount ?? {}) ?? form.errorAt(path)}
        disabled={form.readOnly}
        hideControls
        flex="1 1 6rem"
      />
      <NativeSelect
        label={t.segments.unit}
        aria-label={t.canvas.unitOf(label)}
        value={unit}
        onChange={(event) => onChange({ amount, unit: event.currentTarget.value })}
        data={(schema.unit?.enum ?? []).map((one) => ({ value: String(one), label: valueName(one) }))}
        disabled={form.readOnly || amount === undefined}
        flex="1 1 6rem"
      />
    </Group>
  );
}
