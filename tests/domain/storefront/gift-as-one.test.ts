import { expect, test } from 'vitest';
import { changedTables, databaseDigests } from '../../support/database-digests.ts';
import { aGiftTariff, anOrder, buy, giftsAreOn, moneyOf, toEmail } from '../../support/gift-samples.ts';
import { anEmail } from '../../support/purchase-samples.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aBuyer, anOffer } from '../../support/sale-samples.ts';
import { testApp } from '../../support/test-app.ts';

test.each([
  ['the account of the recipient', 'users', 'true'],
  ['the used-up discount', 'promo_offer_logs', 'true'],
  ['the purchase', 'guest_purchases', 'true'],
  ['the job that gives it', 'jobs.job', "NEW.name = 'gifts.fulfil'"],
])('spec 03 H12: a process that ends before it has written %s leaves no debit and no other row', async (_what, table, when) => {
  const { app } = await testApp();
  await giftsAreOn(app);
  const tariffId = await aGiftTariff(app);
  const buyer = await aBuyer(app, 50_000);
  await anOffer(app, buyer.userId, 50);
  const before = await databaseDigests(app);
  const order = anOrder(tariffId, toEmail(anEmail()));
  await expect(whileRefused(app, table, () => buy(app, buyer, order), when)).rejects.toThrow('refused row');
  expect(changedTables(before, await databaseDigests(app))).toEqual([]);
  await buy(app, buyer, order);
  expect((await moneyOf(app, buyer)).balance).toBe(35_000);
});
