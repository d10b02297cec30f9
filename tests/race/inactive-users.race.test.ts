import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { addDays } from '../../src/core/clock.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { changeUserBalance } from '../../src/domain/users/account/change-balance.ts';
import { deleteInactiveUsers } from '../../src/domain/users/removal.ts';
import { setUser } from '../support/admin-setup.ts';
import { anAdmin } from '../support/admins.ts';
import { aUser } from '../support/builders.ts';
import { testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

describe.runIf(serverUrl)('the inactivity job and concurrent changes', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 12 });
  });
  afterAll(() => database.drop());

  async function night() {
    const t = await testApp({ database });
    const timestamp = t.clock.now();
    timestamp.setUTCHours(3, 5);
    t.clock.set(timestamp);
    const silent = async () => {
      const user = await aUser(t.app);
      await setUser(t.app, user, { last_activity: addDays(timestamp, -100) });
      return user;
    };
    return { ...t, silent };
  }

  it('spec 01 H22: a user with a payment during the job is not deleted, and the job does not wait', async () => {
    const { app, silent } = await night();
    const admin = await anAdmin(app, 900);
    const [lucky, other] = [await silent(), await silent()];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isOpen = () => {};
    const opened = new Promise<void>((resolve) => {
      isOpen = resolve;
    });
    const deposit = inTransaction(app, async (t) => {
      await t.db.sql('SELECT id FROM users WHERE id = $1::int FOR UPDATE', [lucky.id]);
      isOpen();
      await released;
    });
    await opened;
    expect(await deleteInactiveUsers(app)).toBe(1);
    release();
    await deposit;
    await changeUserBalance(app, admin, { userId: lucky.id, amountKopeks: 100, description: 'x', isShown: true }, null);
    expect(await deleteInactiveUsers(app)).toBe(0);
    const rows = await app.db.sql('SELECT id, status FROM users WHERE id = ANY($1::int[]) ORDER BY id', [[lucky.id, other.id]]);
    expect(rows).toEqual([
      { id: lucky.id, status: 'active' },
      { id: other.id, status: 'deleted' },
    ]);
  });

  it('spec 01 H22: a user with a payment between the query and the lock is not deleted', async () => {
    const { app, silent } = await night();
    const admin = await anAdmin(app, 900);
    const [lucky, other] = [await silent(), await silent()];
    const deposit = { userId: lucky.id, amountKopeks: 100, description: 'x', isShown: true };
    const { sql } = app.db;
    let isPaid = false;
    const db: App['db'] = {
      ...app.db,
      async sql<T extends object>(text: string, values?: readonly unknown[]) {
        const rows = await sql<T>(text, values);
        if (text.includes('FROM user_stats') && !isPaid) {
          isPaid = true;
          await changeUserBalance(app, admin, deposit, null);
        }
        return rows;
      },
    };
    expect(await deleteInactiveUsers({ ...app, db })).toBe(1);
    const rows = await sql('SELECT id, status FROM users WHERE id = ANY($1::int[]) ORDER BY id', [[lucky.id, other.id]]);
    expect(rows).toEqual([
      { id: lucky.id, status: 'active' },
      { id: other.id, status: 'deleted' },
    ]);
  });

  it('four runs at once mark each user once', async () => {
    const { app, silent } = await night();
    const users = [];
    for (let index = 0; index < 60; index++) users.push(await silent());
    const runs = await Promise.all(Array.from({ length: 4 }, () => deleteInactiveUsers(app)));
    const [row] = await app.db.sql<{ deleted: number }>(
      "SELECT count(*)::int AS deleted FROM users WHERE id = ANY($1::int[]) AND status = 'deleted'",
      [users.map((user) => user.id)],
    );
    expect(row!.deleted).toBe(users.length);
    expect(runs.reduce((sum, count) => sum + count, 0)).toBe(users.length);
  });
});
