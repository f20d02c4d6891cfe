import { expect } from 'chai';
import { parseRoles, roles } from '../../../worker/roles.ts';

describe('the roles of a worker', () => {
  it('are all of them when nothing is said', () => {
    expect([...parseRoles([])]).to.deep.equal([...roles]);
  });

  it('are those that are named, in either spelling', () => {
    expect([...parseRoles(['--roles', 'mail,relay'])]).to.deep.equal(['mail', 'relay']);
    expect([...parseRoles(['--roles=workflows'])]).to.deep.equal(['workflows']);
  });

  it('are told when one is unknown', () => {
    expect(() => parseRoles(['--roles', 'mail,post'])).to.throw(
      'There is no role "post". The roles are workflows, mail',
    );
  });

  it('are not guessed from anything else', () => {
    expect(() => parseRoles(['mail'])).to.throw('usage');
    expect(() => parseRoles(['--roles'])).to.throw('usage');
  });
});
