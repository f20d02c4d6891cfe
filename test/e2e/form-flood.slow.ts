// 10,000 posts with a proof of work each: about ten minutes on two cores. `form-flood.ci.ts` is the short form.
import { checkFlood } from '../support/flooded-forms.ts';

describe('10,000 scripted posts to 1,000 addresses over five projects', function () {
  this.timeout(3_600_000);

  it('cost no address more than three emails, and Temporal nothing', async () => {
    console.log(JSON.stringify(await checkFlood({ addresses: 1_000, times: 2, bare: 500 })));
  });
});
