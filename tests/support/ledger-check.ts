import type { App } from '../../src/core/app.ts';
import { readGivenIds } from '../../src/domain/ledger/check/repo.ts';
import { checkNew, readCheckState } from '../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { aUser } from './builders.ts';
import { eventually } from './eventually.ts';

/** Posts a top-up of 5 rubles. @param ofUser a new user unless given */
export async function aMovement(app: App, ofUser?: number) {
  const userId = ofUser ?? (await aUser(app)).id;
  const kopeks = 500;
  const posting = await postMovement(app, {
    userId,
    type: 'deposit',
    amountKopeks: kopeks,
    contra: { kind: 'provider_clearing', provider: 'test' },
    paymentMethod: 'test',
    externalId: null,
    description: 'top-up',
  });
  const { transactionId } = posting as { transactionId: number };
  const [contra] = await app.db.sql<{ id: number }>("SELECT id FROM ledger_accounts WHERE key = 'provider:test'");
  return { userId, transactionId, kopeks, contraAccountId: contra!.id };
}

/** Checks what is new until all present rows are below the watermark; transactions of other databases of the server delay it. */
export async function settleLedger(app: App): Promise<void> {
  const given = await readGivenIds(app.db);
  await eventually(async () => {
    await checkNew(app);
    const { checked } = await readCheckState(app.db);
    if (!checked || checked.entryId < given.entryId || checked.transactionId < given.transactionId)
      throw new Error('not settled yet');
  });
}
