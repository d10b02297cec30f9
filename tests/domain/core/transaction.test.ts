import { beforeAll, describe, expect, test } from 'vitest';
import { allColumns, type Rows } from '../../../src/core/db/columns.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { toHttp } from '../../../src/core/errors.ts';
import { aUser } from '../../support/builders.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { serverUrl } from '../../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const jobCount = async (marker: string) =>
  (await t.app.db.sql<{ n: number }>("SELECT count(*)::int AS n FROM jobs.job WHERE data->>'marker' = $1", [marker]))[0]!.n;

describe('inTransaction', () => {
  test('a job and an event of a committed transaction stand, those of a rolled-back one do not', async () => {
    const user = await aUser(t.app);
    const work = (marker: string, fail: boolean) =>
      inTransaction(t.app, async (tx) => {
        await tx.jobs.send('core.purge' as never, { marker } as never);
        await tx.events.emit('setting.changed', { key: marker }, { audience: 'instance', userId: user.id });
        if (fail) throw new Error('after the effects');
      });
    await work('kept', false);
    await expect(work('lost', true)).rejects.toThrow('after the effects');
    expect(await jobCount('kept')).toBe(1);
    expect(await jobCount('lost')).toBe(0);
    const events = await recordedEvents(t.app, 'setting.changed', user.id);
    expect(events.map(({ key }) => key)).toEqual(['kept']);
  });

  test('an added row stands with its transaction', async () => {
    const user = await aUser(t.app);
    const drawn = {
      prizeId: null,
      prizeType: 'nothing',
      prizeValue: 0,
      prizeValueKopeks: 7,
      prizeDisplayName: 'Nothing',
    } as const;
    const given = { generatedPromocodeId: null, debitTransactionId: null, prizeTransactionId: null, isApplied: true };
    const createdAt = t.clock.now();
    const spin = (paymentAmount: number) => ({
      ...drawn,
      ...given,
      userId: user.id,
      paymentType: 'subscription_days' as const,
      paymentAmount,
      paymentValueKopeks: 700,
      paymentId: null,
      externalChargeId: null,
      importedAt: null,
      appliedAt: null,
      createdAt,
    });
    const work = (rows: number[], fail: boolean) =>
      inTransaction(t.app, async (tx) => {
        for (const amount of rows) tx.db.effects!.addRow('WheelSpin', spin(amount));
        if (fail) throw new Error('after the rows');
      });
    await work([1, 2], false);
    await expect(work([3], true)).rejects.toThrow('after the rows');
    const rows = await t.app.db.sql<Rows['WheelSpin']>(
      `SELECT ${allColumns('WheelSpin').of()} FROM wheel_spins WHERE user_id = $1::int ORDER BY id`,
      [user.id],
    );
    expect(rows).toEqual([1, 2].map((amount, at) => ({ ...spin(amount), id: rows[at]!.id })));
  });

  test('a row of an unlisted table is refused', async () => {
    const unlisted = JSON.stringify([{ table: 'users', row: { id: 1 } }]);
    await expect(t.app.db.sql('SELECT record_effects($1::jsonb) AS recorded', [unlisted])).rejects.toThrow(/case not found/);
  });

  test('a nested call joins: its work falls with the outer transaction', async () => {
    const user = await aUser(t.app);
    await expect(
      inTransaction(t.app, async (outer) => {
        await inTransaction(outer, (inner) =>
          inner.db.sql("UPDATE users SET first_name = 'changed' WHERE id = $1::int RETURNING id", [user.id]),
        );
        throw new Error('outer');
      }),
    ).rejects.toThrow('outer');
    const [row] = await t.app.db.sql<{ firstName: string }>('SELECT first_name FROM users WHERE id = $1::int', [user.id]);
    expect(row!.firstName).not.toBe('changed');
  });

  test('the root database refuses queries from inside a transaction instead of hanging', async () => {
    await expect(inTransaction(t.app, () => t.app.db.sql('SELECT 1 AS one'))).rejects.toThrow('inside a transaction');
    await expect(inTransaction(t.app, () => inTransaction(t.app, async () => 1))).rejects.toThrow('inside a transaction');
  });

  test('values come back alike from the root and from a transaction', async () => {
    const query =
      'SELECT 5::bigint AS big, 1.50::numeric AS dec, \'{"a":[1]}\'::jsonb AS json, $1::timestamptz AS at, $2::int[] AS list, $3::text AS nothing';
    const values = [new Date('2026-01-02T03:04:05.678Z'), [1, 2], null];
    const expected = { big: 5, json: { a: [1] }, at: values[0], list: [1, 2], nothing: null };
    const [root] = await t.app.db.sql<Record<string, unknown>>(query, values);
    const [inside] = await inTransaction(t.app, (tx) => tx.db.sql<Record<string, unknown>>(query, values));
    expect(root).toMatchObject(expected);
    expect(inside).toMatchObject(expected);
    expect(Number(inside!.dec)).toBe(1.5);
    expect(Number(root!.dec)).toBe(1.5);
  });

  test('an error that occurs at the commit reaches the caller, and nothing is stored', async () => {
    const user = await aUser(t.app);
    const attempt = inTransaction(t.app, async (tx) => {
      await tx.db.sql("UPDATE users SET first_name = 'lost' WHERE id = $1::int RETURNING id", [user.id]);
      // Raw SQL: the queue's foreign key is checked at commit.
      await tx.db.sql("INSERT INTO jobs.job (name, data) VALUES ('no-such-queue', '{}') RETURNING id");
    });
    await expect(attempt).rejects.toThrow(/foreign ?key|violates/i);
    const [row] = await t.app.db.sql<{ firstName: string }>('SELECT first_name FROM users WHERE id = $1::int', [user.id]);
    expect(row!.firstName).not.toBe('lost');
  });

  test.skipIf(!serverUrl)('a statement that exceeds its time-out is 503 and is not repeated (needs a server)', async () => {
    let attempts = 0;
    const outcomeOf = (wait: (tx: TestApp['app']) => Promise<unknown>) =>
      inTransaction(t.app, async (tx) => {
        attempts += 1;
        await tx.db.sql("SELECT set_config('statement_timeout', '20', true)::text AS bound");
        await wait(tx);
      }).then(
        () => 200,
        (error) => toHttp(error).status,
      );
    expect(await outcomeOf((tx) => tx.db.sql('SELECT pg_sleep(5)::text AS waited'))).toBe(503);
    expect(await outcomeOf((tx) => tx.db.prisma.$queryRaw`SELECT pg_sleep(5)::text AS waited`)).toBe(503);
    expect(attempts).toBe(2);
  });

  test.skipIf(!serverUrl)('a lock that does not come in time is 503 (needs a server)', async () => {
    const user = await aUser(t.app);
    const lock = (tx: TestApp['app']) => tx.db.sql('SELECT id FROM users WHERE id = $1::int FOR UPDATE', [user.id]);
    let release = () => {};
    let setLocked = () => {};
    const locked = new Promise<void>((resolve) => {
      setLocked = resolve;
    });
    const holder = inTransaction(t.app, async (tx) => {
      await lock(tx);
      setLocked();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await locked;
    const error = await inTransaction(t.app, async (tx) => {
      await tx.db.sql("SELECT set_config('lock_timeout', '20', true)::text AS bound");
      await lock(tx);
    }).catch((reason: unknown) => reason);
    release();
    await holder;
    expect(toHttp(error).status).toBe(503);
  });

  test('jobs with a singleton key wait at most once', async () => {
    for (let i = 0; i < 3; i++)
      await t.app.jobs.send('core.purge' as never, { marker: 'single' } as never, { singletonKey: 'one' });
    expect(await jobCount('single')).toBe(1);
  });
});
