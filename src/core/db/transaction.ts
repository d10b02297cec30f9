import type { Prisma } from '../../generated/prisma/client.ts';
import type { App } from '../app.ts';
import { CACHE_FORGOTTEN } from '../cache/shared-cache.ts';
import type { SqlRunner } from './db.ts';
import { retried } from './db-errors.ts';
import { refuseInsideTransaction, runInsideTransaction } from './root-guard.ts';
import { collectEffects, type TransactionEffects } from './transaction-effects.ts';

/**
 * Runs `fn` in one database transaction with an `App` whose `db`, `jobs` and `events` belong to it; called inside a
 * transaction it joins. After a deadlock or a write conflict the whole function runs again (up to 5 times, with jitter), so it
 * must contain database work only: outside effects go through `t.jobs` and `t.events`, which are committed or rolled back with it (spec 00).
 */
export async function inTransaction<T>(app: App, fn: (t: App) => Promise<T>): Promise<T> {
  const { begin } = app.db;
  if (begin === null) return fn(app);
  refuseInsideTransaction('inTransaction');
  return retried(app, async () => {
    const forgotten: string[] = [];
    let queues: TransactionEffects['queues'] = new Set();
    const result = await begin((tx, sql) =>
      runInsideTransaction(async () => {
        const effects = collectEffects(sql, app.clock);
        queues = effects.queues;
        const answer = await fn(transactionApp(app, tx, sql, { effects, forgotten }));
        await effects.write();
        return answer;
      }),
    );
    // The event reaches every instance, this one too, but possibly after the caller has answered.
    app.cache.drop(forgotten);
    app.events.announce();
    app.jobs.wake(queues);
    return result;
  });
}

function transactionApp(
  app: App,
  tx: Prisma.TransactionClient,
  sql: SqlRunner,
  { effects, forgotten }: { effects: TransactionEffects; forgotten: string[] },
): App {
  return {
    ...app,
    db: { prisma: tx, sql, begin: null, effects },
    jobs: effects.jobs,
    events: effects.events,
    cache: {
      read: (key, ttlMs, load) => app.cache.read(key, ttlMs, load),
      drop: (keys) => app.cache.drop(keys),
      forget: async (_t, keys) => {
        await effects.events.emit(CACHE_FORGOTTEN, { keys }, { audience: 'instance' });
        forgotten.push(...keys);
      },
    },
  };
}
