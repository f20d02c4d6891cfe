import { type Db, inTransaction } from '../../../db/connect.ts';
import type { Workflow } from '../../../db/models/workflow.ts';

import { notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { UNLIMITED } from '../../../platform/limits.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import type { Address } from '../../emails/send.ts';
import { createTemplate } from '../../templates/save.ts';
import { insertCase } from '../cases/cases.ts';
import { createWorkflow } from '../create.ts';
import { EMPTY_GRAPH, successorOf } from '../graph.ts';
import { saveVersion } from '../versions.ts';
import { recipes } from './index.ts';
import type { Recipe } from './recipe.ts';

/** Installs a recipe: its templates, the workflow, disabled, and its cases. All or nothing. */
export async function installRecipe(
  db: Db,
  project: ProjectAccess,
  id: string,
  /** Who sends its mails; without it the templates have no sender yet, and the workflow cannot be enabled. */
  { name, from }: { name?: string | undefined; from?: Address | undefined },
  limits = UNLIMITED,
): Promise<Workflow> {
  const recipe = recipes.find((candidate) => candidate.id === id);
  if (!recipe) throw notFound('recipe');
  const { projectId } = project;
  return inTransaction(db, async (trx) => {
    const { eventName, description, allowReentry } = recipe;
    const created = await createWorkflow(
      trx,
      project,
      { name: name ?? recipe.name, description, eventName, allowReentry },
      limits,
    );
    const templates = await createTemplates(trx, project, recipe, from, limits);
    const ids = new Map(Object.keys(recipe.steps).map((key) => [key, newId()]));
    const idOf = (key: string): string => ids.get(key) ?? '';
    const graph = successorOf(EMPTY_GRAPH, {
      steps: Object.entries(recipe.steps).map(
        ([
          key,
          {
            type,
            name: stepName,
            config,
            template,
            position: [x, y],
          },
        ]) => ({
          id: idOf(key),
          type,
          name: stepName,
          position: { x, y },
          templateId: null,
          config: { ...config, ...(template && { templateId: templates.get(template) }) },
        }),
      ),
      transitions: recipe.transitions.map(([from, to, branch = null]) => ({
        fromStepId: idOf(from),
        toStepId: idOf(to),
        branch,
      })),
    });
    const workflow = await saveVersion(trx, created, graph);
    for (const { expect, ...input } of recipe.cases) {
      const path = expect.map(([key, branch]) => ({ stepId: idOf(key), ...(branch !== undefined && { branch }) }));
      await insertCase(trx, { projectId, workflowId: created.id, eventName }, { ...input, expect: path });
    }
    return workflow;
  });
}

async function createTemplates(
  trx: Db,
  project: ProjectAccess,
  { templates }: Recipe,
  from: Address | undefined,
  limits: typeof UNLIMITED,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [key, template] of Object.entries(templates)) {
    const { id } = await createTemplate(trx, project, { ...template, ...(from !== undefined && { from }) }, limits);
    ids.set(key, id);
  }
  return ids;
}
