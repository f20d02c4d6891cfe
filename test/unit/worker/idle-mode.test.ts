import { expect } from 'chai';
import { IdleMode } from '../../../worker/idle-mode.ts';
import { eventually } from '../../support/waiting.ts';

describe('idle mode', () => {
  it('begins when nothing happens for a while', async () => {
    expect(new IdleMode(3_600_000).isOn()).to.equal(false);
    const mode = new IdleMode(30);
    await eventually(mode.isOn, { what: 'idle mode' });
  });

  it('ends when something happens, which is announced once', async () => {
    const mode = new IdleMode(200);
    let ends = 0;
    mode.onEnd(() => ends++);
    mode.end();
    expect(ends, 'it was not on').to.equal(0);
    await eventually(mode.isOn, { what: 'idle mode' });
    mode.end();
    expect(ends).to.equal(1);
    await eventually(mode.isOn, { what: 'idle mode again' });
  });
});
