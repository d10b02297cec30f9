import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { signInWithAutoLogin } from '../../../src/domain/identity/auto-login/auto-login.ts';
import { fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { viewPurchase } from '../../../src/domain/storefront/purchases/start-purchase.ts';
import { aUser } from '../../support/builders.ts';
import {
  aDeliveredPurchase,
  anEmail,
  aPaidPurchase,
  aPurchase,
  aStorefront,
  contact,
  factsOf,
  giftTo,
  mailsTo,
  mailText,
  subscriptionOf,
} from '../../support/purchase-samples.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
});

describe('spec 03 H3, spec 01 H2: credentials', () => {
  test('of an account the purchase made are shown once, for a day, and mailed with the password', async () => {
    const email = anEmail();
    const bought = await aDeliveredPurchase(app, provider, await aStorefront(app), { buyer: contact(email) });
    const [user] = await app.db.sql<{ emailVerified: boolean; authType: string }>(
      'SELECT email_verified, auth_type FROM users WHERE email = $1',
      [email],
    );
    expect(user).toEqual({ emailVerified: false, authType: 'email' });
    const first = await viewPurchase(app, bought.token);
    expect(first).toMatchObject({ status: 'delivered', cabinetEmail: email, cabinetPassword: null });
    expect(first.subscriptionUrl).toMatch(/^https?:/);
    expect((await signInWithAutoLogin(app, first.autoLoginToken!)).user.email).toBe(email);
    expect(await viewPurchase(app, bought.token)).toMatchObject({
      cabinetEmail: email,
      cabinetPassword: null,
      autoLoginToken: null,
    });
    expect(await mailText(app, email, 'guest_cabinet_credentials')).toContain(email);
  });

  test('show the password where no mail can be sent', async () => {
    const mute: App = { ...app, ports: { ...app.ports, mail: { ...app.ports.mail, isConfigured: () => false } } };
    const email = anEmail();
    const bought = await aDeliveredPurchase(mute, provider, await aStorefront(mute), { buyer: contact(email) });
    const first = await viewPurchase(mute, bought.token);
    expect(first.cabinetPassword).toMatch(/^[\w-]{16}$/);
    expect(await viewPurchase(mute, bought.token)).toMatchObject({ cabinetPassword: null, autoLoginToken: null });
    expect(await mailsTo(app, email)).toEqual([]);
  });

  test('are gone after a day', async () => {
    const bought = await aDeliveredPurchase(app, provider, await aStorefront(app));
    t.clock.advance(DAY_MS);
    expect(await viewPurchase(app, bought.token)).toMatchObject({ autoLoginToken: null, subscriptionUrl: null });
  });

  test.each([
    ['without a password', null],
    ['with one', 'scrypt-hash'],
  ])('of an account that existed, %s, are never made, changed or shown', async (_what, hash) => {
    const email = anEmail();
    const { id } = await aUser(app, { email });
    await app.db.sql(
      'UPDATE users SET email_verified = false, email_verified_at = NULL, password_hash = $2 WHERE id = $1::int RETURNING id',
      [id, hash],
    );
    const bought = await aDeliveredPurchase(app, provider, await aStorefront(app), { buyer: contact(email) });
    expect(await factsOf(app, bought.id)).toMatchObject({
      userId: id,
      accountCreated: false,
      cabinetPassword: null,
      autoLoginToken: null,
    });
    expect(await app.db.sql('SELECT email_verified, password_hash FROM users WHERE id = $1::int', [id])).toEqual([
      { emailVerified: false, passwordHash: hash },
    ]);
    expect(await viewPurchase(app, bought.token)).toMatchObject({ cabinetPassword: null, autoLoginToken: null });
    expect(await mailsTo(app, email)).toEqual(['guest_subscription_delivered']);
  });

  test('of a gift are not shown to the payer where no mail can be sent either, before and after the delivery', async () => {
    const mute: App = { ...app, ports: { ...app.ports, mail: { ...app.ports.mail, isConfigured: () => false } } };
    const hidden = { cabinetEmail: null, cabinetPassword: null, autoLoginToken: null };
    const waiting = await aPaidPurchase(mute, provider, await aStorefront(mute), giftTo(anEmail()));
    const { userId, cabinetPassword } = await factsOf(app, waiting.id);
    // There is something to hide.
    expect(cabinetPassword).toMatch(/^[\w-]{16}$/);
    expect(await viewPurchase(mute, waiting.token)).toMatchObject({ status: 'paid', ...hidden });
    await aStoredSubscription(app, userId!);
    await fulfilPurchase(mute, { purchaseId: waiting.id });
    expect(await viewPurchase(mute, waiting.token)).toMatchObject({ status: 'pending_activation', ...hidden });
    const delivered = await aDeliveredPurchase(mute, provider, await aStorefront(mute), giftTo(anEmail()));
    expect(await viewPurchase(mute, delivered.token)).toMatchObject({ status: 'delivered', ...hidden });
  });

  test('spec 03 H23: of a gift, in the mail of which what the giver wrote is escaped, go to the recipient, never to the payer', async () => {
    const email = anEmail();
    const bought = await aDeliveredPurchase(app, provider, await aStorefront(app), giftTo(email, 'Hi <b>there</b>'));
    expect((await factsOf(app, bought.id)).autoLoginToken).toBeNull();
    expect(await viewPurchase(app, bought.token)).toMatchObject({
      status: 'delivered',
      isGift: true,
      cabinetEmail: null,
      cabinetPassword: null,
      autoLoginToken: null,
      subscriptionUrl: null,
      contactType: 'email',
    });
    expect(await mailsTo(app, email)).toEqual(['email_verification', 'guest_gift_received', 'guest_cabinet_credentials']);
    const mails = await app.db.sql<{ html: string }>('SELECT html FROM outgoing_mails WHERE recipient = $1', [email]);
    expect(mails.filter(({ html }) => html.includes('Hi &lt;b&gt;there&lt;/b&gt;'))).toHaveLength(1);
    for (const { html } of mails) expect(html).not.toContain('<b>there');
  });
});

describe('who gets it', () => {
  test('spec 03 H23: what a giver wrote reaches the messenger escaped', async () => {
    const friend = await aUser(app, { language: 'en' });
    const name = `@user${(await app.db.sql<{ username: string }>('SELECT username FROM users WHERE id = $1::int', [friend.id]))[0]!.username.slice(4)}`;
    const bought = await aDeliveredPurchase(
      app,
      provider,
      await aStorefront(app),
      giftTo(name.toUpperCase(), '<a href="x">click</a>'),
    );
    expect(await factsOf(app, bought.id)).toMatchObject({ userId: friend.id, accountCreated: false });
    const [message] = await app.db.sql<{ html: string }>(
      "SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1",
      [String(friend.messengerId)],
    );
    expect(message!.html).toContain('&lt;a href=&quot;x&quot;&gt;');
    expect(message!.html).not.toContain('<a ');
  });

  test.each([
    ['a running subscription', { status: 'active' }, {}, 'pending_activation'],
    ['a running trial', { status: 'active', is_trial: true }, {}, 'pending_activation'],
    ['one that only ran out of traffic', { status: 'limited' }, {}, 'pending_activation'],
    ['an ended one', { status: 'expired', end_date: new Date('2026-01-01') }, {}, 'paid'],
    ['an ended one, for a gift', { status: 'expired', end_date: new Date('2026-01-01') }, { isGift: true }, 'pending_activation'],
  ])('%s: then the purchase is %s', async (_what, columns, order, status) => {
    const email = anEmail();
    const { id } = await aUser(app, { email });
    const subscriptionId = await aStoredSubscription(app, id, columns);
    const before = await subscriptionOf(app, id);
    const gift = 'isGift' in order ? giftTo(email) : { buyer: contact(email) };
    const bought = await aPaidPurchase(app, provider, await aStorefront(app), gift);
    await fulfilPurchase(app, { purchaseId: bought.id });
    expect(await factsOf(app, bought.id)).toMatchObject({ status, nextAttemptAt: status === 'paid' ? expect.any(Date) : null });
    const after = await subscriptionOf(app, id);
    if (status === 'paid')
      expect(after).toMatchObject({ id: subscriptionId, status: 'active', endDate: addDays(app.clock.now(), 30) });
    else {
      expect(after).toEqual(before);
      expect(await mailsTo(app, email)).toEqual(['guest_activation_required']);
    }
  });

  test('the page masks contacts', async () => {
    const storefront = await aStorefront(app);
    const purchase = await aPurchase(app, storefront, { buyer: contact('somebody@example.com') });
    expect(await viewPurchase(app, purchase.token)).toMatchObject({
      status: 'pending',
      contactValue: 'so***@example.com',
      recipientContactValue: null,
      cabinetEmail: null,
      isRecipientInBot: null,
      botLink: null,
    });
    const gift = await aPurchase(app, storefront, { buyer: contact('somebody@example.com'), ...giftTo('@friend_of_mine') });
    expect(await viewPurchase(app, gift.token)).toMatchObject({
      recipientContactValue: '@fr***',
      contactType: 'messenger',
      isRecipientInBot: false,
      botLink: 'https://t.me/test_bot',
    });
  });

  test('spec 03 H2: only the whole token finds a purchase', async () => {
    const { token } = await aPurchase(app, await aStorefront(app));
    const guesses = [
      token.slice(0, 63),
      token.slice(0, 12),
      `${token.slice(0, 63)}%`,
      '_'.repeat(64),
      '%'.repeat(64),
      `${token} `,
      '',
    ];
    for (const guess of guesses)
      await expect(viewPurchase(app, guess)).rejects.toMatchObject({ status: 404, detail: 'Purchase not found' });
  });

  test('credentials wait three days with a purchase that waits to be activated', async () => {
    const bought = await aPaidPurchase(app, provider, await aStorefront(app));
    const { userId } = await factsOf(app, bought.id);
    await aStoredSubscription(app, userId!);
    await fulfilPurchase(app, { purchaseId: bought.id });
    t.clock.advance(3 * DAY_MS - MINUTE_MS);
    expect((await viewPurchase(app, bought.token)).autoLoginToken).toEqual(expect.any(String));
    t.clock.advance(HOUR_MS);
    expect((await viewPurchase(app, bought.token)).autoLoginToken).toBeNull();
  });
});
