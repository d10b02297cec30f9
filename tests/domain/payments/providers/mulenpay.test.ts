import { afterEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../src/core/clock.ts';
import { mulenpayCase } from '../../../support/providers/mulenpay-case.ts';
import { aProviderFixture, factsOf, type ProviderFixture } from '../../../support/providers/provider-fixture.ts';

let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

test('03a section 6: the path of callbacks may have a random segment, and no other path is theirs', async () => {
  const settings = { MULENPAY_WEBHOOK_PATH: '/mulenpay-webhook/4b0ab82149bfeeca80fc' };
  fixture = await aProviderFixture({ ...mulenpayCase, settings });
  const paid = await fixture.callbackOf('pay');
  // The fake posts where the setting says.
  expect(paid.path).toBe(settings.MULENPAY_WEBHOOK_PATH);
  expect(await fixture.deliver({ ...paid, path: '/mulenpay-webhook' })).toMatchObject({ status: 404 });
  expect(await fixture.deliver({ ...paid, path: '/mulenpay-webhook/4b0ab82149bfeeca80f0' })).toMatchObject({ status: 404 });
  expect((await factsOf(fixture)).balance).toBe(0);
  expect(await fixture.deliver(paid)).toMatchObject({ status: 200 });
  expect((await factsOf(fixture)).balance).toBe(50_000);
});

test('03a section 0.3: unknown and credited orders cause no request, known ones ask about the id of our record', async () => {
  fixture = await aProviderFixture(mulenpayCase);
  const paths: string[] = [];
  fixture.intercept(({ path }) => {
    paths.push(path);
    return null;
  });
  const paid = await fixture.callbackOf('pay');
  const { number } = fixture.current.invoice;
  await fixture.deliver({ ...paid, body: String(paid.body).replace(`"id":${number}`, '"id":999999') });
  expect(paths).toEqual([`/v2/payments/${number}`]);
  fixture.t.clock.advance(MINUTE_MS + 1);
  await fixture.deliver(paid);
  await fixture.deliver({ ...paid, body: String(paid.body).replace(fixture.current.orderId, 'an-order-of-nobody') });
  expect(paths).toHaveLength(1);
  expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
});
