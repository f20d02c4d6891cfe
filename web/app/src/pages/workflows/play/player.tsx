import './play.css';
import { ActionIcon, Alert, Box, Grid, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import {
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerTrackNextFilled,
  IconPlayerTrackPrevFilled,
} from '@tabler/icons-react';
import { type KeyboardEvent, memo, type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';
import { dateTime } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import { Panel } from '../../../ui/page.tsx';
import type { GraphStep, GraphTransition } from '../canvas/graph.ts';
import { GraphView } from '../canvas/graph-view.tsx';
import { useSummaries } from '../canvas/names.ts';
import { branchName } from '../steps.ts';
import { elapsed } from './elapsed.ts';
import { type Moment, momentAt, pathTo, type Recording } from './recording.ts';
import { SentPanel } from './sent.tsx';
import { type Playback, SPEEDS, type Speed, usePlayback } from './use-playback.ts';
import { VisitDetails } from './visit-details.tsx';

interface PlayerProps {
  recording: Recording;
  graph: { steps: readonly GraphStep[]; transitions: readonly GraphTransition[] };
  /** What starts the workflow. */
  start: string;
  /** Begins to play at once, and takes the focus. */
  startsPlaying?: boolean;
  actions?: ReactNode;
}

/** Plays the way of one person on the graph: a clock, a token, each decision, and what goes out. */
export function Player({ recording, graph, start, startsPlaying = false, actions }: PlayerProps) {
  const { visits } = recording;
  const playback = usePlayback(visits.length, startsPlaying);
  const moment = momentAt(recording, playback.position);
  const { index } = moment;
  const path = useMemo(() => pathTo(recording, index, graph.transitions), [recording, index, graph.transitions]);
  const visit = visits[index];
  const summaries = useSummaries(graph.steps);
  const badges = useMemo(() => badgesOf(visit?.stepId), [visit?.stepId]);
  const { seek } = playback;
  const select = useCallback(
    (stepId: string | undefined) => {
      const before = visits.slice(0, index).findLastIndex((candidate) => candidate.stepId === stepId);
      const found = before >= 0 ? before : visits.findIndex((candidate) => candidate.stepId === stepId);
      if (found >= 0) seek(found);
    },
    [visits, index, seek],
  );
  return (
    <Panel title={t.playback.player} actions={actions}>
      {/* Keys work wherever the focus is inside; every one of them has a button too. */}
      <Stack gap="md" onKeyDown={(event) => onKey(event, playback, visits.length, select)}>
        <Controls recording={recording} playback={playback} moment={moment} takesFocus={startsPlaying} />
        {recording.truncated && <Alert color="yellow">{t.playback.truncated(recording.truncated)}</Alert>}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 7 }}>
            <Box className="player-graph">
              <Graph
                label={t.playback.graph}
                steps={graph.steps}
                transitions={graph.transitions}
                start={start}
                path={path}
                current={visit?.stepId}
                follow={visit?.stepId}
                summaries={summaries}
                badges={badges}
                onSelect={select}
              />
            </Box>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 5 }}>
            <Stack gap="lg">
              {visit && <Details visit={visit} />}
              {moment.hasEnded && <Ending recording={recording} />}
              <Outgoing visits={visits} index={index} />
              <Visits recording={recording} index={index} onSelect={seek} />
              <EventList recording={recording} clock={moment.clock} />
            </Stack>
          </Grid.Col>
        </Grid>
      </Stack>
    </Panel>
  );
}

// The clock runs with every frame; these change with every visit only.
const Graph = memo(GraphView);
const Visits = memo(VisitList);
const Details = memo(VisitDetails);
const Outgoing = memo(SentPanel);

const badgesOf = (stepId: string | undefined): ReadonlyMap<string, ReactNode> =>
  new Map(
    stepId === undefined
      ? []
      : [
          [
            stepId,
            <span key="token" className="token">
              <span className="token-dot" aria-hidden />
              {t.playback.here}
            </span>,
          ],
        ],
  );

/** Tenths of a visit, so that dragging moves the clock through a wait. */
const FINENESS = 10;

interface ControlsProps {
  recording: Recording;
  playback: Playback;
  moment: Moment;
  takesFocus: boolean;
}

function Controls({ recording, playback, moment, takesFocus }: ControlsProps) {
  const { position, isPlaying, speed, play, pause, seek, setSpeed } = playback;
  const count = recording.visits.length;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (takesFocus) button.current?.focus();
  }, [takesFocus]);
  const visit = recording.visits[moment.index];
  const where = t.playback.visitOf(moment.index + 1, count, visit?.name ?? '');
  return (
    <Stack gap="xs">
      <Group gap="md" align="center">
        <Group gap={6} wrap="nowrap">
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={t.playback.previous}
            title={t.playback.previous}
            onClick={() => seek(Math.ceil(position) - 1)}
          >
            <IconPlayerTrackPrevFilled size={16} />
          </ActionIcon>
          <ActionIcon
            ref={button}
            size="xl"
            aria-label={isPlaying ? t.playback.pause : t.playback.play}
            title={isPlaying ? t.playback.pause : t.playback.play}
            onClick={isPlaying ? pause : play}
          >
            {isPlaying ? <IconPlayerPauseFilled size={20} /> : <IconPlayerPlayFilled size={20} />}
          </ActionIcon>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={t.playback.next}
            title={t.playback.next}
            onClick={() => seek(Math.floor(position) + 1)}
          >
            <IconPlayerTrackNextFilled size={16} />
          </ActionIcon>
        </Group>
        <Box>
          <Text fw={600} className="player-clock">
            <time dateTime={moment.clock}>{dateTime(moment.clock)}</time>
          </Text>
          <Text size="sm" c="dimmed">
            {t.playback.sinceStart(elapsed(recording.startedAt, moment.clock))}
          </Text>
        </Box>
        <SegmentedControl
          ml="auto"
          aria-label={t.playback.speed}
          value={speed}
          onChange={(value) => setSpeed(value as Speed)}
          data={SPEEDS.map((value) => ({ value, label: `${value} ×` }))}
        />
      </Group>
      <input
        type="range"
        className="scrubber"
        min={0}
        max={count * FINENESS}
        value={Math.round(position * FINENESS)}
        aria-label={t.playback.scrub}
        aria-valuetext={moment.hasEnded ? t.playback.atEnd : where}
        onChange={(event) => seek(Number(event.currentTarget.value) / FINENESS)}
      />
      <Group justify="space-between" gap="xs">
        <Text size="sm" role="status" className="breakable">
          {where}
        </Text>
        <Text size="xs" c="dimmed">
          {t.playback.keys}
        </Text>
      </Group>
    </Stack>
  );
}

function onKey(
  event: KeyboardEvent<HTMLElement>,
  { position, isPlaying, play, pause, seek }: Playback,
  count: number,
  select: (stepId: string | undefined) => void,
): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const target = event.target as HTMLElement;
  const isScrubber = target.matches('.scrubber');
  if (target.matches('input, textarea, select') && !isScrubber) return;
  const keys: Record<string, () => void> = {
    ArrowLeft: () => seek(Math.ceil(position) - 1),
    ArrowRight: () => seek(Math.floor(position) + 1),
    Home: () => seek(0),
    End: () => seek(count),
  };
  // A button's own keys press it.
  if (!target.matches('button, a')) keys[' '] = isPlaying ? pause : play;
  const node = target.closest<HTMLElement>('.react-flow__node');
  if (node) keys.Enter = () => select(node.dataset.id);
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function Ending({ recording: { status, reason } }: { recording: Recording }) {
  const name = (t.playback.endings as Record<string, string>)[status] ?? status;
  return (
    <Alert color={status === 'FAILED' ? 'red' : status === 'WAITING' || status === 'STOPPED' ? 'yellow' : 'teal'}>
      <span className="breakable">{reason ? `${name}: ${reason}` : name}</span>
    </Alert>
  );
}

interface VisitListProps {
  recording: Recording;
  index: number;
  onSelect(position: number): void;
}

/** The steps taken so far. */
function VisitList({ recording: { visits }, index, onSelect }: VisitListProps) {
  return (
    <Box>
      <Text component="h3" fw={600} size="sm" mb={6}>
        {t.playback.soFar}
      </Text>
      <ol className="visit-list">
        {visits.slice(0, index + 1).map(({ visit, name, branch, enteredAt }, at) => (
          <li key={visit}>
            <button type="button" aria-current={at === index ? 'step' : undefined} onClick={() => onSelect(at)}>
              <span className="breakable">
                {visit}. {name}
                {branch && ` → ${branchName(branch)}`}
              </span>
              <span className="visit-time">{dateTime(enteredAt)}</span>
            </button>
          </li>
        ))}
      </ol>
    </Box>
  );
}

function EventList({ recording: { events, startedAt }, clock }: { recording: Recording; clock: string }) {
  if (events.length === 0) return null;
  return (
    <Box>
      <Text component="h3" fw={600} size="sm" mb={6}>
        {t.playback.events}
      </Text>
      <ul className="event-list">
        {events.map(({ at, name }, index) => (
          // Events have no identity but their place.
          <li key={index} data-happened={at <= clock || undefined}>
            <span className="breakable">{name}</span>
            <span className="visit-time">
              {at <= clock ? t.playback.happened : t.playback.notYet} · {elapsed(startedAt, at)}
            </span>
          </li>
        ))}
      </ul>
    </Box>
  );
}
