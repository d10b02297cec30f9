import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { putIfAbsent } from '../../core/short-lived.ts';
import { readPreferences } from '../identity/preferences.ts';
import { withCryptoLink } from '../provisioning/panel-access.ts';
import { clearDeletedLink, unlinkDeletedUser } from '../provisioning/panel-user.ts';
import { requestPanelUserRemoval, requestProvisioning } from '../provisioning/request-provisioning.ts';
import { isLinkageValid, mayHaveAccess } from '../provisioning/rules.ts';
import { stampPanelReport, writeFromPanel } from '../subscription-state/panel-values.ts';
import { SUBSCRIPTION_EXPIRED, TRAFFIC_RESET } from '../subscriptions/events.ts';
import { ADMIN_EVENTS, STATE_NOTICES, USER_NOTICES, type UserNoticeType } from './event-effects.ts';
import { notifyAccount, notifyAdministrators } from './notices.ts';
import type { StateEvent } from './ports.ts';
import {
  columnsAfter,
  isOlderThanPush,
  isRecreated,
  isStoredSince,
  isTermTaken,
  isUnpaidAccess,
  reportedUser,
  reportsAccess,
} from './receive-event.ts';
import { findAccount, findWaitingEvent, finishEvent, isSuperseded, lockAccount, lockEvent } from './repo.ts';
import type { NoticeValues, ReportedAccount, ReportedSubscription, StoredEvent } from './types.ts';

/** A deleted panel user is made again at most once in this time. */
const RECREATION_SECONDS = 120;
/** After a push so recent, the two clocks may disagree about the order: the panel is read again when the guard W is over. */
const RECENT_MS = MINUTE_MS;
const READ_AGAIN_MS = 65 * SECOND_MS;

/**
 * Processes a stored event (queue `panel.process-event`) in one transaction: what it changes, its notices and its mark, so that any
 * number of runs have one effect. The panel is not called. An event that tells nothing new, like those that our own pushes cause, changes
 * nothing; in doubt a push or a reading of the panel is requested, whose answer decides (spec 06 section 17, hazards 7 and 9).
 */
export async function processPanelEvent(app: App, { eventId }: { eventId: number }): Promise<void> {
  const event = await findWaitingEvent(app.db, eventId);
  if (!event) return;
  const isProcessed = await inTransaction(app, async (t) => {
    const account = event.userId === null ? null : await lockAccount(t.db, event.userId);
    if (!(await lockEvent(t.db, event.id))) return false;
    const result = await applyEvent(t, event, account);
    if (result === null) return false;
    await finishEvent(t.db, event.id, result, t.clock.now());
    return true;
  });
  if (isProcessed) app.ports.panelEvents.count('processed');
}

/** @returns what came of it; null: it is processed later */
async function applyEvent(t: App, event: StoredEvent, account: ReportedAccount | null): Promise<string | null> {
  // The panel may have been replaced by another version (spec 10 V1).
  if (event.event === 'service.panel_started') t.ports.panel.forgetVersion();
  if (ADMIN_EVENTS.includes(event.event)) return notifyAdministrators(t, event);
  if (account === null) return 'unknown_user';
  const notice = USER_NOTICES[event.event];
  if (notice !== undefined) {
    const [type, values] = noticeOf(notice, event);
    return isWanted(account, type, values) ? notifyAccount(t, account, type, values) : 'switched_off';
  }
  const { subscription } = account;
  if (subscription === null) return applyWithoutSubscription(t, event, account);
  if (subscription.status === 'pending') return 'not_paid';
  if (await isSuperseded(t.db, event)) return 'superseded';
  if (event.event === 'user.deleted') return applyDeletion(t, event, account, subscription);
  if (account.status !== 'active') return applyToInactive(t, event, account, subscription);
  return applyState(t, event, account, subscription);
}

/** Whether the user has not switched off this notice. */
function isWanted(account: ReportedAccount, type: UserNoticeType, { percent = 0 }: NoticeValues): boolean {
  const wanted = readPreferences(account.notificationSettings);
  if (type === 'webhook_sub_expiring') return wanted.subscriptionExpiryEnabled;
  if (type !== 'webhook_sub_bandwidth_threshold') return true;
  return wanted.trafficWarningEnabled && percent >= wanted.trafficWarningPercent;
}

/** The notice with its values; an expiration that was some hours ago is an end. */
function noticeOf(notice: UserNoticeType, { event, data }: StoredEvent): [UserNoticeType, NoticeValues] {
  const { percent = 80, notConnectedHours = 24, expirationHours = 24, device = '' } = data;
  if (notice === 'webhook_user_not_connected') return [notice, { hours: notConnectedHours }];
  if (notice === 'webhook_sub_bandwidth_threshold') return [notice, { percent }];
  if (notice === 'webhook_device_added' || notice === 'webhook_device_deleted') return [notice, { device }];
  if (notice !== 'webhook_sub_expiring') return [notice, {}];
  if (expirationHours < 0) return ['webhook_sub_expired', {}];
  const named = /^user\.expires_in_(\d+)_hours$/.exec(event)?.[1];
  return [notice, { hours: named === undefined ? expirationHours : Number(named) }];
}

/** A blocked or deleted account without a subscription has no access at the panel either, whoever gave it (08 P15). */
async function applyWithoutSubscription(t: App, event: StoredEvent, { status, vpnpanelUuid }: ReportedAccount): Promise<string> {
  const mayStay = status === 'active' || event.event === 'user.deleted' || !reportsAccess(event.event as StateEvent, event.data);
  if (mayStay || vpnpanelUuid === null) return 'no_subscription';
  await requestPanelUserRemoval(t, vpnpanelUuid, 'disable');
  return 'removed_again';
}

async function applyState(t: App, event: StoredEvent, account: ReportedAccount, local: ReportedSubscription): Promise<string> {
  const now = t.clock.now();
  const name = event.event as StateEvent;
  const columns = columnsAfter(name, local, reportedUser(name, local, event.data), now);
  if (isOlderThanPush(local, event.happenedAt)) {
    // Our own changes come back as user.modified; a push causes no other event that differs from its row.
    const isOurs = name === 'user.modified' || (columns === null && !(name === 'user.revoked' && event.isLinkChanged));
    if (!isOurs) await requestRefresh(t, account.userId, READ_AGAIN_MS);
    return 'older_than_push';
  }
  // The link itself is not stored with the event.
  if (event.isLinkChanged) await requestRefresh(t, account.userId, 0);
  if (columns === null) {
    if (name === 'user.revoked' && event.isLinkChanged) await notifyAccount(t, account, 'webhook_sub_revoked', {});
    return event.isLinkChanged ? 'read_again' : 'in_step';
  }
  if (isUnpaidAccess(local, columns)) {
    await requestProvisioning(t, local.id);
    return 'pushed_again';
  }
  const isRecentlyPushed = local.provisionedAt !== null && now.getTime() - local.provisionedAt.getTime() < RECENT_MS;
  if (isRecentlyPushed) await requestRefresh(t, account.userId, READ_AGAIN_MS);
  // The term may have been paid, or given back, between the panel's report and this push: autopay would charge it again.
  if (isRecentlyPushed && isTermTaken(local, columns, now)) return 'read_again';
  await writeFromPanel(t.db, [{ id: local.id, columns }], now);
  await stampPanelReport(t.db, local.id, now);
  const to = { audience: 'user', userId: account.userId } as const;
  if (columns.status === 'expired' && local.status !== 'expired') await t.events.emit(SUBSCRIPTION_EXPIRED, {}, to);
  if (name === 'user.traffic_reset') await t.events.emit(TRAFFIC_RESET, {}, to);
  const notice = STATE_NOTICES[name];
  if (notice !== undefined && (name !== 'user.revoked' || event.isLinkChanged)) await notifyAccount(t, account, notice, {});
  return 'applied';
}

/**
 * Of a blocked or deleted account: its panel user is disabled, and the events that this causes say nothing about the term, which is kept
 * for its return (08 P15). Access that somebody gave at the panel is ended again.
 */
async function applyToInactive(
  t: App,
  event: StoredEvent,
  { userId }: ReportedAccount,
  local: ReportedSubscription,
): Promise<string> {
  if (!reportsAccess(event.event as StateEvent, event.data)) return 'account_not_active';
  if (isOlderThanPush(local, event.happenedAt)) {
    // Mostly a change before the push; the two clocks do not show it for certain.
    await requestRefresh(t, userId, READ_AGAIN_MS);
    return 'older_than_push';
  }
  await requestProvisioning(t, local.id);
  return 'pushed_again';
}

async function applyDeletion(
  t: App,
  event: StoredEvent,
  account: ReportedAccount,
  local: ReportedSubscription,
): Promise<string | null> {
  const now = t.clock.now();
  const { userId } = account;
  const linked = { userId, subscriptionId: local.id, panelUuid: account.vpnpanelUuid };
  if (isOlderThanPush(local, event.happenedAt)) {
    // The panel never gives a handle twice: a link stored before the deletion does not work, whatever the waiting push does.
    if (!event.isLinkChanged && !isStoredSince(local, event.happenedAt)) await clearDeletedLink(t, linked);
    await requestRefresh(t, userId, READ_AGAIN_MS);
    return 'older_than_push';
  }
  if (isRecreated(local, account.status, now)) {
    // Now, not with the push: until that is done, answers would give a link that does not work.
    await clearDeletedLink(t, linked);
    if (!(await putIfAbsent(t, `panel_recreation:${local.id}`, {}, RECREATION_SECONDS))) {
      const startAfter = addMs(now, RECREATION_SECONDS * SECOND_MS);
      await t.jobs.send('panel.process-event', { eventId: event.id }, { startAfter });
      return null;
    }
    // The push makes a new panel user; one that fails is repeated until it succeeds.
    await requestProvisioning(t, local.id);
    return 'recreated';
  }
  const status = local.endDate > now ? local.status : 'expired';
  await writeFromPanel(t.db, [{ id: local.id, columns: { ...local, status } }], now);
  await unlinkDeletedUser(t, linked);
  await stampPanelReport(t.db, local.id, now);
  if (status !== local.status) await t.events.emit(SUBSCRIPTION_EXPIRED, {}, { audience: 'user', userId });
  await notifyAccount(t, account, 'webhook_sub_deleted', {});
  return 'applied';
}

/** One that is due at once has a key of its own: it does not wait for one that is delayed (spec 10 V5). */
function requestRefresh(t: App, userId: number, delayMs: number): Promise<void> {
  const singletonKey = delayMs === 0 ? `${userId}:now` : String(userId);
  return t.jobs.send('panel.refresh-user', { userId }, { singletonKey, startAfter: addMs(t.clock.now(), delayMs) });
}

/**
 * Reads one panel user and takes its state over, as a synchronisation would (queue `panel.refresh-user`): for a link that changed, and
 * where an event alone did not show which side is newer. A change that is waiting for its push, or was pushed meanwhile, is not undone.
 * @throws PanelError when the panel gave no usable answer; the queue retries
 */
export async function refreshSubscription(app: App, { userId }: { userId: number }): Promise<void> {
  if (app.ports.panel.configurationError() !== null) return;
  const account = await findAccount(app.db, userId);
  if (!account?.subscription || account.vpnpanelUuid === null || account.subscription.isPushDue) return;
  const readAt = app.clock.now();
  const read = await app.ports.panel.findByUuid(account.vpnpanelUuid);
  const found = read && (await withCryptoLink(app, read, account.subscription));
  await inTransaction(app, async (t) => {
    const current = await lockAccount(t.db, userId);
    const local = current?.subscription;
    if (!local || current.vpnpanelUuid !== account.vpnpanelUuid || isOlderThanPush(local, readAt)) return;
    const now = t.clock.now();
    if (found === null || !isLinkageValid(found, current.messengerId)) {
      if (isRecreated(local, current.status, now)) {
        // Not with the push: until that is done, answers would give a link that does not work.
        if (found === null) await clearDeletedLink(t, { userId, panelUuid: current.vpnpanelUuid });
        await requestProvisioning(t, local.id);
      }
      return;
    }
    if (current.status !== 'active') {
      // The term of a blocked or deleted account is kept for its return; its access is not (08 P15).
      if (mayHaveAccess(found)) await requestProvisioning(t, local.id);
      return;
    }
    // Squads and devices are the synchronisation's.
    const squads = local.connectedSquads.map((uuid) => ({ uuid, name: '' }));
    const columns = columnsAfter('user.modified', local, { ...found, squads, deviceLimit: local.deviceLimit }, now);
    if (columns === null) return;
    if (isUnpaidAccess(local, columns)) return requestProvisioning(t, local.id);
    await writeFromPanel(t.db, [{ id: local.id, columns }], now);
    await stampPanelReport(t.db, local.id, now);
  });
}
