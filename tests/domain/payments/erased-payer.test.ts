import { beforeEach, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { resolveCase } from '../../../src/domain/payments/resolve-case.ts';
import { refundGift } from '../../../src/domain/storefront/gifts/refund-gift.ts';
import { eraseUser } from '../../../src/domain/users/removal.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser } from '../../support/builders.ts';
import { anInvoice, lastCaseId, OPERATOR } from '../../support/case-samples.ts';
import { aCode, aGiftTariff, giftsAreOn } from '../../support/gift-samples.ts';
import { callback, casesOf, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

/** Nobody can spend what comes to the balance of an erased account (spec 01 H18, spec 03 H5). */
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  provider = new ScriptedProvider();
  app = await withProvider((await testApp()).app, provider);
});

const erase = async (userId: number) => eraseUser(app, await anAdmin(app), userId, { deletesFromPanel: false, reason: null });

test('a payment that comes after its payer was erased is a case, and is credited to the account that an administrator names', async () => {
  const { user, paymentId, externalId } = await anInvoice(app);
  await erase(user.id);
  provider.set(externalId, 'paid');
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
  expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 0, deposits: 0 });
  expect(await paymentFacts(app, paymentId)).toMatchObject({ isPaid: false, transactionId: null });
  expect(await casesOf(app, paymentId)).toMatchObject([{ kind: 'no_user', amountKopeks: 50_000 }]);

  const caseId = await lastCaseId(app);
  const credit = (userId: number) =>
    resolveCase(app, OPERATOR, caseId, { resolution: 'credit', userId, kopeks: null, comment: null });
  await expect(credit(user.id)).rejects.toMatchObject({ status: 404, code: 'user_not_found' });
  const other = await aUser(app);
  await credit(other.id);
  expect((await moneyFacts(app, other.id)).balance).toBe(50_000);
  expect(await checkLedger(app)).toEqual([]);
});

test('a gift whose buyer was erased is not refunded to that balance', async () => {
  await giftsAreOn(app);
  const { buyer, id } = await aCode(app, await aGiftTariff(app));
  await erase(buyer.userId);
  await expect(refundGift(app, OPERATOR, id, 'asked')).rejects.toMatchObject({ status: 409, code: 'gift_no_buyer' });
  expect((await moneyFacts(app, buyer.userId)).balance).toBe(0);
});
