import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

const RECIPIENT = columns('User', ['id', 'status', 'messengerId', 'email', 'emailVerified', 'language']);
export type RecipientRow = RowOf<typeof RECIPIENT>;

/** The active user with this panel user, else with this messenger id, else with this verified e-mail in lower case; null = is not looked for. */
export async function findRecipient(
  db: Db,
  { panelUuid, messengerId, email }: { panelUuid: string | null; messengerId: number | null; email: string | null },
): Promise<RecipientRow | null> {
  const [row] = await db.sql<RecipientRow>(
    `WITH found AS (
         SELECT id, 1 AS place FROM users WHERE vpnpanel_uuid = $1::uuid
         UNION ALL SELECT id, 2 FROM users WHERE messenger_id = $2::bigint
         UNION ALL SELECT id, 3 FROM users WHERE email = $3::text AND email_verified)
     SELECT ${RECIPIENT.of('u')} FROM found JOIN users u ON u.id = found.id WHERE u.status = 'active' ORDER BY found.place LIMIT 1`,
    [panelUuid, messengerId, email],
  );
  return row ?? null;
}
