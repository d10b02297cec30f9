import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { type ActorClient, adminClient } from './actors.ts';
import { type ApiClient, clientOf, testServer } from './api.ts';
import { unique } from './builders.ts';
import { aTariff } from './sale-samples.ts';
import { ScriptedProvider, withProvider } from './scripted-provider.ts';
import { type TestApp, testApp } from './test-app.ts';

const ACTIONS = ['read', 'create', 'edit', 'delete'].map((action) => `landings:${action}`);

/** Path of the administrators' group. */
export const LANDINGS = '/cabinet/admin/landings';

export const aSlug = () => `page-${unique()}`;
export const aLandingBody = (fields: Record<string, unknown> = {}) => ({
  slug: aSlug(),
  payment_methods: [{ method_id: 'sandbox', display_name: 'Sandbox' }],
  ...fields,
});

/** What tests of sales pages need: a server, a guest, an administrator and a scripted provider. */
export interface LandingFixture {
  t: TestApp;
  server: FastifyInstance;
  guest: ApiClient;
  admin: ActorClient;
  provider: ScriptedProvider;
  /** Empties the tables and sets the clock back. */
  reset: () => Promise<void>;
  /** Creates a page through the interface. */
  create: (fields?: Record<string, unknown>) => Promise<CreatedPage>;
  /** A page that sells one tariff. */
  aSalesPage: (
    fields?: Record<string, unknown>,
    tariff?: Record<string, unknown>,
  ) => Promise<{ tariffId: number; landing: CreatedPage }>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer and asserts on it
type CreatedPage = any;

export async function landingFixture(): Promise<LandingFixture> {
  const t = await testApp();
  const start = t.clock.now();
  const provider = new ScriptedProvider();
  t.app = await withProvider(t.app, provider);
  const server = await testServer(t.app);
  const admin = await adminClient(t.app, server, ACTIONS);
  const create: LandingFixture['create'] = async (fields = {}) => {
    const made = await admin.post(LANDINGS, aLandingBody(fields));
    expect(made.body.detail).toBeUndefined();
    return made.body;
  };
  return {
    t,
    server,
    guest: clientOf(server),
    admin,
    provider,
    create,
    aSalesPage: async (fields = {}, tariff = {}) => {
      const tariffId = await aTariff(t.app, { traffic_limit_gb: 50, device_limit: 3, tier_level: 2, ...tariff });
      return { tariffId, landing: await create({ allowed_tariff_ids: [tariffId], ...fields }) };
    },
    reset: async () => {
      t.clock.set(start);
      for (const table of ['rate_limit_windows', 'guest_purchases', 'landing_pages']) await t.app.db.sql(`DELETE FROM ${table}`);
    },
  };
}
