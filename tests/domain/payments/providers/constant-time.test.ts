import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, test } from 'vitest';
import { PROVIDER_CASES } from '../../../support/providers/all-cases.ts';
import { aProviderFixture, type ProviderFixture } from '../../../support/providers/provider-fixture.ts';

/** How the secrets that callbacks prove are compared (spec 03 H18): by `timingSafeEqual`, never by plain equality. */
let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

/** Comparisons of a genuine callback, where it is another number than one: merchant and secret, merchant and signature. */
const COMPARISONS: Readonly<Record<string, number>> = { platega: 2, freekassa: 2, kassa_ai: 2 };
/** Providers without a secret in their callbacks, as 03a says. */
const WITHOUT: Readonly<Record<string, string>> = {
  yookassa: 'the provider signs nothing: the address, and what the API answers, decide',
  mulenpay: 'the callback is not signed: what the API answers decides',
  wata: 'the signature is an RSA signature, which is verified with a public key',
};

/** Counts the calls of `timingSafeEqual` by every module while `fn` runs. */
async function comparisonsOf(fn: () => Promise<unknown>): Promise<number> {
  const { timingSafeEqual } = crypto;
  let count = 0;
  const counting: typeof timingSafeEqual = (left, right) => {
    count += 1;
    return timingSafeEqual(left, right);
  };
  Object.assign(crypto, { timingSafeEqual: counting });
  syncBuiltinESMExports();
  try {
    await fn();
  } finally {
    Object.assign(crypto, { timingSafeEqual });
    syncBuiltinESMExports();
  }
  return count;
}

test.each(PROVIDER_CASES.map((provider) => [provider.method, provider] as const))(
  'spec 03 H18: %s compares what a callback proves in constant time',
  async (method, provider) => {
    fixture = await aProviderFixture(provider);
    const prepared = fixture;
    const [genuine] = await prepared.act('pay');
    const { path, headers, body } = genuine!;
    const receive = () => prepared.server.inject({ method: 'POST', url: path, headers, payload: body });
    const count = await comparisonsOf(async () => expect(await receive()).toMatchObject({ statusCode: 200 }));
    if (WITHOUT[method] !== undefined) return expect(count).toBe(0);
    expect(count).toBeGreaterThanOrEqual(COMPARISONS[method] ?? 1);
  },
);
