import { date } from '../format.ts';
import { Calendar } from './calendar.tsx';
import { readDay } from './calendar-days.ts';
import { isMonthFirst } from './calendar-format.ts';
import { type PickedFieldProps, PickedText } from './picked-text.tsx';

/** A day as YYYY-MM-DD: typed as people write it, or chosen from a calendar. */
export const DateField = (props: PickedFieldProps) => (
  <PickedText
    {...props}
    read={(text) => readDay(text, isMonthFirst)}
    show={(day) => date(`${day}T12:00:00`)}
    picker={(close) => (
      <Calendar
        value={props.value ?? ''}
        min={props.min}
        max={props.max}
        onChange={(day) => {
          props.onChange(day);
          close();
        }}
      />
    )}
  />
);
