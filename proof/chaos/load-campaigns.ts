import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedAnswer } from '../client.ts';
import type { SteeredCampaign } from '../recorder.ts';
import type { LoadContext } from './load-context.ts';
import { CHOOSERS } from './setup.ts';

/** Creates and sends a campaign; pauses, resumes or cancels some. */
export const steerCampaign = (context: LoadContext): Promise<void> =>
  steer(context, context.random.pick(context.setup.groups));

/** A campaign of a topic, to contacts who leave it and come back meanwhile. */
export const steerTopicCampaign = (context: LoadContext): Promise<void> =>
  steer(context, CHOOSERS, context.setup.topics.news);

async function steer({ client, stack, recorder, random }: LoadContext, group: string, topicId?: string): Promise<void> {
  const course = random.weighted({ straight: 4, pause: 3, cancel: 2, 'pause, cancel': 1 });
  const waits = [random.between(50, 1_500), random.between(200, 3_000)] as const;
  const created = await client.call('POST', '/campaigns', {
    name: `To ${group}`,
    subject: 'News for {{ name }}',
    body: '<p>Hello {{ name }}</p>',
    from: `news@${stack.project.senderDomain}`,
    ...(topicId && { topicId }),
    audienceType: 'FILTERED',
    audienceCondition: {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.group', operator: 'equals', value: group }] }],
    },
  });
  recorder.count(topicId ? 'topic campaign' : 'campaign', created.outcome);
  const id = created.body?.data?.id;
  if (created.outcome !== 'accepted' || !id) return;
  const campaign: SteeredCampaign = { id, group, ...(topicId && { topicId }), actions: [] };
  recorder.campaigns.push(campaign);
  const act = async (name: SteeredCampaign['actions'][number]['name']): Promise<RecordedAnswer> => {
    const reply = await client.insist('POST', `/campaigns/${id}/${name}`);
    campaign.actions.push({ name, reply });
    recorder.count(`campaign: ${name}`, reply.outcome);
    return reply;
  };
  await act('send');
  await sleep(waits[0]);
  if (course.startsWith('pause')) {
    await act('pause');
    await sleep(waits[1]);
    if (course === 'pause') await act('resume');
  }
  if (course.endsWith('cancel')) await act('cancel');
}
