import { ActionIcon, Autocomplete, Box, Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import { unwrap } from '../../../api/client.ts';
import { useApi } from '../../../api/hooks.ts';
import { t } from '../../../texts/index.ts';
import { Choice } from '../../../ui/controls.tsx';
import { elapsed } from './elapsed.ts';
import { FieldRows } from './person-form.tsx';
import { type LineEvent, newEvent } from './scenario.ts';

interface EventLineProps {
  events: LineEvent[];
  onChange(events: LineEvent[]): void;
}

const HOUR = 60;
const DAY = 24 * HOUR;
/** Lengths of the line; the shortest that has room for all events is drawn. */
const LENGTHS = [7, 14, 30, 90, 365, 3_650].map((days) => days * DAY);
const MAX_EVENTS = 200;

const lengthFor = (events: LineEvent[]): number => {
  const last = Math.max(0, ...events.map(({ minutes }) => minutes));
  return LENGTHS.find((length) => length >= last) ?? last;
};

const after = (minutes: number): string => elapsed('1970-01-01T00:00:00Z', new Date(minutes * 60_000).toISOString());

/** Events that happen to the person, by the time after the start: on a line, and one row each. */
export function EventLine({ events, onChange }: EventLineProps) {
  const { client, key } = useApi();
  const names = useQuery({
    queryKey: key('event-names'),
    queryFn: () => unwrap(client.GET('/events/names')),
    staleTime: 60_000,
  });
  const known = (names.data?.names ?? []).map(({ name }) => name);
  const update = (target: LineEvent, change: Partial<LineEvent>) =>
    onChange(events.map((event) => (event.key === target.key ? { ...event, ...change } : event)));
  const remove = (target: LineEvent) => onChange(events.filter((event) => event !== target));
  const add = (minutes: number) => {
    if (events.length < MAX_EVENTS) onChange([...events, newEvent(minutes)]);
  };
  return (
    <Stack gap="sm">
      <Track events={events} onMove={(event, minutes) => update(event, { minutes })} onAdd={add} onRemove={remove} />
      {events.map((event, index) => (
        <EventRow
          key={event.key}
          event={event}
          number={index + 1}
          names={known}
          onChange={(change) => update(event, change)}
          onRemove={() => remove(event)}
        />
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          disabled={events.length >= MAX_EVENTS}
          onClick={() => add((events.at(-1)?.minutes ?? 0) + DAY)}
        >
          {t.playback.addEvent}
        </Button>
      </Group>
    </Stack>
  );
}

interface TrackProps {
  events: LineEvent[];
  onMove(event: LineEvent, minutes: number): void;
  onAdd(minutes: number): void;
  onRemove(event: LineEvent): void;
}

function Track({ events, onMove, onAdd, onRemove }: TrackProps) {
  const track = useRef<HTMLDivElement>(null);
  const dragged = useRef(false);
  const length = lengthFor(events);
  /** To the full hour. */
  const minutesAt = (x: number): number => {
    const box = track.current?.getBoundingClientRect();
    if (!box || box.width === 0) return 0;
    const share = Math.min(Math.max((x - box.left) / box.width, 0), 1);
    return Math.round((share * length) / HOUR) * HOUR;
  };
  const onKeyDown = (event: KeyboardEvent, marker: LineEvent) => {
    const step = event.shiftKey ? DAY : HOUR;
    const moves: Record<string, number> = {
      ArrowLeft: -step,
      ArrowDown: -step,
      ArrowRight: step,
      ArrowUp: step,
      PageDown: -DAY,
      PageUp: DAY,
      Home: -marker.minutes,
    };
    const move = moves[event.key];
    if (event.key === 'Delete' || event.key === 'Backspace') onRemove(marker);
    else if (move !== undefined) onMove(marker, Math.max(0, marker.minutes + move));
    else return;
    event.preventDefault();
  };
  const onPointerMove = (event: PointerEvent, marker: LineEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    dragged.current = true;
    onMove(marker, minutesAt(event.clientX));
  };
  return (
    <Box>
      <Text size="sm" c="dimmed">
        {t.playback.lineHint}
      </Text>
      {/* A click adds an event; the button below does the same by keyboard. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <div
        className="event-track"
        ref={track}
        onClick={({ clientX, target, currentTarget }) => {
          if (target === currentTarget && !dragged.current) onAdd(minutesAt(clientX));
          dragged.current = false;
        }}
      >
        {[0, 0.5, 1].map((share) => (
          <span key={share} className="event-tick" style={{ left: `${share * 100}%` }} aria-hidden>
            {share === 0 ? t.playback.start : after(share * length)}
          </span>
        ))}
        {events.map((event, index) => (
          <button
            key={event.key}
            type="button"
            role="slider"
            className="event-marker"
            style={{ left: `${(event.minutes / length) * 100}%` }}
            title={`${event.name || t.playback.unnamed} · ${after(event.minutes)}`}
            aria-label={t.playback.marker(index + 1, event.name || t.playback.unnamed)}
            aria-valuemin={0}
            aria-valuemax={length}
            aria-valuenow={event.minutes}
            aria-valuetext={after(event.minutes)}
            onKeyDown={(pressed) => onKeyDown(pressed, event)}
            onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
            onPointerMove={(moved) => onPointerMove(moved, event)}
            onPointerUp={() => {
              dragged.current = false;
            }}
          >
            {index + 1}
          </button>
        ))}
      </div>
    </Box>
  );
}

const units = { minutes: 1, hours: HOUR, days: DAY } as const;
type Unit = keyof typeof units;

/** The largest unit in which the time is a whole number. */
const unitOf = (minutes: number): Unit => {
  if (minutes > 0 && minutes % DAY === 0) return 'days';
  return minutes % HOUR === 0 ? 'hours' : 'minutes';
};

interface EventRowProps {
  event: LineEvent;
  number: number;
  names: string[];
  onChange(change: Partial<LineEvent>): void;
  onRemove(): void;
}

function EventRow({ event, number, names, onChange, onRemove }: EventRowProps) {
  const unit = unitOf(event.minutes);
  return (
    <Box className="record" role="group" aria-label={t.playback.eventNumber(number)}>
      <Group gap="xs" align="flex-end">
        <Autocomplete
          label={t.playback.eventName}
          data={names}
          limit={20}
          value={event.name}
          onChange={(name) => onChange({ name })}
          flex="1 1 10rem"
          required
        />
        <NumberInput
          label={t.playback.afterStart}
          min={0}
          max={100_000}
          value={event.minutes / units[unit]}
          onChange={(amount) => onChange({ minutes: Math.round(Number(amount) * units[unit]) })}
          w={122}
        />
        <Choice<Unit>
          label={t.playback.unit}
          value={unit}
          onChange={(next) => onChange({ minutes: Math.round((event.minutes / units[unit]) * units[next]) })}
          data={(Object.keys(units) as Unit[]).map((value) => ({ value, label: t.playback.units[value] }))}
          w={102}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t.playback.removeEvent(event.name || String(number))}
          onClick={onRemove}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <Box mt="xs">
        <FieldRows
          label={t.playback.dataOf(event.name || String(number))}
          add={t.playback.addData}
          rows={event.data}
          onChange={(data) => onChange({ data })}
        />
      </Box>
    </Box>
  );
}
