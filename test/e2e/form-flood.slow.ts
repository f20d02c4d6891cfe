// 10,000 posts over five projects. Their tokens ask for little work, so that the flood is limited by the API alone;
// `form-flood.ci.ts` is the short form, with the work that the API asks for.
import { createChallenge } from '../../services/forms/challenges.ts';
import { checkFlood } from '../support/flooded-forms.ts';
import { testLinkSettings } from '../support/links.ts';

/** What is younger counts as a machine's. */
const OLD_ENOUGH_MS = 3_000;

describe('10,000 scripted posts to 1,000 addresses over five projects', function () {
  this.timeout(7_200_000);

  it('cost no address more than three emails, and Temporal nothing', async () => {
    const challengeOf = (formId: string) =>
      createChallenge(testLinkSettings.secretKeys, formId, 1, Date.now() - OLD_ENOUGH_MS);
    console.log(JSON.stringify(await checkFlood({ addresses: 1_000, times: 2, bare: 500, challengeOf })));
  });
});
