import { afterEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../src/core/clock.ts';
import { mulenpayCase } from '../../../support/providers/mulenpay-case.ts';
import { aProviderStage, factsOf, type ProviderStage } from '../../../support/providers/provider-stage.ts';

let stage: ProviderStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

test('03a section 6: the path of callbacks may have a random segment, and no other path is theirs', async () => {
  const settings = { MULENPAY_WEBHOOK_PATH: '/mulenpay-webhook/4b0ab82149bfeeca80fc' };
  stage = await aProviderStage({ ...mulenpayCase, settings });
  const paid = await stage.callbackOf('pay');
  // The fake posts where the setting says.
  expect(paid.path).toBe(settings.MULENPAY_WEBHOOK_PATH);
  expect(await stage.deliver({ ...paid, path: '/mulenpay-webhook' })).toMatchObject({ status: 404 });
  expect(await stage.deliver({ ...paid, path: '/mulenpay-webhook/4b0ab82149bfeeca80f0' })).toMatchObject({ status: 404 });
  expect((await factsOf(stage)).balance).toBe(0);
  expect(await stage.deliver(paid)).toMatchObject({ status: 200 });
  expect((await factsOf(stage)).balance).toBe(50_000);
});

test('03a section 0.3: unknown and credited orders cause no request, known ones ask about the id of our record', async () => {
  stage = await aProviderStage(mulenpayCase);
  const paths: string[] = [];
  stage.intercept(({ path }) => {
    paths.push(path);
    return null;
  });
  const paid = await stage.callbackOf('pay');
  const { number } = stage.current.invoice;
  await stage.deliver({ ...paid, body: String(paid.body).replace(`"id":${number}`, '"id":999999') });
  expect(paths).toEqual([`/v2/payments/${number}`]);
  stage.t.clock.advance(MINUTE_MS + 1);
  await stage.deliver(paid);
  await stage.deliver({ ...paid, body: String(paid.body).replace(stage.current.orderId, 'an-order-of-nobody') });
  expect(paths).toHaveLength(1);
  expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
});
