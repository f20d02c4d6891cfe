import { expect } from 'chai';
import { MailLoad } from '../../../worker/mail-load.ts';

describe('the load of mail', () => {
  it('is high from 200 mails in a second on, until a second passes with fewer', () => {
    let now = 0;
    const load = new MailLoad(() => now);
    for (let n = 0; n < 199; n++) load.count();
    expect(load.isHigh()).to.equal(false);
    load.count();
    expect(load.isHigh()).to.equal(true);
    now = 1_500;
    expect(load.isHigh()).to.equal(true);
    now = 2_000;
    expect(load.isHigh()).to.equal(false);
    for (let n = 0; n < 300; n++) load.count();
    now = 10_000;
    expect(load.isHigh()).to.equal(false);
  });
});
