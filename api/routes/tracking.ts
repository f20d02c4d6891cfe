import { classifyRequest } from '../../services/emails/machines.ts';
import { readClickToken, readOpenToken } from '../../services/emails/tracked-links.ts';
import { Tracking, webAddress } from '../../services/emails/tracking.ts';
import { type Answer, page } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type HandlerContext, type RouteGroup, route, routes } from '../http/route.ts';
import { text } from '../http/schemas.ts';
import { presentBadLink } from '../presenters/subscription-page.ts';

/** A transparent pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const UNSTORED = { 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' };
const pixel = (status: number): Answer => ({
  status,
  body: PIXEL,
  headers: { ...UNSTORED, 'Content-Type': 'image/gif' },
});

/** HEAD requests do not count as opens or clicks. Prefetches do, as those of machines. */
const isCounted = ({ method }: HandlerContext['request']): boolean => method === 'GET';

/** Open and click tracking. The recipient gets the response whether it can be counted or not. */
export function tracking({ db, log }: Pick<AppParts, 'db' | 'log'>): RouteGroup {
  const counter = new Tracking(db, log);
  return routes('Pages', [
    route({
      method: 'GET',
      path: '/t/o/:token',
      summary: 'Get the open tracking pixel',
      access: 'public',
      worksWithoutDatabase: true,
      params: { token: text().description('Signed token of the email.') },
      answers: {
        200: { description: 'A transparent pixel.', contentType: 'image/gif' },
        404: { description: 'The same pixel; the token is invalid.', contentType: 'image/gif' },
      },
      handle: async ({ settings, params, request }) => {
        const id = readOpenToken(settings.secretKeys, params.token);
        if (id === undefined) return pixel(404);
        if (isCounted(request)) {
          await counter.count({ mail: { id }, kind: 'open', agent: classifyRequest(request.headers) });
        }
        return pixel(200);
      },
    }),
    route({
      method: 'GET',
      path: '/t/c/:token',
      summary: 'Redirect a tracked link to its target',
      access: 'public',
      worksWithoutDatabase: true,
      params: { token: text().description('Signed token of the link, which contains its target.') },
      answers: { 302: { description: 'Redirect to the target of the link.' }, 404: page('The token is invalid.') },
      handle: async ({ settings, params, request }) => {
        const click = readClickToken(settings.secretKeys, params.token);
        const location = click && webAddress(click.target);
        if (!click || !location) return presentBadLink(request.headers['accept-language']);
        if (isCounted(request)) {
          const agent = classifyRequest(request.headers);
          await counter.count({
            mail: { id: click.emailId },
            kind: 'click',
            link: click.target,
            linkIndex: click.index,
            agent,
          });
        }
        return { status: 302, headers: { ...UNSTORED, Location: location } };
      },
    }),
  ]);
}
