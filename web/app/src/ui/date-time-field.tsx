import { Stack } from '@mantine/core';
import { dateTime } from '../format.ts';
import { t } from '../texts/index.ts';
import { Calendar } from './calendar.tsx';
import { readDay } from './calendar-days.ts';
import { isMonthFirst } from './calendar-format.ts';
import { type PickedFieldProps, PickedText } from './picked-text.tsx';
import { readTime, TimeField } from './time-field.tsx';

/** Before the sending of a day begins. */
const FIRST_TIME = '09:00';

const isTime = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);

function readDateTime(text: string): string | undefined {
  const [, dayText = '', timeText = ''] = /^\s*(\S+?)(?:T|[\s,]+)(\d\S*)\s*$/.exec(text) ?? [];
  const day = readDay(dayText, isMonthFirst);
  const time = readTime(timeText);
  return day && isTime(time) ? `${day}T${time}` : undefined;
}

/** A local time as YYYY-MM-DDThh:mm. */
export function DateTimeField(props: PickedFieldProps) {
  const [day = '', time = ''] = (props.value ?? '').split('T');
  return (
    <PickedText
      {...props}
      read={readDateTime}
      show={dateTime}
      picker={() => (
        <Stack gap="xs">
          <Calendar
            value={day}
            min={props.min}
            max={props.max}
            onChange={(next) => props.onChange(`${next}T${time || FIRST_TIME}`)}
          />
          <TimeField
            label={t.pickers.time}
            comboboxProps={{ withinPortal: false }}
            value={time}
            disabled={day === ''}
            onChange={(next) => isTime(next) && props.onChange(`${day}T${next}`)}
          />
        </Stack>
      )}
    />
  );
}
