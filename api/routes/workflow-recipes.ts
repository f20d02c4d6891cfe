import { recipes } from '../../services/workflows/recipes/index.ts';
import { installRecipe } from '../../services/workflows/recipes/install.ts';
import { asAddress, senderAddress } from '../http/addresses.ts';
import { answer, created, failure, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, namedType, optional, request, text, wholeNumber } from '../http/schemas.ts';
import { presentWorkflow, workflowSchema } from '../presenters/workflow.ts';

export const workflowRecipes = routes('Workflows', [
  route({
    method: 'GET',
    path: '/workflows/recipes',
    summary: 'List recipes: ready-made workflows that you can install',
    access: 'secretKey',
    scope: 'workflows:read',
    answers: {
      200: answer(
        'The recipes.',
        namedType('WorkflowRecipeCatalog', 'The available recipes.', {
          recipes: list(
            namedType('WorkflowRecipe', 'A ready-made workflow with its templates and cases.', {
              id: text().description('Recipe ID.').example('welcome-series'),
              name: text().description('Name.').example('Welcome series'),
              description: text().description('What the workflow does.'),
              eventName: text().description('Name of the event that starts the workflow.'),
              stepCount: wholeNumber({ min: 0 }).description('Number of steps.'),
              templateCount: wholeNumber({ min: 0 }).description('Number of templates.'),
              caseCount: wholeNumber({ min: 0 }).description('Number of cases.'),
            }),
          ).description('Recipes.'),
        }),
      ),
    },
    handle: async () =>
      ok({
        recipes: recipes.map(({ id, name, description, eventName, steps, templates, cases }) => ({
          id,
          name,
          description,
          eventName,
          stepCount: Object.keys(steps).length,
          templateCount: Object.keys(templates).length,
          caseCount: cases.length,
        })),
      }),
  }),
  route({
    method: 'POST',
    path: '/workflows/recipes',
    summary: 'Install a recipe: its templates, a disabled workflow and its cases',
    access: 'secretKey',
    scope: 'workflows:write',
    body: request('InstallWorkflowRecipeRequest', 'The recipe to install.', {
      recipe: text({ max: 100 }).description('Recipe ID.').example('welcome-series'),
      name: optional(text({ max: 255 })).description('Name of the workflow; the name of the recipe by default.'),
      from: optional(senderAddress()).description(
        'Sender of the templates, on a verified domain. Without it, set a sender before you enable the workflow.',
      ),
    }),
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
