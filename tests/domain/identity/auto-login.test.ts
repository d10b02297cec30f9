import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { issueAutoLoginToken, signInWithAutoLogin } from '../../../src/domain/identity/auto-login/auto-login.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { aVerifiedAccount } from './accounts.ts';

/** The secret of `testApp`. */
const SECRET = 'tests-only-0123456789abcdef0123456789abcdef';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const refused = (status: number, detail: string) => ({ status, detail });
const invalid = refused(401, 'Invalid or expired auto-login token');
const enter = (token: string) => signInWithAutoLogin(app, token);

/** A token made by hand, as a service that knows nothing of ours would. */
function handMade(claims: Record<string, unknown>, algorithm = 'HS256', secret = SECRET): string {
  const now = Math.floor(clock.now().getTime() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = part({ type: 'auto_login', iat: now, exp: now + 60, ...claims });
  const text = `${part({ alg: algorithm, typ: 'JWT' })}.${body}`;
  return `${text}.${algorithm === 'none' ? '' : createHmac('sha256', secret).update(text).digest('base64url')}`;
}

describe('auto-login (spec 01 H20)', () => {
  it('signs in once', async () => {
    const { id } = await aVerifiedAccount(app);
    const [token, other] = [await issueAutoLoginToken(app, id), await issueAutoLoginToken(app, id)];
    expect((await enter(token)).user.id).toBe(id);
    await expect(enter(token)).rejects.toMatchObject(invalid);
    expect((await enter(other)).user.id).toBe(id);
  });

  it('is valid for 72 hours, and not after a change of the password', async () => {
    const { id } = await aVerifiedAccount(app);
    const [early, late] = [await issueAutoLoginToken(app, id), await issueAutoLoginToken(app, id)];
    clock.advance(72 * 3_600_000 - 1_000);
    expect((await enter(early)).user.id).toBe(id);
    await expect(enter(early)).rejects.toMatchObject(invalid);
    clock.advance(1_000);
    await expect(enter(late)).rejects.toMatchObject(invalid);
    const outlived = await issueAutoLoginToken(app, id);
    await app.db.sql("UPDATE users SET password_hash = 'another' WHERE id = $1::int RETURNING id", [id]);
    await expect(enter(outlived)).rejects.toMatchObject(invalid);
  });

  it('accepts only what our secret signed, and once in any encoding', async () => {
    const { id, signIn } = await aVerifiedAccount(app);
    const token = handMade({ sub: String(id) });
    expect((await enter(token)).user.id).toBe(id);
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    await expect(enter(token.slice(0, -1) + letters[letters.indexOf(token.at(-1)!) ^ 1])).rejects.toMatchObject(invalid);
    const now = Math.floor(clock.now().getTime() / 1_000);
    for (const bad of [
      handMade({ sub: String(id) }, 'none'),
      handMade({ sub: String(id) }, 'HS256', `${SECRET}x`),
      handMade({ sub: String(id) }, 'HS512'),
      handMade({ sub: String(id), exp: now }),
      handMade({ sub: String(id), exp: undefined }),
      handMade({ sub: String(id), type: 'access' }),
      handMade({ sub: String(id), type: undefined }),
      handMade({ sub: String(id), nbf: now + 60 }),
      signIn.accessToken,
      signIn.refreshToken,
      'x',
    ]) {
      await expect(enter(bad)).rejects.toMatchObject(invalid);
    }
  });

  it('refuses in the order of the table', async () => {
    const { id } = await aVerifiedAccount(app);
    for (const sub of ['abc', '0', '99999999999']) {
      await expect(enter(handMade({ sub }))).rejects.toMatchObject(refused(401, 'Invalid token payload'));
    }
    await expect(enter(handMade({ sub: '2147000000' }))).rejects.toMatchObject(refused(401, 'User not found'));
    const token = await issueAutoLoginToken(app, id);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [id]);
    await expect(enter(token)).rejects.toMatchObject(refused(403, 'Account is deactivated'));
  });
});
