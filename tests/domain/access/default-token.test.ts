import { afterEach, beforeAll, expect, it } from 'vitest';
import { addMs, MINUTE_MS } from '../../../src/core/clock.ts';
import {
  authenticateToken,
  createApiToken,
  ensureDefaultToken,
  followDefaultToken,
  setApiTokenActive,
} from '../../../src/domain/access/tokens.ts';
import { putSetting, resetSetting } from '../../../src/domain/settings/change-setting.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const editor = { kind: 'system', name: 'test' } as const;
const TEXT = 'default-token-of-this-installation';
let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterEach(async () => {
  await t.app.db.sql("DELETE FROM service_state WHERE key = 'access:default-token'");
  await t.app.db.sql("DELETE FROM web_api_tokens WHERE created_by = 'migration'");
  for (const key of ['WEB_API_DEFAULT_TOKEN', 'WEB_API_DEFAULT_TOKEN_NAME']) await resetSetting(t.app, editor, key);
});

const rows = () =>
  t.app.db.sql<{ id: number; name: string; isActive: boolean }>(
    'SELECT id, name, is_active AS "isActive" FROM web_api_tokens WHERE token_prefix = $1',
    [TEXT.slice(0, 8)],
  );

it('the default token follows its settings without a restart (spec 01 section 9)', async () => {
  const stop = followDefaultToken(t.app);
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', TEXT);
  await eventually(async () => expect(await rows()).toMatchObject([{ name: 'Bootstrap Token', isActive: true }]));
  const [made] = await rows();
  await setApiTokenActive(t.app, editor, made!.id, false);
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN_NAME', 'Ours');
  await eventually(async () => expect(await rows()).toEqual([{ id: made!.id, name: 'Ours', isActive: true }]));
  await expect(authenticateToken(t.app, { apiKey: TEXT, bearer: null }, null)).resolves.toMatchObject({ name: 'Ours' });
  stop();
});

it('a name that is too long for a token is cut, and does not keep the service from starting', async () => {
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN_NAME', 'n'.repeat(5_000));
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', TEXT);
  expect((await ensureDefaultToken(t.app))!.name).toHaveLength(255);
});

const signIn = (text: string) => authenticateToken(t.app, { apiKey: text, bearer: null }, null);
const REFUSED = { status: 401, detail: 'Invalid or expired API key' };

it('a token that had ended becomes usable when it is made the default one', async () => {
  const token = await createApiToken(t.app, editor, {
    name: 'Ours',
    description: null,
    expiresAt: addMs(t.clock.now(), MINUTE_MS),
  });
  t.clock.advance(2 * MINUTE_MS);
  await expect(signIn(token.token)).rejects.toMatchObject(REFUSED);
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', token.token);
  expect(await ensureDefaultToken(t.app)).toMatchObject({ id: token.id, isActive: true, expiresAt: null });
  await expect(signIn(token.token)).resolves.toMatchObject({ tokenId: token.id });
});

it('a replaced default token is refused at once, here and after a restart with another value', async () => {
  const other = await testApp({ environment: { WEB_API_DEFAULT_TOKEN: 'the-value-of-a-later-start' }, clock: t.clock });
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', TEXT);
  await ensureDefaultToken(t.app);
  await signIn(TEXT);
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', 'another-default-token');
  await ensureDefaultToken(t.app);
  await expect(signIn(TEXT)).rejects.toMatchObject(REFUSED);
  expect(await rows()).toMatchObject([{ isActive: false }]);
  await signIn('another-default-token');
  await ensureDefaultToken(other.app);
  await eventually(() => expect(signIn('another-default-token')).rejects.toMatchObject(REFUSED));
});

it('a value that is added again is active again, and a changed name replaces nothing', async () => {
  for (const text of [TEXT, 'another-default-token', TEXT]) {
    await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', text);
    await ensureDefaultToken(t.app);
  }
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN_NAME', 'Ours');
  await ensureDefaultToken(t.app);
  expect(await rows()).toMatchObject([{ name: 'Ours', isActive: true }]);
});

it("a user's own token remains valid when it is no longer the default one", async () => {
  const token = await createApiToken(t.app, editor, { name: 'Ours', description: null, expiresAt: null });
  for (const text of [token.token, TEXT]) {
    await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', text);
    await ensureDefaultToken(t.app);
  }
  await expect(signIn(token.token)).resolves.toMatchObject({ tokenId: token.id });
});

it('without a default token the last one is left to be revoked by hand', async () => {
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', TEXT);
  const made = await ensureDefaultToken(t.app);
  await resetSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN');
  expect(await ensureDefaultToken(t.app)).toBeNull();
  expect(await rows()).toMatchObject([{ isActive: true }]);
  await setApiTokenActive(t.app, editor, made!.id, false);
  await ensureDefaultToken(t.app);
  expect(await rows()).toMatchObject([{ isActive: false }]);
});

it('several instances that start at once agree on one active default token', async () => {
  const values = ['default-token-one', 'default-token-two'];
  const apps = await Promise.all(
    [...values, ...values].map((value) => testApp({ environment: { WEB_API_DEFAULT_TOKEN: value }, clock: t.clock })),
  );
  // A database that has never had one is where two could overlook each other; several rounds, since the overlap is a matter of luck.
  for (let round = 0; round < 10; round++) {
    await t.app.db.sql("DELETE FROM web_api_tokens WHERE created_by = 'migration'");
    await t.app.db.sql("DELETE FROM service_state WHERE key = 'access:default-token'");
    await Promise.all(apps.map(({ app }) => ensureDefaultToken(app)));
    const found = await t.app.db.sql("SELECT id FROM web_api_tokens WHERE token_prefix = 'default-' AND is_active");
    expect(found).toHaveLength(1);
  }
});
