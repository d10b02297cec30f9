import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isTransferred } from './panel-user-transfer.ts';
import { isPanelError, type PanelUser } from './ports.ts';
import { findLinkedUser, lockUsersWithSubscriptions, type PushTarget, unlinkPanelUser } from './repo.ts';
import { isLinkageValid, panelEmailOf } from './rules.ts';

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
