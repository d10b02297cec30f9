import type { App } from '../../core/app.ts';
import { addDays, DAY_MS, HOUR_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { deleteStates, lockState, writeState } from '../../core/service-state.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';

/**
 * Faults of the service that administrators are notified of, with the pause in which further ones of the same source are not notified.
 * The text of each is `messages.fault_<kind>`.
 */
const PAUSE_MS = {
  /** A job that is not tried again. Source: its queue. */
  job_failed: HOUR_MS,
  /** A request that was answered 500. Source: its operation. */
  request_failed: HOUR_MS,
  /** An error that nobody caught; the process ends. Source: its instance. */
  process_crashed: HOUR_MS,
  /** The check of the ledger found a difference. */
  ledger_problems: DAY_MS,
  /** A provider has not carried out a refund. Source: the refund. */
  refund_stuck: DAY_MS,
  /** A provider has refused a refund. Source: the refund. */
  refund_refused: DAY_MS,
} as const;

const KEY_PREFIX = 'fault:';
/** Longer than any pause. */
const KEPT_DAYS = 7;

export type FaultKind = keyof typeof PAUSE_MS;
export const FAULT_KINDS = Object.keys(PAUSE_MS) as readonly FaultKind[];

export interface Fault {
  kind: FaultKind;
  /** At most 60 characters; no secrets and no texts of users. */
  source: string;
  /** What helps to find the cause in the log: a class of errors, the id of a request. Never the text of an error, which may hold anything. */
  detail: string;
}

/**
 * Notifies the administrators' chat, topic of errors, of a fault (spec 06 section 14; queue `ops.report-fault`): once for a kind and source
 * in the pause of the kind, whichever instance it happened on. The time of the notice and the message are one transaction. While notices
 * are off nothing is recorded; the log has every fault.
 */
export async function reportFault(app: App, { kind, source, detail }: Fault): Promise<void> {
  await inTransaction(app, async (t) => {
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
    if (chat === null) return;
    const key = `${KEY_PREFIX}${kind}:${source}`;
    const { notifiedAt } = await lockState<{ notifiedAt: string }>(t.db, key);
    const now = t.clock.now();
    if (notifiedAt !== undefined && now.getTime() - new Date(notifiedAt).getTime() < PAUSE_MS[kind]) return;
    await writeState(t.db, key, { notifiedAt: now.toISOString() });
    const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), `messages.fault_${kind}`, { source, detail });
    await sendMessage(t, { ...chat, html });
  });
}

/** Deletes the times of notices that no longer hold back another one; each refund with a fault has its own. @returns how many */
export function purgeFaultNotices(app: App): Promise<number> {
  return deleteStates(app.db, KEY_PREFIX, addDays(app.clock.now(), -KEPT_DAYS));
}

/** Notifies the administrators' chat, topic of infrastructure, that an instance has started (spec 06 section 15). @param instance its host */
export async function notifyStart(app: App, instance: string): Promise<void> {
  const chat = adminChat(app, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
  if (chat === null) return;
  const values = { version: app.ports.instance.version(), instance };
  const html = htmlText(app.settings.get('DEFAULT_LANGUAGE'), 'messages.service_started', values);
  await inTransaction(app, (t) => sendMessage(t, { ...chat, html }));
}
