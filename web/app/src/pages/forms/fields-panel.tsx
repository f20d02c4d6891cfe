import './form.css';
import {
  ActionIcon,
  Autocomplete,
  Box,
  Button,
  Checkbox,
  Group,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react';
import { useCustomFields } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { Panel } from '../../ui/page.tsx';
import { DEFAULT } from '../topics/form.ts';
import { type DraftProps, type FieldDraft, fieldTypes, MAX_FIELDS, newField, noTexts } from './draft.ts';

interface FieldsPanelProps extends DraftProps {
  locale: string;
}

/** What a form asks for besides the email address. Labels are those of the chosen language. */
export function FieldsPanel({ draft, onChange, readOnly, locale }: FieldsPanelProps) {
  const { fields } = draft;
  const move = (at: number, step: number) => {
    const others = fields.filter((_, index) => index !== at);
    onChange({ fields: [...others.slice(0, at + step), ...fields.slice(at, at + 1), ...others.slice(at + step)] });
  };
  return (
    <Panel title={t.forms.fields} description={t.forms.fieldsHint}>
      <Stack>
        {fields.map((field, at) => (
          <FieldEditor
            key={field.id}
            field={field}
            name={field.key || t.forms.field(at + 1)}
            isFirst={at === 0}
            isLast={at === fields.length - 1}
            label={textProps('labels', { draft, onChange, readOnly }, locale, field.id)}
            options={
              locale === DEFAULT ? undefined : textProps('options', { draft, onChange, readOnly }, locale, field.id)
            }
            readOnly={readOnly}
            onChange={(part) =>
              onChange({ fields: fields.map((other) => (other.id === field.id ? { ...other, ...part } : other)) })
            }
            onMove={(step) => move(at, step)}
            onRemove={() => onChange({ fields: fields.filter(({ id }) => id !== field.id) })}
          />
        ))}
        {!readOnly && fields.length < MAX_FIELDS && (
          <Button
            variant="default"
            leftSection={<IconPlus size={16} />}
            onClick={() => onChange({ fields: [...fields, newField()] })}
            style={{ alignSelf: 'flex-start' }}
          >
            {t.forms.addField}
          </Button>
        )}
      </Stack>
    </Panel>
  );
}

/** Of a text of a field in a language. */
function textProps(name: 'labels' | 'options', { draft, onChange, readOnly }: DraftProps, locale: string, id: string) {
  const texts = draft.texts[locale] ?? noTexts();
  const own = draft.texts[DEFAULT]?.[name][id] ?? '';
  return {
    value: texts[name][id] ?? '',
    placeholder: locale === DEFAULT ? '' : own,
    readOnly,
    onChange: (event: { currentTarget: { value: string } }) => {
      const changed = { ...texts[name], [id]: event.currentTarget.value };
      onChange({ texts: { ...draft.texts, [locale]: { ...texts, [name]: changed } } });
    },
  };
}

interface FieldEditorProps {
  field: FieldDraft;
  name: string;
  isFirst: boolean;
  isLast: boolean;
  label: ReturnType<typeof textProps>;
  /** In another language. */
  options: ReturnType<typeof textProps> | undefined;
  readOnly: boolean;
  onChange(part: Partial<FieldDraft>): void;
  onMove(step: number): void;
  onRemove(): void;
}

function FieldEditor(props: FieldEditorProps) {
  const { field, name, isFirst, isLast, label, readOnly, onChange, onMove, onRemove } = props;
  const custom = useCustomFields();
  const { key, type, required, options, maxLength, value } = field;
  return (
    <Box role="group" aria-label={name} className="form-field">
      <Group justify="space-between" gap="xs" mb="xs">
        <Text fw={600} className="breakable">
          {name}
        </Text>
        {!readOnly && (
          <Group gap={4} wrap="nowrap">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t.forms.moveUp(name)}
              disabled={isFirst}
              onClick={() => onMove(-1)}
            >
              <IconArrowUp size={16} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t.forms.moveDown(name)}
              disabled={isLast}
              onClick={() => onMove(1)}
            >
              <IconArrowDown size={16} />
            </ActionIcon>
            <ActionIcon variant="subtle" color="red" aria-label={t.forms.removeField(name)} onClick={onRemove}>
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {type !== 'HIDDEN' && <TextInput label={t.forms.fieldLabel} maxLength={500} {...label} />}
        <Autocomplete
          label={t.forms.fieldKey}
          placeholder="firstName"
          required
          maxLength={100}
          data={custom}
          readOnly={readOnly}
          value={key}
          onChange={(next) => onChange({ key: next })}
        />
        <Choice
          label={t.forms.fieldType}
          visibleLabel
          value={type}
          onChange={(next) => !readOnly && onChange({ type: next })}
          data={fieldTypes.map((one) => ({ value: one, label: t.forms.fieldTypes[one] }))}
        />
        {type === 'TEXT' && (
          <NumberInput
            label={t.forms.fieldMaxLength}
            min={1}
            max={10_000}
            allowDecimal={false}
            readOnly={readOnly}
            value={maxLength}
            onChange={(next) => onChange({ maxLength: next === '' ? '' : Number(next) })}
          />
        )}
        {type === 'SELECT' && (
          <Textarea
            label={t.forms.fieldOptions}
            description={t.forms.fieldOptionsHint}
            required
            autosize
            minRows={2}
            maxRows={8}
            readOnly={readOnly}
            value={options}
            onChange={(event) => onChange({ options: event.currentTarget.value })}
          />
        )}
        {type === 'SELECT' && props.options && (
          <Textarea
            label={t.forms.optionTexts}
            description={t.forms.optionTextsHint}
            autosize
            minRows={2}
            maxRows={8}
            {...props.options}
            placeholder={options}
          />
        )}
        {type !== 'BOOLEAN' && (
          <TextInput
            label={type === 'HIDDEN' ? t.forms.fieldValue : t.forms.fieldDefault}
            type={type === 'DATE' ? 'date' : 'text'}
            inputMode={type === 'NUMBER' ? 'decimal' : undefined}
            readOnly={readOnly}
            value={value}
            onChange={(event) => onChange({ value: event.currentTarget.value })}
          />
        )}
      </SimpleGrid>
      {type !== 'HIDDEN' && (
        <Group mt="sm" gap="lg">
          <Switch
            label={t.forms.fieldRequired}
            checked={required}
            disabled={readOnly}
            onChange={(event) => onChange({ required: event.currentTarget.checked })}
          />
          {type === 'BOOLEAN' && (
            <Checkbox
              label={t.forms.fieldChecked}
              checked={value === 'true'}
              disabled={readOnly}
              onChange={(event) => onChange({ value: event.currentTarget.checked ? 'true' : '' })}
            />
          )}
        </Group>
      )}
    </Box>
  );
}
