import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import type { Random } from '../../../src/core/random.ts';
import { createUser } from '../../../src/domain/identity/create-account.ts';
import { findUserByEmail, findUserById, findUserByMessengerId } from '../../../src/domain/identity/find-user.ts';
import type { NewUser } from '../../../src/domain/identity/types.ts';
import { unique } from '../../support/builders.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
beforeAll(async () => {
  app = (await testApp()).app;
});

function draft(fields: Partial<NewUser> = {}): NewUser {
  return {
    authType: 'messenger',
    messengerId: 8_000_000_000 + unique(),
    username: 'ann',
    firstName: ' <Ann> ',
    lastName: null,
    email: null,
    emailVerified: false,
    passwordHash: null,
    language: 'EN-us',
    referredById: null,
    ...fields,
  };
}

const events = (userId: number) => recordedEvents(app, 'user.created', userId);

describe('createUser', () => {
  it('cleans names, joins the default group and emits the event', async () => {
    const user = await createUser(app, draft());
    expect(user).toMatchObject({
      isNew: true,
      firstName: '‹Ann›',
      language: 'en',
      status: 'active',
      balanceKopeks: 0,
      hasPassword: false,
    });
    expect(user.referralCode).toMatch(/^ref[A-Za-z0-9]{8}$/);
    const memberships = await app.db.sql(
      'SELECT m.assigned_by, g.is_default FROM user_promo_groups m JOIN promo_groups g ON g.id = m.promo_group_id WHERE m.user_id = $1',
      [user.id],
    );
    expect(memberships).toEqual([{ assignedBy: 'system', isDefault: true }]);
    expect(await events(user.id)).toEqual([
      {
        user_id: user.id,
        messenger_id: user.messengerId,
        username: 'ann',
        first_name: '‹Ann›',
        last_name: null,
        referral_code: user.referralCode,
        referred_by_id: null,
      },
    ]);
    expect(await findUserById(app, user.id)).toMatchObject({ id: user.id });
    expect(await findUserByMessengerId(app, user.messengerId!)).toMatchObject({ id: user.id });
  });

  it('keeps the four keys in the event of an e-mail account', async () => {
    const email = `New${unique()}@Example.com`;
    const user = await createUser(app, draft({ authType: 'email', messengerId: null, username: null, email, passwordHash: 'h' }));
    expect(user).toMatchObject({ email: email.toLowerCase(), emailVerified: false, hasPassword: true });
    const [payload] = await events(user.id);
    expect(payload).toMatchObject({
      user_id: user.id,
      messenger_id: null,
      username: null,
      first_name: '‹Ann›',
      auth_type: 'email',
    });
    expect(payload).toHaveProperty('email', email.toLowerCase());
    expect(await findUserByEmail(app, email.toUpperCase())).toMatchObject({ id: user.id });
  });

  it('reads the account that exists instead of making a second one', async () => {
    const first = await createUser(app, draft());
    const second = await createUser(app, draft({ messengerId: first.messengerId }));
    expect(second).toMatchObject({ id: first.id, isNew: false });
    expect(await events(first.id)).toHaveLength(1);
  });

  it('refuses a taken e-mail in any case of letters', async () => {
    const email = `taken${unique()}@example.com`;
    await createUser(app, draft({ messengerId: null, email }));
    await expect(createUser(app, draft({ messengerId: null, email: email.toUpperCase() }))).rejects.toMatchObject({
      status: 400,
      detail: 'This email is already registered',
    });
  });

  it('tries another referral code when one is taken (spec 01 H14)', async () => {
    let drawn = 0;
    // The first code of both users is the same; every later one differs.
    const random: Random = {
      bytes: app.random.bytes,
      int: (min, max) => (drawn++ % 8 === 0 && drawn > 8 ? app.random.int(min, max) : min),
    };
    const one = await createUser({ ...app, random: { ...random, int: (min) => min } }, draft());
    const two = await createUser({ ...app, random }, draft());
    expect(one.referralCode).toBe('refAAAAAAAA');
    expect(two.referralCode).not.toBe(one.referralCode);
    expect(two.isNew).toBe(true);
  });

  it('makes a default group where none is left', async () => {
    await app.db.sql('UPDATE promo_groups SET is_default = false RETURNING id');
    const user = await createUser(app, draft());
    const [group] = await app.db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE is_default');
    expect(user.promoGroupId).toBe(group!.id);
    await app.db.sql('UPDATE promo_groups SET is_default = false RETURNING id');
    await app.db.sql("UPDATE promo_groups SET is_default = true WHERE name = 'Default' RETURNING id");
  });

  it('finds no user by an impossible id (spec 01 H23)', async () => {
    expect(await findUserById(app, 9_999_999_999)).toBeNull();
    expect(await findUserById(app, -1)).toBeNull();
    expect(await findUserByMessengerId(app, 1e30)).toBeNull();
  });
});
