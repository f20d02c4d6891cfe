import './calendar.css';
import { ActionIcon, Group, Text, UnstyledButton } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { localDay } from '../format.ts';
import { t } from '../texts/index.ts';
import { addDays, addMonths, weeksOf } from './calendar-days.ts';
import { calendarDay, firstWeekday, monthName, weekdayName } from './calendar-format.ts';

interface CalendarProps {
  /** YYYY-MM-DD; empty when none is chosen. */
  value: string;
  onChange(day: string): void;
  min?: string | undefined;
  max?: string | undefined;
}

const steps: Record<string, (day: string) => string> = {
  ArrowLeft: (day) => addDays(day, -1),
  ArrowRight: (day) => addDays(day, 1),
  ArrowUp: (day) => addDays(day, -7),
  ArrowDown: (day) => addDays(day, 7),
  PageUp: (day) => addMonths(day, -1),
  PageDown: (day) => addMonths(day, 1),
};

/** The days of a month, chosen by mouse or by the arrow keys. */
export function Calendar({ value, onChange, min, max }: CalendarProps) {
  const today = localDay(0);
  const [marked, setMarked] = useState(value || today);
  const table = useRef<HTMLTableElement>(null);
  // It opens with the focus in it.
  const isMoved = useRef(true);
  useEffect(() => {
    if (!isMoved.current) return;
    isMoved.current = false;
    table.current?.querySelector<HTMLElement>(`[data-day="${marked}"]`)?.focus();
  }, [marked]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    isMoved.current = true;
    setMarked(step(marked));
  };
  const weeks = weeksOf(marked, firstWeekday);
  const turn = (label: string, months: number, Icon: typeof IconChevronLeft) => (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={32}
      aria-label={label}
      onClick={() => setMarked(addMonths(marked, months))}
    >
      <Icon size={18} />
    </ActionIcon>
  );
  return (
    <div className="calendar">
      <Group justify="space-between" wrap="nowrap" mb={4}>
        {turn(t.pickers.previousMonth, -1, IconChevronLeft)}
        <Text fw={600} size="sm" aria-live="polite">
          {monthName(marked)}
        </Text>
        {turn(t.pickers.nextMonth, 1, IconChevronRight)}
      </Group>
      <table ref={table} aria-label={monthName(marked)} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {weeks[0]?.map((day) => (
              <th key={day} scope="col" abbr={weekdayName(day, 'long')}>
                {weekdayName(day, 'short')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day}>
                  <UnstyledButton
                    className="calendar-day"
                    data-day={day}
                    data-outside={day.slice(0, 7) !== marked.slice(0, 7) || undefined}
                    aria-label={calendarDay(day)}
                    aria-pressed={day === value}
                    aria-current={day === today ? 'date' : undefined}
                    disabled={(min !== undefined && day < min) || (max !== undefined && day > max)}
                    tabIndex={day === marked ? 0 : -1}
                    onClick={() => onChange(day)}
                  >
                    {Number(day.slice(8))}
                  </UnstyledButton>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
