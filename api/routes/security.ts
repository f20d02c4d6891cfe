import { setupState } from '../../services/projects/setup-state.ts';
import { securityState } from '../../services/security/state.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { flag, object, uuid } from '../http/schemas.ts';
import { presentSecurity, securitySchema } from '../presenters/security.ts';

const params = { id: uuid() };

const securityRoute = (path: string) =>
  route({
    method: 'GET',
    path,
    summary: 'Get bounce and complaint rates, and suspensions of the project',
    access: 'member',
    params,
    answers: { 200: answer('The rates and their levels.', securitySchema), 404: missing('project') },
    handle: async ({ db, params }) => ok(presentSecurity(await securityState(db, params.id))),
  });

export const security = routes('Projects', [
  securityRoute('/users/@me/projects/:id/security'),
  securityRoute('/projects/:id/security'),
  route({
    method: 'GET',
    path: '/projects/:id/setup-state',
    summary: 'Get the setup state of a project, and the enabled features',
    access: 'member',
    params,
    answers: {
      200: answer(
        'What has been done so far.',
        object({
          emailVerified: flag(),
          domainAdded: flag(),
          domainVerified: flag(),
          contactCreated: flag(),
          templateCreated: flag(),
          eventTracked: flag(),
          emailSent: flag(),
          campaignSent: flag(),
          workflowEnabled: flag(),
          memberInvited: flag(),
          billingEnabled: flag(),
          /** Whether the project can send mail. */
          ready: flag(),
        }),
      ),
      404: missing('project'),
    },
    handle: async ({ db, settings, user, params }) => {
      const state = await setupState(db, params.id);
      const { emailVerified } = user;
      const billingEnabled = settings.stripe !== undefined;
      return ok({ emailVerified, ...state, billingEnabled, ready: state.domainVerified });
    },
  }),
]);
