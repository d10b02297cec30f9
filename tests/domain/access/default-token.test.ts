import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { authenticateToken } from '../../../src/domain/access/authenticate-token.ts';
import { followDefaultToken } from '../../../src/domain/access/follow-default-token.ts';
import { ensureDefaultToken, setApiTokenActive } from '../../../src/domain/access/manage-tokens.ts';
import { putSetting, resetSetting } from '../../../src/domain/settings/change-setting.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const editor = { kind: 'system', name: 'test' } as const;
const TEXT = 'default-token-of-this-installation';
let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterEach(async () => {
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
  await vi.waitFor(async () => expect(await rows()).toMatchObject([{ name: 'Bootstrap Token', isActive: true }]));
  const [made] = await rows();
  await setApiTokenActive(t.app, editor, made!.id, false);
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN_NAME', 'Ours');
  await vi.waitFor(async () => expect(await rows()).toEqual([{ id: made!.id, name: 'Ours', isActive: true }]));
  await expect(authenticateToken(t.app, { apiKey: TEXT, bearer: null }, null)).resolves.toMatchObject({ name: 'Ours' });
  stop();
});

it('a name that is too long for a token is cut, and does not keep the service from starting', async () => {
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN_NAME', 'n'.repeat(5_000));
  await putSetting(t.app, editor, 'WEB_API_DEFAULT_TOKEN', TEXT);
  expect((await ensureDefaultToken(t.app))!.name).toHaveLength(255);
});
