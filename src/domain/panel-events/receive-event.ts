import type { App } from '../../core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { isDatabaseUnavailable } from '../../core/db/db-errors.ts';
import { repeatWhenLost } from '../../core/db/repeat-lost.ts';
import { retried } from '../../core/db/retried.ts';
import { hasEffect } from './event-effects.ts';
import type { PanelEvent, PanelEventOutcome, PanelWebhookRequest } from './ports.ts';
import { insertEvent } from './repo.ts';

/** Shorter than events are stored, so that a body is either known or too old. The panel itself tries for 15 s. */
const MAX_AGE_MS = 24 * HOUR_MS;
/** How far the panel's clock may be ahead. */
const MAX_AHEAD_MS = 5 * MINUTE_MS;
const MIN_SECRET = 32;

export interface PanelWebhookReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body: { status: 'ok'; processed: boolean } | { status: 'error'; reason: string };
}

/** Whether the route of the panel's webhooks exists: it is switched on, and its secret is long enough. */
export function isPanelWebhookOn({ settings }: App): boolean {
  return settings.get('VPNPANEL_WEBHOOK_ENABLED') && (settings.get('VPNPANEL_WEBHOOK_SECRET') ?? '').length >= MIN_SECRET;
}

/**
 * Receives a webhook of the panel (spec 06 section 12): verified by its signature, then stored with its job in one statement, then
 * acknowledged. Nothing is changed here, the panel is not called, and the body is neither stored nor logged. A repeat of a stored body
 * is acknowledged and dropped.
 * @returns 200 also for what has no effect (`processed: false`), 503 with `Retry-After` while the database is away
 */
export async function receivePanelWebhook(app: App, request: PanelWebhookRequest): Promise<PanelWebhookReply> {
  const { panelEvents } = app.ports;
  const verdict = panelEvents.receive(request);
  if (!verdict.accepted) {
    panelEvents.count('refused');
    return { status: verdict.status, body: { status: 'error', reason: verdict.reason } };
  }
  try {
    const outcome = await storeEvent(app, verdict.event);
    panelEvents.count(outcome);
    return { status: 200, body: { status: 'ok', processed: outcome === 'received' || outcome === 'repeated' } };
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return { status: 503, headers: { 'retry-after': '5' }, body: { status: 'error', reason: 'database_unavailable' } };
  }
}

async function storeEvent(app: App, event: PanelEvent): Promise<PanelEventOutcome> {
  if (!hasEffect(event.name)) return 'ignored';
  const now = app.clock.now();
  const happenedAt = event.happenedAt ?? now;
  const age = now.getTime() - happenedAt.getTime();
  if (age > MAX_AGE_MS || age < -MAX_AHEAD_MS) return 'old';
  const isNew = await repeatWhenLost(app, () =>
    retried(app, () => insertEvent(app.db, event, { happenedAt, now }, app.jobs.trace())),
  );
  return isNew ? 'received' : 'repeated';
}
