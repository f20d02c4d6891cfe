import { setupState } from '../../services/projects/setup-state.ts';
import { securityState } from '../../services/security/state.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { flag, namedType, uuid } from '../http/schemas.ts';
import { presentSecurity, securitySchema } from '../presenters/security.ts';

const params = { id: uuid().description('Project ID.') };

const securityRoute = (path: string) =>
  route({
    method: 'GET',
    path,
    summary: 'Get bounce and complaint rates and suspensions of a project',
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
    summary: 'Get the setup state of a project',
    access: 'member',
    params,
    answers: {
      200: answer(
        'The setup state.',
        namedType('SetupState', 'Which setup steps of a project are completed.', {
          emailVerified: flag().description('Whether you have verified your email address.'),
          domainAdded: flag().description('Whether the project has a domain.'),
          domainVerified: flag().description('Whether the project has a verified domain.'),
          contactCreated: flag().description('Whether the project has a contact.'),
          templateCreated: flag().description('Whether the project has a template.'),
          eventTracked: flag().description('Whether an event was tracked.'),
          emailSent: flag().description('Whether an email was sent.'),
          campaignSent: flag().description('Whether a campaign was sent or is being sent.'),
          workflowEnabled: flag().description('Whether a workflow is enabled.'),
          memberInvited: flag().description('Whether the project has more than one member, including invited ones.'),
          billingEnabled: flag().description('Whether billing is enabled on this installation.'),
          ready: flag().description('Whether the project can send email: same as `domainVerified`.'),
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
