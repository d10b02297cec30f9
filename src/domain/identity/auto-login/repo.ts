import type { Db } from '../../../core/db/db.ts';
import type { UserStatus } from '../types.ts';

export interface Credentials {
  status: UserStatus;
  passwordHash: string | null;
}

export async function findCredentials(db: Db, userId: number): Promise<Credentials | null> {
  const [row] = await db.sql<{ status: UserStatus; passwordHash: string | null }>(
    'SELECT status, password_hash FROM users WHERE id = $1::int',
    [userId],
  );
  return row ? { status: row.status, passwordHash: row.passwordHash } : null;
}
