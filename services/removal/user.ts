import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership } from '../../db/models/membership.ts';
import { User } from '../../db/models/user.ts';
import { lockMembers, refuseLastOwner } from '../members/rules.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { deleteContacts } from './contact.ts';

/** Deletes the account and everything about its address. A project never loses its last OWNER. */
export async function deleteUser(db: Db, user: User): Promise<void> {
  await inTransaction(db, async (trx) => {
    const memberships = await Membership.query(trx).where({ userId: user.id }).orderBy('projectId');
    for (const { projectId, userId } of memberships) {
      await lockMembers(trx, projectId);
      const membership = await Membership.query(trx).findById([projectId, userId]);
      if (membership) await refuseLastOwner(trx, membership);
    }
    await User.query(trx).deleteById(user.id);
    const contacts = await trx('contacts').where({ projectId: SYSTEM_PROJECT_ID, email: user.email }).select('id');
    await deleteContacts(
      trx,
      SYSTEM_PROJECT_ID,
      contacts.map(({ id }) => id),
    );
    await trx('accountRequests').where({ email: user.email }).del();
  });
}
