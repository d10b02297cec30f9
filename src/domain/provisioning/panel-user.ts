import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { peek, put } from '../../core/short-lived.ts';
import { clearPanelLink } from '../subscription-state/panel-values.ts';
import { enforceStatus } from './panel-access.ts';
import { findImportOrigin, isParkedPanelUser, listImportedLinks } from './parked-panel-users.ts';
import { isPanelError, PanelError, type PanelUser } from './ports.ts';
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
 * The panel's user of this subscription: by the stored uuid, else by messenger id, else by confirmed e-mail (spec 06 section 9); that of an imported
 * account by its link before the last two (spec 07 section 4.6).
 * Only a definite absence or another messenger id unlinks; a panel that does not answer throws and changes nothing.
 * An e-mail that is unconfirmed or not of the panel's form is not looked up (`panelEmailOf`).
 */
export async function findPanelUser(app: App, target: PushTarget): Promise<FoundPanelUser | null> {
  const { user: owner, vpnpanelShortUuid } = target;
  let isAbsent = false;
  if (owner.vpnpanelUuid !== null) {
    const linked = await findLinked(app, owner.vpnpanelUuid, vpnpanelShortUuid);
    if (linked !== null && (isLinkageValid(linked, owner.messengerId) || (await isTransferred(app, linked)))) {
      return { user: linked, isAdopted: false };
    }
    isAbsent = linked === null;
  }
  const origin = await findImportOrigin(app.db, owner.id);
  const byLink = origin !== null && vpnpanelShortUuid ? await findByLink(app, owner, vpnpanelShortUuid) : null;
  if (byLink !== null) return { user: byLink, isAdopted: false };
  const byIdentity = await findByIdentity(app, target, origin);
  if (byIdentity === null && origin !== null && owner.vpnpanelUuid !== null) await requireImportSeen(app, owner.id);
  if (owner.vpnpanelUuid !== null) {
    const { id, vpnpanelUuid: panelUuid } = owner;
    await inTransaction(app, async (t) => {
      await lockUsersWithSubscriptions(t.db, [id]);
      await unlinkPanelUser(t.db, id, panelUuid);
    });
    app.log.warn({ userId: id, isAbsent }, 'provisioning: the stored panel user is absent or of another messenger id; unlinked');
  }
  return byIdentity && { user: byIdentity, isAdopted: true };
}

/** By messenger id, else by confirmed e-mail. */
async function findByIdentity(
  app: App,
  { user: owner, vpnpanelShortUuid }: PushTarget,
  origin: 'single' | 'several' | null,
): Promise<PanelUser | null> {
  const { panel } = app.ports;
  if (origin === 'several' && vpnpanelShortUuid) {
    // The only exact key where a person may have several panel users: another one found by messenger id could be of another subscription.
    app.log.warn({ userId: owner.id }, 'provisioning: the panel does not know the link of an imported subscription');
    return null;
  }
  const { messengerId } = owner;
  const email = panelEmailOf(owner);
  const searches: Search[] = [];
  if (messengerId !== null)
    searches.push({ best: () => panel.findByMessengerId(messengerId), all: () => panel.listByMessengerId(messengerId) });
  if (email !== null) searches.push({ best: () => findByEmail(app, email), all: () => panel.listByEmail(email) });
  for (const search of searches) {
    const found = await findAdoptable(app, owner, search, origin === 'several');
    if (found !== null) return found;
  }
  return null;
}

/** Others of an import who are looked up where the panel does not know one of them. */
const PROBED = 10;
const SEEN_KEY = 'panel:import_seen';

/** As `provision_error` has it. */
export const IMPORT_UNSEEN =
  'VPN panel: it knows nobody of the import, so that nobody was created there a second time. Set VPNPANEL_API_URL to the panel of the former bot; see import check-panel';

/**
 * Whether the panel knows, or ever knew, anybody of the import; else it is another panel, or of another version, and the first pushes would
 * create everybody again (spec 07, hazard I44).
 * @throws PanelError `rejected`; the reconciler tries again
 */
async function requireImportSeen(app: App, userId: number): Promise<void> {
  if ((await readState(app.db, SEEN_KEY)) !== null) return;
  for (const { uuid, shortUuid, messengerId } of await listImportedLinks(app.db, userId, PROBED)) {
    const linked = await findLinked(app, uuid, shortUuid);
    // Another panel may have somebody else of this number.
    const isTheirs = linked && (linked.shortUuid === shortUuid || (messengerId !== null && linked.messengerId === messengerId));
    if (isTheirs || (shortUuid && (await app.ports.panel.findByShortUuid(shortUuid)))) return recordImportSeen(app);
  }
  throw new PanelError('rejected', IMPORT_UNSEEN);
}

/** From now on people of the import whom the panel does not know are created there. */
export function recordImportSeen({ db }: Pick<App, 'db'>): Promise<void> {
  return writeState(db, SEEN_KEY, {});
}

/** A look-up that may find several panel users: the preferred one of them, and all. */
interface Search {
  best(): Promise<PanelUser | null>;
  all(): Promise<PanelUser[]>;
}

/**
 * What of the found panel users may become the owner's: those of subscriptions that an import kept aside do not count, and of an imported
 * account that may have several (`isOnlyOne`) it is none where more than one is left (spec 07 section 4.6).
 */
async function findAdoptable(app: App, owner: PushTarget['user'], search: Search, isOnlyOne: boolean): Promise<PanelUser | null> {
  const best = await search.best();
  if (best === null) return null;
  if (!isOnlyOne && !(await isParkedPanelUser(app.db, best))) return (await mayAdopt(app, owner, best)) ? best : null;
  const left: PanelUser[] = [];
  for (const user of await search.all()) if (!(await isParkedPanelUser(app.db, user))) left.push(user);
  const [first] = left;
  if (first === undefined || (isOnlyOne && left.length > 1)) return null;
  return (await mayAdopt(app, owner, first)) ? first : null;
}

async function findByLink(app: App, owner: PushTarget['user'], shortUuid: string): Promise<PanelUser | null> {
  const found = await app.ports.panel.findByShortUuid(shortUuid);
  return found !== null && (await mayAdopt(app, owner, found)) ? found : null;
}

/**
 * The panel user of the stored handle. A panel that was replaced by another version has given its users other handles; a user keeps the last
 * part of its link (spec 10 V1).
 */
export async function findLinked(app: App, panelUuid: string, shortUuid: string | null): Promise<PanelUser | null> {
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
 * Whether this user may be linked to a panel user found by messenger id or e-mail. Not to one of another messenger id, of a subscription that an
 * import kept aside, or linked to another local user, unless the panel user has this user's messenger id.
 */
export async function mayAdopt(
  app: App,
  owner: Pick<PushTarget['user'], 'id' | 'messengerId'>,
  found: PanelUser,
): Promise<boolean> {
  if (!isLinkageValid(found, owner.messengerId)) return false;
  const linkedUser = await findLinkedUser(app.db, found.uuid);
  if (linkedUser === owner.id) return true;
  if (linkedUser === null) return !(await isParkedPanelUser(app.db, found));
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
