import { describe, expect, test } from 'vitest';
import type { TokenActor } from '../../../src/core/actor.ts';
import { changeUserStatus } from '../../../src/domain/users/account/change-account.ts';
import { readUser } from '../../../src/domain/users/account/read-user.ts';
import { updateUser } from '../../../src/domain/users/account/save-user.ts';
import { jobsOf } from '../../support/admin-setup.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser } from '../../support/builders.ts';
import { aSubscription } from '../../support/provisioning-setup.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import { testApp } from '../../support/test-app.ts';
import { userChanges } from '../../support/user-requests.ts';

const actor: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };

describe('a status set over the Web API', () => {
  test('updates the panel when an account is deleted, restored or blocked, as an administrator does', async () => {
    const { app } = await testApp();
    const user = await aUser(app);
    const { id } = await aSubscription(app, { user });
    const pushes = async () => (await jobsOf(app, 'subscriptionId', id)).length;
    const set = (status: string) => updateUser(app, actor, user.id, userChanges({ status }));
    const version = async () => {
      const [row] = await app.db.sql<{ n: number }>('SELECT provision_version AS n FROM subscriptions WHERE id = $1::int', [id]);
      return row!.n;
    };
    const before = await version();
    await set('deleted');
    expect([await version(), await pushes()]).toEqual([before + 1, 1]);
    await set('deleted');
    expect(await version()).toBe(before + 1);
    await set('active');
    expect(await version()).toBe(before + 2);
    // 08 P15: its access ends at the panel; what it paid for stays in the row.
    await set('blocked');
    expect(await version()).toBe(before + 3);
    expect((await readUser(app, user.id)).status).toBe('blocked');
  });
});

describe('spec 05 section 12.2: a block', () => {
  test('reaches the sockets of the user with its reason, as does its end, but not a deletion', async () => {
    const { app } = await testApp();
    const [user, admin] = [await aUser(app), await anAdmin(app)];
    for (const status of ['blocked', 'blocked', 'active', 'deleted', 'active'] as const) {
      await changeUserStatus(app, admin, user.id, status, 'abuse');
    }
    expect(await recordedEventsOf(app, user.id, { prefix: 'account.' })).toEqual([
      { type: 'account.banned', payload: { reason: 'abuse' }, audience: 'user' },
      { type: 'account.unbanned', payload: {}, audience: 'user' },
    ]);
  });
});
