/** Records the SQL of the service's queries, so that the baseline runs the same statements without a copy. */
import type { Db } from '../../../../src/core/db/db.ts';
import { findById, findPasswordUser } from '../../../../src/domain/identity/repo.ts';
import { insertSession } from '../../../../src/domain/identity/sessions/sessions.ts';
import { countByDay, listRows } from '../../../../src/domain/ledger/transactions.ts';
import { findViewByEitherId } from '../../../../src/domain/users/account/view-repo.ts';
import { countUsers, listNewest } from '../../../../src/domain/users/list/repo.ts';
import { countByStatus, listInOrder } from '../../../../src/domain/users/list/sorted-repo.ts';

/** @throws Error when `query` sends anything but one statement */
async function textOf(query: (db: Db) => Promise<unknown>): Promise<string> {
  const texts: string[] = [];
  const sql = async (text: string) => {
    texts.push(text);
    return [];
  };
  // The queries read rows that a recorder does not have; only their text matters here.
  await query({ sql } as unknown as Db).catch(() => undefined);
  if (texts.length !== 1) throw new Error(`one statement expected, ${texts.length} seen`);
  return texts[0]!;
}

export interface RecordedSql {
  /** `$1` messenger id, `$2` internal id. */
  userByEitherId: string;
  /** `$1` id. */
  userById: string;
  countUsers: string;
  /** The first 50. */
  newestUsers: string;
  /** The first 50. */
  newestTransactions: string;
  countTransactions: string;
  /** `$1` e-mail. */
  passwordUser: string;
  /**
   * `$1` user, `$2` hash of the refresh token, `$3` family, `$4` device, `$5` end, `$6` now, `$7` hash of the password, `$8` when it was proved,
   * `$9` whether by a second factor, `$10` whether sessions may have been ended meanwhile, `$11` when they were ended.
   */
  insertSession: string;
  /** `$1` status or null. */
  countByStatus: string;
  /** The first 50. */
  usersForAdmin: string;
}

export async function recordSql(): Promise<RecordedSql> {
  const now = new Date(0);
  const everyone = { status: null, promoGroupId: null };
  return {
    userByEitherId: await textOf((db) => findViewByEitherId(db, 1, 1, now)),
    userById: await textOf((db) => findById(db, 1)),
    countUsers: await textOf((db) => countUsers(db, everyone)),
    newestUsers: await textOf((db) => listNewest(db, everyone, { limit: 50, offset: 0 }, 1_000_000, now)),
    newestTransactions: await textOf((db) => listRows(db, {}, 50, 0)),
    countTransactions: await textOf((db) => countByDay(db, {}, { from: null, to: null })),
    passwordUser: await textOf((db) => findPasswordUser(db, 'a@b.org')),
    insertSession: await textOf((db) =>
      insertSession(db, {
        userId: 1,
        tokenHash: '',
        familyId: '',
        deviceInfo: null,
        provedAt: null,
        hasSecondFactor: false,
        expiresAt: now,
        now,
      }),
    ),
    countByStatus: await textOf((db) => countByStatus(db, null)),
    usersForAdmin: await textOf((db) => listInOrder(db, 'created_at', null, { limit: 50, offset: 0 }, 1_000_000, now)),
  };
}
