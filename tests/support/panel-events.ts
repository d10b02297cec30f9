import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { callbackRoute, registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import type { App } from '../../src/core/app.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { processPanelEvent } from '../../src/domain/panel-events/process-event.ts';
import { receivePanelWebhook } from '../../src/domain/panel-events/receive-event.ts';
import type { PanelUser } from '../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../src/domain/provisioning/request-provisioning.ts';
import { panelNumberFromUuid } from '../../src/integrations/vpnpanel/panel-generation.ts';
import { aUser, type BuiltUser } from './builders.ts';
import { aSubscription, type ProvisioningTest, readRow } from './provisioning-setup.ts';

export const PANEL_SECRET = 'panel-webhook-secret-0123456789abcdef';
export const PANEL_PATH = '/vpnpanel-webhook';
export const PANEL_WEBHOOK_ON = { VPNPANEL_WEBHOOK_ENABLED: 'true', VPNPANEL_WEBHOOK_SECRET: PANEL_SECRET };

export const signed = (body: string | Buffer, secret = PANEL_SECRET): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'Remnawave',
  'x-remnawave-signature': createHmac('sha256', secret).update(body).digest('hex'),
});

/** A body as the panel sends it (spec 08 section 1). */
export function panelBody(event: string, timestamp: Date, data: object, meta: object | null = null): string {
  return JSON.stringify({ scope: event.split('.')[0], event, timestamp: timestamp.toISOString(), data, meta });
}

/** `user.*` data of a panel user: version 2 has a uuid, version 3 only a number. Credentials included. */
export function userData(user: PanelUser, changes: object = {}): Record<string, unknown> {
  const number = panelNumberFromUuid(user.uuid);
  return {
    ...(number === null ? { uuid: user.uuid, id: 17 } : { id: number }),
    shortUuid: user.shortUuid,
    username: user.username,
    status: user.status,
    trafficLimitBytes: user.trafficLimitBytes,
    trafficLimitStrategy: user.trafficResetStrategy,
    expireAt: user.expireAt.toISOString(),
    telegramId: user.messengerId,
    email: user.email,
    description: user.description,
    tag: user.tag,
    hwidDeviceLimit: user.deviceLimit,
    externalSquadUuid: null,
    trojanPassword: 'trojan-secret-value',
    vlessUuid: '0e0e0e0e-1111-4222-8333-444444444444',
    ssPassword: 'ss-secret-value',
    lastTriggeredThreshold: 0,
    subRevokedAt: null,
    lastTrafficResetAt: null,
    subscriptionUrl: user.subscriptionUrl,
    activeInternalSquads: user.squads,
    userTraffic: {
      usedTrafficBytes: user.usedTrafficBytes,
      lifetimeUsedTrafficBytes: user.lifetimeUsedTrafficBytes,
      onlineAt: null,
      lastConnectedNodeUuid: null,
      firstConnectedAt: null,
    },
    ...changes,
  };
}

export async function callbackServer(app: App): Promise<FastifyInstance> {
  const { fastify } = await createHttpServer({
    // Only callbacks are called: registering all operations costs more than most tests.
    routes: [],
    app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(app),
    extend: (server) => registerCallbackRoutes(server, app),
  });
  await fastify.ready();
  return fastify;
}

/** Receives a signed body and processes what was stored. @returns the result of each event that was processed now */
export async function deliver(app: App, body: string): Promise<string[]> {
  const reply = await receivePanelWebhook(app, { headers: signed(body), rawBody: Buffer.from(body) });
  if (reply.status !== 200) throw new Error(`the webhook was answered with ${reply.status}`);
  return processWaiting(app);
}

export async function processWaiting(app: App): Promise<string[]> {
  const waiting = await app.db.sql<{ id: number }>('SELECT id FROM panel_events WHERE processed_at IS NULL ORDER BY id');
  for (const { id } of waiting) await processPanelEvent(app, { eventId: id });
  const done = await app.db.sql<{ result: string }>(
    'SELECT result FROM panel_events WHERE id = ANY($1::int[]) AND processed_at IS NOT NULL ORDER BY id',
    [waiting.map(({ id }) => id)],
  );
  return done.map(({ result }) => result);
}

export interface Provisioned {
  id: number;
  user: BuiltUser;
  /** As the panel has it after the push. */
  panelUser: PanelUser;
}

/** A subscription that was pushed to the panel two minutes ago. */
export async function aProvisioned(t: ProvisioningTest, fields: Parameters<typeof aSubscription>[1] = {}): Promise<Provisioned> {
  const { id, user } = await aSubscription(t.app, { user: await aUser(t.app, { language: 'en' }), ...fields });
  await inTransaction(t.app, (tx) => requestProvisioning(tx, id));
  await pushSubscription(t.app, id);
  t.clock.advance(120_000);
  const row = await readRow(t.app, id);
  return { id, user, panelUser: (await t.adapter.findByUuid(row.vpnpanelUuid!))! };
}

export interface EventRow {
  event: string;
  result: string | null;
  userId: number | null;
  data: Record<string, unknown>;
}

export function eventRows(app: App): Promise<EventRow[]> {
  return app.db.sql<EventRow>('SELECT event, result, user_id, data FROM panel_events ORDER BY id');
}
