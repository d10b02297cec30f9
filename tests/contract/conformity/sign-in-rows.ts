import { expect } from 'vitest';
import { signInitData } from '../../../packages/sandbox/src/messenger/messenger-state.ts';
import { anAddress, mailedSecret, PASSWORD } from '../../domain/identity/accounts.ts';
import { unique } from '../../support/builders.ts';
import { TEST_BOT_TOKEN } from '../../support/test-sandbox.ts';
import { refusalsOf, text } from './bounds.ts';
import type { Row } from './row.ts';

const SLUG = '^[a-zA-Z0-9_-]+$';
const campaignSlug = () =>
  text({ nullable: true, min: 1, max: 64, pattern: { source: SLUG, breaks: ['summer sale', 'лето', 'a/b', 'a\n'] } });
const referralCode = () => text({ nullable: true, max: 32, pattern: { source: SLUG, breaks: ['a b', 'реф'] } });

const SIGNED_IN = ['access_token', 'campaign_bonus', 'expires_in', 'refresh_token', 'token_type', 'user'];

/** Row 23: the seven ways in, each with a slug. Those whose credential cannot be made here are refused after their input was taken. */
export const signInRows: Row[] = [
  {
    row: 23,
    method: 'POST',
    path: '/cabinet/auth/email/login',
    as: 'open',
    good: async ({ t, open }) => {
      const email = anAddress();
      await open.post('/cabinet/auth/email/register/standalone', { email, password: PASSWORD });
      await open.post('/cabinet/auth/email/verify', { token: await mailedSecret(t.app, email) });
      return { body: { email, password: PASSWORD } };
    },
    body: {
      password: refusalsOf(text({ required: true, min: 1, max: 128 })),
      campaign_slug: campaignSlug(),
    },
    answers: (reply) => {
      expect(Object.keys(reply.body).sort()).toEqual(SIGNED_IN);
      expect(reply.body).toMatchObject({ token_type: 'bearer', campaign_bonus: null, user: { email_verified: true } });
    },
  },
  {
    row: 23,
    method: 'POST',
    path: '/cabinet/auth/messenger',
    as: 'open',
    good: async ({ t }) => ({
      body: { init_data: signInitData(TEST_BOT_TOKEN, { id: 4_100_000_000 + unique(), first_name: 'Ann' }, t.clock.now()) },
    }),
    body: {
      init_data: refusalsOf(text({ required: true, max: 4096 })),
      campaign_slug: campaignSlug(),
      referral_code: referralCode(),
    },
    answers: (reply) => expect(Object.keys(reply.body).sort()).toEqual(SIGNED_IN),
  },
  {
    row: 23,
    method: 'POST',
    path: '/cabinet/auth/messenger/widget',
    as: 'open',
    good: async () => ({ body: { id: 4_200_000_000, first_name: 'Ann', auth_date: 1_700_000_000, hash: 'a'.repeat(64) } }),
    body: {
      first_name: text({ required: true, max: 64 }),
      last_name: text({ nullable: true, max: 64 }),
      username: text({ nullable: true, max: 32 }),
      photo_url: text({ nullable: true, max: 512 }),
      hash: text({ required: true, min: 64, max: 64 }),
      campaign_slug: campaignSlug(),
      referral_code: referralCode(),
    },
    takenStatus: [401],
  },
  {
    row: 23,
    method: 'POST',
    path: '/cabinet/auth/messenger/oidc',
    as: 'open',
    good: async () => ({ body: { id_token: 'a.b.c' } }),
    body: { id_token: text({ required: true, max: 4096 }), campaign_slug: campaignSlug(), referral_code: referralCode() },
    takenStatus: [400, 401],
  },
  {
    row: 23,
    method: 'POST',
    path: '/cabinet/auth/email/verify',
    as: 'open',
    good: async ({ t, open }) => {
      const email = anAddress();
      await open.post('/cabinet/auth/email/register/standalone', { email, password: PASSWORD });
      return { body: { token: await mailedSecret(t.app, email) } };
    },
    body: {
      token: refusalsOf(text({ required: true, max: 2048 })),
      campaign_slug: campaignSlug(),
    },
    answers: (reply) => expect(Object.keys(reply.body).sort()).toEqual(SIGNED_IN),
  },
  {
    row: 23,
    method: 'POST',
    path: '/cabinet/auth/deeplink/poll',
    as: 'open',
    good: async () => ({ body: { token: 'a'.repeat(32) } }),
    body: { token: text({ required: true, min: 16, max: 128 }), campaign_slug: campaignSlug() },
    takenStatus: [202, 400, 404, 410],
  },
  {
    row: 23,
    method: 'POST',
    path: '/cabinet/auth/oauth/{provider}/callback',
    as: 'open',
    good: async () => ({ path: '/cabinet/auth/oauth/google/callback', body: { code: 'abc', state: 'def' } }),
    body: {
      code: text({ required: true, min: 1, max: 2048 }),
      state: text({ required: true, min: 1, max: 128 }),
      device_id: text({ nullable: true, max: 256 }),
      campaign_slug: campaignSlug(),
      referral_code: referralCode(),
    },
    takenStatus: [400, 401, 404],
  },
];
