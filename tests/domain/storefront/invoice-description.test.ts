import { beforeEach, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { startPurchase } from '../../../src/domain/storefront/purchases/start-purchase.ts';
import { anOrder as aGiftOrder, aGiftTariff, buy, giftsAreOn, toEmail } from '../../support/gift-samples.ts';
import { anEmail, anOrder, aStorefront } from '../../support/purchase-samples.ts';
import { aBuyer } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  provider = new ScriptedProvider();
  const environment = { PAYMENT_SUBSCRIPTION_DESCRIPTION: 'Access', PAYMENT_SERVICE_NAME: 'Shop' };
  app = await withProvider((await testApp({ environment })).app, provider);
});

test('spec 10 O4: a changed PAYMENT_SUBSCRIPTION_DESCRIPTION names purchases of a page to the provider, without the tariff', async () => {
  await startPurchase(app, anOrder(await aStorefront(app, {}, { name: 'Quick' })), { ip: '203.0.113.7', idempotencyKey: null });
  expect(provider.created[0]!.description).toBe('Shop - Access');
});

test('spec 10 O4: and it names gifts', async () => {
  await giftsAreOn(app);
  const gift = aGiftOrder(await aGiftTariff(app), { paymentMethod: 'sandbox', ...toEmail(anEmail()) });
  await buy(app, await aBuyer(app), gift);
  expect(provider.created[0]!.description).toBe('Shop - Access');
});
