import { expect } from 'chai';
import { parseRoles, workerRoles } from '../../../worker/roles.ts';

describe('the roles of a worker', () => {
  it('are all roles without an option', () => {
    expect([...parseRoles([])]).to.deep.equal([...workerRoles]);
  });

  it('are the named roles, with a space or an equals sign', () => {
    expect([...parseRoles(['--roles', 'mail,relay'])]).to.deep.equal(['mail', 'relay']);
    expect([...parseRoles(['--roles=workflows'])]).to.deep.equal(['workflows']);
  });

  it('lists the roles when one is unknown', () => {
    expect(() => parseRoles(['--roles', 'mail,post'])).to.throw(
      'There is no role "post". The roles are workflows, mail',
    );
  });

  it('rejects any other argument with the usage', () => {
    expect(() => parseRoles(['mail'])).to.throw('usage');
    expect(() => parseRoles(['--roles'])).to.throw('usage');
  });
});
