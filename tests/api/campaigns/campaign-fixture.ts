import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { signInitData } from '../../../packages/sandbox/src/messenger/messenger-state.ts';
import { type ActorClient, adminClient } from '../../support/actors.ts';
import { type ApiClient, type ApiReply, clientOf, testServer, tokenClient } from '../../support/api.ts';
import { aUser, unique } from '../../support/builders.ts';
import { setUser } from '../../support/merge-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { TEST_BOT_TOKEN } from '../../support/test-sandbox.ts';

export const ADMIN = '/cabinet/admin/campaigns';
export const ACTIONS = ['read', 'create', 'edit', 'delete', 'stats'].map((action) => `campaigns:${action}`);
export const UNKNOWN = 2_147_000_000;

export interface CampaignFixture {
  t: TestApp;
  server: FastifyInstance;
  web: ApiClient;
  admin: ActorClient;
}

export async function campaignFixture(): Promise<CampaignFixture> {
  const t = await testApp({ environment: { MINIAPP_CUSTOM_URL: 'https://app.example.com/', TRUSTED_PROXIES: '127.0.0.1' } });
  const server = await testServer(t.app);
  return { t, server, web: await tokenClient(t.app, server), admin: await adminClient(t.app, server, ACTIONS) };
}

export const aSlug = () => `Slug_${unique()}-x`;

export const aBody = (fields: Record<string, unknown> = {}) => ({
  name: 'Spring',
  start_parameter: aSlug(),
  bonus_type: 'balance',
  balance_bonus_kopeks: 1_500,
  ...fields,
});

/** A campaign made at the client's door; the answer. */
export async function aCampaignBy(
  client: ApiClient,
  path: string,
  fields: Record<string, unknown> = {},
): Promise<ApiReply['body']> {
  const made = await client.post(path, aBody(fields));
  expect(made.body.detail).toBeUndefined();
  return made.body;
}

let clients = 0;

/** A newcomer who opens the mini app through a link. */
export function signIn({ t, server }: CampaignFixture, slug: string): Promise<ApiReply> {
  clients += 1;
  const client = clientOf(server, { 'x-forwarded-for': `198.51.100.${clients}` });
  const who = { id: 4_500_000_000 + unique(), first_name: 'Ann', username: 'ann' };
  const initData = signInitData(TEST_BOT_TOKEN, who, t.clock.now());
  return client.post('/cabinet/auth/messenger', { init_data: initData, campaign_slug: slug });
}

export async function aPartner({ t }: CampaignFixture): Promise<number> {
  const { id } = await aUser(t.app);
  await setUser(t.app, id, { partner_status: 'approved' });
  return id;
}
