import { recipes } from '../../services/workflows/recipes/index.ts';
import { installRecipe } from '../../services/workflows/recipes/install.ts';
import { asAddress, senderAddress } from '../http/addresses.ts';
import { answer, created, failure, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, object, optional, text, wholeNumber } from '../http/schemas.ts';
import { presentWorkflow, workflowSchema } from '../presenters/workflow.ts';

export const workflowRecipes = routes('Workflows', [
  route({
    method: 'GET',
    path: '/workflows/recipes',
    summary: 'List ready workflows that can be installed',
    access: 'secretKey',
    scope: 'workflows:read',
    answers: {
      200: answer(
        'The recipes.',
        object({
          recipes: list(
            object({
              ...{ id: text(), name: text(), description: text(), eventName: text() },
              ...{ stepCount: wholeNumber({ min: 0 }), templateCount: wholeNumber({ min: 0 }) },
              caseCount: wholeNumber({ min: 0 }),
            }),
          ),
        }),
      ),
    },
    handle: async () =>
      ok({
        recipes: recipes.map(({ id, name, description, eventName, steps, templates, cases }) => ({
          ...{ id, name, description, eventName, stepCount: Object.keys(steps).length },
          ...{ templateCount: Object.keys(templates).length, caseCount: cases.length },
        })),
      }),
  }),
  route({
    method: 'POST',
    path: '/workflows/recipes',
    summary: 'Install a recipe: templates, a disabled workflow and its cases',
    access: 'secretKey',
    scope: 'workflows:write',
    body: { recipe: text({ max: 100 }), name: optional(text({ max: 255 })), from: optional(senderAddress()) },
    answers: {
      201: answer('The workflow.', workflowSchema),
      403: failure('The domain of `from` is not verified.', 'INTERNAL_SERVER_ERROR'),
      404: missing('recipe'),
      409: failure('The project has the maximum number of workflows or templates.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body: { recipe, name, from } }) => {
      const options = { name, from: from === undefined ? undefined : asAddress(from) };
      return created(presentWorkflow(await installRecipe(db, project, recipe, options, settings.limits)));
    },
  }),
]);
