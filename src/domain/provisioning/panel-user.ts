import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { peek, put } from '../../core/short-lived.ts';
import { clearPanelLink } from '../subscription-state/panel-values.ts';
import { enforceStatus } from './panel-access.ts';
import { isPanelError, type PanelUser } from './ports.ts';
import {
  findLinkedUser,
  findSubscriptionOfPanelUser,
  linkPanelUser,
  lockUsersWithSubscriptions,
  type PushTarget,
  unlinkPanelUser,
} from './repo.ts';
import { type RemovalMode, requestProvisioning } from './request-provisioning.ts';
import { isLinkageValid, panelEmailOf } from './rules.ts';
import { unlinkServers } from './sync/repo.ts';

export interface FoundPanelUser {
  user: PanelUser;
  /** Found by messenger id or e-mail, not by the stored link: its devices are not this subscription's. */
  isAdopted: boolean;
}

/**
 * The panel's user of this subscription: by the stored uuid, else by messenger id, else by confirmed e-mail (spec 06 section 9).
 * Only a definite absence or another messenger id unlinks; a panel that does not answer throws and changes nothing.
 * An e-mail that is unconfirmed or not of the panel's form is not looked up (`panelEmailOf`).
 */
export async function findPanelUser(app: App, { user: owner, vpnpanelShortUuid }: PushTarget): Promise<FoundPanelUser | null> {
  const { panel } = app.ports;
  if (owner.vpnpanelUuid !== null) {
    const { id, vpnpanelUuid: panelUuid } = owner;
    const linked = await findLinked(app, panelUuid, vpnpanelShortUuid);
    if (linked !== null && (isLinkageValid(linked, owner.messengerId) || (await isTransferred(app, linked)))) {
      return { user: linked, isAdopted: false };
    }
    await inTransaction(app, async (t) => {
      await lockUsersWithSubscriptions(t.db, [id]);
      await unlinkPanelUser(t.db, id, panelUuid);
    });
    app.log.warn(
      { userId: id, isAbsent: linked === null },
      'provisioning: the stored panel user is absent or of another messenger id; unlinked',
    );
  }
  const email = panelEmailOf(owner);
  const candidates = [
    () => (owner.messengerId === null ? null : panel.findByMessengerId(owner.messengerId)),
    () => (email === null ? null : findByEmail(app, email)),
  ];
  for (const find of candidates) {
    const found = await find();
    if (found !== null && (await mayAdopt(app, owner, found))) return { user: found, isAdopted: true };
  }
  return null;
}

/**
 * The panel user of the stored handle. A panel that was replaced by another version has given its users other handles; a user keeps the last
 * part of its link (spec 10 V1).
 */
async function findLinked(app: App, panelUuid: string, shortUuid: string | null): Promise<PanelUser | null> {
  try {
    return await app.ports.panel.findByUuid(panelUuid);
  } catch (error) {
    if (!isPanelError(error) || !error.isOtherGeneration) throw error;
    return shortUuid ? app.ports.panel.findByShortUuid(shortUuid) : null;
  }
}

/** For an address that the panel calls malformed there is no panel user; another refusal, e.g. of the credentials, does not show that. */
async function findByEmail(app: App, email: string): Promise<PanelUser | null> {
  try {
    return await app.ports.panel.findByEmail(email);
  } catch (error) {
    if (isPanelError(error) && error.kind === 'rejected' && (error.status === 400 || error.status === 422)) return null;
    throw error;
  }
}

/**
 * Whether this user may be linked to a panel user found by messenger id or e-mail. Not to one of another messenger id or one that is
 * linked to another local user, unless the panel user has this user's messenger id.
 */
export async function mayAdopt(
  app: App,
  owner: Pick<PushTarget['user'], 'id' | 'messengerId'>,
  found: PanelUser,
): Promise<boolean> {
  if (!isLinkageValid(found, owner.messengerId)) return false;
  const linkedUser = await findLinkedUser(app.db, found.uuid);
  if (linkedUser === null || linkedUser === owner.id) return true;
  return owner.messengerId !== null && found.messengerId === owner.messengerId;
}

/** Longer than a panel may be down; until the next push the panel user has the former account's messenger id. */
const RECORDED_SECONDS = (30 * DAY_MS) / SECOND_MS;

const keyOf = (panelUuid: string) => `panel_handover:${panelUuid}`;

/**
 * Records that a panel user now belongs to an account with another messenger id, in the transaction that transfers it (spec 01
 * section 8). Without the record the next push would take it for another person's and unlink it; with it the push sends the new id.
 */
export async function transferPanelUser(t: App, panelUuid: string, formerMessengerId: number): Promise<void> {
  await put(t, keyOf(panelUuid), { messenger_id: formerMessengerId }, RECORDED_SECONDS);
}

/** Whether this panel user still has the messenger id of the account that it was transferred from. */
export async function isTransferred(app: App, found: Pick<PanelUser, 'uuid' | 'messengerId'>): Promise<boolean> {
  const transfer = await peek<{ messenger_id: number }>(app, keyOf(found.uuid));
  return transfer !== null && transfer.messenger_id === found.messengerId;
}

/**
 * Links a panel user to a local user, after `mayAdopt` returned true. A user that was linked to it before is unlinked, and that user's
 * subscription is pushed. In the caller's transaction.
 */
export async function adoptPanelUser(t: App, userId: number, panelUser: PanelUser): Promise<void> {
  const unlinked = await linkPanelUser(t.db, userId, panelUser, t.clock.now());
  for (const subscriptionId of unlinked) await requestProvisioning(t, subscriptionId);
}

/**
 * Deletes or disables a panel user without owner or subscription. An absent one is a success; one that the panel refuses to delete is
 * disabled. A panel user that has a subscription by now is not removed: another push of that subscription is requested.
 * @param mode left out: what `VPNPANEL_USER_DELETE_MODE` says
 * @throws PanelError when the panel gave no usable answer; the queue retries
 */
export async function removePanelUser(app: App, panelUuid: string, mode?: RemovalMode): Promise<void> {
  // An earlier try may have been executed, without an answer, after the push of a purchase: a further push repairs that.
  if (await pushLinkedSubscription(app, panelUuid)) return;
  try {
    await remove(app, panelUuid, mode ?? app.settings.get('VPNPANEL_USER_DELETE_MODE'));
  } finally {
    // A subscription bought during the call: the panel user, which may be disabled now, must be enabled again.
    await pushLinkedSubscription(app, panelUuid);
  }
}

/** @returns false when the panel user is linked to no user with a subscription */
async function pushLinkedSubscription(app: App, panelUuid: string): Promise<boolean> {
  const subscriptionId = await findSubscriptionOfPanelUser(app.db, panelUuid);
  if (subscriptionId !== null) await inTransaction(app, (t) => requestProvisioning(t, subscriptionId));
  return subscriptionId !== null;
}

async function remove(app: App, panelUuid: string, mode: string): Promise<void> {
  const { panel } = app.ports;
  if (mode === 'delete') {
    try {
      await panel.deleteUser(panelUuid);
      return;
    } catch (error) {
      if (!isPanelError(error) || error.kind !== 'rejected') throw error;
    }
  }
  const disabled = await panel.disableUser(panelUuid);
  const soonest = addMs(app.clock.now(), MINUTE_MS);
  if (disabled === null || disabled.expireAt <= soonest) return;
  // So that the former term does not return when somebody enables the user (08 P1).
  const ended = await panel.updateUser({ uuid: panelUuid, status: 'DISABLED', expireAt: soonest });
  if (ended !== null) await enforceStatus(app, ended, 'DISABLED');
}

interface DeletedPanelUser {
  userId: number;
  subscriptionId: number;
  /** As the account has it; null = it has only links. */
  panelUuid: string | null;
}

/**
 * Removes what links an account to its panel user, which was deleted there: uuid and links, so that no answer has a link that no longer
 * works. For a subscription that a push provisions again: squads and server rows stay. In the caller's transaction, which has locked user
 * and subscription.
 */
export async function clearDeletedLink(t: App, { userId, panelUuid }: Omit<DeletedPanelUser, 'subscriptionId'>): Promise<void> {
  if (panelUuid === null) await clearPanelLink(t.db, userId);
  else await unlinkPanelUser(t.db, userId, panelUuid);
}

/** The same with the server rows, for a subscription that is not provisioned again; squads stay. */
export async function unlinkDeletedUser(t: App, deleted: DeletedPanelUser): Promise<void> {
  await clearDeletedLink(t, deleted);
  await unlinkServers(t.db, [deleted.subscriptionId]);
}
