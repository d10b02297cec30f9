import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { refuseDisposable } from '../../../src/domain/identity/email/disposable-addresses.ts';
import { linkEmail, requestEmailChange } from '../../../src/domain/identity/email/email-address.ts';
import { registerAccount } from '../../../src/domain/identity/email/register-account.ts';
import { refreshDisposableDomains } from '../../../src/domain/safety/published-lists.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { actorOf, aMessengerAccount, anAddress, aVerifiedAccount, PASSWORD } from './accounts.ts';

const refusal = { status: 400, detail: 'Disposable email addresses are not allowed' };
const manyDomains = (count: number, first = 'fresh-box.example') =>
  [first, ...Array.from({ length: count - 1 }, (_, index) => `box${index}.example`)].join('\n');

afterEach(async () => {
  const { app } = await testApp();
  await app.db.sql('DELETE FROM disposable_email_domains RETURNING 1 AS gone');
  await app.db.sql("DELETE FROM service_state WHERE key = 'disposable_domains' RETURNING key");
});

/** An installation with a mail server of its own, whose published list is what `answer` returns. */
async function listening(answer: () => Promise<string>, environment: Record<string, string> = {}) {
  const t = await testApp({ environment });
  let calls = 0;
  const fetchText = (url: string) => {
    expect(url).toBe(t.app.env.disposableEmailListUrl);
    calls += 1;
    return answer();
  };
  const ports = { ...t.app.ports, publicLists: { fetchText }, instance: { ...t.app.ports.instance, sandboxKinds: () => [] } };
  return { ...t, app: { ...t.app, ports } as App, calls: () => calls };
}

const isRefused = (app: App, email: string) =>
  refuseDisposable(app, email).then(
    () => false,
    () => true,
  );

describe('disposable e-mail domains', () => {
  it('counts by exact match: the built-in list until one is fetched, then the fetched one, at once on every instance', async () => {
    const t = await listening(async () => manyDomains(300));
    const other: TestApp = await testApp();
    expect(await isRefused(t.app, 'x@mailinator.com')).toBe(true);
    expect(await isRefused(t.app, 'x@notmailinator.com')).toBe(false);
    expect(await isRefused(t.app, 'x@fresh-box.example')).toBe(false);
    await refreshDisposableDomains(t.app);
    expect(await isRefused(other.app, 'x@fresh-box.example')).toBe(true);
    expect(await isRefused(other.app, 'x@sub.fresh-box.example')).toBe(false);
    expect(await isRefused(other.app, 'x@mailinator.com')).toBe(false);
  });

  it('stops registration, linking and change', async () => {
    const t = await listening(async () => manyDomains(300));
    await refreshDisposableDomains(t.app);
    const email = 'Someone@Fresh-Box.example';
    const request = { email, password: PASSWORD, firstName: null, language: 'en', referralCode: null };
    const [messenger, verified] = [await aMessengerAccount(t.app), await aVerifiedAccount(t.app)];
    await expect(registerAccount(t.app, request)).rejects.toMatchObject(refusal);
    await expect(linkEmail(t.app, actorOf(messenger.id), { email, password: PASSWORD })).rejects.toMatchObject(refusal);
    await expect(requestEmailChange(t.app, verified.actor, { newEmail: email })).rejects.toMatchObject(refusal);
  });

  it('stops nobody and fetches no list while the check is off', async () => {
    await refreshDisposableDomains((await listening(async () => manyDomains(300))).app);
    const off = await listening(async () => manyDomains(300), { DISPOSABLE_EMAIL_CHECK_ENABLED: 'false' });
    expect(await isRefused(off.app, 'x@fresh-box.example')).toBe(false);
    off.clock.advance(25 * HOUR_MS);
    await refreshDisposableDomains(off.app);
    expect(off.calls()).toBe(0);
  });

  it('fetches once a day, however often it is asked', async () => {
    const t = await listening(async () => manyDomains(300));
    await refreshDisposableDomains(t.app);
    t.clock.advance(23 * HOUR_MS);
    await refreshDisposableDomains(t.app);
    expect(t.calls()).toBe(1);
    t.clock.advance(HOUR_MS);
    await refreshDisposableDomains(t.app);
    expect(t.calls()).toBe(2);
  });

  it('takes out what the new list no longer names', async () => {
    let text = manyDomains(300);
    const t = await listening(async () => text);
    await refreshDisposableDomains(t.app);
    text = manyDomains(280, 'later-box.example');
    t.clock.advance(24 * HOUR_MS);
    await refreshDisposableDomains(t.app);
    expect([await isRefused(t.app, 'x@fresh-box.example'), await isRefused(t.app, 'x@later-box.example')]).toEqual([false, true]);
    const [row] = await t.app.db.sql<{ rows: number }>('SELECT count(*)::int AS rows FROM disposable_email_domains');
    expect(row!.rows).toBe(280);
  });

  it('spec 01 H25: keeps the old list when the fetch fails or brings something else, and waits longer each time', async () => {
    let answer: () => Promise<string> = async () => manyDomains(300);
    const t = await listening(() => answer());
    await refreshDisposableDomains(t.app);
    const bad = [
      () => Promise.reject(new Error('away')),
      async () => '<!doctype html><p>Please sign in',
      async () => manyDomains(149),
      async () => `${manyDomains(300)}\ngmail.com`,
      async () => '',
    ];
    t.clock.advance(24 * HOUR_MS);
    for (const [failures, next] of bad.entries()) {
      answer = next;
      await refreshDisposableDomains(t.app);
      expect(t.calls()).toBe(failures + 2);
      await refreshDisposableDomains(t.app);
      t.clock.advance(MINUTE_MS * 2 ** failures - 1000);
      await refreshDisposableDomains(t.app);
      expect(t.calls()).toBe(failures + 2);
      expect(await isRefused(t.app, 'x@fresh-box.example')).toBe(true);
      expect(await isRefused(t.app, 'x@gmail.com')).toBe(false);
      t.clock.advance(1000);
    }
    answer = async () => manyDomains(150);
    await refreshDisposableDomains(t.app);
    expect(await isRefused(t.app, 'x@box148.example')).toBe(true);
    expect(await isRefused(t.app, 'x@box149.example')).toBe(false);
  });

  it('fetches nothing while mail goes to the sandbox', async () => {
    const { app } = await testApp();
    let calls = 0;
    const publicLists = { fetchText: async () => manyDomains(++calls + 200) };
    await refreshDisposableDomains({ ...app, ports: { ...app.ports, publicLists } });
    expect(calls).toBe(0);
  });

  it('keeps nothing of an address that was refused', async () => {
    const t = await listening(async () => '');
    const email = `x${anAddress().split('@')[0]}@mailinator.com`;
    const request = { email, password: PASSWORD, firstName: null, language: 'en', referralCode: null };
    await expect(registerAccount(t.app, request)).rejects.toMatchObject(refusal);
    expect(await t.app.db.sql('SELECT id FROM users WHERE email = $1', [email])).toEqual([]);
  });
});
