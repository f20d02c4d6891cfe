import { Alert, Button, Grid, Group, Stack, Text } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { unwrap } from '../../../api/client.ts';
import { useAction, useApi, useRights } from '../../../api/hooks.ts';
import { messageOf } from '../../../api/problem.ts';
import type { Simulation, WorkflowDetail } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { Choice } from '../../../ui/controls.tsx';
import { DateTimeField } from '../../../ui/date-time-field.tsx';
import { BackLink } from '../../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../../ui/page.tsx';
import { triggerText } from '../trigger.ts';
import { EventLine } from './event-line.tsx';
import { FieldRows, PersonForm } from './person-form.tsx';
import { Player } from './player.tsx';
import { type Recording, simulated } from './recording.ts';
import { SaveCase } from './save-case.tsx';
import { inputOf, newScenario, type PlayedGraph, type PlayedInput, type Scenario, timesOf } from './scenario.ts';

interface Played {
  /** A new one for every press of the button. */
  number: number;
  input: PlayedInput;
  simulation: Simulation;
  recording: Recording;
  graph: PlayedGraph;
}

/** Plays a workflow for one person, before it is live or at any time after. Nothing is sent or stored. */
export function PlayPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/workflows/$id/play' });
  const workflow = useQuery({
    queryKey: key('workflow', id),
    queryFn: () => unwrap(client.GET('/workflows/{id}', { params: { path: { id } } })),
  });
  const draft = useQuery({
    queryKey: key('workflow-draft', id, 'play'),
    queryFn: () => unwrap(client.GET('/workflows/{id}/draft', { params: { path: { id } } })),
    gcTime: 0,
  });
  const back = (
    <BackLink to="/p/$projectId/workflows/$id" params={{ projectId, id }}>
      {workflow.data?.name ?? t.workflows.workflow}
    </BackLink>
  );
  if (!workflow.data || !draft.data)
    return (
      <Page title={t.playback.title} back={back}>
        <Loaded query={workflow.data ? draft : workflow}>{() => null}</Loaded>
      </Page>
    );
  return (
    <Page title={t.playback.titleOf(workflow.data.name)} back={back} description={t.playback.description}>
      <Setup workflow={workflow.data} draft={draft.data.changed ? graphOf(draft.data.graph) : undefined} />
    </Page>
  );
}

const graphOf = ({ steps, transitions }: PlayedGraph): PlayedGraph => ({
  steps: steps.map(({ id, type, name, config, templateId }) => ({ id, type, name, config, templateId })),
  transitions: transitions.map(({ fromStepId, toStepId, branch }) => ({ fromStepId, toStepId, branch })),
});

function Setup({ workflow, draft }: { workflow: WorkflowDetail; draft: PlayedGraph | undefined }) {
  const { client } = useApi();
  const { id } = workflow;
  const search = useSearch({ from: '/signed-in/p/$projectId/workflows/$id/play' });
  const navigate = useNavigate({ from: '/p/$projectId/workflows/$id/play' });
  const [scenario, setScenario] = useState(() => newScenario(search.contactId));
  const [played, setPlayed] = useState<Played>();
  const isDraft = draft !== undefined && search.version !== 'published';
  const change = (next: Partial<Scenario>) => {
    setScenario((before) => ({ ...before, ...next }));
    if ('contactId' in next || 'person' in next) {
      const { person, contactId } = { ...scenario, ...next };
      const chosen = person === 'stored' ? (contactId ?? undefined) : undefined;
      void navigate({ search: { ...search, contactId: chosen }, replace: true });
    }
  };
  const play = useAction({
    run: async () => {
      const input = inputOf(scenario);
      // Without a graph the API takes the published one.
      const body = { ...input, ...(isDraft && { graph: draft }) };
      const simulation = await unwrap(client.POST('/workflows/{id}/simulate', { params: { path: { id } }, body }));
      const graph = isDraft ? draft : graphOf(workflow);
      return { input, simulation, graph, recording: simulated(simulation, timesOf(input)) };
    },
    onDone: (result) => setPlayed((before) => ({ ...result, number: (before?.number ?? 0) + 1 })),
    quiet: true,
  });
  const isReady = scenario.person === 'invented' || scenario.contactId !== null;
  return (
    <Stack gap="lg">
      {played && <PlayedPanel key={played.number} workflow={workflow} played={played} />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          play.mutate();
        }}
      >
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Panel title={t.playback.person}>
              <PersonForm scenario={scenario} onChange={change} />
            </Panel>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 7 }}>
            <Panel title={t.playback.timeline}>
              <Stack gap="md">
                <Group gap="md" align="flex-end">
                  {draft && (
                    <Choice<'draft' | 'published'>
                      label={t.playback.version}
                      visibleLabel
                      value={isDraft ? 'draft' : 'published'}
                      onChange={(version) =>
                        void navigate({
                          search: { ...search, version: version === 'draft' ? undefined : version },
                          replace: true,
                        })
                      }
                      data={[
                        { value: 'draft', label: t.playback.draft },
                        { value: 'published', label: t.playback.published },
                      ]}
                    />
                  )}
                  <DateTimeField
                    label={t.playback.startAt}
                    required
                    value={scenario.startAt}
                    onChange={(startAt) => change({ startAt })}
                  />
                </Group>
                <FieldRows
                  label={t.playback.context}
                  add={t.playback.addData}
                  rows={scenario.context}
                  onChange={(context) => change({ context })}
                />
                <Text component="h3" size="sm" fw={600}>
                  {t.playback.events}
                </Text>
                <EventLine events={scenario.events} onChange={(events) => change({ events })} />
              </Stack>
            </Panel>
          </Grid.Col>
        </Grid>
        <Stack gap="sm" mt="lg" align="flex-start">
          {play.error && <Alert color="red">{messageOf(play.error)}</Alert>}
          <Button
            type="submit"
            size="md"
            leftSection={<IconPlayerPlay size={18} />}
            loading={play.isPending}
            disabled={!isReady}
          >
            {played ? t.playback.startAgain : t.playback.startPlaying}
          </Button>
        </Stack>
      </form>
    </Stack>
  );
}

function PlayedPanel({ workflow, played }: { workflow: WorkflowDetail; played: Played }) {
  const { write } = useRights();
  const { input, simulation, recording, graph } = played;
  const top = useScrolledTo();
  if (recording.visits.length === 0) return <Alert color="yellow">{t.playback.nothingHappens}</Alert>;
  return (
    <div ref={top} className="player-top">
      <Player
        recording={recording}
        graph={graph}
        start={triggerText(workflow)}
        startsPlaying
        actions={write && <SaveCase workflowId={workflow.id} input={input} simulation={simulation} graph={graph} />}
      />
    </div>
  );
}

/** Brings an element into view when it appears. */
function useScrolledTo(): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    element.current?.scrollIntoView({ block: 'start' });
  }, []);
  return element;
}
