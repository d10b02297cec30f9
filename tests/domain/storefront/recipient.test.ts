import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { claimPurchasedAccount } from '../../../src/domain/identity/create-account.ts';
import { signInAsMessengerUser } from '../../../src/domain/identity/messenger-sign-in.ts';
import { fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { prepareRecipient } from '../../../src/domain/storefront/purchases/recipient.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aName, aPaidPurchase, aStorefront, contact, factsOf, giftTo, subscriptionOf } from '../../support/purchase-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';

let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  provider = new ScriptedProvider();
  app = await withProvider((await testApp()).app, provider);
});

const proved = (username: string, messengerId = 7_000_000_000 + unique()) => ({
  messengerId,
  username: username.replace('@', ''),
  firstName: 'Friend',
  lastName: null,
  language: 'en',
});
const userOf = async (id: number) =>
  (await app.db.sql<{ messengerId: number | null; username: string | null }>('SELECT * FROM users WHERE id = $1::int', [id]))[0]!;

describe('a recipient in the messenger', () => {
  test('without an account gets one, which the first sign-in takes over', async () => {
    const name = aName();
    const bought = await aPaidPurchase(app, provider, await aStorefront(app), giftTo(name));
    await fulfilPurchase(app, { purchaseId: bought.id });
    const { userId, accountCreated: isCreated } = await factsOf(app, bought.id);
    expect(isCreated).toBe(true);
    expect(await userOf(userId!)).toMatchObject({ messengerId: null, username: name.slice(1) });
    const friend = proved(name.toUpperCase());
    const session = await signInAsMessengerUser(app, friend, { referralCode: null });
    expect(session).toMatchObject({ isNew: false });
    expect(session.user.id).toBe(userId);
    expect(await userOf(userId!)).toMatchObject({ messengerId: friend.messengerId });
    expect(await subscriptionOf(app, userId!)).toMatchObject({ status: 'active' });
    // The name belongs to another person later.
    const later = await signInAsMessengerUser(app, proved(name), { referralCode: null });
    expect(later.user.id).not.toBe(userId);
  });

  test('is found by the id that the messenger tells, whatever the stored name', async () => {
    const friend = await aUser(app);
    const name = aName();
    const { servers } = await workerSandbox();
    await servers.messenger!.setPerson(name.slice(1), friend.messengerId);
    const bought = await aPaidPurchase(app, provider, await aStorefront(app), giftTo(name));
    expect(await factsOf(app, bought.id)).toMatchObject({ userId: friend.id, accountCreated: false });
  });

  test('gets one account for two purchases', async () => {
    const [storefront, name] = [await aStorefront(app), aName()];
    const first = await aPaidPurchase(app, provider, storefront, { buyer: contact(name) });
    const second = await aPaidPurchase(app, provider, storefront, { buyer: contact(name.toUpperCase()) });
    expect((await factsOf(app, second.id)).userId).toBe((await factsOf(app, first.id)).userId);
    expect((await factsOf(app, second.id)).accountCreated).toBe(false);
  });

  test('is waited for five seconds, then the purchase goes on without an id', async () => {
    const isAsked = Promise.withResolvers<void>();
    const findPerson = () => {
      isAsked.resolve();
      return new Promise<never>(() => undefined);
    };
    const silent: App = { ...app, ports: { ...app.ports, messenger: { ...app.ports.messenger, findPerson } } };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let answer: unknown = 'none yet';
      const asking = prepareRecipient(silent, contact(aName())).then((prepared) => (answer = prepared));
      await isAsked.promise;
      await vi.advanceTimersByTimeAsync(4_999);
      expect(answer).toBe('none yet');
      await vi.advanceTimersByTimeAsync(1);
      await asking;
      expect(answer).toMatchObject({ messengerId: null, password: null });
    } finally {
      vi.useRealTimers();
    }
  });

  test('is credited also when the messenger does not answer', async () => {
    const down: App = {
      ...app,
      ports: {
        ...app.ports,
        messenger: {
          ...app.ports.messenger,
          findPerson: async () => {
            throw new Error('the messenger is down');
          },
        },
      },
    };
    const bought = await aPaidPurchase(down, provider, await aStorefront(app), giftTo(aName()));
    expect((await factsOf(app, bought.id)).status).toBe('paid');
  });
});

test('spec 01 H2: an account is taken over by its name only if a purchase created it and it has no other sign-in', async () => {
  const claim = (username: string) => inTransaction(app, (t) => claimPurchasedAccount(t, proved(username)));
  const name = aName();
  const { id } = await aUser(app);
  await app.db.sql('UPDATE users SET messenger_id = NULL, username = $2 WHERE id = $1::int RETURNING id', [id, name.slice(1)]);
  expect(await claim(name)).toBeNull();
  const other = aName();
  const bought = await aPaidPurchase(app, provider, await aStorefront(app), { buyer: contact(other) });
  const { userId } = await factsOf(app, bought.id);
  await app.db.sql("UPDATE users SET google_id = 'g-' || id WHERE id = $1::int RETURNING id", [userId]);
  expect(await claim(other)).toBeNull();
});
