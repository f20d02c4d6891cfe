import { type Db, inTransaction } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import { Membership } from '../../db/models/membership.ts';
import { AccountRequest, User } from '../../db/models/user.ts';
import { statement } from '../../db/statement.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { lockMembers, refuseLastOwner } from '../members/rules.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { deleteContacts } from './contact.ts';

const removeRateWindow = statement(
  'session-rate-window-remove',
  'delete from session_rate_windows where project_id = $1',
);

/** Deletes the account and everything about its address. A project never loses its last OWNER. */
export async function deleteUser(db: Db, user: User, actor?: Actor): Promise<void> {
  await inTransaction(db, async (trx) => {
    const memberships = await Membership.query(trx).where({ userId: user.id }).orderBy('projectId');
    for (const { projectId, userId } of memberships) {
      await lockMembers(trx, projectId);
      const membership = await Membership.query(trx).findById([projectId, userId]);
      if (!membership) continue;
      await refuseLastOwner(trx, membership);
      const target = { type: 'user', id: userId };
      await recordAudit(trx, { projectId, actor }, { action: 'member.removed', target });
    }
    await recordAudit(
      trx,
      { userId: user.id, actor },
      { action: 'user.deleted', target: { type: 'user', id: user.id } },
    );
    await User.query(trx).deleteById(user.id);
    const contacts = await Contact.query(trx).where({ projectId: SYSTEM_PROJECT_ID, email: user.email }).select('id');
    await deleteContacts(
      trx,
      SYSTEM_PROJECT_ID,
      contacts.map(({ id }) => id),
    );
    // The bucket of calls that were about no project has the user's id in place of a project's.
    await removeRateWindow(trx, [user.id]);
    await AccountRequest.query(trx).where({ email: user.email }).delete();
  });
}
