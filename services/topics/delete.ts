import type { Db } from '../../db/connect.ts';
import { removeCounters } from '../../db/models/counters.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { recordAudit } from '../audit/record.ts';
import { scheduleReconcileOf } from '../segments/tracking.ts';
import { topicSubject } from './counts.ts';
import { conditionNamesOf, lockTopic } from './find.ts';

// Steps of the newest version of a workflow, of the one that contacts enter, and of those of active executions.
const findUse = statement<{ what: string; name: string }>(
  'topic-use',
  `select what, name from (
     select 'template' as what, name from templates where project_id = $1 and topic_id = $2
     union all
     select 'campaign', name from campaigns where project_id = $1 and topic_id = $2 and deleted_at is null
       and status in ('DRAFT', 'SCHEDULED', 'SENDING')
     union all
     select 'form', name from forms where project_id = $1 and topic_ids @> array[$2::uuid] and deleted_at is null
     union all
     select 'workflow', w.name from workflow_versions v join workflows w on w.id = v.workflow_id
     where w.project_id = $1 and v.graph::text like '%' || $2::uuid || '%' and exists (
         select from jsonb_array_elements(v.graph -> 'steps') as step
         where step -> 'config' ->> 'topicId' = $2::uuid::text)
       and (v.version = w.version or (w.enabled and v.version = w.valid_version) or exists (
         select 1 from executions e where e.workflow_id = v.workflow_id and e.version = v.version
           and e.status in ('RUNNING', 'WAITING')))
   ) used order by what, name limit 1`,
);

const removeChoices = statement(
  'topic-remove-choices',
  'delete from contact_topics where project_id = $1 and topic_id = $2',
);
const remove = statement('topic-remove', 'delete from topics where project_id = $1 and id = $2');

/** Deletes a topic with its choices; consent records stay. */
export async function deleteTopic(db: Db, project: ProjectAccess, id: string): Promise<void> {
  const { projectId } = project;
  await writing(db, project, async (trx) => {
    const topic = await lockTopic(trx, projectId, id);
    const [use] = await findUse(trx, [projectId, id]);
    if (use)
      throw new ApiError(409, 'CONFLICT', `The ${use.what} "${use.name}" uses this topic.`, {
        suggestion: 'Remove the topic from it first, or archive the topic.',
      });
    await removeChoices(trx, [projectId, id]);
    await remove(trx, [projectId, id]);
    await scheduleReconcileOf(trx, projectId, conditionNamesOf(topic));
    await removeCounters(trx, projectId, topicSubject(id));
    await recordAudit(trx, project, {
      action: 'topic.deleted',
      target: { type: 'topic', id },
      changes: { name: { from: topic.name, to: null } },
    });
  });
}
